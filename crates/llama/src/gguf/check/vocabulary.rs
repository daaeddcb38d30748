//! The tokenizer's arrays, which `llm_load_vocab` reads as raw memory.

use std::hash::{BuildHasher, RandomState};

use super::super::{Array, GgufError, Strings};
use super::keys::{c_str, Keys};
use crate::untrusted::{quoted, FileError};

const MODEL: &str = "tokenizer.ggml.model";
const TOKENS: &str = "tokenizer.ggml.tokens";
const SCORES: &str = "tokenizer.ggml.scores";
const TYPES: &str = "tokenizer.ggml.token_type";
const MERGES: &str = "tokenizer.ggml.merges";

const MAX_TOKEN_TYPE: u32 = 6;
const BYTE_TOKEN: u32 = 6;

/// `llm_load_vocab` tries all ways to split a token, copying both parts each time: quadratic in its length. Real
/// vocabularies take up to 20 million steps.
const MAX_SPLITTING_STEPS: u64 = 1 << 30;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tokenizer {
    /// SentencePiece; llama.cpp's choice for names that it does not know.
    Spm,
    Bpe,
}

/// Checks the vocabulary and returns how many tokens it has.
pub(super) fn check(keys: &Keys<'_>) -> Result<u32, GgufError> {
    let model = keys.text(MODEL)?;
    let tokenizer = match keys.required(MODEL, model)? {
        b"gpt2" => Tokenizer::Bpe,
        _ => Tokenizer::Spm,
    };

    let tokens = keys.array(TOKENS)?;
    let Array::String(tokens) = keys.required(TOKENS, tokens)? else {
        return Err(FileError::malformed(format!("{TOKENS} is not an array of strings")));
    };
    let n_vocab = match u32::try_from(tokens.len()) {
        Ok(length) if length > 0 => length,
        _ => return Err(keys.fault(TOKENS, "empty", "an array of at least one token")),
    };

    check_tokens(tokens)?;
    check_scores(keys, tokens.len())?;
    check_types(keys, tokens, tokenizer)?;
    check_special_tokens(keys, tokenizer, n_vocab)?;
    match tokenizer {
        Tokenizer::Bpe => check_merges(keys)?,
        // llama_byte_to_token('\n')
        Tokenizer::Spm if !tokens.iter().any(|token| c_str(token) == b"<0x0A>") => {
            return Err(FileError::malformed(format!("{TOKENS} has no token '<0x0A>' for a newline")));
        }
        Tokenizer::Spm => {}
    }
    Ok(n_vocab)
}

fn check_tokens(tokens: &Strings) -> Result<(), GgufError> {
    check_texts(TOKENS, tokens)?;
    let mut steps = 0_u64;
    for (id, token) in tokens.iter().enumerate() {
        let length = token.len() as u64;
        steps = steps.saturating_add(length.saturating_mul(length));
        if steps > MAX_SPLITTING_STEPS {
            return Err(FileError::malformed(format!(
                "{TOKENS} has tokens that are too long ({length} bytes at {id})"
            )));
        }
    }
    match duplicate(tokens) {
        Some((id, earlier)) => Err(FileError::malformed(format!(
            "{TOKENS}[{id}] is {}, as {TOKENS}[{earlier}] is",
            quoted(c_str(tokens.get(id).unwrap_or_default()))
        ))),
        None => Ok(()),
    }
}

/// The numbers of a token and of an earlier one with the same text.
///
/// A `HashMap` of a large vocabulary would take longer than all else that is done to its file. A table of numbers stays
/// in the processor's cache, and the texts are looked at only where their hashes are equal.
fn duplicate(tokens: &Strings) -> Option<(usize, usize)> {
    // Nobody can make a file whose tokens meet.
    let seed = RandomState::new().hash_one(0);
    let plain = tokens.are_plain_text();
    let text = |token| if plain { token } else { c_str(token) };
    let hashes: Vec<u64> = tokens.iter().map(|token| hash(seed, text(token))).collect();
    // At most half full, so that a free place is near.
    let mask = (hashes.len() * 2).next_power_of_two() - 1;
    let mut places = vec![FREE; mask + 1];
    for (id, &hash) in hashes.iter().enumerate() {
        let mut place = hash as usize & mask;
        loop {
            let earlier = places.get_mut(place)?;
            if *earlier == FREE {
                *earlier = id as u32;
                break;
            }
            let earlier = *earlier as usize;
            if hashes.get(earlier) == Some(&hash) && tokens.get(earlier).map(text) == tokens.get(id).map(text) {
                return Some((id, earlier));
            }
            place = (place + 1) & mask;
        }
    }
    None
}

/// No token's number: there are fewer than `i32::MAX`.
const FREE: u32 = u32::MAX;

/// Multiplies and folds, eight bytes at a time.
fn hash(seed: u64, bytes: &[u8]) -> u64 {
    fn fold(a: u64, b: u64) -> u64 {
        let product = u128::from(a).wrapping_mul(u128::from(b));
        (product as u64) ^ (product >> 64) as u64
    }
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

    let start = fold(seed ^ bytes.len() as u64, ODD);
    let words = bytes.chunks_exact(8);
    let rest = words.remainder().iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
    words
        .filter_map(|word| word.try_into().ok().map(u64::from_le_bytes))
        .chain([rest])
        .fold(start, |state, word| fold(state ^ word, seed | 1))
}

/// `codepoints_from_utf8(word).size() > 0` is asserted, and `codepoint_from_utf8` throws.
fn check_texts(key: &str, texts: &Strings) -> Result<(), GgufError> {
    if texts.are_plain_text() {
        return Ok(());
    }
    for (index, text) in texts.iter().enumerate() {
        let text = c_str(text);
        if text.is_empty() {
            return Err(FileError::malformed(format!("{key}[{index}] is empty")));
        }
        if !is_lax_utf8(text) {
            return Err(FileError::malformed(format!("{key}[{index}] is not UTF-8: {}", quoted(text))));
        }
    }
    Ok(())
}

/// What llama.cpp takes for UTF-8: any lead byte with as many continuation bytes as it asks for, whatever code point
/// results.
fn is_lax_utf8(text: &[u8]) -> bool {
    let mut rest = text;
    while let Some((&lead, tail)) = rest.split_first() {
        let continuations = match lead.leading_ones() {
            0 => 0,
            ones @ 2..=4 => ones as usize - 1,
            _ => return false,
        };
        match tail.split_at_checked(continuations) {
            Some((bytes, after)) if bytes.iter().all(|byte| byte & 0xc0 == 0x80) => rest = after,
            _ => return false,
        }
    }
    true
}

/// Read as `float[n_vocab]`, whatever they are.
fn check_scores(keys: &Keys<'_>, n_vocab: usize) -> Result<(), GgufError> {
    let Some(scores) = keys.array(SCORES)? else {
        return Ok(());
    };
    let Array::F32(scores) = scores else {
        return Err(FileError::malformed(format!("{SCORES} is an array of {} instead of f32", scores.element_type())));
    };
    check_count(SCORES, scores.len(), n_vocab)?;
    match scores.iter().position(|score| score.is_nan()) {
        Some(id) => Err(FileError::malformed(format!("{SCORES}[{id}] is not a number"))),
        None => Ok(()),
    }
}

/// Read as `int[n_vocab]`, whatever they are.
fn check_types(keys: &Keys<'_>, tokens: &Strings, tokenizer: Tokenizer) -> Result<(), GgufError> {
    let Some(types) = keys.array(TYPES)? else {
        return Ok(());
    };
    let types: Vec<u32> = match types {
        // A negative one becomes too large, and is refused as that.
        Array::I32(types) => types.iter().map(|&number| number as u32).collect(),
        Array::U32(types) => types.clone(),
        _ => {
            return Err(FileError::malformed(format!(
                "{TYPES} is an array of {} instead of i32",
                types.element_type()
            )));
        }
    };
    check_count(TYPES, types.len(), tokens.len())?;
    for (id, (token, &number)) in tokens.iter().zip(&types).enumerate() {
        if number > MAX_TOKEN_TYPE {
            return Err(FileError::malformed(format!(
                "{TYPES}[{id}] is {}, but has to be from 0 to {MAX_TOKEN_TYPE}",
                number as i32
            )));
        }
        // llama_token_to_byte cuts the two digits out of the text.
        if tokenizer == Tokenizer::Spm && number == BYTE_TOKEN && !is_byte_token(c_str(token)) {
            return Err(FileError::malformed(format!(
                "{TOKENS}[{id}] is {}, but a byte token has to look like '<0x0A>'",
                quoted(token)
            )));
        }
    }
    Ok(())
}

fn is_byte_token(text: &[u8]) -> bool {
    matches!(text, [b'<', b'0', b'x', high, low, b'>'] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
}

fn check_count(key: &str, count: usize, n_vocab: usize) -> Result<(), GgufError> {
    if count != n_vocab {
        return Err(FileError::malformed(format!("{key} has {count} elements for a vocabulary of {n_vocab} tokens")));
    }
    Ok(())
}

/// Read as `gguf_str[n]`, whatever they are.
fn check_merges(keys: &Keys<'_>) -> Result<(), GgufError> {
    let merges = keys.array(MERGES)?;
    let merges = keys.required(MERGES, merges)?;
    let Array::String(merges) = merges else {
        return Err(FileError::malformed(format!("{MERGES} is an array of {} instead of str", merges.element_type())));
    };
    check_texts(MERGES, merges)?;
    for (rank, merge) in merges.iter().enumerate() {
        // The first byte may be a space itself; a NUL ends the text.
        if merge.iter().skip(1).find(|byte| matches!(byte, b' ' | 0)) != Some(&b' ') {
            return Err(FileError::malformed(format!(
                "{MERGES}[{rank}] is {}, but has to be two parts with a space between them",
                quoted(merge)
            )));
        }
    }
    Ok(())
}

/// An id outside of the vocabulary is replaced by a default, which llama.cpp then indexes with, be it inside or not.
fn check_special_tokens(keys: &Keys<'_>, tokenizer: Tokenizer, n_vocab: u32) -> Result<(), GgufError> {
    let (bos, eos, unknown) = match tokenizer {
        Tokenizer::Spm => (Some(1), Some(2), Some(0)),
        Tokenizer::Bpe => (Some(11), Some(11), None),
    };
    let specials = [
        ("bos", bos),
        ("eos", eos),
        ("unknown", unknown),
        ("seperator", None), // as llama.cpp spells it
        ("padding", None),
    ];
    for (name, default) in specials {
        let key = format!("tokenizer.ggml.{name}_token_id");
        let given = keys.u32(&key)?;
        match (given, default) {
            (Some(id), _) if id < n_vocab => {}
            (_, Some(default)) if default >= n_vocab => {
                let allowed = format!("inside of the vocabulary of {n_vocab} tokens");
                return Err(keys.fault(&key, given.unwrap_or(default), &allowed));
            }
            _ => {}
        }
    }
    keys.bool("tokenizer.ggml.add_bos_token")?;
    keys.bool("tokenizer.ggml.add_eos_token")?;
    Ok(())
}
