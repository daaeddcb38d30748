//! `LLaMACpp::Timings`: where the time of a context went.

use llama::context::Timings as Native;
use magnus::{method, prelude::*, typed_data::Obj, Error, RModule, Ruby};
use std::cell::Cell;

#[magnus::wrap(class = "LLaMACpp::Timings", free_immediately, size)]
pub struct Timings(Cell<Native>);

impl Default for Timings {
    fn default() -> Self {
        Self(Cell::new(Native {
            t_start_ms: 0.0,
            t_end_ms: 0.0,
            t_load_ms: 0.0,
            t_sample_ms: 0.0,
            t_p_eval_ms: 0.0,
            t_eval_ms: 0.0,
            n_sample: 0,
            n_p_eval: 0,
            n_eval: 0,
        }))
    }
}

impl Timings {
    pub fn wrap(ruby: &Ruby, native: Native) -> Obj<Self> {
        ruby.obj_wrap(Self(Cell::new(native)))
    }

    fn initialize_copy(rb_self: Obj<Self>, other: Obj<Self>) -> Obj<Self> {
        rb_self.0.set(other.0.get());
        rb_self
    }
}

pub fn init(ruby: &Ruby, module: RModule) -> Result<(), Error> {
    let class = module.define_class("Timings", ruby.class_object())?;
    class.define_alloc_func::<Timings>();
    class.define_private_method("initialize_copy", method!(Timings::initialize_copy, 1))?;
    class.define_method("t_start_ms", method!(|t: &Timings| t.0.get().t_start_ms, 0))?;
    class.define_method("t_end_ms", method!(|t: &Timings| t.0.get().t_end_ms, 0))?;
    class.define_method("t_load_ms", method!(|t: &Timings| t.0.get().t_load_ms, 0))?;
    class.define_method("t_sample_ms", method!(|t: &Timings| t.0.get().t_sample_ms, 0))?;
    class.define_method("t_p_eval_ms", method!(|t: &Timings| t.0.get().t_p_eval_ms, 0))?;
    class.define_method("t_eval_ms", method!(|t: &Timings| t.0.get().t_eval_ms, 0))?;
    class.define_method("n_sample", method!(|t: &Timings| t.0.get().n_sample, 0))?;
    class.define_method("n_p_eval", method!(|t: &Timings| t.0.get().n_p_eval, 0))?;
    class.define_method("n_eval", method!(|t: &Timings| t.0.get().n_eval, 0))?;
    Ok(())
}
