//! Headers that were changed by chance: whatever is read, nothing panics, nothing takes memory for promises, and what
//! is accepted is sound.

use super::super::write::{model, model_with_experts, ARCHITECTURES};
use super::super::{check_model, Gguf, TensorType};
use super::parse;
use crate::untrusted::mutation::{peak_memory, Mutator};

const MUTANTS: u32 = 30_000;

#[test]
fn survives_mutants() {
    let mut originals: Vec<_> = ARCHITECTURES.iter().map(|name| model(name).header()).collect();
    originals.push(model_with_experts(2, 1, TensorType::F16).header());
    let before = peak_memory();

    let mut mutator = Mutator::new(0x6777_6675);
    let (mut read, mut accepted) = (0, 0);
    for round in 0..MUTANTS {
        let (header, size) = &originals[round as usize % originals.len()];
        let mut mutant = header.clone();
        mutator.mutate(&mut mutant);
        // A truncated header is that of a truncated file.
        let size = if mutant.len() < header.len() { mutant.len() as u64 } else { *size };
        let Ok(gguf) = parse(&mutant, size) else { continue };
        read += 1;
        assert_sound(&gguf);
        let _ = check_model(&gguf, &[], true);
        accepted += u32::from(check_model(&gguf, &[], false).is_ok());
    }
    eprintln!("{MUTANTS} mutants of models: {read} read, {accepted} accepted");
    assert!(read > MUTANTS / 20 && accepted > 0 && accepted < read);
    assert!(peak_memory().saturating_sub(before) < 200 << 20);
}

/// What the tensors of a file promise to whoever maps it.
fn assert_sound(gguf: &Gguf) {
    let mut spans: Vec<(u64, u64)> = gguf
        .tensors
        .iter()
        .map(|tensor| {
            let elements: u64 = tensor.dims.iter().product();
            let kind = tensor.tensor_type;
            assert_eq!(tensor.n_bytes, elements / kind.block_size() * kind.block_bytes());
            let start = gguf.data_offset + tensor.offset;
            (start, start + tensor.n_bytes)
        })
        .collect();
    spans.sort_unstable();
    assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0));
    assert!(spans.iter().all(|span| span.1 <= gguf.file_size && span.0 % gguf.alignment == 0));
}
