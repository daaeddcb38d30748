//! The tensors of a model, against what `llm_load_tensors` asks for and what the graphs do with them.
//!
//! llama.cpp compares only as many dimensions as it names: a vector may have many rows, which then fit a batch of one
//! size and not of another. It does not look at types at all.

use std::collections::HashMap;

use super::super::{Gguf, GgufError, TensorInfo, TensorType};
use super::architecture::Architecture;
use super::hyperparameters::Hyperparameters;
use crate::untrusted::{quoted, FileError};

pub(super) fn check(gguf: &Gguf, hyperparameters: &Hyperparameters) -> Result<(), GgufError> {
    let n_tensors = gguf.tensors.len() as u64;
    // Before anything is done once per block.
    if u64::from(hyperparameters.n_layer) > n_tensors {
        return Err(FileError::malformed(format!(
            "{}.block_count is {}, but there are only {n_tensors} tensors",
            hyperparameters.architecture.name(),
            hyperparameters.n_layer
        )));
    }
    let mut tensors = Tensors { unseen: gguf.tensors.iter().map(|tensor| (tensor.name.as_str(), tensor)).collect() };
    Model::new(hyperparameters).check(&mut tensors)?;

    // done_getting_tensors throws.
    match gguf.tensors.iter().find(|tensor| tensors.unseen.contains_key(tensor.name.as_str())) {
        Some(tensor) => Err(FileError::malformed(format!(
            "the tensor {} has no place in the architecture {}",
            quoted(tensor.name.as_bytes()),
            hyperparameters.architecture.name()
        ))),
        None => Ok(()),
    }
}

/// The tensors of a file that were not asked for yet.
struct Tensors<'a> {
    unseen: HashMap<&'a str, &'a TensorInfo>,
}

impl<'a> Tensors<'a> {
    fn has(&self, name: &str) -> bool {
        self.unseen.contains_key(name)
    }

    /// Takes out the tensor `name`, which has to have the dimensions `dims`; all others are 1.
    fn take<const N: usize>(&mut self, name: &str, dims: [u64; N]) -> Result<&'a TensorInfo, GgufError> {
        let Some(tensor) = self.unseen.remove(name) else {
            return Err(FileError::malformed(format!("the tensor '{name}' is missing")));
        };
        let mut expected = [1; 4];
        for (target, dim) in expected.iter_mut().zip(dims) {
            *target = dim;
        }
        if tensor.dims != expected {
            return Err(FileError::malformed(format!(
                "the tensor '{name}' has the shape {:?}, but has to have {dims:?}",
                tensor.shape()
            )));
        }
        Ok(tensor)
    }

    /// A norm, a bias, scales: ggml_mul, ggml_add and ggml_div read them as floats.
    fn vector(&mut self, name: &str, width: u64) -> Result<(), GgufError> {
        let tensor = self.take(name, [width])?;
        match tensor.tensor_type {
            TensorType::F32 => Ok(()),
            other => Err(wrong_type(name, other, "f32")),
        }
    }

    fn optional_vector(&mut self, name: &str, width: u64) -> Result<(), GgufError> {
        if self.has(name) {
            self.vector(name, width)?;
        }
        Ok(())
    }

    /// The weight and bias of a layer norm.
    fn norm(&mut self, name: &str, width: u64) -> Result<(), GgufError> {
        self.vector(&format!("{name}.weight"), width)?;
        self.vector(&format!("{name}.bias"), width)
    }

    /// ggml_mul_mat calls the vec_dot of its type.
    fn matrix(&mut self, name: &str, columns: u64, rows: u64) -> Result<&'a TensorInfo, GgufError> {
        let tensor = self.take(name, [columns, rows])?;
        match tensor.tensor_type.multiplies_with() {
            Some(_) => Ok(tensor),
            None => Err(wrong_type(name, tensor.tensor_type, "one that can be multiplied")),
        }
    }

    /// ggml_get_rows calls the to_float of its type.
    fn embedding(&mut self, name: &str, columns: u64, rows: u64) -> Result<(), GgufError> {
        let tensor = self.take(name, [columns, rows])?;
        if !tensor.tensor_type.is_readable() {
            return Err(wrong_type(name, tensor.tensor_type, "one that can be read row by row"));
        }
        Ok(())
    }
}

fn wrong_type(name: &str, found: TensorType, expected: &str) -> GgufError {
    FileError::malformed(format!("the tensor '{name}' has the type {}, but has to have {expected}", found.name()))
}

struct Model<'a> {
    hyperparameters: &'a Hyperparameters,
    n_embd: u64,
    n_embd_gqa: u64,
    n_ff: u64,
    n_vocab: u64,
}

impl<'a> Model<'a> {
    fn new(hyperparameters: &'a Hyperparameters) -> Self {
        Self {
            hyperparameters,
            n_embd: u64::from(hyperparameters.n_embd),
            n_embd_gqa: hyperparameters.n_embd_gqa(),
            n_ff: u64::from(hyperparameters.n_ff),
            n_vocab: u64::from(hyperparameters.n_vocab),
        }
    }

    fn check(&self, tensors: &mut Tensors<'_>) -> Result<(), GgufError> {
        use Architecture as A;
        let n_embd = self.n_embd;
        let architecture = self.hyperparameters.architecture;

        tensors.embedding("token_embd.weight", n_embd, self.n_vocab)?;
        tensors.matrix("output.weight", n_embd, self.n_vocab)?;
        match architecture {
            A::Llama | A::Baichuan | A::Qwen | A::Plamo | A::Mpt => tensors.vector("output_norm.weight", n_embd)?,
            A::Falcon | A::Starcoder | A::Persimmon | A::Bloom | A::Stablelm | A::Phi2 | A::Gpt2 => {
                tensors.norm("output_norm", n_embd)?;
            }
            A::GptJ | A::GptNeoX | A::Refact => {
                // llm_load_tensors throws: it has no tensors for the first two, and misses a name for the third.
                return Err(FileError::Unsupported(format!(
                    "more than the vocabulary of a model of the architecture {}",
                    architecture.name()
                )));
            }
        }
        match architecture {
            A::Starcoder | A::Gpt2 => {
                let positions = u64::from(self.hyperparameters.n_ctx_train);
                tensors.embedding("position_embd.weight", n_embd, positions)?;
            }
            A::Bloom => tensors.norm("token_embd_norm", n_embd)?,
            A::Phi2 => tensors.vector("output.bias", self.n_vocab)?,
            _ => {}
        }
        for block in 0..self.hyperparameters.n_layer {
            self.check_block(tensors, &format!("blk.{block}"))?;
        }
        Ok(())
    }

    fn check_block(&self, tensors: &mut Tensors<'_>, block: &str) -> Result<(), GgufError> {
        use Architecture as A;
        let n_embd = self.n_embd;
        let weight = |name: &str| format!("{block}.{name}.weight");
        let named = |name: &str| format!("{block}.{name}");

        match self.hyperparameters.architecture {
            A::Llama => {
                tensors.vector(&weight("attn_norm"), n_embd)?;
                self.separate_attention(tensors, block, Bias::Optional)?;
                tensors.vector(&weight("ffn_norm"), n_embd)?;
                self.feed_forward_with_experts(tensors, block)
            }
            A::Baichuan => {
                tensors.vector(&weight("attn_norm"), n_embd)?;
                self.separate_attention(tensors, block, Bias::None)?;
                tensors.vector(&weight("ffn_norm"), n_embd)?;
                self.gated_feed_forward(tensors, block, self.n_ff)
            }
            A::Plamo => {
                tensors.vector(&weight("attn_norm"), n_embd)?;
                self.separate_attention(tensors, block, Bias::None)?;
                self.gated_feed_forward(tensors, block, self.n_ff)
            }
            A::Stablelm => {
                tensors.norm(&named("attn_norm"), n_embd)?;
                self.separate_attention(tensors, block, Bias::None)?;
                tensors.norm(&named("ffn_norm"), n_embd)?;
                self.gated_feed_forward(tensors, block, self.n_ff)
            }
            A::Qwen => {
                tensors.vector(&weight("attn_norm"), n_embd)?;
                let width = n_embd.saturating_mul(3);
                tensors.matrix(&weight("attn_qkv"), n_embd, width)?;
                tensors.vector(&named("attn_qkv.bias"), width)?;
                tensors.matrix(&weight("attn_output"), n_embd, n_embd)?;
                tensors.vector(&weight("ffn_norm"), n_embd)?;
                self.gated_feed_forward(tensors, block, self.n_ff / 2)
            }
            A::Falcon => {
                tensors.norm(&named("attn_norm"), n_embd)?;
                if tensors.has(&weight("attn_norm_2")) {
                    tensors.norm(&named("attn_norm_2"), n_embd)?;
                }
                self.joint_attention(tensors, block, Bias::None)?;
                self.feed_forward(tensors, block, Bias::None)
            }
            A::Mpt => {
                tensors.vector(&weight("attn_norm"), n_embd)?;
                self.joint_attention(tensors, block, Bias::None)?;
                tensors.vector(&weight("ffn_norm"), n_embd)?;
                tensors.optional_vector(&named("ffn.act.scales"), self.n_ff)?;
                self.feed_forward(tensors, block, Bias::None)
            }
            A::Starcoder | A::Gpt2 | A::Bloom => {
                tensors.norm(&named("attn_norm"), n_embd)?;
                self.joint_attention(tensors, block, Bias::Required)?;
                tensors.norm(&named("ffn_norm"), n_embd)?;
                self.feed_forward(tensors, block, Bias::Required)
            }
            A::Persimmon => {
                tensors.norm(&named("attn_norm"), n_embd)?;
                self.joint_attention(tensors, block, Bias::Required)?;
                tensors.norm(&named("attn_q_norm"), 64)?;
                tensors.norm(&named("attn_k_norm"), 64)?;
                tensors.norm(&named("ffn_norm"), n_embd)?;
                self.feed_forward(tensors, block, Bias::Required)
            }
            A::Phi2 => {
                tensors.norm(&named("attn_norm"), n_embd)?;
                // build_phi2 adds the joint bias without asking whether it is there.
                if tensors.has(&weight("attn_qkv")) {
                    self.joint_attention(tensors, block, Bias::Required)?;
                } else {
                    let unused = self.joint_width();
                    tensors.optional_vector(&named("attn_qkv.bias"), unused)?;
                    self.separate_attention(tensors, block, Bias::Required)?;
                }
                self.feed_forward(tensors, block, Bias::Required)
            }
            A::GptJ | A::GptNeoX | A::Refact => Ok(()),
        }
    }

    fn joint_width(&self) -> u64 {
        self.n_embd.saturating_add(self.n_embd_gqa.saturating_mul(2))
    }

    fn separate_attention(&self, tensors: &mut Tensors<'_>, block: &str, bias: Bias) -> Result<(), GgufError> {
        let widths = [
            ("attn_q", self.n_embd),
            ("attn_k", self.n_embd_gqa),
            ("attn_v", self.n_embd_gqa),
            ("attn_output", self.n_embd),
        ];
        for (name, width) in widths {
            tensors.matrix(&format!("{block}.{name}.weight"), self.n_embd, width)?;
            bias.check(tensors, &format!("{block}.{name}.bias"), width)?;
        }
        Ok(())
    }

    fn joint_attention(&self, tensors: &mut Tensors<'_>, block: &str, bias: Bias) -> Result<(), GgufError> {
        for (name, width) in [("attn_qkv", self.joint_width()), ("attn_output", self.n_embd)] {
            tensors.matrix(&format!("{block}.{name}.weight"), self.n_embd, width)?;
            bias.check(tensors, &format!("{block}.{name}.bias"), width)?;
        }
        Ok(())
    }

    fn feed_forward(&self, tensors: &mut Tensors<'_>, block: &str, bias: Bias) -> Result<(), GgufError> {
        let matrices = [("ffn_up", self.n_embd, self.n_ff), ("ffn_down", self.n_ff, self.n_embd)];
        for (name, columns, rows) in matrices {
            tensors.matrix(&format!("{block}.{name}.weight"), columns, rows)?;
            bias.check(tensors, &format!("{block}.{name}.bias"), rows)?;
        }
        Ok(())
    }

    fn gated_feed_forward(&self, tensors: &mut Tensors<'_>, block: &str, n_ff: u64) -> Result<(), GgufError> {
        tensors.matrix(&format!("{block}.ffn_gate.weight"), self.n_embd, n_ff)?;
        tensors.matrix(&format!("{block}.ffn_down.weight"), n_ff, self.n_embd)?;
        tensors.matrix(&format!("{block}.ffn_up.weight"), self.n_embd, n_ff)?;
        Ok(())
    }

    fn feed_forward_with_experts(&self, tensors: &mut Tensors<'_>, block: &str) -> Result<(), GgufError> {
        let n_expert = self.hyperparameters.n_expert;
        let router = format!("{block}.ffn_gate_inp.weight");
        if n_expert == 0 && !tensors.has(&router) {
            return self.gated_feed_forward(tensors, block, self.n_ff);
        }
        if n_expert == 0 {
            return Err(FileError::malformed(format!("there is a tensor '{router}', but llama.expert_count is 0")));
        }
        // llama.cpp compares its first dimension only.
        tensors.matrix(&router, self.n_embd, u64::from(n_expert))?;
        self.experts(tensors, block, "ffn_gate", self.n_embd, self.n_ff)?;
        self.experts(tensors, block, "ffn_down", self.n_ff, self.n_embd)?;
        self.experts(tensors, block, "ffn_up", self.n_embd, self.n_ff)
    }

    /// ggml_mul_mat_id reads all experts' rows with the type of the first, and asserts, in the threads, that the
    /// other operand's rows end where numbers of 64 bits may start.
    fn experts(
        &self,
        tensors: &mut Tensors<'_>,
        block: &str,
        name: &str,
        columns: u64,
        rows: u64,
    ) -> Result<(), GgufError> {
        let mut first: Option<TensorType> = None;
        for expert in 0..self.hyperparameters.n_expert {
            let name = format!("{block}.{name}.{expert}.weight");
            let tensor_type = tensors.matrix(&name, columns, rows)?.tensor_type;
            let expected = *first.get_or_insert(tensor_type);
            if tensor_type != expected {
                let expected = format!("that of the first expert, {}", expected.name());
                return Err(wrong_type(&name, tensor_type, &expected));
            }
            let operand = tensor_type.multiplies_with().unwrap_or(TensorType::F32);
            let row = operand.row_bytes(columns).unwrap_or(0);
            if operand != TensorType::F32 && row % 8 != 0 {
                return Err(FileError::malformed(format!(
                    "the tensor '{name}' has the type {} and rows of {columns} elements, which need {row} bytes as {}, \
                     but have to need a multiple of 8",
                    tensor_type.name(),
                    operand.name()
                )));
            }
        }
        Ok(())
    }
}

#[derive(Clone, Copy)]
enum Bias {
    None,
    Optional,
    Required,
}

impl Bias {
    fn check(self, tensors: &mut Tensors<'_>, name: &str, width: u64) -> Result<(), GgufError> {
        match self {
            Self::None => Ok(()),
            Self::Optional => tensors.optional_vector(name, width),
            Self::Required => tensors.vector(name, width),
        }
    }
}
