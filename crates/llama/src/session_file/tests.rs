#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::io::Cursor;

use super::*;
use crate::untrusted::mutation::{peak_memory, Mutator};

const HPARAMS: [u8; 84] = [7; 84];

fn context() -> Expected {
    Expected {
        hparams_bytes: 84,
        n_vocab: 10,
        n_embedding: 0,
        logits_capacity: 40,
        n_ctx: 4,
        kv_bytes: 256,
        n_layer: 2,
        n_embd_k_gqa: 3,
        n_embd_v_gqa: 5,
        type_k: TensorType::F16,
        type_v: TensorType::F16,
    }
}

#[derive(Clone)]
struct Builder {
    magic: u32,
    version: u32,
    hparams: Vec<u8>,
    n_tokens: Option<u32>,
    tokens: Vec<i32>,
    rng_length: Option<u64>,
    rng: String,
    n_logits: u64,
    logits: usize,
    n_embedding: u64,
    embedding: usize,
    kv_bytes: u64,
    head: u32,
    size: u32,
    used: u32,
    /// Bytes per cell.
    data: usize,
    cells: Vec<(i32, Vec<i32>)>,
    n_sequences: Option<u64>,
    tail: usize,
}

fn rng(count: usize) -> String {
    let words: Vec<String> = (0..count as u32).map(|word| word.wrapping_mul(2_654_435_769).to_string()).collect();
    words.join(" ") + " 17"
}

/// Two of four cells are used, one by two sequences.
fn session() -> Builder {
    Builder {
        magic: MAGIC,
        version: 4,
        hparams: HPARAMS.to_vec(),
        n_tokens: None,
        tokens: vec![1, 9, 0],
        rng_length: None,
        rng: rng(RNG_NUMBERS - 1),
        n_logits: 20,
        logits: 20,
        n_embedding: 0,
        embedding: 0,
        kv_bytes: 256,
        head: 2,
        size: 4,
        used: 2,
        data: 2 * (3 + 5) * 2,
        cells: vec![(0, vec![0, 3]), (1, vec![0]), (-1, vec![]), (-1, vec![])],
        n_sequences: None,
        tail: 0,
    }
}

impl Builder {
    fn build(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend(self.magic.to_ne_bytes());
        out.extend(self.version.to_ne_bytes());
        out.extend(&self.hparams);
        out.extend(self.n_tokens.unwrap_or(self.tokens.len() as u32).to_ne_bytes());
        out.extend(self.tokens.iter().flat_map(|token| token.to_ne_bytes()));
        out.extend(self.state());
        out
    }

    fn state(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend(self.rng_length.unwrap_or(self.rng.len() as u64).to_ne_bytes());
        out.extend(self.rng.as_bytes());
        out.extend(self.n_logits.to_ne_bytes());
        out.resize(out.len() + 4 * self.logits, 1);
        out.extend(self.n_embedding.to_ne_bytes());
        out.resize(out.len() + 4 * self.embedding, 2);
        out.extend(self.kv_bytes.to_ne_bytes());
        out.extend(self.head.to_ne_bytes());
        out.extend(self.size.to_ne_bytes());
        out.extend(self.used.to_ne_bytes());
        out.resize(out.len() + self.data * self.head.min(8) as usize, 3);
        for (pos, sequences) in &self.cells {
            out.extend(pos.to_ne_bytes());
            out.extend(self.n_sequences.unwrap_or(sequences.len() as u64).to_ne_bytes());
            out.extend(sequences.iter().flat_map(|sequence| sequence.to_ne_bytes()));
        }
        out.resize(out.len() + self.tail, 4);
        out
    }
}

fn parse(bytes: &[u8], expected: &Expected) -> Result<SessionFile, FileError> {
    let mut reader = Reader::new(Cursor::new(bytes), bytes.len() as u64, Path::new("memory"));
    read(&mut reader, expected, |hparams| hparams == HPARAMS)
}

fn changed(change: impl FnOnce(&mut Builder)) -> String {
    let mut session = session();
    change(&mut session);
    parse(&session.build(), &context()).unwrap_err().to_string()
}

/// Where the length of the random number generator stands, and what follows the generator.
const RNG: usize = 8 + 84 + 4 + 12;

fn after_rng() -> usize {
    RNG + 8 + session().rng.len()
}

#[test]
fn reads_what_is_there() {
    let session = session();
    let read = parse(&session.build(), &context()).unwrap();
    assert_eq!(
        read,
        SessionFile { tokens: vec![1, 9, 0], state: session.state(), n_logits: 20, n_used: 2, n_used_without_data: 0 }
    );
    check_state(&session.state(), &context()).unwrap();
}

#[test]
fn refuses_other_files() {
    assert_eq!(parse(b"", &context()).unwrap_err().to_string(), "not a llama.cpp session: the file has 0 bytes");
    assert_eq!(
        changed(|session| session.magic = u32::from_ne_bytes(*b"algg")),
        "not a llama.cpp session: it starts with 'algg' instead of 'nsgg'"
    );
    assert_eq!(changed(|session| session.version = 3), "not supported: session version 3 (version 4 is read)");
    assert_eq!(changed(|session| session.hparams[0] = 0), "not a session of this model: it was saved with another one");
}

#[test]
fn refuses_bad_tokens() {
    for bad in [10, -1, i32::MAX] {
        assert_eq!(
            changed(|session| session.tokens[1] = bad),
            format!("malformed: token 1 is {bad}, which is not in the vocabulary of 10 tokens (at byte 100)")
        );
    }
    let size = session().build().len();
    assert_eq!(
        changed(|session| session.n_tokens = Some(u32::MAX)),
        format!(
            "malformed: 4294967295 tokens take at least 4 bytes each, but only {} bytes follow (at byte 96)",
            size - 96
        )
    );
}

#[test]
fn refuses_bad_random_number_generators() {
    let numbers = "of the random number generator";
    assert_eq!(
        changed(|session| session.rng_length = Some(65_537)),
        format!("malformed: the random number generator has 65537 bytes (at most 65536 are allowed) (at byte {RNG})")
    );
    assert_eq!(
        changed(|session| session.rng_length = Some(u64::MAX)),
        format!(
            "malformed: the random number generator has 18446744073709551615 bytes (at most 65536 are allowed) (at \
             byte {RNG})"
        )
    );
    for count in [0, RNG_NUMBERS - 2, RNG_NUMBERS] {
        assert_eq!(
            changed(|session| session.rng = rng(count)).split(" (at").next().unwrap(),
            match count {
                0 => format!("malformed: the random number generator has 1 numbers instead of {RNG_NUMBERS}"),
                RNG_NUMBERS => format!(
                    "malformed: number 624 {numbers} is '{}', but has to be from 0 to 624",
                    624_u32.wrapping_mul(2_654_435_769)
                ),
                _ => format!("malformed: the random number generator has 624 numbers instead of {RNG_NUMBERS}"),
            }
        );
    }
    for bad in ["-1", "+1", "0x1", "1e3", "4294967296", "99999999999999999999", "a", "\n1"] {
        let shown = bad.replace('\n', "\\n");
        assert_eq!(
            changed(|session| session.rng = format!("{bad} {}", session.rng)),
            format!(
                "malformed: number 0 {numbers} is '{shown}', but has to be from 0 to 4294967295 (at byte {})",
                RNG + 8
            )
        );
    }
}

#[test]
fn refuses_bad_logits_and_embeddings() {
    let position = after_rng();
    assert_eq!(
        changed(|session| session.n_logits = 50),
        "not a session for a context like this: it has 50 logits, but the context has room for 40: save and load with \
         the same batch size"
    );
    assert_eq!(
        changed(|session| session.n_logits = 21),
        format!("malformed: there are 21 logits, which are no whole number of rows of 10 (at byte {position})")
    );
    assert_eq!(
        changed(|session| session.n_embedding = 64),
        "not a session for a context like this: it has an embedding of 64 floats, but the context keeps one of 0: save \
         and load with the same setting of embedding"
    );
    let mut with_embedding = session();
    (with_embedding.n_embedding, with_embedding.embedding) = (6, 6);
    let mut expected = context();
    expected.n_embedding = 6;
    assert!(parse(&with_embedding.build(), &expected).is_ok());
    assert_eq!(
        parse(&session().build(), &expected).unwrap_err().to_string(),
        "not a session for a context like this: it has an embedding of 0 floats, but the context keeps one of 6: save \
         and load with the same setting of embedding"
    );
}

#[test]
fn refuses_bad_caches() {
    let position = after_rng() + 88 + 8;
    assert_eq!(
        changed(|session| session.size = 5),
        "not a session for a context like this: it has 5 cells in its KV cache, but the context has 4: save and load with \
         the same n_ctx"
    );
    for bad in [0, 255, u64::MAX] {
        assert_eq!(
            changed(|session| session.kv_bytes = bad),
            format!(
                "not a session for a context like this: its KV cache has {bad} bytes, but the context's has 256: save \
                 and load with the same types of keys and values"
            )
        );
    }
    assert_eq!(
        changed(|session| session.head = 5),
        format!("malformed: 5 cells are saved and 2 are used of a KV cache of 4 (at byte {})", position + 8)
    );
    assert_eq!(
        changed(|session| session.used = u32::MAX),
        format!("malformed: 2 cells are saved and 4294967295 are used of a KV cache of 4 (at byte {})", position + 8)
    );
    assert_eq!(
        changed(|session| session.used = 3),
        format!("malformed: 2 cells are used, but 3 were counted (at byte {})", position + 20 + 64)
    );
}

#[test]
fn refuses_bad_cells() {
    let position = after_rng() + 88 + 8 + 20 + 64;
    let cells = |cells: [(i32, Vec<i32>); 4]| changed(|session| session.cells = cells.to_vec());
    assert_eq!(
        cells([(-2, vec![]), (1, vec![0]), (2, vec![0]), (-1, vec![])]),
        format!("malformed: cell 0 has the position -2 (-1 is that of a free cell) (at byte {position})")
    );
    assert_eq!(
        cells([(-1, vec![0]), (1, vec![0]), (2, vec![0]), (-1, vec![])]),
        format!("malformed: cell 0 is free, but belongs to 1 sequences (at byte {position})")
    );
    for (bad, shown) in [(vec![-1], "-1 after -1"), (vec![2, 2], "2 after 2"), (vec![4, 3], "3 after 4")] {
        assert_eq!(
            cells([(0, bad), (1, vec![0]), (-1, vec![]), (-1, vec![])]),
            format!(
                "malformed: cell 0 belongs to sequence {shown}: they have to be at least 0 and in ascending order (at \
                 byte {position})"
            )
        );
    }
    let size = session().build().len();
    assert_eq!(
        changed(|session| session.n_sequences = Some(1 << 62)),
        format!(
            "malformed: 4611686018427387904 sequences of a cell take at least 4 bytes each, but only {} bytes follow \
             (at byte {})",
            size - position - 12,
            position + 12
        )
    );
    assert_eq!(
        changed(|session| session.tail = 1),
        format!("malformed: 1 bytes follow the end of the state (at byte {size})")
    );
}

#[test]
fn counts_cells_that_lost_their_data() {
    let mut session = session();
    session.head = 1;
    assert_eq!(parse(&session.build(), &context()).unwrap().n_used_without_data, 1);
    session.head = 0;
    assert_eq!(parse(&session.build(), &context()).unwrap().n_used_without_data, 2);
}

#[test]
fn refuses_caches_that_llama_cpp_mixes_up() {
    for (type_k, type_v) in [(TensorType::F32, TensorType::F16), (TensorType::Q8_0, TensorType::Q8_0)] {
        let expected = Expected { type_k, type_v, ..context() };
        assert_eq!(
            check_state(&session().state(), &expected).unwrap_err().to_string(),
            format!(
                "not supported: a session for a cache of keys of type {} and values of type {} (llama.cpp mixes them up \
                 unless both have the type f16, or both f32)",
                type_k.name(),
                type_v.name()
            )
        );
    }
}

#[test]
fn refuses_every_truncation() {
    let whole = session().build();
    for length in 0..whole.len() {
        assert!(parse(&whole[..length], &context()).is_err(), "{length} bytes of {}", whole.len());
    }
}

#[test]
fn survives_mutants() {
    let session = session();
    let original = session.build();
    // The generator is most of the file, and the least interesting part.
    let rng = RNG + 8..after_rng();
    let before = peak_memory();
    let mut mutator = Mutator::new(0x6767_736e);
    let mut accepted = 0;
    for round in 0..100_000 {
        let mut mutant = original.clone();
        if round % 10 == 0 {
            mutator.mutate(&mut mutant);
        } else {
            let (start, end) = mutant.split_at_mut(rng.end);
            let mut rest = end.to_vec();
            mutator.mutate(&mut rest);
            mutant = start.to_vec();
            mutant.extend(rest);
        }
        let Ok(read) = parse(&mutant, &context()) else { continue };
        accepted += 1;
        assert!(read.n_logits <= 40 && read.n_used <= 4);
        assert_eq!(read.state.len() + RNG, mutant.len());
        assert_eq!(read.state, mutant[RNG..]);
    }
    eprintln!("100000 mutants of sessions: {accepted} accepted");
    assert!(accepted > 1_000);
    assert!(peak_memory().saturating_sub(before) < 200 << 20);
}
