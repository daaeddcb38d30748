#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::io::Cursor;

use super::*;
use crate::untrusted::mutation::{peak_memory, Mutator};

#[derive(Clone)]
struct Record {
    n_dims: Option<i32>,
    name_length: Option<i32>,
    number: i32,
    dims: Vec<i32>,
    name: Vec<u8>,
    data: Option<usize>,
}

fn record(name: &str, number: i32, dims: &[i32]) -> Record {
    Record { n_dims: None, name_length: None, number, dims: dims.to_vec(), name: name.as_bytes().to_vec(), data: None }
}

#[derive(Clone)]
struct Builder {
    magic: u32,
    version: u32,
    r: i32,
    alpha: i32,
    records: Vec<Record>,
}

impl Builder {
    fn build(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend(self.magic.to_ne_bytes());
        out.extend(self.version.to_ne_bytes());
        out.extend(self.r.to_ne_bytes());
        out.extend(self.alpha.to_ne_bytes());
        for record in &self.records {
            out.extend(record.n_dims.unwrap_or(record.dims.len() as i32).to_ne_bytes());
            out.extend(record.name_length.unwrap_or(record.name.len() as i32).to_ne_bytes());
            out.extend(record.number.to_ne_bytes());
            out.extend(record.dims.iter().flat_map(|dim| dim.to_ne_bytes()));
            out.extend(&record.name);
            out.resize(out.len().next_multiple_of(32), 0);
            let elements: i64 = record.dims.iter().map(|&dim| i64::from(dim)).product();
            let bytes = record.data.unwrap_or_else(|| elements as usize * if record.number == 1 { 2 } else { 4 });
            out.resize(out.len() + bytes, 1);
        }
        out
    }
}

/// For a matrix of 8 times 6 and a vector of 8.
fn adapter() -> Builder {
    Builder {
        magic: MAGIC,
        version: 1,
        r: 4,
        alpha: 8,
        records: vec![
            record("a.weight.loraA", 1, &[4, 8]),
            record("a.weight.loraB", 0, &[4, 6]),
            record("b.weight.loraB", 0, &[1]),
            record("b.weight.loraA", 0, &[1, 8]),
        ],
    }
}

fn parse(bytes: &[u8]) -> Result<LoraFile, FileError> {
    read(&mut Reader::new(Cursor::new(bytes), bytes.len() as u64, Path::new("memory")))
}

fn changed(change: impl FnOnce(&mut Builder)) -> String {
    let mut adapter = adapter();
    change(&mut adapter);
    parse(&adapter.build()).unwrap_err().to_string()
}

fn model(name: &str) -> Option<([u64; 4], TensorType)> {
    match name {
        "a.weight" => Some(([8, 6, 1, 1], TensorType::F16)),
        "b.weight" => Some(([8, 1, 1, 1], TensorType::F32)),
        _ => None,
    }
}

#[test]
fn reads_what_is_there() {
    let adapter = parse(&adapter().build()).unwrap();
    assert_eq!((adapter.r, adapter.alpha), (4, 8));
    let tensor = |tensor_type, dims, offset| LoraTensor { tensor_type, dims, offset };
    // 16 bytes, then 12 + 8 + 14 of the first tensor, up to 64; 64 of its data; 34 of the second, up to 192; …
    assert_eq!(
        adapter.pairs,
        [
            LoraPair {
                target: "a.weight".into(),
                a: tensor(TensorType::F16, [4, 8], 64),
                b: tensor(TensorType::F32, [4, 6], 192),
            },
            LoraPair {
                target: "b.weight".into(),
                a: tensor(TensorType::F32, [1, 8], 384),
                b: tensor(TensorType::F32, [1, 1], 320),
            },
        ]
    );
    assert_eq!(adapter.pairs[0].rank(), 4);
    adapter.check_against(model).unwrap();
}

#[test]
fn refuses_other_files() {
    assert_eq!(parse(b"ab").unwrap_err().to_string(), "not a LoRA adapter (GGLA): the file has 2 bytes");
    assert_eq!(
        changed(|adapter| adapter.magic = u32::from_ne_bytes(*b"GGUF")),
        "not a LoRA adapter (GGLA): it starts with 'GGUF' instead of 'algg'"
    );
    assert_eq!(changed(|adapter| adapter.version = 2), "not supported: GGLA version 2 (version 1 is read)");
    for r in [0, -1, i32::MIN] {
        assert_eq!(
            changed(|adapter| adapter.r = r),
            format!("malformed: r is {r}, but has to be at least 1 (at byte 8)")
        );
    }
    assert_eq!(changed(|adapter| adapter.records.clear()), "malformed: the adapter has no tensors");
}

#[test]
fn refuses_bad_tensors() {
    let changed = |change: fn(&mut Record)| changed(|adapter| change(&mut adapter.records[0]));
    for (n_dims, change) in [
        (0, (|first| first.n_dims = Some(0)) as fn(&mut Record)),
        (3, |first| first.n_dims = Some(3)),
        (-1, |first| first.n_dims = Some(-1)),
    ] {
        assert_eq!(
            changed(change),
            format!("malformed: a tensor has {n_dims} dimensions (1 or 2 are allowed) (at byte 16)")
        );
    }
    for (length, change) in [
        (0, (|first| first.name_length = Some(0)) as fn(&mut Record)),
        (64, |first| first.name_length = Some(64)),
        (-1, |first| first.name_length = Some(-1)),
        (i32::MAX, |first| first.name_length = Some(i32::MAX)),
    ] {
        assert_eq!(
            changed(change),
            format!("malformed: a tensor's name has {length} bytes (1 to 63 are allowed) (at byte 16)")
        );
    }
    assert_eq!(
        changed(|first| (first.dims[1], first.data) = (0, Some(0))),
        "malformed: a tensor's dimension is 0, but has to be at least 1 (at byte 32)"
    );
    assert_eq!(
        changed(|first| (first.dims[0], first.data) = (-4, Some(0))),
        "malformed: a tensor's dimension is -4, but has to be at least 1 (at byte 28)"
    );
    assert_eq!(
        changed(|first| (first.dims, first.data) = (vec![i32::MAX, i32::MAX], Some(0))),
        "malformed: the data of 'a.weight.loraA' takes 9223372028264841218 bytes, but only 288 follow (at byte 64)"
    );
    assert_eq!(
        changed(|first| first.number = 2),
        "malformed: 'a.weight.loraA' has the type 2 (0, f32, and 1, f16, are allowed) (at byte 16)"
    );
    for (name, change) in [
        ("a.weight.loraC", (|first| first.name = b"a.weight.loraC".to_vec()) as fn(&mut Record)),
        (".loraA", |first| first.name = b".loraA".to_vec()),
        ("a", |first| first.name = b"a".to_vec()),
    ] {
        assert_eq!(
            changed(change),
            format!(
                "malformed: '{name}' is no name of a LoRA tensor, which ends with '.loraA' or '.loraB' (at byte 36)"
            )
        );
    }
    assert_eq!(
        changed(|first| first.name = b"\xff.loraA".to_vec()),
        "malformed: a tensor's name is no text: '\u{fffd}.loraA' (at byte 36)"
    );
    assert_eq!(
        changed(|first| first.name = b"a\0.loraA".to_vec()),
        "malformed: a tensor's name is no text: 'a\\0.loraA' (at byte 36)"
    );
}

#[test]
fn refuses_bad_pairs() {
    assert_eq!(
        changed(|adapter| drop(adapter.records.remove(0))),
        "malformed: there is a tensor 'a.weight.loraB', but no 'a.weight.loraA'"
    );
    assert_eq!(
        changed(|adapter| drop(adapter.records.remove(1))),
        "malformed: there is a tensor 'a.weight.loraA', but no 'a.weight.loraB'"
    );
    assert_eq!(
        changed(|adapter| adapter.records.push(adapter.records[0].clone())),
        "malformed: the tensor 'a.weight.loraA' occurs twice (at byte 436)"
    );
    assert_eq!(
        changed(|adapter| adapter.records[1].dims[0] = 3),
        "malformed: 'a.weight.loraA' has the rank 4, but 'a.weight.loraB' has 3"
    );
    assert_eq!(
        changed(|adapter| (adapter.records[0].number, adapter.records[1].number) = (0, 1)),
        "malformed: 'a.weight.loraA' has the type f32 and 'a.weight.loraB' has f16, which cannot be multiplied"
    );
}

#[test]
fn refuses_every_truncation() {
    let whole = adapter().build();
    // The tensors of the second pair are missing, which is a sound file.
    let first_pair = 288;
    for length in 0..whole.len() {
        assert_eq!(parse(&whole[..length]).is_ok(), length == first_pair, "{length} bytes of {}", whole.len());
    }
    assert_eq!(
        parse(&whole[..whole.len() - 1]).unwrap_err().to_string(),
        "malformed: the data of 'b.weight.loraA' takes 32 bytes, but only 31 follow (at byte 384)"
    );
}

#[test]
fn refuses_another_model() {
    let adapter = parse(&adapter().build()).unwrap();
    assert_eq!(
        adapter.check_against(|_| None).unwrap_err().to_string(),
        "not an adapter for this model: it changes the tensor 'a.weight', which the model does not have"
    );
    for dims in [[6, 8, 1, 1], [8, 6, 2, 1], [8, 7, 1, 1], [8, 1, 6, 1]] {
        let error = adapter.check_against(|_| Some((dims, TensorType::F32))).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "not an adapter for this model: it is for a tensor 'a.weight' of 8 times 6 elements, but the model's has \
                 the dimensions {dims:?}"
            )
        );
    }
    for tensor_type in TensorType::ALL {
        let result = adapter.check_against(|name| model(name).map(|(dims, _)| (dims, tensor_type)));
        let refused = ["iq2_xxs", "iq2_xs", "q8_1", "q8_K", "i8", "i16", "i32"].contains(&tensor_type.name());
        match result {
            Ok(()) => assert!(!refused, "{tensor_type:?}"),
            Err(error) => assert_eq!(
                error.to_string(),
                format!(
                    "not supported: adding an adapter to the tensor 'a.weight', which has the type {}",
                    tensor_type.name()
                )
            ),
        }
    }
}

#[test]
fn checks_the_base_model() {
    let adapter = parse(&adapter().build()).unwrap();
    let of_type = |tensor_type| move |name: &str| model(name).map(|(dims, _)| (dims, tensor_type));
    adapter.check_against_base(of_type(TensorType::Q4_0), model).unwrap();
    adapter.check_against_base(of_type(TensorType::Q4_0), of_type(TensorType::Q4_0)).unwrap();
    assert_eq!(
        adapter.check_against_base(of_type(TensorType::F16), of_type(TensorType::Q8_0)).unwrap_err().to_string(),
        "not supported: the base model's tensor 'a.weight' has the type q8_0, which cannot be converted to the model's, \
         f16: take a base model of type f16 or f32"
    );
    assert_eq!(
        adapter.check_against_base(of_type(TensorType::IQ2XS), model).unwrap_err().to_string(),
        "not supported: the base model's tensor 'a.weight' has the type f16, which cannot be converted to the model's, \
         iq2_xs: take a base model of type f16 or f32"
    );
    assert_eq!(
        adapter.check_against_base(model, |_| None).unwrap_err().to_string(),
        "not an adapter for this model: it changes the tensor 'a.weight', which the base model does not have"
    );
    assert_eq!(
        adapter.check_against_base(model, |_| Some(([8, 6, 2, 1], TensorType::F32))).unwrap_err().to_string(),
        "not a base of this model: its tensor 'a.weight' has the dimensions [8, 6, 2, 1], but the model's has [8, 6, 1, 1]"
    );
}

#[test]
fn survives_mutants() {
    let original = adapter().build();
    let before = peak_memory();
    let mut mutator = Mutator::new(0x6767_6c61);
    let mut accepted = 0;
    for _ in 0..100_000 {
        let mut mutant = original.clone();
        mutator.mutate(&mut mutant);
        let Ok(adapter) = parse(&mutant) else { continue };
        accepted += 1;
        for tensor in adapter.pairs.iter().flat_map(|pair| [&pair.a, &pair.b]) {
            let bytes = tensor.dims[0] * tensor.dims[1] * tensor.tensor_type.block_bytes();
            assert!(tensor.offset % 32 == 0 && tensor.offset + bytes <= mutant.len() as u64);
        }
        if adapter.check_against(model).is_ok() {
            assert!(adapter.pairs.iter().all(|pair| pair.a.dims[0] == pair.b.dims[0]));
        }
    }
    eprintln!("100000 mutants of adapters: {accepted} accepted");
    assert!(accepted > 1_000);
    assert!(peak_memory().saturating_sub(before) < 200 << 20);
}
