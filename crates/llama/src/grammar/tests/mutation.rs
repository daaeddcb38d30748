//! Texts that are nearly grammars: none of them may do harm.

use super::super::{Grammar, Refusal};
use super::{Random, SEEDS};

const SNIPPETS: [&str; 34] = [
    "",
    "(",
    ")",
    "[",
    "]",
    "[^",
    "\"",
    "\\",
    "\\x",
    "\\u12",
    "\\U0010FFFF",
    "\\UFFFFFFFF",
    "*",
    "+",
    "?",
    "|",
    "::=",
    "\n",
    "\r\n",
    "\r",
    " ",
    "\t",
    "#",
    "-",
    "a-z",
    "root",
    "root ::= ",
    "x ::= x",
    "é",
    "😀",
    "\0",
    "\u{2028}",
    "((((",
    "))))",
];

fn mutate(text: &str, random: &mut Random) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..=random.below(2) {
        let at = random.below(characters.len() + 1);
        let end = (at + random.below(4)).min(characters.len());
        match random.below(5) {
            0 => drop(characters.drain(at..end)),
            1 => {
                let snippet = random.pick(&SNIPPETS).chars();
                drop(characters.splice(at..end, snippet));
            }
            2 => {
                let snippet = random.pick(&SNIPPETS).chars();
                drop(characters.splice(at..at, snippet));
            }
            3 => {
                let copied = characters[at..end].to_vec();
                let to = random.below(characters.len() + 1);
                drop(characters.splice(to..to, copied));
            }
            _ if random.below(4) == 0 => characters.truncate(at),
            _ => characters.insert(at, char::from(b' ' + random.below(95) as u8)),
        }
    }
    characters.into_iter().collect()
}

/// Writes by the grammar at random, and checks that it does what it says.
fn write(grammar: &Grammar, random: &mut Random) -> Result<(), Refusal> {
    const PIECES: [&[u8]; 24] = [
        b"a",
        b"b",
        b"c",
        b"x",
        b"1",
        b"0",
        b"\"",
        b"{",
        b"[",
        b"]",
        b"}",
        b"(",
        b")",
        b" ",
        b"\n",
        b",",
        b". ",
        b"* ",
        b"=",
        b"e4",
        "é".as_bytes(),
        b"\xE3",
        b"\x81\x82",
        b"\xF0\x9F",
    ];
    let mut matcher = grammar.matcher();
    for _ in 0..20 {
        let piece = *random.pick(&PIECES);
        let allowed = matcher.allows(piece)?;
        let end = matcher.may_end();
        match matcher.accept(piece) {
            Ok(()) => assert!(allowed),
            Err(error @ Refusal::TooComplex(_)) => return Err(error),
            Err(_) => assert!(!allowed && matcher.may_end() == end),
        }
    }
    Ok(())
}

#[test]
fn mutants_do_no_harm() {
    let mut random = Random(0x1234_5678);
    let (mut parsed, mut refused) = (0, 0);
    for round in 0..4_000 {
        for seed in SEEDS {
            let mut text = mutate(seed, &mut random);
            if round % 3 == 0 {
                text = mutate(&text, &mut random);
            }
            match Grammar::from_gbnf(&text, "root") {
                Ok(grammar) => {
                    parsed += 1;
                    assert_eq!(write(&grammar, &mut random), Ok(()), "{text:?}");
                    let again = Grammar::new(grammar.rules().to_vec(), grammar.start());
                    assert!(again.is_ok(), "{text:?}");
                }
                Err(error) => {
                    refused += 1;
                    let lines = text.split(['\n', '\r']).count();
                    let longest = text.split(['\n', '\r']).map(|line| line.chars().count()).max();
                    assert!((1..=lines).contains(&error.line), "{error} in {text:?}");
                    assert!((1..=longest.unwrap() + 1).contains(&error.column), "{error} in {text:?}");
                    assert!(!error.message.is_empty() && error.message.len() < 400, "{error}");
                }
            }
        }
    }
    assert!(parsed > 3_000 && refused > 8_000, "{parsed} parsed, {refused} refused");
}
