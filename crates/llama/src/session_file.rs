//! Session files of llama.cpp, without llama.cpp: whether one is what a context can take.
//!
//! `llama_set_state_data` of b1892 is told where a state starts, and not where it ends: it copies what the state's own
//! counts say. So [`SessionFile::open`] reads the file and proves that the counts agree with it, with each other and
//! with the context.

#[cfg(test)]
mod tests;

use std::io::Read;
use std::path::Path;

use crate::gguf::TensorType;
use crate::untrusted::{quoted, FileError, Reader};

/// `LLAMA_SESSION_MAGIC`.
const MAGIC: u32 = 0x6767_736e;
/// `LLAMA_SESSION_VERSION`.
const VERSION: u32 = 4;
/// `LLAMA_MAX_RNG_STATE`.
const MAX_RNG_BYTES: u64 = 64 * 1024;
/// The state of `std::mt19937` as a stream writes it: 624 words, and with GNU's library how many of them are used up.
const RNG_WORDS: usize = 624;
const RNG_NUMBERS: usize = if cfg!(any(target_vendor = "apple", target_os = "android", target_os = "freebsd")) {
    RNG_WORDS // LLVM's library
} else {
    RNG_WORDS + 1
};

/// What a context can take.
#[derive(Clone, Debug)]
pub struct Expected {
    /// `sizeof(llama_hparams)`.
    pub hparams_bytes: usize,
    /// Tokens of the vocabulary.
    pub n_vocab: u32,
    /// Floats of the embedding that the context keeps: the width of the model's, or 0 if it keeps none.
    pub n_embedding: u64,
    /// Floats for which the context has room in its logits.
    pub logits_capacity: u64,
    /// Cells of the KV cache.
    pub n_ctx: u32,
    /// Bytes of the KV cache's buffers.
    pub kv_bytes: u64,
    /// Blocks of the model.
    pub n_layer: u32,
    /// Width of the keys of one cell in one block.
    pub n_embd_k_gqa: u32,
    /// Width of the values of one cell in one block.
    pub n_embd_v_gqa: u32,
    /// The type of the cached keys.
    pub type_k: TensorType,
    /// The type of the cached values.
    pub type_v: TensorType,
}

impl Expected {
    /// Whether llama.cpp saves and restores the cache as it is. It takes the size of an element of the keys for that of
    /// the values, and that of a block for that of an element.
    pub const fn has_plain_cache(&self) -> bool {
        !self.type_k.is_quantized()
            && !self.type_v.is_quantized()
            && self.type_k.block_bytes() == self.type_v.block_bytes()
    }
}

/// A session that fits a context.
///
/// # Examples
///
/// ```
/// use llama::gguf::TensorType;
/// use llama::session_file::{Expected, SessionFile};
///
/// let context = Expected {
///     hparams_bytes: 84,
///     n_vocab: 640,
///     n_embedding: 0,
///     logits_capacity: 640 * 512,
///     n_ctx: 256,
///     kv_bytes: 2 * 2 * 256 * 128 * 2,
///     n_layer: 2,
///     n_embd_k_gqa: 128,
///     n_embd_v_gqa: 128,
///     type_k: TensorType::F16,
///     type_v: TensorType::F16,
/// };
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/tiny/tiny.gguf");
/// let error = SessionFile::open(path, &context, |_| true).unwrap_err();
/// assert_eq!(error.to_string(), "not a llama.cpp session: it starts with 'GGUF' instead of 'nsgg'");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionFile {
    /// The tokens that were saved with it. Each is in the vocabulary.
    pub tokens: Vec<i32>,
    /// The state, of which each byte was looked at: what `llama_set_state_data` may be given.
    pub state: Vec<u8>,
    /// How many logits the state has: a whole number of rows.
    pub n_logits: u64,
    /// How many cells are in use.
    pub n_used: u32,
    /// How many of them have no keys and values in the file. llama.cpp saves those of the cells before its next free
    /// one only, and loses the others. A context that takes such a state continues with whatever its cache had.
    pub n_used_without_data: u32,
}

impl SessionFile {
    /// Reads the session at `path` for a context. `is_of_model` is asked whether the parameters that the session has of
    /// its model, `Expected::hparams_bytes` bytes, are those of the context's.
    ///
    /// # Errors
    ///
    /// [`FileError::Io`] if it cannot be read, [`FileError::WrongKind`] if it is no session, or one of another model or
    /// of a context with other parameters, [`FileError::Unsupported`] if its version is not 4 or the context's cache is
    /// of a kind that cannot be restored, and [`FileError::Malformed`] if it contradicts itself or has other than its
    /// size.
    pub fn open(
        path: impl AsRef<Path>,
        expected: &Expected,
        is_of_model: impl FnOnce(&[u8]) -> bool,
    ) -> Result<Self, FileError> {
        read(&mut Reader::open(path.as_ref())?, expected, is_of_model)
    }
}

/// Proves that `llama_set_state_data` reads `state` and not more, and that the context is sound afterwards.
///
/// # Errors
///
/// As [`SessionFile::open`], with positions counted from the start of the state.
pub fn check_state(state: &[u8], expected: &Expected) -> Result<(), FileError> {
    let mut reader = Reader::new(state, state.len() as u64, Path::new("a state"));
    read_state(&mut reader, expected, Vec::new()).map(|_| ())
}

fn read<R: Read>(
    reader: &mut Reader<R>,
    expected: &Expected,
    is_of_model: impl FnOnce(&[u8]) -> bool,
) -> Result<SessionFile, FileError> {
    let wrong_kind = |found: String| FileError::WrongKind { expected: "a llama.cpp session", found };
    if reader.size() < 4 {
        return Err(wrong_kind(format!("the file has {} bytes", reader.size())));
    }
    let magic = reader.u32("the magic")?;
    if magic != MAGIC {
        return Err(wrong_kind(format!("it starts with {} instead of 'nsgg'", quoted(&magic.to_ne_bytes()))));
    }
    let version = reader.u32("the version")?;
    if version != VERSION {
        return Err(FileError::Unsupported(format!("session version {version} (version {VERSION} is read)")));
    }
    let hparams = reader.bytes(expected.hparams_bytes as u64, "the model's parameters")?;
    if !is_of_model(&hparams) {
        return Err(FileError::WrongKind {
            expected: "a session of this model",
            found: "it was saved with another one".into(),
        });
    }
    let tokens = read_tokens(reader, expected)?;
    let state = read_state(reader, expected, tokens)?;
    Ok(state)
}

fn read_tokens<R: Read>(reader: &mut Reader<R>, expected: &Expected) -> Result<Vec<i32>, FileError> {
    let count = reader.u32("the number of tokens")?;
    reader.expect(u64::from(count), 4, "tokens")?;
    let mut tokens = Vec::new();
    for index in 0..count {
        let position = reader.position();
        let token = reader.i32("a token")?;
        if !u32::try_from(token).is_ok_and(|token| token < expected.n_vocab) {
            return Err(FileError::malformed_at(
                position,
                format!("token {index} is {token}, which is not in the vocabulary of {} tokens", expected.n_vocab),
            ));
        }
        tokens.push(token);
    }
    Ok(tokens)
}

/// Reads on, and keeps all that was read.
struct Copy<'a, R> {
    reader: &'a mut Reader<R>,
    bytes: Vec<u8>,
}

impl<R: Read> Copy<'_, R> {
    fn u32(&mut self, what: &str) -> Result<u32, FileError> {
        let number = self.reader.u32(what)?;
        self.bytes.extend(number.to_ne_bytes());
        Ok(number)
    }

    fn i32(&mut self, what: &str) -> Result<i32, FileError> {
        let number = self.reader.i32(what)?;
        self.bytes.extend(number.to_ne_bytes());
        Ok(number)
    }

    fn u64(&mut self, what: &str) -> Result<u64, FileError> {
        let number = self.reader.u64(what)?;
        self.bytes.extend(number.to_ne_bytes());
        Ok(number)
    }

    /// Returns the place of the bytes among the kept ones.
    fn bytes(&mut self, count: u64, what: &str) -> Result<std::ops::Range<usize>, FileError> {
        let start = self.bytes.len();
        self.reader.append(&mut self.bytes, count, what)?;
        Ok(start..self.bytes.len())
    }

    const fn position(&self) -> u64 {
        self.reader.position()
    }
}

fn read_state<R: Read>(
    reader: &mut Reader<R>,
    expected: &Expected,
    tokens: Vec<i32>,
) -> Result<SessionFile, FileError> {
    if !expected.has_plain_cache() {
        return Err(FileError::Unsupported(format!(
            "a session for a cache of keys of type {} and values of type {} (llama.cpp mixes them up unless both have \
             the type f16, or both f32)",
            expected.type_k.name(),
            expected.type_v.name()
        )));
    }
    let mut copy = Copy { reader, bytes: Vec::new() };
    check_rng(&mut copy)?;
    let n_logits = check_logits(&mut copy, expected)?;
    check_embedding(&mut copy, expected)?;
    let cache = check_cache(&mut copy, expected)?;
    let n_used_without_data = check_cells(&mut copy, expected, &cache)?;
    if copy.reader.remaining() > 0 {
        return Err(copy.reader.here(format!("{} bytes follow the end of the state", copy.reader.remaining())));
    }
    Ok(SessionFile { tokens, state: copy.bytes, n_logits, n_used: cache.used, n_used_without_data })
}

/// A stream reads it, and an assertion that it could.
fn check_rng<R: Read>(copy: &mut Copy<'_, R>) -> Result<(), FileError> {
    let position = copy.position();
    let length = copy.u64("the length of the random number generator")?;
    if length > MAX_RNG_BYTES {
        return Err(FileError::malformed_at(
            position,
            format!("the random number generator has {length} bytes (at most {MAX_RNG_BYTES} are allowed)"),
        ));
    }
    let position = copy.position();
    let range = copy.bytes(length, "the random number generator")?;
    let text = copy.bytes.get(range).unwrap_or_default();
    let fault = |what: String| FileError::malformed_at(position, what);

    let mut count = 0_usize;
    for number in text.split(|&byte| byte == b' ').filter(|number| !number.is_empty()) {
        // The last is an index: past the end is as good as at the end, but no state that was saved.
        let limit = if count == RNG_WORDS { RNG_WORDS as u64 } else { u64::from(u32::MAX) };
        let value = decimal(number).filter(|value| *value <= limit);
        if value.is_none() {
            return Err(fault(format!(
                "number {count} of the random number generator is {}, but has to be from 0 to {limit}",
                quoted(number)
            )));
        }
        count = count.saturating_add(1);
    }
    if count != RNG_NUMBERS {
        return Err(fault(format!("the random number generator has {count} numbers instead of {RNG_NUMBERS}")));
    }
    Ok(())
}

/// Digits and nothing else, at most as many as 32 bits need.
fn decimal(text: &[u8]) -> Option<u64> {
    if text.len() > 10 || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn check_logits<R: Read>(copy: &mut Copy<'_, R>, expected: &Expected) -> Result<u64, FileError> {
    let position = copy.position();
    let count = copy.u64("the number of logits")?;
    if count > expected.logits_capacity {
        return Err(other_context(format!(
            "it has {count} logits, but the context has room for {}: save and load with the same batch size",
            expected.logits_capacity
        )));
    }
    if count.checked_rem(u64::from(expected.n_vocab)) != Some(0) {
        return Err(FileError::malformed_at(
            position,
            format!("there are {count} logits, which are no whole number of rows of {}", expected.n_vocab),
        ));
    }
    copy.reader.expect(count, 4, "logits")?;
    copy.bytes(count.saturating_mul(4), "the logits")?;
    Ok(count)
}

fn check_embedding<R: Read>(copy: &mut Copy<'_, R>, expected: &Expected) -> Result<(), FileError> {
    let count = copy.u64("the length of the embedding")?;
    if count != expected.n_embedding {
        return Err(other_context(format!(
            "it has an embedding of {count} floats, but the context keeps one of {}: save and load with the same setting \
             of embedding",
            expected.n_embedding
        )));
    }
    copy.reader.expect(count, 4, "floats of an embedding")?;
    copy.bytes(count.saturating_mul(4), "the embedding")?;
    Ok(())
}

fn other_context(found: String) -> FileError {
    FileError::WrongKind { expected: "a session for a context like this", found }
}

struct Cache {
    /// Cells of which there are keys and values.
    head: u32,
    used: u32,
}

fn check_cache<R: Read>(copy: &mut Copy<'_, R>, expected: &Expected) -> Result<Cache, FileError> {
    let position = copy.position();
    let bytes = copy.u64("the size of the KV cache")?;
    let head_position = copy.position();
    let head = copy.u32("the number of saved cells")?;
    let size = copy.u32("the number of cells")?;
    let used = copy.u32("the number of used cells")?;
    let n_ctx = expected.n_ctx;
    if size != n_ctx {
        return Err(other_context(format!(
            "it has {size} cells in its KV cache, but the context has {n_ctx}: save and load with the same n_ctx"
        )));
    }
    if bytes != expected.kv_bytes {
        return Err(other_context(format!(
            "its KV cache has {bytes} bytes, but the context's has {}: save and load with the same types of keys and \
             values",
            expected.kv_bytes
        )));
    }
    if head > n_ctx || used > n_ctx {
        return Err(FileError::malformed_at(
            head_position,
            format!("{head} cells are saved and {used} are used of a KV cache of {n_ctx}"),
        ));
    }
    // Keys and values of all blocks, of the first cells.
    let width = u64::from(expected.n_embd_k_gqa).checked_add(u64::from(expected.n_embd_v_gqa));
    let data = width
        .and_then(|width| width.checked_mul(expected.type_k.block_bytes()))
        .and_then(|bytes| bytes.checked_mul(u64::from(head)))
        .and_then(|bytes| bytes.checked_mul(u64::from(expected.n_layer)));
    let Some(data) = data else {
        return Err(FileError::malformed_at(position, "the KV cache is too large"));
    };
    copy.bytes(data, "the data of the KV cache")?;
    Ok(Cache { head, used })
}

/// Returns how many cells are used and have no data.
fn check_cells<R: Read>(copy: &mut Copy<'_, R>, expected: &Expected, cache: &Cache) -> Result<u32, FileError> {
    let (mut used, mut without_data) = (0_u32, 0_u32);
    let start = copy.position();
    copy.reader.expect(u64::from(expected.n_ctx), 12, "cells")?;
    for cell in 0..expected.n_ctx {
        let position = copy.position();
        let fault = |what: String| FileError::malformed_at(position, format!("cell {cell} {what}"));
        let pos = copy.i32("a cell's position")?;
        let count = copy.u64("a cell's number of sequences")?;
        if pos < -1 {
            return Err(fault(format!("has the position {pos} (-1 is that of a free cell)")));
        }
        if pos == -1 && count > 0 {
            return Err(fault(format!("is free, but belongs to {count} sequences")));
        }
        copy.reader.expect(count, 4, "sequences of a cell")?;
        let mut previous = -1;
        for _ in 0..count {
            let sequence = copy.i32("a sequence")?;
            // A set writes them.
            if sequence <= previous {
                let allowed = "they have to be at least 0 and in ascending order";
                return Err(fault(format!("belongs to sequence {sequence} after {previous}: {allowed}")));
            }
            previous = sequence;
        }
        if pos >= 0 {
            used = used.saturating_add(1);
            without_data = without_data.saturating_add(u32::from(cell >= cache.head));
        }
    }
    if used != cache.used {
        return Err(FileError::malformed_at(start, format!("{used} cells are used, but {} were counted", cache.used)));
    }
    Ok(without_data)
}
