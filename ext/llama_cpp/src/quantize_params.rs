//! `LLaMACpp::ModelQuantizeParams`: how a model is quantized.

use crate::support::accessors::accessors;
use llama::quantize::QuantizeParams as Native;
use magnus::{method, prelude::*, typed_data::Obj, Error, RModule, Ruby, TryConvert, Value};
use std::cell::RefCell;

#[magnus::wrap(class = "LLaMACpp::ModelQuantizeParams", free_immediately, size)]
#[derive(Default)]
pub struct ModelQuantizeParams(RefCell<Native>);

impl ModelQuantizeParams {
    pub fn native(&self) -> Native {
        self.0.borrow().clone()
    }

    fn initialize_copy(rb_self: Obj<Self>, other: Obj<Self>) -> Result<Obj<Self>, Error> {
        rb_self.check_frozen()?;
        let copy = other.native();
        rb_self.0.replace(copy);
        Ok(rb_self)
    }

    fn eq(rb_self: &Self, other: Value) -> bool {
        Obj::<Self>::try_convert(other).is_ok_and(|other| rb_self.native() == other.native())
    }
}

pub fn init(ruby: &Ruby, module: RModule) -> Result<(), Error> {
    let class = module.define_class("ModelQuantizeParams", ruby.class_object())?;
    class.define_alloc_func::<ModelQuantizeParams>();
    class.define_private_method("initialize_copy", method!(ModelQuantizeParams::initialize_copy, 1))?;
    accessors!(class, ModelQuantizeParams, {
        n_thread = "n_thread=": int,
        ftype = "ftype=": int,
        allow_requantize = "allow_requantize=": bool,
        quantize_output_tensor = "quantize_output_tensor=": bool,
        only_copy = "only_copy=": bool,
        pure = "pure=": bool,
    });
    class.define_alias("allow_quantization", "allow_requantize")?;
    class.define_alias("allow_quantization=", "allow_requantize=")?;
    class.define_method("==", method!(ModelQuantizeParams::eq, 1))?;
    Ok(())
}
