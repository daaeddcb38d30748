//! A context: the KV cache of a model and the outputs of its last decode.

use crate::batch::Batch;
use crate::context_params::{ContextParams, Threads};
use crate::error::{check, copied, Error, Result};
use crate::model::Model;
use crate::{backend, log, sys};
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicBool;
use std::sync::Arc;

/// Which rows of logits the last decode left.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Rows {
    None,
    /// The last token's, as the only row.
    Last,
    /// Every token's.
    All(usize),
    /// Those of some tokens; the rows between are void.
    Some(Vec<usize>),
}

/// Where times went, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timings {
    /// When the model's loading began.
    pub t_start_ms: f64,
    /// Now.
    pub t_end_ms: f64,
    /// Loading, until the first decode was done.
    pub t_load_ms: f64,
    /// Sampling.
    pub t_sample_ms: f64,
    /// Decodes of several tokens.
    pub t_p_eval_ms: f64,
    /// Decodes of single tokens.
    pub t_eval_ms: f64,
    /// Tokens sampled.
    pub n_sample: i32,
    /// Tokens in decodes of several.
    pub n_p_eval: i32,
    /// Decodes of single tokens.
    pub n_eval: i32,
}

/// Bytes of memory that a context takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The KV cache.
    pub kv: usize,
    /// The buffers of the computation.
    pub compute: usize,
    /// Logits and embedding.
    pub output: usize,
}

/// A KV cache with the outputs of the last decode. It keeps its model alive.
pub struct Context {
    ptr: NonNull<sys::llama_context>,
    model: Arc<Model>,
    params: ContextParams,
    rows: Rows,
    has_embedding: bool,
    seed: u32,
    n_threads: (u32, u32),
}

// SAFETY: llama.cpp does not care which thread uses a context, as long as it is one at a time, which `&mut self` sees
// to.
unsafe impl Send for Context {}

impl Context {
    /// Makes a context for `model`.
    ///
    /// # Errors
    ///
    /// Those of [`ContextParams::check`], and [`Error::State`] when llama.cpp cannot make one.
    ///
    /// # Examples
    ///
    /// ```
    /// use llama::{batch::Batch, context::Context, context_params::ContextParams};
    /// # use llama::model::{Model, ModelParams};
    /// # use std::sync::{atomic::AtomicBool, Arc};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/tiny/tiny.gguf");
    /// # let model = Arc::new(Model::load(path, &ModelParams::default(), &mut |_| true)?);
    /// let mut context = Context::new(model.clone(), &ContextParams { n_ctx: 64, ..Default::default() })?;
    /// let tokens = model.tokenize(b"The capital of France is", true, false)?;
    /// context.decode(&mut Batch::single(tokens, 0, 0), &AtomicBool::new(false))?;
    /// let logits = context.logits()?;
    /// let best = (0..logits.len()).max_by(|&a, &b| logits[a].total_cmp(&logits[b])).unwrap_or(0);
    /// assert_eq!(model.piece(best as i32), b" P");
    /// # Ok::<(), llama::error::Error>(())
    /// ```
    pub fn new(model: Arc<Model>, params: &ContextParams) -> Result<Self> {
        params.check(&model)?;
        let mut native = params.to_native(&model);
        native.seed = drawn_seed(native.seed);
        let mut out = ptr::null_mut();
        // SAFETY: the model lives as long as the context, which holds an `Arc` of it; the parameters were checked.
        let (status, errors) = log::capture(|| unsafe { sys::shim_context_new(model.as_ptr(), &native, &mut out) });
        let Some(ptr) = NonNull::new(out) else {
            let what = "cannot make the context";
            return Err(match status {
                sys::SHIM_FAILED => Error::state(format!("{what}: {}", crate::model::reason(&errors))),
                _ => Error::from_status(status, what),
            });
        };
        let n_threads = (native.n_threads, native.n_threads_batch);
        Ok(Self {
            ptr,
            model,
            params: params.clone(),
            rows: Rows::None,
            has_embedding: false,
            seed: params.seed,
            n_threads,
        })
    }

    pub(crate) fn as_ptr(&mut self) -> *mut sys::llama_context {
        self.ptr.as_ptr()
    }

    pub(crate) fn info(&self) -> sys::shim_context_info {
        // SAFETY: the context lives.
        unsafe { sys::shim_context_info(self.ptr.as_ptr()) }
    }

    /// The model.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// How it was made.
    pub fn params(&self) -> &ContextParams {
        &self.params
    }

    /// Tokens that the KV cache holds.
    pub fn n_ctx(&self) -> u32 {
        self.params.effective_n_ctx(&self.model)
    }

    /// Most tokens in one decode.
    pub fn n_batch(&self) -> u32 {
        self.params.n_batch
    }

    /// Bytes of memory. They do not change much after the first decode.
    pub fn memory(&self) -> Memory {
        let info = self.info();
        Memory { kv: info.kv_bytes, compute: info.compute_bytes, output: info.output_bytes }
    }

    /// Decodes the batch: its tokens enter the KV cache, logits and embedding are computed. `cancel` stops it at the
    /// next operation once it is set.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] for a batch that is empty, larger than `n_batch`, or has tokens, positions or sequences out
    /// of range; [`Error::State`] when the cache has no room; [`Error::Cancelled`]. In each case the cache is as it was.
    pub fn decode(&mut self, batch: &mut Batch, cancel: &AtomicBool) -> Result<()> {
        let n_tokens = batch.n_tokens();
        self.check_batch(batch)?;
        let logits_all = self.params.logits_all;
        let rows = match batch.flagged() {
            _ if logits_all => Rows::All(n_tokens),
            None => Rows::Last,
            Some(flagged) => Rows::Some(flagged),
        };
        let ctx = self.ptr.as_ptr();
        let _weights = self.model.read_weights(cancel)?;
        let (status, errors) = log::capture(|| {
            batch.with_native(logits_all, |native| {
                // SAFETY: the batch was checked against the model and the context; the flag outlives the call.
                unsafe { sys::shim_decode(ctx, native, ptr::from_ref(cancel).cast()) }
            })
        });
        match status {
            sys::SHIM_OK => {
                self.rows = rows;
                self.has_embedding = self.params.embedding;
                Ok(())
            }
            sys::SHIM_NO_SLOT => Err(self.no_slot(n_tokens)),
            sys::SHIM_FAILED => {
                Err(Error::state(format!("cannot decode the batch: {}", crate::model::reason(&errors))))
            }
            status => {
                // What llama.cpp had begun to write is no result of anything.
                self.rows = Rows::None;
                self.has_embedding = false;
                Err(Error::from_status(status, "cannot decode the batch"))
            }
        }
    }

    fn check_batch(&self, batch: &Batch) -> Result<()> {
        let n_tokens = batch.n_tokens();
        let n_batch = self.params.n_batch as usize;
        if n_tokens == 0 {
            return Err(Error::argument("the batch is empty: set its tokens and n_tokens"));
        }
        if n_tokens > n_batch {
            return Err(Error::argument(format!(
                "the batch has {n_tokens} tokens, n_batch of the context is {n_batch}: decode it in parts"
            )));
        }
        if n_tokens > self.n_ctx() as usize {
            return Err(Error::state(format!("the batch has {n_tokens} tokens, the context holds {}", self.n_ctx())));
        }
        batch.check(self.model.n_vocab(), self.model.n_embd())?;
        let n_positions = self.model.hparams().n_positions;
        if n_positions > 0 {
            for i in 0..n_tokens {
                let pos = batch.pos(i)?;
                if i64::from(pos) >= i64::from(n_positions) {
                    return Err(Error::argument(format!(
                        "position {pos} at index {i} is beyond the {n_positions} that the model has learned"
                    )));
                }
            }
        }
        Ok(())
    }

    fn no_slot(&self, n_tokens: usize) -> Error {
        let info = self.info();
        Error::state(format!(
            "the KV cache has no room for {n_tokens} more tokens in a row: {} of its {} cells are in use; \
             free some with kv_cache_seq_rm or kv_cache_clear, or make a context with a larger n_ctx",
            info.kv_used, info.kv_size
        ))
    }

    /// Notes what a restored state has.
    pub(crate) fn restored(&mut self, n_logits: u64) {
        let n_vocab = u64::try_from(self.model.n_vocab()).unwrap_or(0).max(1);
        let n_rows = usize::try_from(n_logits / n_vocab).unwrap_or(0);
        self.rows = match n_rows {
            0 => Rows::None,
            1 => Rows::Last,
            n if self.params.logits_all => Rows::All(n),
            n => Rows::Some(vec![n - 1]),
        };
        self.has_embedding = self.params.embedding;
    }

    /// Drops what the cache has from position `n_past` on, then decodes `batch`, which starts there. If that cannot
    /// work the cache stays as it is.
    ///
    /// # Errors
    ///
    /// As [`Context::decode`].
    pub fn eval(&mut self, batch: &mut Batch, n_past: i32, cancel: &AtomicBool) -> Result<()> {
        self.check_batch(batch)?;
        if !self.has_room_after(n_past, batch.n_tokens()) {
            return Err(self.no_slot(batch.n_tokens()));
        }
        self.kv_seq_rm(-1, n_past, -1);
        self.decode(batch, cancel)
    }

    /// Decodes tokens of the sequence 0 at the positions from `pos` on: at once where that many free cells lie side by
    /// side, else in parts, for what was removed and moved leaves holes. The logits are those of the last part.
    ///
    /// # Errors
    ///
    /// As [`Context::decode`]; what was decoded before the error is taken back.
    pub fn decode_tokens(&mut self, tokens: &[i32], pos: i32, cancel: &AtomicBool) -> Result<()> {
        let mut batch = Batch::single(copied(tokens)?, pos, 0);
        if tokens.len() == 1 {
            return self.decode(&mut batch, cancel);
        }
        self.check_batch(&batch)?;
        if self.free_runs(i32::MAX).iter().sum::<usize>() < tokens.len() {
            return Err(self.no_slot(tokens.len()));
        }
        let (mut rest, mut next) = (tokens, pos);
        while !rest.is_empty() {
            let longest = self.free_runs(i32::MAX).into_iter().max().unwrap_or(0);
            let (part, later) = rest.split_at(longest.min(rest.len()));
            let mut batch = Batch::single(copied(part)?, next, 0);
            if let Err(e) = self.decode(&mut batch, cancel) {
                self.kv_seq_rm(0, pos, next);
                return Err(e);
            }
            next = next.saturating_add(i32::try_from(part.len()).unwrap_or(i32::MAX));
            rest = later;
        }
        Ok(())
    }

    /// Whether `n` free cells side by side are left when the positions from `n_past` on are gone.
    fn has_room_after(&self, n_past: i32, n: usize) -> bool {
        self.free_runs(n_past).into_iter().any(|run| run >= n)
    }

    /// How many cells lie side by side, everywhere where they are free or have a position from `n_past` on.
    fn free_runs(&self, n_past: i32) -> Vec<usize> {
        let mut runs = Vec::new();
        let mut run = 0;
        for i in 0..self.info().kv_size {
            // SAFETY: the context lives; the shim checks the index.
            let pos = unsafe { sys::shim_kv_cell_pos(self.ptr.as_ptr(), i) };
            if pos < 0 || pos >= n_past {
                run += 1;
            } else if run > 0 {
                runs.push(run);
                run = 0;
            }
        }
        runs.push(run);
        runs
    }

    /// The logits of the last decode: every token's, one row after the other, with `logits_all`; else those of the
    /// last token, or of the last that was flagged. Rows have `n_vocab` floats.
    ///
    /// # Errors
    ///
    /// [`Error::State`] before the first decode, or when no logits were asked for.
    pub fn logits(&self) -> Result<&[f32]> {
        match &self.rows {
            Rows::All(n) => self.logit_rows(0, *n),
            Rows::Some(flagged) => {
                flagged.last().map_or_else(|| Err(no_logits_wanted()), |&row| self.logit_rows(row, 1))
            }
            Rows::Last => self.logit_rows(0, 1),
            Rows::None => Err(not_evaluated()),
        }
    }

    /// The logits of one token of the last decode; a negative `row` counts from the end.
    ///
    /// # Errors
    ///
    /// [`Error::State`] as [`Context::logits`], [`Error::Index`] for a token whose logits were not computed.
    pub fn logits_row(&self, row: i64) -> Result<&[f32]> {
        let (rows, n): (Vec<usize>, usize) = match &self.rows {
            Rows::None => return Err(not_evaluated()),
            Rows::Last => (vec![0], 1),
            Rows::All(n) => return self.logit_rows(resolve(row, *n)?, 1),
            Rows::Some(flagged) => match flagged.last() {
                Some(last) => (flagged.clone(), last + 1),
                None => return Err(no_logits_wanted()),
            },
        };
        let i = resolve(row, n)?;
        if rows.contains(&i) {
            self.logit_rows(i, 1)
        } else {
            Err(Error::Index(format!("the logits of token {i} were not asked for: set_logits({i}, true) in the batch")))
        }
    }

    fn logit_rows(&self, first: usize, n: usize) -> Result<&[f32]> {
        let width = usize::try_from(self.model.n_vocab()).unwrap_or(0);
        // SAFETY: the context lives.
        let data = unsafe { sys::llama_get_logits(self.ptr.as_ptr()) };
        if data.is_null() || (first + n) * width > self.info().n_logits {
            return Err(not_evaluated());
        }
        // SAFETY: llama.cpp holds at least that many floats until the next decode, which needs `&mut self`.
        Ok(unsafe { std::slice::from_raw_parts(data.add(first * width), n * width) })
    }

    /// The embedding of the last token of the last decode, `n_embd` floats.
    ///
    /// # Errors
    ///
    /// [`Error::State`] when the context was made without `embedding`, or nothing was decoded yet.
    pub fn embedding(&self) -> Result<&[f32]> {
        if !self.params.embedding {
            return Err(Error::state(
                "the context was made without embeddings: set embedding = true in its ContextParams",
            ));
        }
        if !self.has_embedding {
            return Err(not_evaluated());
        }
        let n = self.info().n_embedding;
        // SAFETY: the context lives, and holds that many floats until the next decode.
        Ok(unsafe { std::slice::from_raw_parts(sys::llama_get_embeddings(self.ptr.as_ptr()), n) })
    }

    /// Sets the number of threads for single tokens and for several.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] outside of 1 to [`Threads::max`]; [`Error::State`] when that many cannot be started.
    pub fn set_n_threads(&mut self, n_threads: u32, n_threads_batch: u32) -> Result<()> {
        let max = Threads::max();
        for n in [n_threads, n_threads_batch] {
            if !(1..=max).contains(&n) {
                return Err(Error::argument(format!("n_threads is {n}, it must be 1 to {max}")));
            }
        }
        let [n_threads, n_threads_batch] = [n_threads, n_threads_batch].map(|n| Threads::Exactly(n).effective());
        backend::check_threads(n_threads.max(n_threads_batch))?;
        // SAFETY: the context lives, the numbers are in range.
        unsafe { sys::llama_set_n_threads(self.as_ptr(), n_threads, n_threads_batch) };
        self.n_threads = (n_threads, n_threads_batch);
        Ok(())
    }

    /// The numbers of threads that are in use, for single tokens and for several.
    pub fn n_threads(&self) -> (u32, u32) {
        self.n_threads
    }

    /// Starts the random numbers anew; [`ContextParams::RANDOM_SEED`] takes one of them all.
    pub fn set_rng_seed(&mut self, seed: u32) {
        self.seed = seed;
        // SAFETY: the context lives.
        unsafe { sys::llama_set_rng_seed(self.as_ptr(), drawn_seed(seed)) };
    }

    /// Starts the random numbers with `seed` for once, or as they were started last, so that a used context draws what
    /// a fresh one would. A random seed goes on being random.
    pub fn restart_rng(&mut self, seed: Option<u32>) {
        let seed = seed.unwrap_or(self.seed);
        if seed != ContextParams::RANDOM_SEED {
            // SAFETY: the context lives.
            unsafe { sys::llama_set_rng_seed(self.as_ptr(), seed) };
        }
    }

    /// Where the time went.
    pub fn timings(&self) -> Timings {
        // SAFETY: the context lives.
        let t = unsafe { sys::llama_get_timings(self.ptr.as_ptr()) };
        Timings {
            t_start_ms: t.t_start_ms,
            t_end_ms: t.t_end_ms,
            t_load_ms: t.t_load_ms,
            t_sample_ms: t.t_sample_ms,
            t_p_eval_ms: t.t_p_eval_ms,
            t_eval_ms: t.t_eval_ms,
            n_sample: t.n_sample,
            n_p_eval: t.n_p_eval,
            n_eval: t.n_eval,
        }
    }

    /// Sets the times and counts back to zero.
    pub fn reset_timings(&mut self) {
        // SAFETY: the context lives.
        unsafe { sys::llama_reset_timings(self.as_ptr()) };
    }

    // ---- the KV cache

    /// Tokens in the cache; one that belongs to several sequences counts for each.
    pub fn kv_token_count(&self) -> i32 {
        // SAFETY: the context lives.
        unsafe { sys::llama_get_kv_cache_token_count(self.ptr.as_ptr()) }
    }

    /// Cells of the cache that are in use.
    pub fn kv_used_cells(&self) -> i32 {
        // SAFETY: the context lives.
        unsafe { sys::llama_get_kv_cache_used_cells(self.ptr.as_ptr()) }
    }

    /// Empties the cache.
    pub fn kv_clear(&mut self) {
        // SAFETY: the context lives.
        unsafe { sys::llama_kv_cache_clear(self.as_ptr()) };
    }

    /// Removes the positions `p0..p1` of a sequence, of any when `seq` is negative. A negative `p0` is 0, a negative
    /// `p1` has no end.
    pub fn kv_seq_rm(&mut self, seq: i32, p0: i32, p1: i32) {
        // SAFETY: the context lives; llama.cpp takes any numbers.
        unsafe { sys::llama_kv_cache_seq_rm(self.as_ptr(), seq, p0, p1) };
    }

    /// Makes the positions `p0..p1` of `src` belong to `dst`, too.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] for a negative sequence.
    pub fn kv_seq_cp(&mut self, src: i32, dst: i32, p0: i32, p1: i32) -> Result<()> {
        for seq in [src, dst] {
            check_seq(seq)?;
        }
        // SAFETY: the context lives.
        check(unsafe { sys::shim_kv_seq_cp(self.as_ptr(), src, dst, p0, p1) }, "cannot copy the sequence")
    }

    /// Removes all other sequences.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] for a negative sequence.
    pub fn kv_seq_keep(&mut self, seq: i32) -> Result<()> {
        check_seq(seq)?;
        // SAFETY: the context lives.
        check(unsafe { sys::shim_kv_seq_keep(self.as_ptr(), seq) }, "cannot keep the sequence")
    }

    /// Moves the positions `p0..p1` of a sequence by `delta`. Those that become negative are removed.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] for a negative sequence or positions beyond 2^31-1, [`Error::State`] when the keys are
    /// quantized.
    pub fn kv_seq_shift(&mut self, seq: i32, p0: i32, p1: i32, delta: i32) -> Result<()> {
        check_seq(seq)?;
        self.check_shift()?;
        if let Some((_, max)) = self.kv_seq_range(seq) {
            if max.checked_add(delta).is_none() {
                return Err(Error::argument(format!("position {max} plus {delta} is beyond {}", i32::MAX)));
            }
        }
        // SAFETY: the context lives, and no position leaves the numbers' range.
        unsafe { sys::llama_kv_cache_seq_shift(self.as_ptr(), seq, p0, p1, delta) };
        Ok(())
    }

    /// Divides the positions `p0..p1` of a sequence by `d`.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] for a negative sequence or a `d` below 1, [`Error::State`] when the keys are quantized.
    pub fn kv_seq_div(&mut self, seq: i32, p0: i32, p1: i32, d: i32) -> Result<()> {
        check_seq(seq)?;
        if d < 1 {
            return Err(Error::argument(format!("positions cannot be divided by {d}: it must be 1 or more")));
        }
        self.check_shift()?;
        // SAFETY: the context lives, the divisor is positive.
        unsafe { sys::llama_kv_cache_seq_div(self.as_ptr(), seq, p0, p1, d) };
        Ok(())
    }

    /// Whether positions can be moved.
    ///
    /// # Errors
    ///
    /// [`Error::State`] when the keys are quantized: llama.cpp cannot rotate them.
    pub fn check_shift(&self) -> Result<()> {
        if self.params.can_shift() {
            Ok(())
        } else {
            Err(Error::state(
                "positions cannot be moved in a cache with quantized keys: make the context with type_k F16 or F32",
            ))
        }
    }

    /// The first and last position of a sequence.
    pub fn kv_seq_range(&self, seq: i32) -> Option<(i32, i32)> {
        let (mut min, mut max) = (0, 0);
        // SAFETY: the context lives; the shim writes both.
        unsafe { sys::shim_kv_seq_range(self.ptr.as_ptr(), seq, &mut min, &mut max) }.then_some((min, max))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: nobody else has the pointer.
        unsafe { sys::shim_context_free(self.ptr.as_ptr()) };
    }
}

/// The seed itself, or any when a random one is wanted: llama.cpp would take the time in seconds, which is the same for
/// two contexts that are made one after the other.
fn drawn_seed(seed: u32) -> u32 {
    if seed == ContextParams::RANDOM_SEED {
        (RandomState::new().build_hasher().finish() % u64::from(ContextParams::RANDOM_SEED)) as u32
    } else {
        seed
    }
}

fn resolve(row: i64, n: usize) -> Result<usize> {
    let index = if row < 0 { row + n as i64 } else { row };
    usize::try_from(index)
        .ok()
        .filter(|&i| i < n)
        .ok_or_else(|| Error::Index(format!("row {row} is outside of the {n} rows of the last decode")))
}

fn check_seq(seq: i32) -> Result<()> {
    if seq < 0 {
        Err(Error::argument(format!("sequence id {seq} is negative")))
    } else {
        Ok(())
    }
}

fn not_evaluated() -> Error {
    Error::state("nothing was decoded yet: call decode first")
}

fn no_logits_wanted() -> Error {
    Error::state("no token of the last batch asked for logits: set_logits(i, true) for those that should have them")
}
