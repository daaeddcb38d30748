//! Writes GGUF files for the tests, wrong ones too.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::{Strings, TensorType, Value};

/// A GGUF file in the making. What is not set by a test is as the format wants it.
#[derive(Clone)]
pub(crate) struct Builder {
    pub(crate) magic: [u8; 4],
    pub(crate) version: u32,
    pub(crate) n_tensors: Option<u64>,
    pub(crate) n_pairs: Option<u64>,
    pub(crate) alignment: u64,
    pub(crate) pairs: Vec<Pair>,
    pub(crate) tensors: Vec<Tensor>,
    /// Bytes after the last tensor's data.
    pub(crate) tail: usize,
}

#[derive(Clone)]
pub(crate) struct Pair {
    pub(crate) key: Vec<u8>,
    pub(crate) value_type: u32,
    pub(crate) payload: Vec<u8>,
}

#[derive(Clone)]
pub(crate) struct Tensor {
    pub(crate) name: Vec<u8>,
    pub(crate) n_dims: Option<u32>,
    pub(crate) dims: Vec<u64>,
    pub(crate) number: u32,
    pub(crate) offset: Option<u64>,
}

impl Tensor {
    fn n_bytes(&self) -> u64 {
        let known = TensorType::from_number(self.number).unwrap_or(TensorType::F32);
        let elements = self.dims.iter().fold(1_u64, |product, &dim| product.wrapping_mul(dim));
        (elements / known.block_size()).wrapping_mul(known.block_bytes())
    }
}

impl Builder {
    pub(crate) fn new() -> Self {
        Self {
            magic: *b"GGUF",
            version: 3,
            n_tensors: None,
            n_pairs: None,
            alignment: 32,
            pairs: Vec::new(),
            tensors: Vec::new(),
            tail: 0,
        }
    }

    pub(crate) fn set(&mut self, key: &str, value: Value) -> &mut Self {
        let value_type = value.value_type() as u32;
        self.set_raw(key, value_type, &payload(&value))
    }

    pub(crate) fn set_raw(&mut self, key: &str, value_type: u32, payload: &[u8]) -> &mut Self {
        let pair = Pair { key: key.as_bytes().to_vec(), value_type, payload: payload.to_vec() };
        match self.pairs.iter_mut().find(|known| known.key == key.as_bytes()) {
            Some(known) => *known = pair,
            None => self.pairs.push(pair),
        }
        self
    }

    pub(crate) fn u32(&mut self, key: &str, value: u32) -> &mut Self {
        self.set(key, Value::U32(value))
    }

    pub(crate) fn f32(&mut self, key: &str, value: f32) -> &mut Self {
        self.set(key, Value::F32(value))
    }

    pub(crate) fn text(&mut self, key: &str, value: &str) -> &mut Self {
        self.set(key, Value::String(value.as_bytes().to_vec()))
    }

    pub(crate) fn strings(&mut self, key: &str, values: &[&str]) -> &mut Self {
        let strings: Strings = values.iter().map(|value| value.as_bytes()).collect();
        self.set(key, Value::Array(super::Array::String(strings)))
    }

    pub(crate) fn remove(&mut self, key: &str) -> &mut Self {
        self.pairs.retain(|pair| pair.key != key.as_bytes());
        self
    }

    pub(crate) fn tensor(&mut self, name: &str, tensor_type: TensorType, dims: &[u64]) -> &mut Self {
        self.tensors.push(Tensor {
            name: name.as_bytes().to_vec(),
            n_dims: None,
            dims: dims.to_vec(),
            number: tensor_type.number(),
            offset: None,
        });
        self
    }

    /// The tensor `name`, to be changed.
    pub(crate) fn tensor_mut(&mut self, name: &str) -> &mut Tensor {
        self.tensors.iter_mut().find(|tensor| tensor.name == name.as_bytes()).expect("a tensor of the model")
    }

    pub(crate) fn remove_tensor(&mut self, name: &str) -> &mut Self {
        self.tensors.retain(|tensor| tensor.name != name.as_bytes());
        self
    }

    /// The header, and the size of the file of which it is the start.
    pub(crate) fn header(&self) -> (Vec<u8>, u64) {
        let mut out = Vec::new();
        out.extend(self.magic);
        out.extend(self.version.to_ne_bytes());
        out.extend(self.n_tensors.unwrap_or(self.tensors.len() as u64).to_ne_bytes());
        out.extend(self.n_pairs.unwrap_or(self.pairs.len() as u64).to_ne_bytes());
        for pair in &self.pairs {
            put_string(&mut out, &pair.key);
            out.extend(pair.value_type.to_ne_bytes());
            out.extend(&pair.payload);
        }
        let mut offset = 0;
        let mut end = 0;
        for tensor in &self.tensors {
            put_string(&mut out, &tensor.name);
            out.extend(tensor.n_dims.unwrap_or(tensor.dims.len() as u32).to_ne_bytes());
            for dim in &tensor.dims {
                out.extend(dim.to_ne_bytes());
            }
            out.extend(tensor.number.to_ne_bytes());
            out.extend(tensor.offset.unwrap_or(offset).to_ne_bytes());
            end = offset + tensor.n_bytes();
            offset = end.next_multiple_of(self.alignment);
        }
        if self.tensors.is_empty() {
            let size = (out.len() + self.tail) as u64;
            return (out, size);
        }
        let start = (out.len() as u64).next_multiple_of(self.alignment);
        let size = start + end + self.tail as u64;
        (out, size)
    }

    /// The whole file. The data is small numbers, whatever its type.
    pub(crate) fn file(&self) -> Vec<u8> {
        let (mut out, size) = self.header();
        let header = out.len();
        out.resize(size as usize, 0);
        for (at, byte) in out.iter_mut().enumerate().skip(header) {
            *byte = [0x11, 0x2d, 0x05, 0x2c][at % 4];
        }
        out
    }
}

fn put_string(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend((bytes.len() as u64).to_ne_bytes());
    out.extend(bytes);
}

fn payload(value: &Value) -> Vec<u8> {
    use super::Array as A;
    let mut out = Vec::new();
    match value {
        Value::U8(number) => out.extend(number.to_ne_bytes()),
        Value::I8(number) => out.extend(number.to_ne_bytes()),
        Value::U16(number) => out.extend(number.to_ne_bytes()),
        Value::I16(number) => out.extend(number.to_ne_bytes()),
        Value::U32(number) => out.extend(number.to_ne_bytes()),
        Value::I32(number) => out.extend(number.to_ne_bytes()),
        Value::F32(number) => out.extend(number.to_ne_bytes()),
        Value::Bool(value) => out.push(u8::from(*value)),
        Value::String(bytes) => put_string(&mut out, bytes),
        Value::U64(number) => out.extend(number.to_ne_bytes()),
        Value::I64(number) => out.extend(number.to_ne_bytes()),
        Value::F64(number) => out.extend(number.to_ne_bytes()),
        Value::Array(array) => {
            out.extend((array.element_type() as u32).to_ne_bytes());
            out.extend((array.len() as u64).to_ne_bytes());
            match array {
                A::U8(items) => out.extend(items),
                A::I8(items) => out.extend(items.iter().flat_map(|item| item.to_ne_bytes())),
                A::U16(items) => out.extend(items.iter().flat_map(|item| item.to_ne_bytes())),
                A::I16(items) => out.extend(items.iter().flat_map(|item| item.to_ne_bytes())),
                A::U32(items) => out.extend(items.iter().flat_map(|item| item.to_ne_bytes())),
                A::I32(items) => out.extend(items.iter().flat_map(|item| item.to_ne_bytes())),
                A::F32(items) => out.extend(items.iter().flat_map(|item| item.to_ne_bytes())),
                A::Bool(items) => out.extend(items.iter().map(|&item| u8::from(item))),
                A::String(items) => items.iter().for_each(|item| put_string(&mut out, item)),
                A::U64(items) => out.extend(items.iter().flat_map(|item| item.to_ne_bytes())),
                A::I64(items) => out.extend(items.iter().flat_map(|item| item.to_ne_bytes())),
                A::F64(items) => out.extend(items.iter().flat_map(|item| item.to_ne_bytes())),
            }
        }
    }
    out
}

/// Architectures of which llama.cpp b1892 loads more than the vocabulary.
pub(crate) const ARCHITECTURES: [&str; 12] = [
    "llama",
    "falcon",
    "gpt2",
    "mpt",
    "baichuan",
    "starcoder",
    "persimmon",
    "bloom",
    "stablelm",
    "qwen",
    "phi2",
    "plamo",
];

/// Widths of [`model`].
pub(crate) const N_EMBD: u64 = 128;
pub(crate) const N_FF: u64 = 64;
pub(crate) const N_CTX: u64 = 64;

/// A small sound model of an architecture, with 2 heads of 64 elements.
pub(crate) fn model(architecture: &str) -> Builder {
    let mut model = Builder::new();
    let n_layer = if architecture == "baichuan" { 32 } else { 2 };
    let n_ff = if architecture == "qwen" { 2 * N_FF } else { N_FF };
    let grouped = !["qwen", "persimmon"].contains(&architecture);
    let n_head_kv = if grouped { 1 } else { 2 };

    model.text("general.architecture", architecture);
    model.text("general.name", "small");
    model.u32("general.file_type", 0);
    let key = |suffix: &str| format!("{architecture}.{suffix}");
    model.u32(&key("context_length"), N_CTX as u32);
    model.u32(&key("embedding_length"), N_EMBD as u32);
    model.u32(&key("block_count"), n_layer);
    model.u32(&key("feed_forward_length"), n_ff as u32);
    model.u32(&key("attention.head_count"), 2);
    model.u32(&key("attention.head_count_kv"), n_head_kv);
    let rms = ["llama", "baichuan", "refact", "qwen", "plamo"].contains(&architecture);
    let epsilon = if rms { "layer_norm_rms_epsilon" } else { "layer_norm_epsilon" };
    model.f32(&key(&format!("attention.{epsilon}")), 1e-5);
    let n_rot = match architecture {
        "persimmon" | "stablelm" | "qwen" | "phi2" => 32,
        _ => 64,
    };
    model.u32(&key("rope.dimension_count"), n_rot);
    if architecture == "mpt" {
        model.f32("mpt.attention.max_alibi_bias", 8.0);
        model.f32("mpt.attention.clamp_kqv", 6.0);
    }
    vocabulary(&mut model, if rms { "llama" } else { "gpt2" });
    tensors(&mut model, architecture, n_layer, n_ff, n_head_kv);
    model
}

fn vocabulary(model: &mut Builder, tokenizer: &str) {
    let mut tokens: Vec<String> = ["<unk>", "<s>", "</s>"].map(String::from).to_vec();
    let mut types = vec![2, 3, 3];
    if tokenizer == "llama" {
        tokens.extend((0..=255).map(|byte| format!("<0x{byte:02X}>")));
        types.resize(tokens.len(), 6);
        tokens.extend(["\u{2581}", "a", "b", "ab", "\u{2581}a", "é"].map(String::from));
    } else {
        tokens.extend(["Ġ", "a", "b", "ab", "Ġa", "Ċ", "Ä", "Ĭ", "ÄĬ", "c"].map(String::from));
        model.strings("tokenizer.ggml.merges", &["a b", "Ġ a", "Ä Ĭ"]);
    }
    types.resize(tokens.len(), 1);
    model.text("tokenizer.ggml.model", tokenizer);
    let scores = (0..tokens.len()).map(|id| -(id as f32)).collect();
    let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
    model.strings("tokenizer.ggml.tokens", &tokens);
    model.set("tokenizer.ggml.scores", Value::Array(super::Array::F32(scores)));
    model.set("tokenizer.ggml.token_type", Value::Array(super::Array::I32(types)));
    model.u32("tokenizer.ggml.bos_token_id", 1);
    model.u32("tokenizer.ggml.eos_token_id", 2);
    model.set("tokenizer.ggml.add_bos_token", Value::Bool(true));
}

fn n_vocab(model: &Builder) -> u64 {
    let pair = model.pairs.iter().find(|pair| pair.key == b"tokenizer.ggml.tokens");
    let count = pair.and_then(|pair| pair.payload.get(4..12)).expect("an array");
    u64::from_ne_bytes(count.try_into().expect("eight bytes"))
}

fn tensors(model: &mut Builder, architecture: &str, n_layer: u32, n_ff: u64, n_head_kv: u32) {
    use TensorType::{F16, F32};
    let n_vocab = n_vocab(model);
    let gqa = 64 * u64::from(n_head_kv);
    let joint = N_EMBD + 2 * gqa;
    let has = |list: &[&str]| list.contains(&architecture);
    let biased_norms = has(&["falcon", "gpt2", "starcoder", "persimmon", "bloom", "stablelm", "phi2"]);
    let biased = has(&["gpt2", "starcoder", "persimmon", "bloom", "phi2"]);
    let gated = has(&["llama", "baichuan", "stablelm", "qwen", "plamo"]);
    let separate = has(&["llama", "baichuan", "stablelm", "plamo"]);
    let second_norm = !has(&["falcon", "phi2", "plamo"]);
    let n_ff = if architecture == "qwen" { n_ff / 2 } else { n_ff };

    let norm = |model: &mut Builder, name: &str, width: u64| {
        model.tensor(&format!("{name}.weight"), F32, &[width]);
        if biased_norms {
            model.tensor(&format!("{name}.bias"), F32, &[width]);
        }
    };
    let matrix = |model: &mut Builder, name: &str, columns: u64, rows: u64, bias: bool| {
        model.tensor(&format!("{name}.weight"), F16, &[columns, rows]);
        if bias {
            model.tensor(&format!("{name}.bias"), F32, &[rows]);
        }
    };

    matrix(model, "token_embd", N_EMBD, n_vocab, false);
    matrix(model, "output", N_EMBD, n_vocab, architecture == "phi2");
    norm(model, "output_norm", N_EMBD);
    if has(&["gpt2", "starcoder"]) {
        matrix(model, "position_embd", N_EMBD, N_CTX, false);
    }
    if architecture == "bloom" {
        norm(model, "token_embd_norm", N_EMBD);
    }
    for block in 0..n_layer {
        let name = |part: &str| format!("blk.{block}.{part}");
        norm(model, &name("attn_norm"), N_EMBD);
        if separate {
            for (part, width) in [("attn_q", N_EMBD), ("attn_k", gqa), ("attn_v", gqa)] {
                matrix(model, &name(part), N_EMBD, width, false);
            }
        } else {
            matrix(model, &name("attn_qkv"), N_EMBD, joint, biased || architecture == "qwen");
        }
        matrix(model, &name("attn_output"), N_EMBD, N_EMBD, biased);
        if architecture == "persimmon" {
            norm(model, &name("attn_q_norm"), 64);
            norm(model, &name("attn_k_norm"), 64);
        }
        if second_norm {
            norm(model, &name("ffn_norm"), N_EMBD);
        }
        if gated {
            matrix(model, &name("ffn_gate"), N_EMBD, n_ff, false);
        }
        matrix(model, &name("ffn_up"), N_EMBD, n_ff, biased);
        matrix(model, &name("ffn_down"), n_ff, N_EMBD, biased);
    }
}

/// A model of the architecture `llama` with experts.
pub(crate) fn model_with_experts(n_expert: u32, n_expert_used: u32, tensor_type: TensorType) -> Builder {
    let mut model = model("llama");
    model.u32("llama.expert_count", n_expert);
    model.u32("llama.expert_used_count", n_expert_used);
    for block in 0..2 {
        let name = |part: &str| format!("blk.{block}.{part}.weight");
        model.tensor(&name("ffn_gate_inp"), TensorType::F32, &[N_EMBD, u64::from(n_expert)]);
        for (part, columns, rows) in [("ffn_gate", N_EMBD, N_FF), ("ffn_down", N_FF, N_EMBD), ("ffn_up", N_EMBD, N_FF)]
        {
            model.remove_tensor(&name(part));
            for expert in 0..n_expert {
                model.tensor(&name(&format!("{part}.{expert}")), tensor_type, &[columns, rows]);
            }
        }
    }
    model
}
