//! `LLaMACpp::ModelParams`: how a model is loaded.

use crate::model_kv_override::ModelKVOverride;
use crate::support::accessors::accessors;
use crate::support::{args, errors};
use llama::model::ModelParams as Native;
use magnus::{method, prelude::*, typed_data::Obj, Error, RArray, RModule, Ruby, TryConvert, Value};
use std::cell::RefCell;

#[magnus::wrap(class = "LLaMACpp::ModelParams", free_immediately, size)]
#[derive(Default)]
pub struct ModelParams(RefCell<Native>);

impl ModelParams {
    pub fn native(&self) -> Native {
        self.0.borrow().clone()
    }

    fn initialize_copy(rb_self: Obj<Self>, other: Obj<Self>) -> Result<Obj<Self>, Error> {
        rb_self.check_frozen()?;
        let copy = other.native();
        rb_self.0.replace(copy);
        Ok(rb_self)
    }

    fn tensor_split(ruby: &Ruby, rb_self: &Self) -> Result<RArray, Error> {
        args::float_array(ruby, &rb_self.0.borrow().tensor_split)
    }

    fn set_tensor_split(ruby: &Ruby, rb_self: Obj<Self>, value: Value) -> Result<Value, Error> {
        rb_self.check_frozen()?;
        let split = args::floats(ruby, "tensor_split", value)?;
        let max = usize::try_from(llama::backend::max_devices()).unwrap_or(0);
        if split.len() > max {
            return Err(errors::argument(
                ruby,
                format!("tensor_split has {} values, {max} is the number of devices of this build", split.len()),
            ));
        }
        if let Some(share) = split.iter().find(|share| !share.is_finite() || **share < 0.0) {
            return Err(errors::argument(
                ruby,
                format!("tensor_split has a share of {share}: shares are finite and not negative"),
            ));
        }
        rb_self.0.borrow_mut().tensor_split = split;
        Ok(value)
    }

    fn kv_overrides(ruby: &Ruby, rb_self: &Self) -> Result<RArray, Error> {
        let array = ruby.ary_new();
        for native in rb_self.native().kv_overrides {
            array.push(ModelKVOverride::wrap(ruby, native))?;
        }
        Ok(array)
    }

    fn set_kv_overrides(ruby: &Ruby, rb_self: Obj<Self>, value: Value) -> Result<Value, Error> {
        rb_self.check_frozen()?;
        let wrong = || args::not_a(ruby, "kv_overrides", "an Array of ModelKVOverride", value);
        let array = RArray::from_value(value).ok_or_else(wrong)?;
        let mut overrides = args::room(ruby, array.len())?;
        for i in 0..array.len() {
            let entry: Value = array.entry(i as isize)?;
            let native = Obj::<ModelKVOverride>::try_convert(entry)
                .map_err(|_| args::not_a(ruby, &format!("kv_overrides[{i}]"), "a ModelKVOverride", entry))?
                .native();
            if native.key.is_empty() {
                return Err(errors::argument(ruby, format!("kv_overrides[{i}] has no key")));
            }
            overrides.push(native);
        }
        rb_self.0.borrow_mut().kv_overrides = overrides;
        Ok(value)
    }

    fn eq(rb_self: &Self, other: Value) -> bool {
        Obj::<Self>::try_convert(other).is_ok_and(|other| rb_self.native() == other.native())
    }
}

pub fn init(ruby: &Ruby, module: RModule) -> Result<(), Error> {
    let class = module.define_class("ModelParams", ruby.class_object())?;
    class.define_alloc_func::<ModelParams>();
    class.define_private_method("initialize_copy", method!(ModelParams::initialize_copy, 1))?;
    accessors!(class, ModelParams, {
        n_gpu_layers = "n_gpu_layers=": int,
        split_mode = "split_mode=": int,
        main_gpu = "main_gpu=": int,
        vocab_only = "vocab_only=": bool,
        use_mmap = "use_mmap=": bool,
        use_mlock = "use_mlock=": bool,
    });
    class.define_method("tensor_split", method!(ModelParams::tensor_split, 0))?;
    class.define_method("tensor_split=", method!(ModelParams::set_tensor_split, 1))?;
    class.define_method("kv_overrides", method!(ModelParams::kv_overrides, 0))?;
    class.define_method("kv_overrides=", method!(ModelParams::set_kv_overrides, 1))?;
    class.define_method("==", method!(ModelParams::eq, 1))?;
    Ok(())
}
