//! What a model must not say.

use std::path::Path;
use std::time::{Duration, Instant};

use super::super::write::{model, model_with_experts, Builder, ARCHITECTURES, N_CTX, N_EMBD, N_FF};
use super::super::{check_model, Array, Gguf, GgufError, OverrideValue, Strings, TensorType, Value};
use super::{parse_built, refusal};

fn check(model: &Builder) -> Result<(), GgufError> {
    check_model(&parse_built(model)?, &[], false)
}

fn changed(architecture: &str, change: impl FnOnce(&mut Builder)) -> String {
    let mut model = model(architecture);
    change(&mut model);
    refusal(check(&model))
}

fn llama(change: impl FnOnce(&mut Builder)) -> String {
    changed("llama", change)
}

fn overridden(architecture: &str, key: &str, value: OverrideValue) -> Result<(), GgufError> {
    check_model(&parse_built(&model(architecture)).unwrap(), &[(key.into(), value)], false)
}

#[test]
fn accepts_sound_models() {
    for architecture in ARCHITECTURES {
        check(&model(architecture)).unwrap_or_else(|error| panic!("{architecture}: {error}"));
    }
    for tensor_type in [TensorType::F32, TensorType::F16, TensorType::Q4_1] {
        check(&model_with_experts(4, 2, tensor_type)).unwrap();
    }
}

#[test]
fn accepts_every_type_that_can_be_computed_with() {
    for tensor_type in TensorType::ALL.into_iter().filter(|known| known.block_size() <= 32) {
        let mut model = model("llama");
        model.tensor_mut("blk.0.attn_q.weight").number = tensor_type.number();
        assert_eq!(check(&model).is_ok(), tensor_type.multiplies_with().is_some(), "{tensor_type:?}");
    }
}

#[test]
fn checks_the_vocabulary_only_if_asked() {
    let vocabulary_only = |model: &Builder| check_model(&parse_built(model).unwrap(), &[], true);
    let mut gptneox = model("gptneox");
    gptneox.tensors.clear();
    vocabulary_only(&gptneox).unwrap();
    assert_eq!(
        refusal(check(&model("gptneox"))),
        "not supported: more than the vocabulary of a model of the architecture gptneox"
    );
    // llama.cpp prints the number of heads per group of a vocabulary, too.
    gptneox.u32("gptneox.attention.head_count_kv", 0);
    assert_eq!(
        refusal(vocabulary_only(&gptneox)),
        "malformed: gptneox.attention.head_count_kv is 0, but has to be at least 1"
    );
}

#[test]
fn refuses_unknown_architectures() {
    assert_eq!(
        llama(|model| _ = model.text("general.architecture", "mamba")),
        "not supported: the architecture 'mamba' (the bundled llama.cpp knows llama, falcon, gpt2, gptj, gptneox, mpt, \
         baichuan, starcoder, persimmon, refact, bloom, stablelm, qwen, phi2, plamo)"
    );
    assert_eq!(llama(|model| _ = model.remove("general.architecture")), "malformed: general.architecture is missing");
    assert_eq!(
        llama(|model| _ = model.u32("general.architecture", 1)),
        "malformed: general.architecture has the type u32 instead of str"
    );
    assert_eq!(
        llama(|model| _ = model.text("general.file_type", "f16")),
        "malformed: general.file_type has the type str instead of u32"
    );
}

#[test]
fn refuses_bad_numbers() {
    let cases: [(&str, &str, u32, &str); 22] = [
        ("llama", "context_length", 0, "from 1 to 16777216"),
        ("llama", "context_length", 1 << 31, "from 1 to 16777216"),
        ("llama", "attention.head_count", 0, "at least 1"),
        ("llama", "attention.head_count_kv", 0, "at least 1"),
        ("llama", "expert_count", 9, "at most 8"),
        ("llama", "expert_used_count", 1, "0, as there are no experts"),
        ("llama", "embedding_length", 0, "from 1 to 262144"),
        ("llama", "embedding_length", 1 << 31, "from 1 to 262144"),
        ("llama", "feed_forward_length", 0, "from 1 to 1048576"),
        ("qwen", "feed_forward_length", 1, "from 2 to 1048576"),
        ("llama", "attention.head_count", 3, "a divisor of the embedding length, 128"),
        ("llama", "attention.head_count", 256, "a divisor of the embedding length, 128"),
        ("llama", "attention.head_count_kv", 3, "a divisor of the number of heads, 2"),
        ("qwen", "attention.head_count_kv", 1, "the number of heads, 2"),
        ("llama", "attention.key_length", 32, "the embedding length by the number of heads, 64"),
        ("mpt", "attention.value_length", 0, "the embedding length by the number of heads, 64"),
        ("llama", "rope.dimension_count", 32, "the width of a head, 64"),
        ("persimmon", "rope.dimension_count", 64, "half of the width of a head, 32"),
        ("stablelm", "rope.dimension_count", 0, "an even number from 2 to the width of a head, 64"),
        ("phi2", "rope.dimension_count", 31, "an even number from 2 to the width of a head, 64"),
        ("qwen", "rope.dimension_count", 66, "an even number from 2 to the width of a head, 64"),
        ("llama", "block_count", 0, "at least 1"),
    ];
    for (architecture, suffix, value, allowed) in cases {
        let key = format!("{architecture}.{suffix}");
        assert_eq!(
            changed(architecture, |model| _ = model.u32(&key, value)),
            format!("malformed: {key} is {value}, but has to be {allowed}")
        );
        let value_overridden = OverrideValue::Int(i64::from(value) - (1 << 32));
        assert_eq!(
            refusal(overridden(architecture, &key, value_overridden)),
            format!("malformed: {key} is {value} (by an override), but has to be {allowed}")
        );
    }
    // Positions are learned: nothing turns.
    let mut gpt2 = model("gpt2");
    gpt2.u32("gpt2.rope.dimension_count", 7);
    check(&gpt2).unwrap();
}

#[test]
fn refuses_odd_heads() {
    let mut model = model("llama");
    model.u32("llama.attention.head_count", 128);
    model.u32("llama.attention.head_count_kv", 128);
    model.u32("llama.rope.dimension_count", 1);
    assert_eq!(
        refusal(check(&model)),
        "malformed: llama.attention.head_count is 128, but has to be so that heads have an even number of elements, \
         not 1"
    );
    assert_eq!(
        changed("persimmon", |model| {
            model.u32("persimmon.attention.head_count", 4);
            model.u32("persimmon.attention.head_count_kv", 4);
        }),
        "malformed: persimmon.attention.head_count is 4, but has to be so that heads have a multiple of 64 elements"
    );
}

#[test]
fn refuses_more_blocks_than_there_is_room_for() {
    assert_eq!(
        llama(|model| _ = model.u32("llama.block_count", u32::MAX)),
        "malformed: llama.block_count is 4294967295, but has to be at most 172, for which the bundled llama.cpp has \
         room"
    );
    assert_eq!(
        changed("stablelm", |model| _ = model.u32("stablelm.block_count", 46)),
        "malformed: stablelm.block_count is 46, but has to be at most 45, for which the bundled llama.cpp has room"
    );
    assert_eq!(
        llama(|model| _ = model.u32("llama.block_count", 100)),
        "malformed: llama.block_count is 100, but there are only 21 tensors"
    );
    assert_eq!(
        llama(|model| _ = model.u32("llama.block_count", 3)),
        "malformed: the tensor 'blk.2.attn_norm.weight' is missing"
    );
    assert_eq!(
        changed("baichuan", |model| _ = model.u32("baichuan.block_count", 31)),
        "malformed: baichuan.block_count is 31, but has to be 32 or 40 for this architecture"
    );
}

#[test]
fn refuses_missing_and_mistyped_numbers() {
    for suffix in [
        "context_length",
        "embedding_length",
        "block_count",
        "feed_forward_length",
        "attention.head_count",
        "attention.layer_norm_rms_epsilon",
    ] {
        let key = format!("llama.{suffix}");
        assert_eq!(llama(|model| _ = model.remove(&key)), format!("malformed: {key} is missing"));
        let expected = if suffix.ends_with("epsilon") { "f32" } else { "u32" };
        assert_eq!(
            llama(|model| _ = model.set(&key, Value::U64(1))),
            format!("malformed: {key} has the type u64 instead of {expected}")
        );
    }
    assert_eq!(
        llama(|model| _ = model.u32("llama.rope.scaling.finetuned", 1)),
        "malformed: llama.rope.scaling.finetuned has the type u32 instead of bool"
    );
    assert_eq!(
        changed("mpt", |model| _ = model.remove("mpt.attention.max_alibi_bias")),
        "malformed: mpt.attention.max_alibi_bias is missing"
    );
}

#[test]
fn refuses_bad_floats() {
    for bad in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let key = "llama.attention.layer_norm_rms_epsilon";
        assert_eq!(
            llama(|model| _ = model.f32(key, bad)),
            format!("malformed: {key} is {bad}, but has to be a positive number")
        );
        let key = "llama.rope.freq_base";
        assert_eq!(
            refusal(overridden("llama", key, OverrideValue::Float(f64::from(bad)))),
            format!("malformed: {key} is {bad} (by an override), but has to be a positive number")
        );
    }
    for key in ["llama.rope.scaling.factor", "llama.rope.scale_linear"] {
        assert_eq!(
            llama(|model| _ = model.f32(key, -0.5)),
            format!("malformed: {key} is -0.5, but has to be zero or a positive number")
        );
    }
    // The old key does not count when the new one is there; zero means none.
    let mut model = model("llama");
    model.f32("llama.rope.scale_linear", f32::NAN);
    model.f32("llama.rope.scaling.factor", 0.0);
    check(&model).unwrap();

    assert_eq!(
        changed("mpt", |model| _ = model.f32("mpt.attention.max_alibi_bias", f32::NAN)),
        "malformed: mpt.attention.max_alibi_bias is NaN, but has to be a finite number"
    );
    assert_eq!(
        llama(|model| _ = model.u32("llama.rope.scaling.original_context_length", 1 << 31)),
        "malformed: llama.rope.scaling.original_context_length is 2147483648, but has to be at most 2147483647"
    );
    assert_eq!(
        llama(|model| _ = model.text("llama.rope.scaling.type", "dynamic")),
        "malformed: llama.rope.scaling.type is 'dynamic', but has to be 'none', 'linear' or 'yarn'"
    );
}

#[test]
fn applies_overrides_where_llama_cpp_does() {
    // Of another type: llama.cpp warns, and takes the file's.
    overridden("llama", "llama.attention.head_count", OverrideValue::Float(0.0)).unwrap();
    // Missing in the file.
    let mut headless = model("llama");
    headless.remove("llama.attention.head_count");
    let gguf = parse_built(&headless).unwrap();
    let key = "llama.attention.head_count".to_owned();
    check_model(&gguf, &[(key.clone(), OverrideValue::Int(2))], false).unwrap();
    // The first counts, and an empty key ends the list.
    let overrides = [(key.clone(), OverrideValue::Int(2)), (key.clone(), OverrideValue::Int(0))];
    check_model(&gguf, &overrides, false).unwrap();
    let overrides = [(String::new(), OverrideValue::Int(0)), (key, OverrideValue::Int(2))];
    assert_eq!(refusal(check_model(&gguf, &overrides, false)), "malformed: llama.attention.head_count is missing");
    assert_eq!(
        refusal(overridden("llama", "tokenizer.ggml.model", OverrideValue::Int(1))),
        "malformed: tokenizer.ggml.model is a string, which llama.cpp does not let anybody override"
    );
    // Not asked for with get_key.
    overridden("llama", "general.file_type", OverrideValue::Int(-1)).unwrap();
}

#[test]
fn refuses_bad_vocabularies() {
    let tokens = |tokens: &[&str]| llama(|model| _ = model.strings("tokenizer.ggml.tokens", tokens));
    assert_eq!(tokens(&[]), "malformed: tokenizer.ggml.tokens is empty, but has to be an array of at least one token");
    assert_eq!(tokens(&["a", "b", ""]), "malformed: tokenizer.ggml.tokens[2] is empty");
    // A C string ends at the NUL.
    assert_eq!(tokens(&["a", "\0b"]), "malformed: tokenizer.ggml.tokens[1] is empty");
    assert_eq!(
        tokens(&["a", "b", "a\0b"]),
        "malformed: tokenizer.ggml.tokens[2] is 'a', as tokenizer.ggml.tokens[0] is"
    );
    let long = "x".repeat(40_000);
    assert_eq!(
        tokens(&["a", &long]),
        "malformed: tokenizer.ggml.tokens has tokens that are too long (40000 bytes at 1)"
    );
    let not_text: Strings = [&b"a"[..], b"\xff"].into_iter().collect();
    assert_eq!(
        llama(|model| _ = model.set("tokenizer.ggml.tokens", Value::Array(Array::String(not_text)))),
        "malformed: tokenizer.ggml.tokens[1] is not UTF-8: '\u{fffd}'"
    );
    assert_eq!(
        llama(|model| _ = model.set("tokenizer.ggml.tokens", Value::Array(Array::U8(vec![0; 265])))),
        "malformed: tokenizer.ggml.tokens is not an array of strings"
    );
    assert_eq!(llama(|model| _ = model.remove("tokenizer.ggml.tokens")), "malformed: tokenizer.ggml.tokens is missing");
    assert_eq!(llama(|model| _ = model.remove("tokenizer.ggml.model")), "malformed: tokenizer.ggml.model is missing");
}

#[test]
fn refuses_arrays_that_do_not_fit_the_vocabulary() {
    let with = |key: &str, array: Array| llama(|model| _ = model.set(key, Value::Array(array)));
    let (scores, types) = ("tokenizer.ggml.scores", "tokenizer.ggml.token_type");
    assert_eq!(
        with(scores, Array::F32(vec![0.0; 264])),
        format!("malformed: {scores} has 264 elements for a vocabulary of 265 tokens")
    );
    assert_eq!(with(scores, Array::U8(vec![0; 265])), format!("malformed: {scores} is an array of u8 instead of f32"));
    let mut odd = vec![0.0; 265];
    odd[7] = f32::NAN;
    assert_eq!(with(scores, Array::F32(odd)), format!("malformed: {scores}[7] is not a number"));
    assert_eq!(
        llama(|model| _ = model.f32(scores, 1.0)),
        format!("malformed: {scores} has the type f32 instead of arr")
    );
    assert_eq!(
        with(types, Array::I32(vec![1; 266])),
        format!("malformed: {types} has 266 elements for a vocabulary of 265 tokens")
    );
    assert_eq!(with(types, Array::I64(vec![1; 265])), format!("malformed: {types} is an array of i64 instead of i32"));
    for bad in [7, -1, i32::MIN] {
        let mut odd = vec![1; 265];
        odd[0] = bad;
        assert_eq!(with(types, Array::I32(odd)), format!("malformed: {types}[0] is {bad}, but has to be from 0 to 6"));
    }
    let mut bytes = vec![1; 265];
    bytes[260] = 6;
    assert_eq!(
        with(types, Array::I32(bytes)),
        "malformed: tokenizer.ggml.tokens[260] is 'a', but a byte token has to look like '<0x0A>'"
    );
}

#[test]
fn refuses_vocabularies_without_a_newline() {
    let mut no_newline = model("llama");
    let types = vec![1; 3];
    no_newline.strings("tokenizer.ggml.tokens", &["a", "b", "c"]);
    no_newline.set("tokenizer.ggml.token_type", Value::Array(Array::I32(types)));
    no_newline.set("tokenizer.ggml.scores", Value::Array(Array::F32(vec![0.0; 3])));
    assert_eq!(refusal(check(&no_newline)), "malformed: tokenizer.ggml.tokens has no token '<0x0A>' for a newline");
}

#[test]
fn refuses_special_tokens_outside_of_the_vocabulary() {
    // llama.cpp replaces an id that is too large by its default, which is in this vocabulary, …
    let mut model = model("gpt2");
    model.u32("tokenizer.ggml.bos_token_id", 1000);
    model.u32("tokenizer.ggml.padding_token_id", u32::MAX);
    check(&model).unwrap();
    // … and not in this one.
    model.remove("tokenizer.ggml.token_type").remove("tokenizer.ggml.scores");
    model.strings("tokenizer.ggml.tokens", &["<s>", "a", "b"]);
    let gguf = parse_built(&model).unwrap();
    assert_eq!(
        refusal(check_model(&gguf, &[], true)),
        "malformed: tokenizer.ggml.bos_token_id is 1000, but has to be inside of the vocabulary of 3 tokens"
    );
    model.remove("tokenizer.ggml.bos_token_id");
    let gguf = parse_built(&model).unwrap();
    assert_eq!(
        refusal(check_model(&gguf, &[], true)),
        "malformed: tokenizer.ggml.bos_token_id is 11 (by default, as it is missing), but has to be inside of the \
         vocabulary of 3 tokens"
    );
    let overrides = [("tokenizer.ggml.bos_token_id".to_owned(), OverrideValue::Int(0))];
    check_model(&gguf, &overrides, true).unwrap();
}

#[test]
fn refuses_bad_merges() {
    let with = |merges: &[&str]| changed("gpt2", |model| _ = model.strings("tokenizer.ggml.merges", merges));
    assert_eq!(with(&["a b", ""]), "malformed: tokenizer.ggml.merges[1] is empty");
    for bad in ["ab", " ab"] {
        assert_eq!(
            with(&["a b", bad]),
            format!(
                "malformed: tokenizer.ggml.merges[1] is '{bad}', but has to be two parts with a space between them"
            )
        );
    }
    assert_eq!(
        changed("gpt2", |model| _ = model.set("tokenizer.ggml.merges", Value::Array(Array::U64(vec![1])))),
        "malformed: tokenizer.ggml.merges is an array of u64 instead of str"
    );
    assert_eq!(
        changed("gpt2", |model| _ = model.remove("tokenizer.ggml.merges")),
        "malformed: tokenizer.ggml.merges is missing"
    );
    let mut none = model("gpt2");
    none.strings("tokenizer.ggml.merges", &[]);
    check(&none).unwrap();
}

#[test]
fn refuses_missing_and_superfluous_tensors() {
    for architecture in ARCHITECTURES {
        let sound = model(architecture);
        for tensor in &sound.tensors {
            let mut model = sound.clone();
            model.tensors.retain(|other| other.name != tensor.name);
            let error = refusal(check(&model));
            assert!(error.starts_with("malformed: the tensor 'blk.") || error.ends_with("' is missing"), "{error}");
        }
    }
    assert_eq!(
        llama(|model| _ = model.tensor("rope_freqs.weight", TensorType::F32, &[32])),
        "malformed: the tensor 'rope_freqs.weight' has no place in the architecture llama"
    );
    // build_phi2 would add a bias that is not there.
    assert_eq!(
        changed("phi2", |model| _ = model.remove_tensor("blk.1.attn_qkv.bias")),
        "malformed: the tensor 'blk.1.attn_qkv.bias' is missing"
    );
}

#[test]
fn accepts_what_is_optional() {
    let mut biased = model("llama");
    for (part, width) in [("q", N_EMBD), ("k", 64), ("v", 64), ("output", N_EMBD)] {
        biased.tensor(&format!("blk.0.attn_{part}.bias"), TensorType::F32, &[width]);
    }
    check(&biased).unwrap();

    let mut falcon = model("falcon");
    falcon.tensor("blk.1.attn_norm_2.weight", TensorType::F32, &[N_EMBD]);
    assert_eq!(refusal(check(&falcon)), "malformed: the tensor 'blk.1.attn_norm_2.bias' is missing");
    falcon.tensor("blk.1.attn_norm_2.bias", TensorType::F32, &[N_EMBD]);
    check(&falcon).unwrap();

    let mut mpt = model("mpt");
    mpt.tensor("blk.0.ffn.act.scales", TensorType::F32, &[N_FF]);
    check(&mpt).unwrap();

    let mut phi2 = model("phi2");
    phi2.remove_tensor("blk.0.attn_qkv.weight");
    for (part, width) in [("q", N_EMBD), ("k", 64), ("v", 64)] {
        phi2.tensor(&format!("blk.0.attn_{part}.weight"), TensorType::F16, &[N_EMBD, width]);
        phi2.tensor(&format!("blk.0.attn_{part}.bias"), TensorType::F32, &[width]);
    }
    check(&phi2).unwrap();
}

#[test]
fn refuses_every_other_shape() {
    for architecture in ARCHITECTURES {
        let sound = model(architecture);
        for (index, tensor) in sound.tensors.iter().enumerate() {
            // A dimension too many is not seen by llama.cpp.
            let mut longer = sound.clone();
            longer.tensors[index].dims.push(2);
            let name = String::from_utf8_lossy(&tensor.name);
            assert_eq!(
                refusal(check(&longer)),
                format!(
                    "malformed: the tensor '{name}' has the shape {:?}, but has to have {:?}",
                    longer.tensors[index].dims, tensor.dims
                )
            );
            for dim in 0..tensor.dims.len() {
                let mut wider = sound.clone();
                wider.tensors[index].dims[dim] += 1;
                assert!(refusal(check(&wider)).contains("has the shape"), "{name}");
            }
        }
    }
}

#[test]
fn refuses_types_that_cannot_be_computed_with() {
    for architecture in ARCHITECTURES {
        let sound = model(architecture);
        for (index, tensor) in sound.tensors.iter().enumerate() {
            let name = String::from_utf8_lossy(&tensor.name);
            for number in [9, 18, 19, 20] {
                if number == 9 && tensor.dims[0] % 32 != 0 {
                    continue; // no whole number of blocks
                }
                let mut model = sound.clone();
                model.tensors[index].number = number;
                let error = refusal(check(&model));
                assert!(error.starts_with(&format!("malformed: the tensor '{name}' has the type ")), "{error}");
            }
            let mut half = sound.clone();
            half.tensors[index].number = 1;
            assert_eq!(check(&half).is_ok(), tensor.dims.len() == 2, "{name}");
        }
    }
    assert_eq!(
        llama(|model| model.tensor_mut("blk.0.attn_norm.weight").number = 1),
        "malformed: the tensor 'blk.0.attn_norm.weight' has the type f16, but has to have f32"
    );
    assert_eq!(
        llama(|model| model.tensor_mut("token_embd.weight").number = 9),
        "malformed: the tensor 'token_embd.weight' has the type q8_1, but has to have one that can be read row by row"
    );
    assert_eq!(
        llama(|model| model.tensor_mut("output.weight").number = 18),
        "malformed: the tensor 'output.weight' has the type i8, but has to have one that can be multiplied"
    );
}

#[test]
fn refuses_bad_experts() {
    let changed = |change: fn(&mut Builder)| {
        let mut model = model_with_experts(4, 2, TensorType::F16);
        change(&mut model);
        refusal(check(&model))
    };
    assert_eq!(
        changed(|model| _ = model.u32("llama.expert_used_count", 5)),
        "malformed: llama.expert_used_count is 5, but has to be from 1 to the number of experts, 4"
    );
    assert_eq!(
        changed(|model| _ = model.remove("llama.expert_used_count")),
        "malformed: llama.expert_used_count is 0 (by default, as it is missing), but has to be from 1 to the number of \
         experts, 4"
    );
    assert_eq!(
        changed(|model| model.tensor_mut("blk.0.ffn_gate_inp.weight").dims = vec![N_EMBD, 3]),
        "malformed: the tensor 'blk.0.ffn_gate_inp.weight' has the shape [128, 3], but has to have [128, 4]"
    );
    assert_eq!(
        changed(|model| _ = model.remove_tensor("blk.1.ffn_gate_inp.weight")),
        "malformed: the tensor 'blk.1.ffn_gate_inp.weight' is missing"
    );
    assert_eq!(
        changed(|model| {
            model.remove("llama.expert_count").remove("llama.expert_used_count");
        }),
        "malformed: there is a tensor 'blk.0.ffn_gate_inp.weight', but llama.expert_count is 0"
    );
    assert_eq!(
        changed(|model| model.tensor_mut("blk.1.ffn_up.3.weight").number = 2),
        "malformed: the tensor 'blk.1.ffn_up.3.weight' has the type q4_0, but has to have that of the first expert, f16"
    );
    // 64 elements are 68 bytes of q8_0.
    assert_eq!(
        refusal(check(&model_with_experts(4, 2, TensorType::Q4_0))),
        "malformed: the tensor 'blk.0.ffn_down.0.weight' has the type q4_0 and rows of 64 elements, which need 68 \
         bytes as q8_0, but have to need a multiple of 8"
    );
}

#[test]
fn learned_positions_are_as_many_as_the_context_is_long() {
    for architecture in ["gpt2", "starcoder"] {
        let key = format!("{architecture}.context_length");
        assert_eq!(
            changed(architecture, |model| _ = model.u32(&key, N_CTX as u32 + 1)),
            "malformed: the tensor 'position_embd.weight' has the shape [128, 64], but has to have [128, 65]"
        );
    }
}

fn repository() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn accepts_the_tiny_model() {
    let model = Gguf::open(repository().join("models/tiny/tiny.gguf")).unwrap();
    check_model(&model, &[], false).unwrap();
    check_model(&model, &[], true).unwrap();
    assert_eq!((model.version, model.tensors.len(), model.data_offset), (3, 21, 15_392));
    assert_eq!(model.get("general.name").unwrap().to_str_lossy().unwrap(), "tiny");
    let norm = model.tensor("output_norm.weight").unwrap();
    assert_eq!((norm.shape(), norm.tensor_type), (&[256][..], TensorType::F32));
}

#[test]
fn accepts_the_vocabularies_of_llama_cpp() {
    // They are unpacked with the sources, which a build from a package does not have.
    let Ok(directory) = std::fs::read_dir(repository().join("vendor/llama.cpp/models")) else {
        return;
    };
    let files: Vec<_> = directory
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "gguf"))
        .collect();
    for path in &files {
        let model = Gguf::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        check_model(&model, &[], true).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

/// A vocabulary of 128 thousand tokens and as many merges.
#[test]
fn reads_a_large_vocabulary_quickly() {
    let tokens: Vec<String> = (0..128_000).map(|id| format!("Ġtoken{id}")).collect();
    let merges: Vec<String> = (0..128_000).map(|id| format!("Ġtoken {id}")).collect();
    let references = |strings: &[String]| -> Strings { strings.iter().map(|string| string.as_bytes()).collect() };
    let mut model = model("gpt2");
    model.set("tokenizer.ggml.tokens", Value::Array(Array::String(references(&tokens))));
    model.set("tokenizer.ggml.merges", Value::Array(Array::String(references(&merges))));
    model.set("tokenizer.ggml.scores", Value::Array(Array::F32(vec![0.0; 128_000])));
    model.set("tokenizer.ggml.token_type", Value::Array(Array::I32(vec![1; 128_000])));
    let (header, size) = model.header();

    let best = (0..5)
        .map(|_| {
            let start = Instant::now();
            let gguf = super::parse(&header, size).unwrap();
            check_model(&gguf, &[], true).unwrap();
            start.elapsed()
        })
        .min()
        .unwrap();
    eprintln!("128 k tokens and merges: {best:?}");
    // What it takes is a matter of the machine and of who else works on it (5 to 30 ms, and a fifteenth of what
    // llama.cpp takes for the same); what is seen here is whether it grows with the square of the vocabulary.
    let limit = if cfg!(debug_assertions) { 20_000 } else { 2_000 };
    assert!(best < Duration::from_millis(limit), "{best:?}");
}
