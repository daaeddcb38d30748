//! How a context is made.

use crate::error::{Error, Result};
use crate::model::Model;
use crate::{backend, sys};

/// A number of threads: what is given is taken as it is, the default is cut to the cores that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// Not chosen: llama.cpp's default, but never more than the usable cores. More threads than cores spin while they
    /// wait for each other, and slow the work down by a factor of ten.
    Default(u32),
    /// Chosen.
    Exactly(u32),
}

impl Threads {
    /// The most that is accepted: four for each usable core, 64 at least. Threads without a core spin while they wait;
    /// with hundreds of them a single token takes minutes.
    pub fn max() -> u32 {
        backend::usable_cores().saturating_mul(4).max(64)
    }

    /// The number as it reads.
    pub fn get(self) -> u32 {
        match self {
            Self::Default(n) | Self::Exactly(n) => n,
        }
    }

    /// The number that is used.
    pub fn effective(self) -> u32 {
        match self {
            Self::Default(n) => n.min(backend::usable_cores()),
            Self::Exactly(n) => n,
        }
    }
}

/// How a context is made. [`ContextParams::default`] is llama.cpp's.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextParams {
    /// Start of the random numbers; [`ContextParams::RANDOM_SEED`] takes any.
    pub seed: u32,
    /// Tokens in the KV cache; 0 takes the model's training context.
    pub n_ctx: u32,
    /// Most tokens in one decode.
    pub n_batch: u32,
    /// Threads for a single token.
    pub n_threads: Threads,
    /// Threads for several tokens.
    pub n_threads_batch: Threads,
    /// Scaling of the rotary embedding: -1 as the model says, 0 none, 1 linear, 2 YaRN.
    pub rope_scaling_type: i8,
    /// Base frequency of the rotary embedding; 0 takes the model's.
    pub rope_freq_base: f32,
    /// Factor of the frequencies; 0 takes the model's.
    pub rope_freq_scale: f32,
    /// YaRN's extrapolation mix; negative takes the model's.
    pub yarn_ext_factor: f32,
    /// YaRN's magnitude.
    pub yarn_attn_factor: f32,
    /// YaRN's low correction dimension.
    pub yarn_beta_fast: f32,
    /// YaRN's high correction dimension.
    pub yarn_beta_slow: f32,
    /// YaRN's original context.
    pub yarn_orig_ctx: u32,
    /// ggml's type of the cached keys.
    pub type_k: i32,
    /// ggml's type of the cached values.
    pub type_v: i32,
    /// Of no effect in this build.
    pub mul_mat_q: bool,
    /// Keep the logits of every token, not of the last one only.
    pub logits_all: bool,
    /// Keep the embedding of the last token.
    pub embedding: bool,
    /// Keep the KV cache on the GPU.
    pub offload_kqv: bool,
}

impl Default for ContextParams {
    fn default() -> Self {
        // SAFETY: returns a struct by value.
        let p = unsafe { sys::llama_context_default_params() };
        Self {
            seed: p.seed,
            n_ctx: p.n_ctx,
            n_batch: p.n_batch,
            n_threads: Threads::Default(p.n_threads),
            n_threads_batch: Threads::Default(p.n_threads_batch),
            rope_scaling_type: p.rope_scaling_type,
            rope_freq_base: p.rope_freq_base,
            rope_freq_scale: p.rope_freq_scale,
            yarn_ext_factor: p.yarn_ext_factor,
            yarn_attn_factor: p.yarn_attn_factor,
            yarn_beta_fast: p.yarn_beta_fast,
            yarn_beta_slow: p.yarn_beta_slow,
            yarn_orig_ctx: p.yarn_orig_ctx,
            type_k: p.type_k as i32,
            type_v: p.type_v as i32,
            mul_mat_q: p.mul_mat_q,
            logits_all: p.logits_all,
            embedding: p.embedding,
            offload_kqv: p.offload_kqv,
        }
    }
}

/// A type that the KV cache can have: ggml's number, its name, values in a block and bytes of a block.
struct CacheType(u32, &'static str, u32, u32);

/// What llama.cpp can write keys in.
const K_TYPES: &[CacheType] = &[
    CacheType(sys::GGML_TYPE_F32, "F32", 1, 4),
    CacheType(sys::GGML_TYPE_F16, "F16", 1, 2),
    CacheType(sys::GGML_TYPE_Q4_0, "Q4_0", 32, 18),
    CacheType(sys::GGML_TYPE_Q4_1, "Q4_1", 32, 20),
    CacheType(sys::GGML_TYPE_Q5_0, "Q5_0", 32, 22),
    CacheType(sys::GGML_TYPE_Q5_1, "Q5_1", 32, 24),
    CacheType(sys::GGML_TYPE_Q8_0, "Q8_0", 32, 34),
];

/// What llama.cpp can write values in: they are stored transposed, which does not go with blocks.
const V_TYPES: &[CacheType] = &[CacheType(sys::GGML_TYPE_F32, "F32", 1, 4), CacheType(sys::GGML_TYPE_F16, "F16", 1, 2)];

impl ContextParams {
    /// The seed that stands for a random one.
    pub const RANDOM_SEED: u32 = sys::LLAMA_DEFAULT_SEED;

    /// The context in tokens that results for `model`.
    pub fn effective_n_ctx(&self, model: &Model) -> u32 {
        if self.n_ctx == 0 {
            u32::try_from(model.n_ctx_train()).unwrap_or(0)
        } else {
            self.n_ctx
        }
    }

    /// Bytes of the KV cache that results for `model`.
    ///
    /// # Errors
    ///
    /// As [`ContextParams::check`], for the types.
    pub fn kv_bytes(&self, model: &Model) -> Result<u64> {
        let h = model.hparams();
        let k = cache_type("type_k", self.type_k, K_TYPES)?;
        let v = cache_type("type_v", self.type_v, V_TYPES)?;
        let row = |width: u32, t: &CacheType| u64::from(width) / u64::from(t.2) * u64::from(t.3);
        let cell = row(h.n_embd_k_gqa, k) + row(h.n_embd_v_gqa, v);
        Ok(cell.saturating_mul(u64::from(h.n_layer)).saturating_mul(u64::from(self.effective_n_ctx(model))))
    }

    /// Proves that llama.cpp can make a context of this for `model`: everything that it would assert, divide by,
    /// multiply without a look at the width, or allocate beyond the machine's memory.
    ///
    /// # Errors
    ///
    /// [`Error::State`] when the model has no weights or the cache would be larger than the memory,
    /// [`Error::Argument`] for a value outside its limits.
    pub fn check(&self, model: &Model) -> Result<()> {
        if model.vocab_only() {
            return Err(Error::state("the model was loaded with vocab_only: it has no weights to make a context with"));
        }
        for (name, n) in [("n_threads", self.n_threads), ("n_threads_batch", self.n_threads_batch)] {
            if !(1..=Threads::max()).contains(&n.get()) {
                return Err(Error::argument(format!("{name} is {}, it must be 1 to {} here", n.get(), Threads::max())));
            }
            backend::check_threads(n.effective())?;
        }
        if self.n_batch == 0 {
            return Err(Error::argument("n_batch is 0, it must be 1 or more"));
        }
        if !(-1..=2).contains(&self.rope_scaling_type) {
            return Err(Error::argument(format!(
                "rope_scaling_type is {}, it must be -1 to 2",
                self.rope_scaling_type
            )));
        }
        for (name, value) in [
            ("rope_freq_base", self.rope_freq_base),
            ("rope_freq_scale", self.rope_freq_scale),
            ("yarn_ext_factor", self.yarn_ext_factor),
            ("yarn_attn_factor", self.yarn_attn_factor),
            ("yarn_beta_fast", self.yarn_beta_fast),
            ("yarn_beta_slow", self.yarn_beta_slow),
        ] {
            if !value.is_finite() {
                return Err(Error::argument(format!("{name} is {value}, it must be a finite number")));
            }
        }
        for (name, value) in [("rope_freq_base", self.rope_freq_base), ("rope_freq_scale", self.rope_freq_scale)] {
            if value < 0.0 {
                return Err(Error::argument(format!("{name} is {value}, it must be 0 (as the model says) or more")));
            }
        }
        self.check_types(model)?;
        self.check_memory(model)
    }

    fn check_types(&self, model: &Model) -> Result<()> {
        let h = model.hparams();
        let k = cache_type("type_k", self.type_k, K_TYPES)?;
        cache_type("type_v", self.type_v, V_TYPES)?;
        if h.n_embd_head_k % k.2 != 0 {
            return Err(Error::argument(format!(
                "type_k {} stores blocks of {} values, which do not divide this model's head size {}",
                k.1, k.2, h.n_embd_head_k
            )));
        }
        Ok(())
    }

    fn check_memory(&self, model: &Model) -> Result<()> {
        let n_ctx = self.effective_n_ctx(model);
        if n_ctx == 0 {
            return Err(Error::argument("n_ctx is 0, and the model does not say what it was trained with"));
        }
        let h = model.hparams();
        // llama.cpp multiplies these as 32 bit numbers.
        let widest = u64::from(h.n_embd_k_gqa.max(h.n_embd_v_gqa)).max(1);
        if i32::try_from(n_ctx).is_err() || u64::from(n_ctx) * widest > u64::from(u32::MAX) {
            return Err(Error::argument(format!(
                "n_ctx is {n_ctx}, {} is the limit for this model",
                (u64::from(u32::MAX) / widest).min(i32::MAX as u64)
            )));
        }
        let n_vocab = u64::try_from(model.n_vocab()).unwrap_or(0).max(1);
        let n_batch = u64::from(self.n_batch.min(n_ctx));
        if n_batch * n_vocab > u64::from(u32::MAX) {
            return Err(Error::argument(format!(
                "n_batch is {n_batch}, {} is the limit for this model's vocabulary",
                u64::from(u32::MAX) / n_vocab
            )));
        }
        let kv_bytes = self.kv_bytes(model)?;
        // Scores of all heads of one layer for a full batch.
        let scores = u64::from(h.n_head).saturating_mul(u64::from(n_ctx)).saturating_mul(n_batch).saturating_mul(4);
        let needed = kv_bytes.saturating_add(scores);
        if let Some(limit) = backend::memory_limit() {
            if needed > limit {
                return Err(Error::state(format!(
                    "a context of {n_ctx} tokens needs {} MiB for its KV cache and {} MiB to compute, this machine has {} MiB: \
                     choose a smaller n_ctx or n_batch",
                    kv_bytes >> 20,
                    scores >> 20,
                    limit >> 20
                )));
            }
        }
        Ok(())
    }

    /// Whether the cached keys are numbers that can be rotated to another position.
    pub(crate) fn can_shift(&self) -> bool {
        self.type_k == sys::GGML_TYPE_F32 as i32 || self.type_k == sys::GGML_TYPE_F16 as i32
    }

    pub(crate) fn to_native(&self, model: &Model) -> sys::llama_context_params {
        let n_ctx = self.effective_n_ctx(model);
        sys::llama_context_params {
            seed: self.seed,
            n_ctx,
            // A batch cannot be larger than the cache; llama.cpp reserves logits for all of it.
            n_batch: self.n_batch.min(n_ctx),
            n_threads: self.n_threads.effective(),
            n_threads_batch: self.n_threads_batch.effective(),
            rope_scaling_type: self.rope_scaling_type,
            rope_freq_base: self.rope_freq_base,
            rope_freq_scale: self.rope_freq_scale,
            yarn_ext_factor: self.yarn_ext_factor,
            yarn_attn_factor: self.yarn_attn_factor,
            yarn_beta_fast: self.yarn_beta_fast,
            yarn_beta_slow: self.yarn_beta_slow,
            yarn_orig_ctx: self.yarn_orig_ctx,
            type_k: self.type_k as sys::ggml_type,
            type_v: self.type_v as sys::ggml_type,
            mul_mat_q: self.mul_mat_q,
            logits_all: self.logits_all,
            embedding: self.embedding,
            offload_kqv: self.offload_kqv,
        }
    }
}

fn cache_type(name: &str, value: i32, known: &'static [CacheType]) -> Result<&'static CacheType> {
    known.iter().find(|t| i32::try_from(t.0) == Ok(value)).ok_or_else(|| {
        let list: Vec<_> = known.iter().map(|t| format!("{} ({})", t.0, t.1)).collect();
        Error::argument(format!("{name} is {value}, the KV cache can have one of {}", list.join(", ")))
    })
}
