//! The notation: what it means, and where its errors are.

use super::super::{Element, ElementType, Grammar};
use super::{error, grammar, matches, SEEDS};

/// Rules as text, one line each.
fn rules(text: &str) -> Vec<String> {
    let grammar = grammar(text);
    let spell = |element: &Element| match element.kind {
        ElementType::End => ";".into(),
        ElementType::Alt => "|".into(),
        ElementType::RuleRef => grammar.rule_name(element.value as usize).unwrap(),
        ElementType::Char => format!("={}", char::from_u32(element.value).unwrap()),
        ElementType::CharNot => format!("^{}", char::from_u32(element.value).unwrap()),
        ElementType::CharRngUpper => format!("-{}", char::from_u32(element.value).unwrap()),
        ElementType::CharAlt => format!("+{}", char::from_u32(element.value).unwrap()),
    };
    let line = |(index, rule): (usize, &Vec<Element>)| {
        let elements: Vec<String> = rule.iter().map(spell).collect();
        format!("{}: {}", grammar.rule_name(index).unwrap(), elements.join(" "))
    };
    grammar.rules().iter().enumerate().map(line).collect()
}

#[test]
fn rules_are_those_of_llama_cpp() {
    assert_eq!(
        rules("root ::= (a \"=\" b)+\na ::= b [-+*/x]*\nb ::= \"xy\"? [^a-z_]"),
        [
            "root: root_4 ;",
            "root_1: a == b ;",
            "a: b a_5 ;",
            "b: b_6 ^a -z +_ ;",
            "root_4: root_1 root_4 | root_1 ;",
            "a_5: =- ++ +* +/ +x a_5 | ;",
            "b_6: =x =y | ;",
        ]
    );
}

#[test]
fn an_operator_takes_what_is_right_before_it() {
    assert!(matches("abab", &grammar("root ::= \"ab\"*")));
    assert!(!matches("abb", &grammar("root ::= \"ab\"*")));
    assert!(matches("abb", &grammar("root ::= \"a\" \"b\"*")));
    assert!(matches("xyy", &grammar("root ::= \"x\" y+\ny ::= \"y\"")));
    assert!(matches("", &grammar("root ::= (\"x\" | \"y\")?")));
    assert!(!matches("xy", &grammar("root ::= (\"x\" | \"y\")?")));
    assert!(matches("aaa", &grammar("root ::= \"a\"+?")));
}

#[test]
fn escapes() {
    let text = "root ::= \"\\n\\r\\t\\\\\\\"\\[\\]\\x41\\u00e9\\u3042\\U0001f600\" [\\]\\[\\x00-\\x1F]";
    assert!(matches("\n\r\t\\\"[]Aéあ😀\u{1}", &grammar(text)));
    assert!(matches("\n\r\t\\\"[]Aéあ😀]", &grammar(text)));
    assert!(!matches("\n\r\t\\\"[]Aéあ😀-", &grammar(text)));
}

#[test]
fn minus_in_classes() {
    let class = grammar("root ::= [-a-c-]");
    for text in ["-", "a", "b", "c"] {
        assert!(matches(text, &class), "{text}");
    }
    assert!(!matches("d", &class));
    let chained = grammar("root ::= [a-c-e]");
    assert!(matches("-", &chained) && matches("e", &chained) && !matches("d", &chained));
    assert!(matches("^", &grammar("root ::= [a^]")));
    assert!(matches("#", &grammar("root ::= \"#\" # no \"")));
}

#[test]
fn lines_comments_and_blanks() {
    let text = "\r\n# first\n\n root\t::=#x\n \"a\" |# more\r\n\n\"b\" (\n\"c\"\n\n| #y\n\"d\"\n) # end\r\rtwo ::= \n|";
    let parsed = grammar(text);
    for text in ["a", "bc", "bd"] {
        assert!(matches(text, &parsed), "{text}");
    }
    assert!(!matches("b", &parsed));
    assert_eq!(Grammar::from_gbnf(text, "two").unwrap().start(), 2);
    assert!(matches("", &grammar("root ::=")));
    assert!(matches("", &grammar("root ::= \"\" | \"x\"")));
}

#[test]
fn errors_have_their_place() {
    let unit = "a string, a character class, a rule name, a group, an operator (| * + ?)";
    let cases: &[(&str, (usize, usize), &str)] = &[
        ("", (1, 1), "there is no rule root: expected a line root ::= …"),
        ("# x\na ::= \"a\"", (2, 10), "there is no rule root: expected a line root ::= …"),
        ("root ::= \"a\" | b\nc ::= d", (1, 16), "there is no rule b: expected a line b ::= …"),
        ("root ::= \"a\"\nb ::= \"b\"\n  root ::= \"c\"", (3, 3), "the rule root is defined already, in line 1"),
        ("root = \"a\"", (1, 6), "expected ::= after the name root, found '='"),
        ("root", (1, 5), "expected ::= after the name root, found the end of the text"),
        ("root\n::= \"a\"", (1, 5), "expected ::= after the name root, found the end of the line"),
        ("::= \"a\"", (1, 1), "expected the name of a rule (letters, digits and -), found ':'"),
        ("root ::= \"a\"\n\"b\"", (2, 1), "expected the name of a rule (letters, digits and -), found '\"'"),
        ("ro_ot ::= \"a\"", (1, 3), "expected ::= after the name ro, found '_'"),
        ("root ::= \"é\" $", (1, 14), &format!("expected {unit} or the end of the line, found '$'")),
        ("root ::= \"a\")", (1, 13), &format!("expected {unit} or the end of the line, found ')'")),
        ("root ::= \"a\" {2}", (1, 14), &format!("expected {unit} or the end of the line, found '{{'")),
        ("root ::= (\"a\"\n ; )", (2, 2), &format!("expected {unit} or ), found ';'")),
        ("root ::= \"x\" (\"a\" (\"b\")\n", (1, 14), "expected ) to close this group"),
        ("root ::= \"x\" (\"a\" (\"b\"\n", (1, 19), "expected ) to close this group"),
        ("root ::= \"a\n| b\n", (1, 10), "expected \" to close this string"),
        ("root ::= [a\n| b\n", (1, 10), "expected ] to close this character class"),
        ("root ::= [a-", (1, 10), "expected ] to close this character class"),
        ("root ::= [^]", (1, 10), "expected at least one character in this class; write \"\" for the empty text"),
        ("root ::= \"a\" []", (1, 14), "expected at least one character in this class; write \"\" for the empty text"),
        ("root ::= \"a\\d\"", (1, 12), "unknown escape, \\ before 'd': expected \\n \\r \\t \\\\ \\\" \\[ \\] \\xNN \\uNNNN or \\UNNNNNNNN"),
        ("root ::= \"a\\", (1, 12), "unknown escape, \\ before the end of the text: expected \\n \\r \\t \\\\ \\\" \\[ \\] \\xNN \\uNNNN or \\UNNNNNNNN"),
        ("root ::= \"\\x4\"", (1, 14), "expected 2 hexadecimal digits in this escape, found '\"'"),
        ("root ::= \"\\u12g4\"", (1, 15), "expected 4 hexadecimal digits in this escape, found 'g'"),
        ("root ::= \"\\U0001F60", (1, 20), "expected 8 hexadecimal digits in this escape, found the end of the text"),
        ("root ::= [\\U00000000-\\U00110000]", (1, 22), "0x110000 is no code point: the limit is 0x10FFFF"),
        ("root ::= \"é\0\"", (1, 12), "NUL in the text: expected it as \\x00"),
        ("root ::= * \"a\"", (1, 10), "expected something that * applies to before it"),
        ("root ::= \"a\" | + \"a\"", (1, 16), "expected something that + applies to before it"),
        ("root ::= \"\"?", (1, 12), "expected something that ? applies to before it"),
        ("root ::= (\n?)", (2, 1), "expected something that ? applies to before it"),
        ("root ::= \"é\" [bz-a]", (1, 16), "the range from U+007A to U+0061 is reversed: expected the smaller code point first"),
        ("root ::= \"a\"\nb ::= [a-\\]]", (2, 8), "the range from U+0061 to U+005D is reversed: expected the smaller code point first"),
        ("root ::= \"\\uD83D\\uDE00\"", (1, 11), "no character can match here: NUL and surrogates (U+D800 to U+DFFF) are in no text; write a character beyond U+FFFF as one code point"),
        ("root ::= \"a\" | x\nx ::= y? root", (2, 7), "there is no rule y: expected a line y ::= …"),
        ("root ::= \"a\" | x\nx ::= \"y\"? root", (1, 16), "the rule refers to itself before any character (root → x → root): put a character before the reference"),
        ("root ::= sum\nsum ::= sum \"+\" [0-9] | [0-9]", (2, 9), "the rule refers to itself before any character (sum → sum): put a character before the reference"),
        ("root ::= \"a\" (\"b\"? \"c\"*)+", (1, 25), "what is repeated by + can be empty, so that it has no end: expected something that has at least one character"),
        ("root ::= \"a\"**", (1, 14), "what is repeated by * can be empty, so that it has no end: expected something that has at least one character"),
        ("root ::= ((root))", (1, 10), "the rule refers to itself before any character (root → root_1 → root_2 → root): put a character before the reference"),
    ];
    for (text, (line, column), message) in cases {
        let error = error(text);
        assert_eq!((error.line, error.column, error.message.as_str()), (*line, *column, *message), "{text:?}");
        assert_eq!(error.to_string(), format!("line {line}, column {column}: {message}"));
    }
}

#[test]
fn the_root_may_have_any_name() {
    let text = "root ::= \"a\"\nother-1 ::= root \"b\"";
    let other = Grammar::from_gbnf(text, "other-1").unwrap();
    assert!(matches("ab", &other));
    let error = Grammar::from_gbnf(text, "Root").unwrap_err();
    assert_eq!(error.to_string(), "line 2, column 21: there is no rule Root: expected a line Root ::= …");
    // A group has a name in messages, but cannot be referred to.
    assert!(Grammar::from_gbnf("root ::= (\"a\")", "root_1").is_err());
}

#[test]
fn deep_nesting() {
    let depth = 20_000;
    let groups = format!("root ::= {}\"x\"{}", "(".repeat(depth), ")".repeat(depth));
    assert!(matches("x", &grammar(&groups)));
    let optional = format!("root ::= {}\"x\"{}", "(".repeat(depth), ")?".repeat(depth));
    assert!(matches("", &grammar(&optional)) && matches("x", &grammar(&optional)));
    let endless = format!("root ::= {}\"x\"{}", "(".repeat(depth), ")*".repeat(depth));
    assert_eq!((error(&endless).line, error(&endless).column), (1, 20_016));
    let quoted = format!("root ::= {}", "(\"a\" ".repeat(depth));
    assert_eq!(error(&quoted).column, 10 + 5 * (depth - 1));
    let chain: String = (0..depth).map(|rule| format!("r{rule} ::= r{} \"!\"\n", rule + 1)).collect();
    let chain = format!("{chain}r{depth} ::= \"x\"");
    let parsed = Grammar::from_gbnf(&chain, "r0").unwrap();
    assert!(matches(&format!("x{}", "!".repeat(depth)), &parsed));
}

#[test]
fn too_large() {
    let long = format!("root ::= \"{}\"", "a".repeat(1 << 20));
    assert_eq!(
        error(&long).to_string(),
        "line 1, column 1048588: the grammar is too large: the limit is 1048576 elements"
    );
    let open = format!("root ::= {}", "(".repeat((1 << 20) + 1));
    assert_eq!(error(&open).column, 10 + (1 << 20));
    // Each + doubles what it repeats, but only once.
    let repeated = format!("root ::= \"{}\"{}", "a".repeat(1_000), "+".repeat(1_000));
    assert!(grammar(&repeated).rules().iter().map(Vec::len).sum::<usize>() < 10_000);
    // A long name is not copied for each group.
    let named = format!("{} ::= {}\"x\"", "n".repeat(100_000), "(\"x\")".repeat(50_000));
    let parsed = Grammar::from_gbnf(&named, &"n".repeat(100_000)).unwrap();
    assert!(parsed.memsize() < 40 << 20, "{}", parsed.memsize());
    assert_eq!(parsed.rule_name(7).unwrap().len(), 100_002);
}

#[test]
fn grammars_of_many_kinds() {
    let texts = [
        "* one\n* zwölf\n",
        "{\"a\": [1, -2.5e+10, \"\\u00e9\\n\"], \"b\": null}",
        "a*(1+2)-b=3*c\n",
        "あア😀éÿ",
        "1. e4 Nf6\n2. exd5+ O-O\n13. e8=Q# axb1\n",
        "x1 = f(a, 2);\nif (x) {\n// y\n}\nelse {\n/* z * */}\n",
        "aAbbcc",
    ];
    for (seed, text) in SEEDS.iter().zip(texts) {
        assert!(matches(text, &grammar(seed)), "{text}");
        assert!(!matches(&format!("{text}}}"), &grammar(seed)), "{text}");
    }
}

#[test]
fn every_grammar_of_llama_cpp() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vendor/llama.cpp/grammars");
    let Ok(entries) = std::fs::read_dir(folder) else {
        println!("left out: vendor/llama.cpp is not unpacked");
        return;
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "gbnf") {
            let text = std::fs::read_to_string(&path).unwrap();
            let parsed = grammar(&text);
            found.push(path.file_stem().unwrap().to_string_lossy().into_owned());
            let accepted = match found.last().unwrap().as_str() {
                "arithmetic" => "(a +12) *b =3\n",
                "c" => "int main(){return a+b;}",
                "chess" => "1. e4 e5\n2. Nf3 O-O\n",
                "japanese" => "これは ペン、\n漢字",
                "json" => "{\"a\": [1, 2.5, \"x\"], \"b\": {}}\n",
                "json_arr" => "[\n1,\n2]",
                "list" => "- one\n- two\n",
                _ => continue,
            };
            assert!(matches(accepted, &parsed), "{accepted:?} by {path:?}");
        }
    }
    found.sort();
    assert!(found.len() >= 7, "{found:?}");
}
