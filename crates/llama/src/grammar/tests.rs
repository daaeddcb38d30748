//! Tests of grammars as a whole.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod ambiguity;
mod mutation;
mod notation;
mod random;
mod reference;
mod rules;
mod text;

use super::{GbnfError, Grammar, Matcher};

/// A grammar from text whose start rule is `root`.
fn grammar(text: &str) -> Grammar {
    Grammar::from_gbnf(text, "root").unwrap_or_else(|error| panic!("{error} in {text}"))
}

fn error(text: &str) -> GbnfError {
    Grammar::from_gbnf(text, "root").expect_err(text)
}

/// A matcher after this text, or nothing if the grammar forbids the text.
fn after(text: &str, grammar: &Grammar) -> Option<Matcher> {
    let mut matcher = grammar.matcher();
    for character in text.chars() {
        matcher.accept(character.encode_utf8(&mut [0; 4]).as_bytes()).ok()?;
    }
    Some(matcher)
}

/// Whether a grammar matches a text.
fn matches(text: &str, grammar: &Grammar) -> bool {
    after(text, grammar).is_some_and(|matcher| matcher.may_end())
}

/// Pseudorandom numbers: xorshift64*.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `limit`.
    fn below(&mut self, limit: usize) -> usize {
        (((self.next() >> 32) * limit as u64) >> 32) as usize
    }

    fn pick<'a, T>(&mut self, among: &'a [T]) -> &'a T {
        &among[self.below(among.len())]
    }
}

/// Grammars of the kind that people use.
const SEEDS: [&str; 7] = [
    // A list.
    "root ::= entry+\nentry ::= \"* \" [^\\r\\n\\x85\\u2028]+ \"\\n\"\n",
    // JSON.
    r#"
root   ::= value
value  ::= object | array | string | number | ("true" | "false" | "null") space
object ::= "{" space (
    member   # the first one
    ("," space member)*
  )? "}" space
member ::= string ":" space value
array  ::= "[" space (value ("," space value)*)? "]" space
string ::= "\"" ([^"\\\x00-\x1F] | "\\" (["\\/bfnrt] | "u" hex hex hex hex))* "\"" space
hex    ::= [0-9a-fA-F]
number ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ([eE] [-+]? [0-9]+)? space
space  ::= ([ \t\n] space)?
"#,
    // Sums.
    r#"root ::= (sum "=" space product "\n")+
sum ::= product ([-+] product)*
product ::= factor ([*/] factor)*
factor ::= [a-z]+ space | [0-9]+ space | "(" space sum ")" space
space ::= [ \t]*"#,
    // Characters of two, three and four bytes.
    "root ::= (kana | [à-ÿ] | \"é\" | [\\U0001F600-\\U0001F64F])+\nkana ::= [ぁ-ゟ] | [ァ-ヿ]\n",
    // Moves on a board.
    r#"root ::= ([1-9] [0-9]? ". " move " " move "\n")+
move ::= ([NBRQK]? [a-h]? [1-8]? "x"? [a-h] [1-8] | "O-O" "-O"?) ("=" [QRBN])? [+#]?"#,
    // A small language.
    r#"root ::= statement*
statement ::=
    name " = " expression ";\n" |
    "if (" expression ") {\n" statement* "}\n" ("else {\n" statement* "}\n")? |
    "//" [^\n]* "\n" |
    "/*" ([^*] | ("*" [^/]))* "*/"
expression ::= name | [0-9]+ | name "(" (expression (", " expression)*)? ")"
name ::= [a-z] [a-z0-9_]*"#,
    // Ambiguous and odd.
    "root ::= (\"a\" | \"a\" | x?  x)+ tail\r\nx ::= \"a\" | \"aa\" | [^\\]\\[b-z]\r\ntail ::= | \"\" | \"b\" tail | tail-2?\r\ntail-2 ::= \"b\" tail-2 \"c\" | \"bc\"",
];
