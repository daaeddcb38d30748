//! `LLaMACpp::Context`: a model's KV cache, and the outputs of its last decode.

use crate::batch::Batch;
use crate::context_params::ContextParams;
use crate::model::Model;
use crate::support::memory::Reported;
use crate::support::{args, errors, gvl};
use crate::timings::Timings;
use crate::token_data_array::TokenDataArray;
use llama::batch::Batch as NativeBatch;
use llama::context::Context as Native;
use llama::sampling::Candidates;
use magnus::{
    gc::Marker, method, prelude::*, typed_data::Obj, value::Opaque, DataTypeFunctions, Error, RArray, RModule, RString,
    Ruby, TryConvert, TypedData, Value,
};
use std::cell::{Cell, RefCell};

#[derive(Default, TypedData)]
#[magnus(class = "LLaMACpp::Context", free_immediately, size, mark)]
pub struct Context {
    /// Borrowed while a call works on it, with the lock of the VM or without: a second call finds it in use.
    native: RefCell<Option<Native>>,
    model: Cell<Option<Opaque<Value>>>,
    reported: RefCell<Reported>,
    /// As the last call found them, for the collector, who may ask while the context is in use.
    bytes: Cell<usize>,
}

impl DataTypeFunctions for Context {
    fn mark(&self, marker: &Marker) {
        if let Some(model) = self.model.get() {
            marker.mark(model);
        }
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.bytes.get()
    }
}

impl Context {
    /// Runs `f` on the native context, which is in use until `f` returns.
    pub fn with<T>(
        ruby: &Ruby,
        rb_self: Obj<Self>,
        f: impl FnOnce(&mut Native) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut guard = rb_self.native.try_borrow_mut().map_err(|_| in_use(ruby))?;
        f(guard.as_mut().ok_or_else(|| uninitialized(ruby))?)
    }

    /// As [`Context::with`], with the crate's errors.
    pub fn run<T>(
        ruby: &Ruby,
        rb_self: Obj<Self>,
        f: impl FnOnce(&mut Native) -> Result<T, llama::error::Error>,
    ) -> Result<T, Error> {
        Self::with(ruby, rb_self, |native| f(native).map_err(|e| errors::to_ruby(ruby, e)))
    }

    /// As [`Context::run`], without the lock of the VM.
    fn run_released<T>(
        ruby: &Ruby,
        rb_self: Obj<Self>,
        mut f: impl FnMut(&mut Native, &std::sync::atomic::AtomicBool) -> Result<T, llama::error::Error>,
    ) -> Result<T, Error> {
        let result = Self::with(ruby, rb_self, |native| gvl::release(ruby, |cancel| f(native, cancel)));
        rb_self.note_size();
        result
    }

    fn note_size(&self) {
        if let Ok(Some(native)) = self.native.try_borrow().as_deref() {
            let memory = native.memory();
            self.bytes.set(memory.kv + memory.compute + memory.output);
        }
    }

    fn initialize(ruby: &Ruby, rb_self: Obj<Self>, model: Value, params: Value) -> Result<(), Error> {
        rb_self.check_frozen()?;
        let rb_model = Obj::<Model>::try_convert(model).map_err(|_| args::not_a(ruby, "model", "a Model", model))?;
        let params = Obj::<ContextParams>::try_convert(params)
            .map_err(|_| args::not_a(ruby, "params", "a ContextParams", params))?
            .native();
        let native_model = rb_model
            .loaded()
            .ok_or_else(|| errors::argument(ruby, "the model is empty: it was freed, or no file was loaded yet"))?;
        let mut guard =
            rb_self.native.try_borrow_mut().map_err(|_| errors::runtime(ruby, "the context is being made"))?;
        if guard.is_some() {
            return Err(errors::runtime(ruby, "the context is initialized already"));
        }
        let native = gvl::release(ruby, |_| Native::new(native_model.clone(), &params))?;
        let memory = native.memory();
        *guard = Some(native);
        drop(guard);
        rb_self.model.set(Some(model.into()));
        rb_self.reported.replace(Reported::new(memory.kv + memory.compute + memory.output));
        rb_self.note_size();
        Ok(())
    }

    fn initialize_copy(ruby: &Ruby, _rb_self: Obj<Self>, _other: Value) -> Result<(), Error> {
        Err(Error::new(ruby.exception_type_error(), "a Context cannot be copied: make another one of its model"))
    }

    /// Idempotent. The model goes on living for those who hold it.
    fn free(ruby: &Ruby, rb_self: Obj<Self>) -> Result<(), Error> {
        let mut guard = rb_self.native.try_borrow_mut().map_err(|_| in_use(ruby))?;
        *guard = None;
        rb_self.model.set(None);
        rb_self.reported.take();
        rb_self.bytes.set(0);
        Ok(())
    }

    fn model(ruby: &Ruby, rb_self: Obj<Self>) -> Result<Value, Error> {
        rb_self.model.get().map(|model| ruby.get_inner(model)).ok_or_else(|| uninitialized(ruby))
    }

    /// The model for as long as the context lives, whatever its user does with `model`.
    fn own_model(ruby: &Ruby, rb_self: Obj<Self>) -> Result<Obj<Model>, Error> {
        Self::run(ruby, rb_self, |native| Ok(native.model().clone())).map(|native| Model::sharing(ruby, native))
    }

    fn n_ctx(ruby: &Ruby, rb_self: Obj<Self>) -> Result<u32, Error> {
        Self::run(ruby, rb_self, |native| Ok(native.n_ctx()))
    }

    fn n_batch(ruby: &Ruby, rb_self: Obj<Self>) -> Result<u32, Error> {
        Self::run(ruby, rb_self, |native| Ok(native.n_batch()))
    }

    fn n_threads(ruby: &Ruby, rb_self: Obj<Self>) -> Result<u32, Error> {
        Self::run(ruby, rb_self, |native| Ok(native.n_threads().0))
    }

    fn n_threads_batch(ruby: &Ruby, rb_self: Obj<Self>) -> Result<u32, Error> {
        Self::run(ruby, rb_self, |native| Ok(native.n_threads().1))
    }

    fn set_n_threads(ruby: &Ruby, rb_self: Obj<Self>, n: Value, n_batch: Value) -> Result<(), Error> {
        let max = i64::from(llama::context_params::Threads::max());
        let n = args::int(ruby, "n_threads", n, 1, max)? as u32;
        let n_batch = args::int(ruby, "n_threads_batch", n_batch, 1, max)? as u32;
        Self::run(ruby, rb_self, |native| native.set_n_threads(n, n_batch))
    }

    fn decode(ruby: &Ruby, rb_self: Obj<Self>, batch: Value) -> Result<(), Error> {
        let batch = Obj::<Batch>::try_convert(batch).map_err(|_| args::not_a(ruby, "batch", "a Batch", batch))?;
        Batch::with(ruby, batch, |batch| {
            Self::run_released(ruby, rb_self, |native, cancel| native.decode(batch, cancel))
        })
    }

    /// Decodes tokens of the sequence 0 from a position on; what `generate` needs, without a `Batch` for each token.
    fn decode_tokens(ruby: &Ruby, rb_self: Obj<Self>, tokens: Value, pos: Value) -> Result<(), Error> {
        let tokens = args::tokens(ruby, "tokens", tokens)?;
        let pos = args::int32(ruby, "pos", pos)?;
        Self::run_released(ruby, rb_self, |native, cancel| native.decode_tokens(&tokens, pos, cancel))
    }

    fn eval(ruby: &Ruby, rb_self: Obj<Self>, tokens: Value, n_past: Value, n_tokens: Value) -> Result<(), Error> {
        let mut tokens = args::tokens(ruby, "tokens", tokens)?;
        let n_past = args::int(ruby, "n_past", n_past, 0, i64::from(i32::MAX))? as i32;
        if !n_tokens.is_nil() {
            let n = args::count(ruby, "n_tokens", n_tokens)?;
            if n > tokens.len() {
                return Err(errors::argument(ruby, format!("n_tokens is {n}, but tokens has {}", tokens.len())));
            }
            tokens.truncate(n);
        }
        let mut batch = NativeBatch::single(tokens, n_past, 0);
        Self::run_released(ruby, rb_self, |native, cancel| native.eval(&mut batch, n_past, cancel))
    }

    fn eval_embd(ruby: &Ruby, rb_self: Obj<Self>, embd: Value, n_past: Value, n_tokens: Value) -> Result<(), Error> {
        let mut embd = args::floats(ruby, "embd", embd)?;
        let n_past = args::int(ruby, "n_past", n_past, 0, i64::from(i32::MAX))? as i32;
        let n_embd = Self::run(ruby, rb_self, |native| Ok(usize::try_from(native.model().n_embd()).unwrap_or(0)))?;
        if !n_tokens.is_nil() {
            let n = args::count(ruby, "n_tokens", n_tokens)?;
            let wanted = n.saturating_mul(n_embd);
            if wanted > embd.len() {
                return Err(errors::argument(
                    ruby,
                    format!(
                        "n_tokens is {n}, which takes {wanted} floats of {n_embd} per token, but embd has {}",
                        embd.len()
                    ),
                ));
            }
            embd.truncate(wanted);
        }
        let mut batch = NativeBatch::single_embeddings(embd, n_embd, n_past).map_err(|e| errors::to_ruby(ruby, e))?;
        Self::run_released(ruby, rb_self, |native, cancel| native.eval(&mut batch, n_past, cancel))
    }

    fn logits(ruby: &Ruby, rb_self: Obj<Self>, row: Value) -> Result<RArray, Error> {
        Self::with_logits(ruby, rb_self, row, |logits| args::float_array(ruby, logits))
    }

    fn logits_packed(ruby: &Ruby, rb_self: Obj<Self>, row: Value) -> Result<RString, Error> {
        Self::with_logits(ruby, rb_self, row, |logits| Ok(pack(ruby, logits)))
    }

    fn candidates(ruby: &Ruby, rb_self: Obj<Self>, row: Value) -> Result<Obj<TokenDataArray>, Error> {
        let row = i64::try_convert(row)?;
        let candidates = Self::run(ruby, rb_self, |native| Ok(Candidates::from_logits(native.logits_row(row)?)))?;
        Ok(TokenDataArray::wrap(ruby, candidates))
    }

    /// As [`Context::candidates`] of the last row, in the memory of earlier ones.
    fn refill_candidates(ruby: &Ruby, rb_self: Obj<Self>, candidates: Obj<TokenDataArray>) -> Result<(), Error> {
        TokenDataArray::with(ruby, candidates, |candidates| {
            Self::run(ruby, rb_self, |native| {
                candidates.refill(native.logits_row(-1)?);
                Ok(())
            })
        })
    }

    fn with_logits<T>(
        ruby: &Ruby,
        rb_self: Obj<Self>,
        row: Value,
        f: impl FnOnce(&[f32]) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let row = if row.is_nil() { None } else { Some(i64::try_convert(row)?) };
        Self::with(ruby, rb_self, |native| {
            let logits = match row {
                Some(row) => native.logits_row(row),
                None => native.logits(),
            };
            f(logits.map_err(|e| errors::to_ruby(ruby, e))?)
        })
    }

    fn embeddings(ruby: &Ruby, rb_self: Obj<Self>) -> Result<RArray, Error> {
        Self::with(ruby, rb_self, |native| {
            args::float_array(ruby, native.embedding().map_err(|e| errors::to_ruby(ruby, e))?)
        })
    }

    fn embeddings_packed(ruby: &Ruby, rb_self: Obj<Self>) -> Result<RString, Error> {
        Self::with(ruby, rb_self, |native| Ok(pack(ruby, native.embedding().map_err(|e| errors::to_ruby(ruby, e))?)))
    }

    fn timings(ruby: &Ruby, rb_self: Obj<Self>) -> Result<Obj<Timings>, Error> {
        let timings = Self::run(ruby, rb_self, |native| Ok(native.timings()))?;
        Ok(Timings::wrap(ruby, timings))
    }

    fn reset_timings(ruby: &Ruby, rb_self: Obj<Self>) -> Result<(), Error> {
        Self::run(ruby, rb_self, |native| {
            native.reset_timings();
            Ok(())
        })
    }

    fn set_rng_seed(ruby: &Ruby, rb_self: Obj<Self>, seed: Value) -> Result<(), Error> {
        let seed = args::int(ruby, "seed", seed, 0, i64::from(u32::MAX))? as u32;
        Self::run(ruby, rb_self, |native| {
            native.set_rng_seed(seed);
            Ok(())
        })
    }

    /// Starts the random numbers with `seed`, or, when it is nil, as the context started them last.
    fn restart_rng(ruby: &Ruby, rb_self: Obj<Self>, seed: Value) -> Result<(), Error> {
        let seed =
            if seed.is_nil() { None } else { Some(args::int(ruby, "seed", seed, 0, i64::from(u32::MAX))? as u32) };
        Self::run(ruby, rb_self, |native| {
            native.restart_rng(seed);
            Ok(())
        })
    }

    fn save_session(ruby: &Ruby, rb_self: Obj<Self>, path: Value, tokens: Value) -> Result<(), Error> {
        let path = args::path(ruby, "session_path", path)?;
        let tokens = args::tokens(ruby, "session_tokens", tokens)?;
        Self::run_released(ruby, rb_self, |native, _| native.save_session(&path, &tokens))
    }

    fn load_session(ruby: &Ruby, rb_self: Obj<Self>, path: Value) -> Result<RArray, Error> {
        let path = args::path(ruby, "session_path", path)?;
        let tokens = Self::run_released(ruby, rb_self, |native, _| native.load_session(&path))?;
        args::int_array(ruby, &tokens)
    }

    // ---- the KV cache

    fn kv_token_count(ruby: &Ruby, rb_self: Obj<Self>) -> Result<i32, Error> {
        Self::run(ruby, rb_self, |native| Ok(native.kv_token_count()))
    }

    fn kv_used_cells(ruby: &Ruby, rb_self: Obj<Self>) -> Result<i32, Error> {
        Self::run(ruby, rb_self, |native| Ok(native.kv_used_cells()))
    }

    fn kv_clear(ruby: &Ruby, rb_self: Obj<Self>) -> Result<(), Error> {
        Self::run(ruby, rb_self, |native| {
            native.kv_clear();
            Ok(())
        })
    }

    fn kv_seq_rm(ruby: &Ruby, rb_self: Obj<Self>, seq: Value, p0: Value, p1: Value) -> Result<(), Error> {
        let (seq, p0, p1) = (i32::try_convert(seq)?, i32::try_convert(p0)?, i32::try_convert(p1)?);
        Self::run(ruby, rb_self, |native| {
            native.kv_seq_rm(seq, p0, p1);
            Ok(())
        })
    }

    fn kv_seq_cp(ruby: &Ruby, rb_self: Obj<Self>, src: Value, dst: Value, p0: Value, p1: Value) -> Result<(), Error> {
        let (src, dst) = (i32::try_convert(src)?, i32::try_convert(dst)?);
        let (p0, p1) = (i32::try_convert(p0)?, i32::try_convert(p1)?);
        Self::run(ruby, rb_self, |native| native.kv_seq_cp(src, dst, p0, p1))
    }

    fn kv_seq_keep(ruby: &Ruby, rb_self: Obj<Self>, seq: Value) -> Result<(), Error> {
        let seq = i32::try_convert(seq)?;
        Self::run(ruby, rb_self, |native| native.kv_seq_keep(seq))
    }

    fn kv_seq_shift(
        ruby: &Ruby,
        rb_self: Obj<Self>,
        seq: Value,
        p0: Value,
        p1: Value,
        delta: Value,
    ) -> Result<(), Error> {
        let (seq, p0, p1) = (i32::try_convert(seq)?, i32::try_convert(p0)?, i32::try_convert(p1)?);
        let delta = i32::try_convert(delta)?;
        Self::run(ruby, rb_self, |native| native.kv_seq_shift(seq, p0, p1, delta))
    }

    fn kv_seq_div(ruby: &Ruby, rb_self: Obj<Self>, seq: Value, p0: Value, p1: Value, d: Value) -> Result<(), Error> {
        let (seq, p0, p1) = (i32::try_convert(seq)?, i32::try_convert(p0)?, i32::try_convert(p1)?);
        let d = i32::try_convert(d)?;
        Self::run(ruby, rb_self, |native| native.kv_seq_div(seq, p0, p1, d))
    }
}

fn in_use(ruby: &Ruby) -> Error {
    errors::runtime(ruby, "the context is in use by another call: give each thread a context of its own, or take turns")
}

fn uninitialized(ruby: &Ruby) -> Error {
    errors::runtime(ruby, "the context is no more: it was freed (or never initialized); make another one of its model")
}

/// Floats as the machine has them: `unpack("e*")` on a little-endian one.
fn pack(ruby: &Ruby, numbers: &[f32]) -> RString {
    // SAFETY: floats are bytes without gaps, and any address will do for bytes.
    let bytes = unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast::<u8>(), size_of_val(numbers)) };
    ruby.enc_str_new(bytes, ruby.ascii8bit_encoding())
}

pub fn init(ruby: &Ruby, module: RModule) -> Result<(), Error> {
    let class = module.define_class("Context", ruby.class_object())?;
    class.define_alloc_func::<Context>();
    class.define_private_method("native_init", method!(Context::initialize, 2))?;
    class.define_private_method("initialize_copy", method!(Context::initialize_copy, 1))?;
    class.define_private_method("native_model", method!(Context::own_model, 0))?;
    class.define_private_method("native_eval_tokens", method!(Context::eval, 3))?;
    class.define_private_method("native_eval_embeddings", method!(Context::eval_embd, 3))?;
    class.define_private_method("native_decode_tokens", method!(Context::decode_tokens, 2))?;
    class.define_private_method("native_restart_rng", method!(Context::restart_rng, 1))?;
    class.define_private_method("native_logits_of", method!(Context::logits, 1))?;
    class.define_private_method("native_logits_packed_of", method!(Context::logits_packed, 1))?;
    class.define_private_method("native_candidates_of", method!(Context::candidates, 1))?;
    class.define_private_method("native_refill_candidates", method!(Context::refill_candidates, 1))?;
    class.define_private_method("native_set_n_threads", method!(Context::set_n_threads, 2))?;
    class.define_private_method("native_used_cells", method!(Context::kv_used_cells, 0))?;
    class.define_private_method("native_save_session", method!(Context::save_session, 2))?;
    class.define_private_method("native_load_session", method!(Context::load_session, 1))?;
    class.define_method("free", method!(Context::free, 0))?;
    class.define_method("model", method!(Context::model, 0))?;
    class.define_method("n_ctx", method!(Context::n_ctx, 0))?;
    class.define_method("n_batch", method!(Context::n_batch, 0))?;
    class.define_method("n_threads", method!(Context::n_threads, 0))?;
    class.define_method("n_threads_batch", method!(Context::n_threads_batch, 0))?;
    class.define_method("decode", method!(Context::decode, 1))?;
    class.define_method("embeddings", method!(Context::embeddings, 0))?;
    class.define_method("embeddings_packed", method!(Context::embeddings_packed, 0))?;
    class.define_method("timings", method!(Context::timings, 0))?;
    class.define_method("reset_timings", method!(Context::reset_timings, 0))?;
    class.define_method("set_rng_seed", method!(Context::set_rng_seed, 1))?;
    class.define_method("kv_cache_token_count", method!(Context::kv_token_count, 0))?;
    class.define_method("kv_cache_clear", method!(Context::kv_clear, 0))?;
    class.define_method("kv_cache_seq_rm", method!(Context::kv_seq_rm, 3))?;
    class.define_method("kv_cache_seq_cp", method!(Context::kv_seq_cp, 4))?;
    class.define_method("kv_cache_seq_keep", method!(Context::kv_seq_keep, 1))?;
    class.define_method("kv_cache_seq_shift", method!(Context::kv_seq_shift, 4))?;
    class.define_method("kv_cache_seq_div", method!(Context::kv_seq_div, 4))?;
    Ok(())
}
