//! `LLaMACpp::ContextParams`: how a context is made.

use crate::support::accessors::{self, accessors};
use crate::support::errors;
use llama::context_params::{ContextParams as Native, Threads};
use magnus::{method, prelude::*, typed_data::Obj, Error, RModule, Ruby, TryConvert, Value};
use std::cell::RefCell;

#[magnus::wrap(class = "LLaMACpp::ContextParams", free_immediately, size)]
#[derive(Default)]
pub struct ContextParams(RefCell<Native>);

impl ContextParams {
    pub fn native(&self) -> Native {
        self.0.borrow().clone()
    }

    fn initialize_copy(rb_self: Obj<Self>, other: Obj<Self>) -> Result<Obj<Self>, Error> {
        rb_self.check_frozen()?;
        let copy = other.native();
        rb_self.0.replace(copy);
        Ok(rb_self)
    }

    fn seed(&self) -> i64 {
        match self.0.borrow().seed {
            Native::RANDOM_SEED => -1,
            seed => i64::from(seed),
        }
    }

    fn set_seed(ruby: &Ruby, rb_self: Obj<Self>, value: Value) -> Result<i64, Error> {
        rb_self.check_frozen()?;
        rb_self.0.borrow_mut().seed = seed(ruby, value)?;
        Ok(rb_self.seed())
    }

    fn n_threads(&self) -> u32 {
        self.0.borrow().n_threads.get()
    }

    fn set_n_threads(ruby: &Ruby, rb_self: Obj<Self>, value: Value) -> Result<u32, Error> {
        rb_self.check_frozen()?;
        let n = accessors::uint(ruby, "n_threads", value)?;
        rb_self.0.borrow_mut().n_threads = Threads::Exactly(n);
        Ok(n)
    }

    fn n_threads_batch(&self) -> u32 {
        self.0.borrow().n_threads_batch.get()
    }

    fn set_n_threads_batch(ruby: &Ruby, rb_self: Obj<Self>, value: Value) -> Result<u32, Error> {
        rb_self.check_frozen()?;
        let n = accessors::uint(ruby, "n_threads_batch", value)?;
        rb_self.0.borrow_mut().n_threads_batch = Threads::Exactly(n);
        Ok(n)
    }

    fn rope_scaling_type(&self) -> i8 {
        self.0.borrow().rope_scaling_type
    }

    fn set_rope_scaling_type(ruby: &Ruby, rb_self: Obj<Self>, value: Value) -> Result<i8, Error> {
        rb_self.check_frozen()?;
        let n = i32::try_convert(value)?;
        let n = i8::try_from(n)
            .map_err(|_| errors::argument(ruby, format!("rope_scaling_type is {n}, it must be -1 to 2")))?;
        rb_self.0.borrow_mut().rope_scaling_type = n;
        Ok(n)
    }

    fn eq(rb_self: &Self, other: Value) -> bool {
        Obj::<Self>::try_convert(other).is_ok_and(|other| rb_self.native() == other.native())
    }
}

/// A seed: -1 is random, others are 32 bits without a sign.
pub fn seed(ruby: &Ruby, value: Value) -> Result<u32, Error> {
    let n = i64::try_convert(value)?;
    match n {
        -1 => Ok(Native::RANDOM_SEED),
        ..=-2 => Err(errors::argument(ruby, format!("seed is {n}, it must be -1 (random) or 0 to {}", u32::MAX))),
        _ => accessors::uint(ruby, "seed", value),
    }
}

pub fn init(ruby: &Ruby, module: RModule) -> Result<(), Error> {
    let class = module.define_class("ContextParams", ruby.class_object())?;
    class.define_alloc_func::<ContextParams>();
    class.define_private_method("initialize_copy", method!(ContextParams::initialize_copy, 1))?;
    accessors!(class, ContextParams, {
        n_ctx = "n_ctx=": uint,
        n_batch = "n_batch=": uint,
        rope_freq_base = "rope_freq_base=": float,
        rope_freq_scale = "rope_freq_scale=": float,
        yarn_ext_factor = "yarn_ext_factor=": float,
        yarn_attn_factor = "yarn_attn_factor=": float,
        yarn_beta_fast = "yarn_beta_fast=": float,
        yarn_beta_slow = "yarn_beta_slow=": float,
        yarn_orig_ctx = "yarn_orig_ctx=": uint,
        type_k = "type_k=": int,
        type_v = "type_v=": int,
        mul_mat_q = "mul_mat_q=": bool,
        logits_all = "logits_all=": bool,
        embedding = "embedding=": bool,
        offload_kqv = "offload_kqv=": bool,
    });
    class.define_method("seed", method!(ContextParams::seed, 0))?;
    class.define_method("seed=", method!(ContextParams::set_seed, 1))?;
    class.define_method("n_threads", method!(ContextParams::n_threads, 0))?;
    class.define_method("n_threads=", method!(ContextParams::set_n_threads, 1))?;
    class.define_method("n_threads_batch", method!(ContextParams::n_threads_batch, 0))?;
    class.define_method("n_threads_batch=", method!(ContextParams::set_n_threads_batch, 1))?;
    class.define_method("rope_scaling_type", method!(ContextParams::rope_scaling_type, 0))?;
    class.define_method("rope_scaling_type=", method!(ContextParams::set_rope_scaling_type, 1))?;
    class.define_method("==", method!(ContextParams::eq, 1))?;
    module.const_set("Params", class)?;
    Ok(())
}
