//! Grammars that can read a text in very many ways. What is bounded is memory and steps, so these
//! tests would not end without the bounds.

use super::super::{Grammar, GrammarError, Refusal, TooComplex};
use super::{grammar, matches};

/// Reads a text, and returns the largest memory that the matcher took on the way.
fn peak(text: &str, root: &str) -> usize {
    let mut matcher = grammar(root).matcher();
    let mut peak = 0;
    for character in text.chars() {
        matcher
            .accept(character.encode_utf8(&mut [0; 4]).as_bytes())
            .unwrap_or_else(|refusal| panic!("{refusal} in {root}"));
        peak = peak.max(matcher.memsize());
    }
    assert!(matcher.may_end(), "{root}");
    peak
}

#[test]
fn equal_ways_are_one() {
    let many = "a".repeat(2_000);
    for root in [
        "root ::= (\"a\" | \"a\")*",
        "root ::= (\"a\" | \"aa\" | \"a\" \"a\" \"a\")*",
        "root ::= ((\"a\"+)+)+",
        "root ::= x*\nx ::= \"a\" | y\ny ::= [a-z] | x-2\nx-2 ::= [^b]",
        "root ::= (\"a\" | (\"a\" | (\"a\" | (\"a\" | \"a\")+)+)+)+",
    ] {
        let peak = peak(&many, root);
        assert!(peak < 50_000, "{peak} in {root}");
    }
}

#[test]
fn optional_upon_optional() {
    // 2^64 ways to read the empty text, and more to read others.
    let optional = format!("root ::= {}", "(\"a\"? \"a\"?)? ".repeat(32));
    let full = "a".repeat(64);
    let peak = peak(&full, &optional);
    assert!(peak < 1_000_000, "{peak}");
    assert!(!matches(&format!("{full}a"), &grammar(&optional)));

    let mut doubled = String::from("root ::= r0 r0\n");
    for level in 0..64 {
        doubled += &format!("r{level} ::= r{} | r{}\n", level + 1, level + 1);
    }
    doubled += "r64 ::= \"a\"?\n";
    assert!(matches("aa", &grammar(&doubled)));
    assert!(!matches("aaa", &grammar(&doubled)));
}

#[test]
fn nested_in_two_ways() {
    // The closing half is known only at the end: 2^n stacks.
    let root = "root ::= \"a\" root \"b\" | \"a\" root \"c\" | \"x\"";
    let depth = 300;
    let closing: String = (0..depth).map(|level| if level % 3 == 0 { 'b' } else { 'c' }).collect();
    let text = format!("{}x{closing}", "a".repeat(depth));
    let peak = peak(&text, root);
    assert!(peak < 1_000_000, "{peak}");
    assert!(!matches(&format!("{text}b"), &grammar(root)));
}

#[test]
fn ambiguous_nesting() {
    let root = "root ::= s\ns ::= \"a\" s s | \"a\"";
    assert!(matches(&"a".repeat(151), &grammar(root)));
    let all = "root ::= s*\ns ::= \"a\" s s | \"a\" s | \"a\"";
    assert!(matches(&"a".repeat(100), &grammar(all)));
}

#[test]
fn right_recursion_does_not_grow() {
    let text = format!("[{}1]", "1,".repeat(20_000));
    let peak = peak(&text, "root ::= \"[\" list \"]\"\nlist ::= \"1\" | \"1,\" list | \"1\" \",\" list");
    assert!(peak < 50_000, "{peak}");
}

#[test]
fn a_long_text_does_not_grow() {
    let mut matcher = grammar(super::SEEDS[1]).matcher();
    let mut peak = 0;
    matcher.accept(b"[").unwrap();
    for number in 0..3_000 {
        let depth = number % 50;
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        let piece = format!("{open}{{\"k{number}\": [{number}.5e-1, \"é\\u00e9\"]}}{close},\n");
        matcher.accept(piece.as_bytes()).unwrap();
        peak = peak.max(matcher.memsize());
    }
    matcher.accept(b"null]").unwrap();
    assert!(matcher.may_end());
    assert!(peak < 12 << 20, "{peak}");
}

#[test]
fn what_is_too_deep_is_an_error() {
    let mut matcher = grammar("root ::= \"(\" root \")\" | \"x\"").matcher();
    let piece = vec![b'('; 1_000];
    let mut depth = 0;
    let refusal = loop {
        match matcher.accept(&piece) {
            Ok(()) => depth += piece.len(),
            Err(refusal) => break refusal,
        }
        assert!(depth < 10_000_000);
    };
    assert!(depth >= 100_000, "{depth}");
    assert_eq!(refusal, Refusal::TooComplex(TooComplex::Memory(16 << 20)));
    assert_eq!(
        refusal.to_string(),
        "the grammar reads the text in so many ways, or so deeply nested, that they need more \
         than 16 MiB: make it less ambiguous"
    );
    assert!(matcher.memsize() < 50 << 20);
    // The text is as it was.
    let closing = format!("x{}", ")".repeat(depth));
    assert_eq!(matcher.accept(closing.as_bytes()), Ok(()));
    assert!(matcher.may_end());
}

#[test]
fn what_takes_too_long_is_an_error() {
    // Each "a" may start any number of "s", so that the n-th character has about n² ways.
    let mut matcher = grammar("root ::= s+\ns ::= \"a\" s s s | \"a\" s s | \"a\" s | \"a\"").matcher();
    let piece = vec![b'a'; 100_000];
    let Err(Refusal::TooComplex(error)) = matcher.accept(&piece) else {
        panic!("expected an error");
    };
    assert!(error.to_string().contains("make it less ambiguous"));
    assert_eq!(matcher.allows(b"a"), Ok(true));
}

#[test]
fn a_start_that_takes_too_long_is_an_error() {
    use super::super::Element;

    // Each rule is the next one, or the next one and a character.
    let levels = |count: u32| {
        let mut rules: Vec<Vec<Element>> = (1..=count)
            .map(|next| {
                vec![
                    Element::rule_ref(next),
                    Element::alt(),
                    Element::rule_ref(next),
                    Element::char('x'),
                    Element::end(),
                ]
            })
            .collect();
        rules.push(vec![Element::char('y'), Element::end()]);
        Grammar::new(rules, 0)
    };
    let fine = levels(300).unwrap();
    let full = format!("y{}", "x".repeat(300));
    assert!(matches("y", &fine) && matches(&full, &fine));
    assert!(!matches(&format!("{full}x"), &fine));
    assert_eq!(levels(10_000).unwrap_err(), GrammarError::TooComplex(TooComplex::Steps(1 << 21)));
}
