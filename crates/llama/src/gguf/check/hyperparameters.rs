//! The numbers of which a model's widths and counts are made.

use super::super::GgufError;
use super::architecture::{Architecture, Rotation};
use super::keys::Keys;
use crate::untrusted::FileError;

/// `LLAMA_MAX_EXPERTS`.
const MAX_EXPERTS: u32 = 8;
/// Buffers for activations grow with the widths: the largest models have 20 thousand and 60 thousand.
const MAX_EMBEDDING_LENGTH: u32 = 1 << 18;
const MAX_FEED_FORWARD_LENGTH: u32 = 1 << 20;
/// A context takes this length if it is told none.
const MAX_CONTEXT_LENGTH: u32 = 1 << 24;
/// Persimmon's norms of queries and keys have this width, whatever the model says.
const PERSIMMON_NORM_WIDTH: u32 = 64;

#[derive(Debug)]
pub(super) struct Hyperparameters {
    pub(super) architecture: Architecture,
    pub(super) n_vocab: u32,
    pub(super) n_ctx_train: u32,
    pub(super) n_embd: u32,
    pub(super) n_ff: u32,
    pub(super) n_head: u32,
    pub(super) n_head_kv: u32,
    pub(super) n_layer: u32,
    pub(super) n_expert: u32,
    pub(super) n_expert_used: u32,
    n_rot: u32,
    n_embd_head_k: u32,
    n_embd_head_v: u32,
}

impl Hyperparameters {
    /// Reads what `llm_load_hparams` reads and checks what can hurt it or `llm_load_print_meta`, which run for a mere
    /// vocabulary too.
    pub(super) fn read(keys: &Keys<'_>, architecture: Architecture, n_vocab: u32) -> Result<Self, GgufError> {
        let name = architecture.name();
        let required = |suffix: &str| {
            let key = format!("{name}.{suffix}");
            let value = keys.u32(&key)?;
            keys.required(&key, value)
        };
        let optional = |suffix: &str| keys.u32(&format!("{name}.{suffix}"));

        let n_ctx_train = required("context_length")?;
        let n_embd = required("embedding_length")?;
        let n_ff = required("feed_forward_length")?;
        let n_head = required("attention.head_count")?;
        let n_layer = required("block_count")?;
        let n_expert = optional("expert_count")?.unwrap_or(0);
        let n_expert_used = optional("expert_used_count")?.unwrap_or(0);
        let n_head_kv = optional("attention.head_count_kv")?.unwrap_or(n_head);

        if !(1..=MAX_CONTEXT_LENGTH).contains(&n_ctx_train) {
            let allowed = format!("from 1 to {MAX_CONTEXT_LENGTH}");
            return Err(keys.fault(&format!("{name}.context_length"), n_ctx_train, &allowed));
        }
        // n_embd/n_head and n_gqa() divide by them.
        let Some(head_width) = n_embd.checked_div(n_head) else {
            return Err(keys.fault(&format!("{name}.attention.head_count"), n_head, "at least 1"));
        };
        if n_head_kv == 0 {
            return Err(keys.fault(&format!("{name}.attention.head_count_kv"), n_head_kv, "at least 1"));
        }
        // Arrays of MAX_EXPERTS pointers per block are indexed with them.
        if n_expert > MAX_EXPERTS {
            let allowed = format!("at most {MAX_EXPERTS}");
            return Err(keys.fault(&format!("{name}.expert_count"), n_expert, &allowed));
        }
        if n_expert_used > n_expert || (n_expert_used == 0) != (n_expert == 0) {
            let allowed = match n_expert {
                0 => "0, as there are no experts".to_owned(),
                _ => format!("from 1 to the number of experts, {n_expert}"),
            };
            return Err(keys.fault(&format!("{name}.expert_used_count"), n_expert_used, &allowed));
        }

        check_rope_scaling(keys, name)?;
        check_epsilon(keys, architecture)?;
        if architecture == Architecture::Mpt {
            let bias_key = "mpt.attention.max_alibi_bias";
            let bias = keys.f32(bias_key)?;
            let bias = keys.required(bias_key, bias)?;
            if !bias.is_finite() {
                return Err(keys.fault(bias_key, bias, "a finite number"));
            }
            keys.f32("mpt.attention.clamp_kqv")?;
        }

        Ok(Self {
            architecture,
            n_vocab,
            n_ctx_train,
            n_embd,
            n_ff,
            n_head,
            n_head_kv,
            n_layer,
            n_expert,
            n_expert_used,
            n_rot: optional("rope.dimension_count")?.unwrap_or(head_width),
            n_embd_head_k: optional("attention.key_length")?.unwrap_or(head_width),
            n_embd_head_v: optional("attention.value_length")?.unwrap_or(head_width),
        })
    }

    /// Width of the keys, and of the values, of one token in one block.
    pub(super) fn n_embd_gqa(&self) -> u64 {
        u64::from(self.n_embd_head_v).saturating_mul(u64::from(self.n_head_kv))
    }

    /// Checks what the graphs divide, reshape and view by.
    pub(super) fn check_widths(&self, keys: &Keys<'_>) -> Result<(), GgufError> {
        let key = |suffix: &str| format!("{}.{suffix}", self.architecture.name());

        if !(1..=MAX_EMBEDDING_LENGTH).contains(&self.n_embd) {
            let allowed = format!("from 1 to {MAX_EMBEDDING_LENGTH}");
            return Err(keys.fault(&key("embedding_length"), self.n_embd, &allowed));
        }
        let min_ff = if self.architecture == Architecture::Qwen { 2 } else { 1 };
        if !(min_ff..=MAX_FEED_FORWARD_LENGTH).contains(&self.n_ff) {
            let allowed = format!("from {min_ff} to {MAX_FEED_FORWARD_LENGTH}");
            return Err(keys.fault(&key("feed_forward_length"), self.n_ff, &allowed));
        }
        self.check_heads(keys)?;
        self.check_blocks(keys)
    }

    fn check_heads(&self, keys: &Keys<'_>) -> Result<(), GgufError> {
        let key = |suffix: &str| format!("{}.{suffix}", self.architecture.name());
        let (n_embd, n_head) = (self.n_embd, self.n_head);

        // ggml_reshape_3d(n_embd_head, n_head, n_tokens) of what has n_embd elements per token.
        let head_width = n_embd.checked_div(n_head).unwrap_or(0);
        if n_embd.checked_rem(n_head) != Some(0) || head_width == 0 {
            let allowed = format!("a divisor of the embedding length, {n_embd}");
            return Err(keys.fault(&key("attention.head_count"), n_head, &allowed));
        }
        let allowed = format!("the embedding length by the number of heads, {head_width}");
        if self.n_embd_head_k != head_width {
            return Err(keys.fault(&key("attention.key_length"), self.n_embd_head_k, &allowed));
        }
        if self.n_embd_head_v != head_width {
            return Err(keys.fault(&key("attention.value_length"), self.n_embd_head_v, &allowed));
        }

        // ggml_can_mul_mat(k, q) wants whole groups of heads; two graphs have no groups.
        let kv_key = key("attention.head_count_kv");
        let ungrouped = matches!(self.architecture, Architecture::Qwen | Architecture::Persimmon);
        if ungrouped && self.n_head_kv != n_head {
            let allowed = format!("the number of heads, {n_head}");
            return Err(keys.fault(&kv_key, self.n_head_kv, &allowed));
        }
        if n_head.checked_rem(self.n_head_kv) != Some(0) {
            let allowed = format!("a divisor of the number of heads, {n_head}");
            return Err(keys.fault(&kv_key, self.n_head_kv, &allowed));
        }
        if self.architecture == Architecture::Persimmon && head_width % PERSIMMON_NORM_WIDTH != 0 {
            let allowed = format!("so that heads have a multiple of {PERSIMMON_NORM_WIDTH} elements");
            return Err(keys.fault(&key("attention.head_count"), n_head, &allowed));
        }

        self.check_rotation(keys, head_width)
    }

    /// ggml_compute_forward_rope turns pairs: an odd width would write beyond the row, and asserts are in the threads.
    fn check_rotation(&self, keys: &Keys<'_>, head_width: u32) -> Result<(), GgufError> {
        let key = format!("{}.rope.dimension_count", self.architecture.name());
        let rotation = self.architecture.rotation();
        if rotation != Rotation::None && head_width % 2 != 0 {
            let key = format!("{}.attention.head_count", self.architecture.name());
            let allowed = format!("so that heads have an even number of elements, not {head_width}");
            return Err(keys.fault(&key, self.n_head, &allowed));
        }
        let (sound, allowed) = match rotation {
            Rotation::None => (true, String::new()),
            Rotation::Whole => (self.n_rot == head_width, format!("the width of a head, {head_width}")),
            Rotation::Half => {
                (self.n_rot == head_width / 2, format!("half of the width of a head, {}", head_width / 2))
            }
            Rotation::Part => (
                self.n_rot > 0 && self.n_rot % 2 == 0 && self.n_rot <= head_width,
                format!("an even number from 2 to the width of a head, {head_width}"),
            ),
        };
        if !sound {
            return Err(keys.fault(&key, self.n_rot, &allowed));
        }
        Ok(())
    }

    fn check_blocks(&self, keys: &Keys<'_>) -> Result<(), GgufError> {
        let key = format!("{}.block_count", self.architecture.name());
        let n_layer = self.n_layer;
        // A state reads the type of the first block's cache.
        if n_layer == 0 {
            return Err(keys.fault(&key, n_layer, "at least 1"));
        }
        // build_baichuan asserts that it knows the size of the model.
        if self.architecture == Architecture::Baichuan && ![32, 40].contains(&n_layer) {
            return Err(keys.fault(&key, n_layer, "32 or 40 for this architecture"));
        }
        // ggml_new_tensor_impl writes to a null pointer when a graph's memory is full.
        let mut nodes = self.architecture.nodes_per_block();
        if self.n_expert > 0 {
            nodes = nodes.saturating_add(Architecture::expert_nodes(u64::from(self.n_expert_used)));
        }
        let limit = self.architecture.max_nodes().checked_div(nodes).unwrap_or(0);
        if u64::from(n_layer) > limit {
            let allowed = format!("at most {limit}, for which the bundled llama.cpp has room");
            return Err(keys.fault(&key, n_layer, &allowed));
        }
        Ok(())
    }
}

fn check_rope_scaling(keys: &Keys<'_>, name: &str) -> Result<(), GgufError> {
    let key = |suffix: &str| format!("{name}.rope.{suffix}");
    keys.bool(&key("scaling.finetuned"))?;

    if let Some(length) = keys.u32(&key("scaling.original_context_length"))? {
        if i32::try_from(length).is_err() {
            let allowed = format!("at most {}", i32::MAX);
            return Err(keys.fault(&key("scaling.original_context_length"), length, &allowed));
        }
    }
    if let Some(kind) = keys.text(&key("scaling.type"))? {
        if ![&b"none"[..], b"linear", b"yarn"].contains(&kind) {
            return Err(FileError::malformed(format!(
                "{} is {}, but has to be 'none', 'linear' or 'yarn'",
                key("scaling.type"),
                crate::untrusted::quoted(kind)
            )));
        }
    }
    if let Some(base) = keys.f32(&key("freq_base"))? {
        if !(base.is_finite() && base > 0.0) {
            return Err(keys.fault(&key("freq_base"), base, "a positive number"));
        }
    }
    // The old key counts only without the new one. Zero means that there is no scaling.
    for suffix in ["scaling.factor", "scale_linear"] {
        if let Some(factor) = keys.f32(&key(suffix))? {
            if !(factor.is_finite() && factor >= 0.0) {
                return Err(keys.fault(&key(suffix), factor, "zero or a positive number"));
            }
            break;
        }
    }
    Ok(())
}

/// The norms assert `eps > 0` in the threads that compute.
fn check_epsilon(keys: &Keys<'_>, architecture: Architecture) -> Result<(), GgufError> {
    let Some(suffix) = architecture.epsilon_key() else {
        return Ok(());
    };
    let key = format!("{}.{suffix}", architecture.name());
    let epsilon = keys.f32(&key)?;
    let epsilon = keys.required(&key, epsilon)?;
    if !(epsilon.is_finite() && epsilon > 0.0) {
        return Err(keys.fault(&key, epsilon, "a positive number"));
    }
    Ok(())
}
