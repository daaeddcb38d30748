//! Texts in pieces: characters that are split, bytes that are none, pieces that are refused.

use super::super::Refusal;
use super::{after, grammar, matches};

#[test]
fn sums() {
    let sums = grammar("root ::= term ([-+] term)*\nterm ::= [0-9]+ | \"(\" root \")\"");
    for text in ["1", "12+3", "(1-(2+3))-45", "((7))"] {
        assert!(matches(text, &sums), "{text}");
    }
    for text in ["", "1+", "(1", "1)", "+1", "1 + 2", "()"] {
        assert!(!matches(text, &sums), "{text}");
    }
    let matcher = after("(1-(2", &sums).unwrap();
    let verdicts: Vec<(&[u8], bool)> = vec![
        (b"3", true),
        (b")", true),
        (b"))", true),
        (b")))", false),
        (b")+(4)", true),
        (b"-", true),
        (b"--", false),
        (b"(", false),
        (b"", false),
        (b"\0", false),
    ];
    let mut clone = matcher.clone();
    for (piece, expected) in &verdicts {
        assert_eq!(clone.allows(piece), Ok(*expected), "{piece:?}");
    }
    let mut found = Vec::new();
    clone
        .allowed(verdicts.iter().map(|&(piece, _)| piece), |index, verdict| {
            found.push((verdicts[index].0, verdict));
        })
        .unwrap();
    assert_eq!(found, verdicts);
}

#[test]
fn a_refused_piece_changes_nothing() {
    let mut matcher = grammar("root ::= \"abc\" \"é\"?").matcher();
    assert_eq!(matcher.accept(b"abd"), Err(Refusal::Character { offset: 2, character: 'd' }));
    assert_eq!(matcher.accept(b""), Err(Refusal::Empty));
    assert_eq!(matcher.accept(b"ab"), Ok(()));
    assert_eq!(matcher.accept(b"c\0"), Err(Refusal::Nul { offset: 1 }));
    assert_eq!(matcher.accept(b"c\xFF"), Err(Refusal::NotUtf8 { offset: 1, byte: 0xFF }));
    assert_eq!(matcher.accept(b"c\xC4"), Err(Refusal::PartialCharacter));
    assert!(!matcher.may_end());
    assert_eq!(matcher.accept(b"c"), Ok(()));
    assert!(matcher.may_end());
    assert_eq!(matcher.accept(b"\xC3"), Ok(()));
    assert!(!matcher.may_end());
    assert_eq!(matcher.accept(b"a"), Err(Refusal::NotUtf8 { offset: 0, byte: 0x61 }));
    assert_eq!(matcher.accept(b"\xA8"), Err(Refusal::Character { offset: 0, character: 'è' }));
    assert_eq!(matcher.accept(b"\xA9"), Ok(()));
    assert!(matcher.may_end());
}

#[test]
fn refusals_say_what_is_wrong() {
    let messages = [
        (Refusal::Empty, "the piece is empty"),
        (Refusal::Nul { offset: 3 }, "NUL at byte 3 of the piece"),
        (Refusal::NotUtf8 { offset: 1, byte: 0xFF }, "no UTF-8: 0xFF at byte 1 of the piece"),
        (
            Refusal::Character { offset: 0, character: '\n' },
            "the grammar forbids '\\n' (U+000A) at byte 0 of the piece",
        ),
        (Refusal::PartialCharacter, "the grammar forbids every character that the piece's last bytes start"),
    ];
    for (refusal, message) in messages {
        assert_eq!(refusal.to_string(), message);
    }
}

#[test]
fn characters_may_be_split_anywhere() {
    let faces = grammar("root ::= ([ぁ-ゟ] | [à-ÿ] | [\\U0001F600-\\U0001F64F])+");
    let text = "あé😀ゟÿ🙏à";
    for first in 0..=text.len() {
        for second in first..=text.len() {
            let mut matcher = faces.matcher();
            let bytes = text.as_bytes();
            for piece in [&bytes[..first], &bytes[first..second], &bytes[second..]] {
                if !piece.is_empty() {
                    assert_eq!(matcher.accept(piece), Ok(()), "{first} {second}");
                }
            }
            assert!(matcher.may_end());
        }
    }
    let mut start = faces.matcher();
    let pieces: [(&[u8], bool); 12] = [
        (b"\xE3", true),
        (b"\xE3\x80", false),
        (b"\xE3\x81", true),
        (b"\xE3\x83", false),
        (b"\xE4", false),
        (b"\xC3", true),
        (b"\xC2", false),
        (b"\xF0", true),
        (b"\xF0\x9F", true),
        (b"\xF0\x9F\x98", true),
        (b"\xF0\x9F\x9A", false),
        (b"\x81", false),
    ];
    for (piece, expected) in pieces {
        assert_eq!(start.allows(piece), Ok(expected), "{piece:02X?}");
    }
}

#[test]
fn a_negated_class_is_cautious_with_partial_characters() {
    let mut matcher = grammar("root ::= [^é]+").matcher();
    assert_eq!(matcher.allows("è".as_bytes()), Ok(true));
    assert_eq!(matcher.allows(b"\xC3"), Ok(false));
    assert_eq!(matcher.allows(b"\xC4"), Ok(true));
    assert_eq!(matcher.allows(b"x\xE2\x82"), Ok(true));
}

#[test]
fn only_utf_8_is_text() {
    let mut anything = grammar("root ::= [^\\x00]*").matcher();
    let refused: [&[u8]; 12] = [
        b"\x80",
        b"\xC0\x80",
        b"\xC1",
        b"\xC3a",
        b"\xE0\x80",
        b"\xED\xA0\x80",
        b"\xF0\x80",
        b"\xF4\x90",
        b"\xF5",
        b"\xF8\x88\x80\x80\x80",
        b"\xFF",
        b"a\0b",
    ];
    for piece in refused {
        assert_eq!(anything.allows(piece), Ok(false), "{piece:02X?}");
    }
    for piece in ["\u{1}", "\u{7F}", "\u{D7FF}", "\u{E000}", "\u{10FFFF}"] {
        assert_eq!(anything.allows(piece.as_bytes()), Ok(true), "{piece:?}");
    }
}

#[test]
fn after_the_last_character_only_the_end_is_left() {
    let mut matcher = after("ab", &grammar("root ::= \"ab\"")).unwrap();
    assert!(matcher.may_end());
    for byte in 0..=u8::MAX {
        assert_eq!(matcher.allows(&[byte]), Ok(false));
    }
    let empty = grammar("root ::= \"\"");
    assert!(empty.matcher().may_end());
    assert_eq!(empty.matcher().allows(b"a"), Ok(false));
}

#[test]
fn clones_go_their_own_ways() {
    let mut one = grammar("root ::= \"a\"+ \"b\"").matcher();
    one.accept(b"a").unwrap();
    let mut other = one.clone();
    other.accept(b"b").unwrap();
    assert!(other.may_end() && !one.may_end());
    one.accept(b"aab").unwrap();
    assert!(one.may_end());
}
