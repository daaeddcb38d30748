//! `LLaMACpp::ModelKVOverride`: a metadata key with another value than the model's file has.

use crate::support::{args, errors};
use llama::model::{KvOverride, KvValue};
use magnus::{method, prelude::*, typed_data::Obj, Error, RModule, Ruby, Value};
use std::cell::RefCell;

#[magnus::wrap(class = "LLaMACpp::ModelKVOverride", free_immediately, size)]
pub struct ModelKVOverride(RefCell<KvOverride>);

impl Default for ModelKVOverride {
    fn default() -> Self {
        Self(RefCell::new(KvOverride { key: String::new(), value: KvValue::Int(0) }))
    }
}

/// The tags, as llama.cpp numbers them.
const INT: i64 = 0;
const FLOAT: i64 = 1;
const BOOL: i64 = 2;

impl ModelKVOverride {
    pub fn native(&self) -> KvOverride {
        self.0.borrow().clone()
    }

    pub fn wrap(ruby: &Ruby, native: KvOverride) -> Obj<Self> {
        ruby.obj_wrap(Self(RefCell::new(native)))
    }

    fn initialize(ruby: &Ruby, rb_self: Obj<Self>, key: Value, value: Value, tag: Value) -> Result<(), Error> {
        rb_self.check_frozen()?;
        let key = args::string(ruby, "key", key)?;
        if key.len() > KvOverride::MAX_KEY {
            return Err(errors::argument(
                ruby,
                format!("key has {} bytes, {} is the limit", key.len(), KvOverride::MAX_KEY),
            ));
        }
        if key.is_empty() || key.contains('\0') {
            return Err(errors::argument(ruby, "key must not be empty or contain a NUL byte"));
        }
        let tag = if tag.is_nil() { tag_of(ruby, value)? } else { args::int(ruby, "tag", tag, INT, BOOL)? };
        let value = match tag {
            INT => KvValue::Int(args::int(ruby, "value", value, i64::MIN, i64::MAX)?),
            FLOAT => KvValue::Float(args::double(ruby, "value", value)?),
            _ if is_bool(ruby, value) => KvValue::Bool(args::truth(value)),
            _ => return Err(args::not_a(ruby, "value", "true or false", value)),
        };
        rb_self.0.replace(KvOverride { key, value });
        Ok(())
    }

    fn initialize_copy(rb_self: Obj<Self>, other: Obj<Self>) -> Result<Obj<Self>, Error> {
        rb_self.check_frozen()?;
        let copy = other.native();
        rb_self.0.replace(copy);
        Ok(rb_self)
    }

    fn key(&self) -> String {
        self.0.borrow().key.clone()
    }

    fn tag(&self) -> i64 {
        match self.0.borrow().value {
            KvValue::Int(_) => INT,
            KvValue::Float(_) => FLOAT,
            KvValue::Bool(_) => BOOL,
        }
    }

    fn int_value(&self) -> i64 {
        if let KvValue::Int(v) = self.0.borrow().value {
            v
        } else {
            0
        }
    }

    fn float_value(&self) -> f64 {
        if let KvValue::Float(v) = self.0.borrow().value {
            v
        } else {
            0.0
        }
    }

    fn bool_value(&self) -> bool {
        matches!(self.0.borrow().value, KvValue::Bool(true))
    }
}

fn is_bool(ruby: &Ruby, value: Value) -> bool {
    value.is_kind_of(ruby.class_true_class()) || value.is_kind_of(ruby.class_false_class())
}

fn tag_of(ruby: &Ruby, value: Value) -> Result<i64, Error> {
    if is_bool(ruby, value) {
        Ok(BOOL)
    } else if value.is_kind_of(ruby.class_integer()) {
        Ok(INT)
    } else if value.is_kind_of(ruby.class_float()) {
        Ok(FLOAT)
    } else {
        Err(args::not_a(ruby, "value", "an Integer, a Float, true or false", value))
    }
}

pub fn init(ruby: &Ruby, module: RModule) -> Result<(), Error> {
    let class = module.define_class("ModelKVOverride", ruby.class_object())?;
    class.define_alloc_func::<ModelKVOverride>();
    class.define_private_method("native_init", method!(ModelKVOverride::initialize, 3))?;
    class.define_private_method("initialize_copy", method!(ModelKVOverride::initialize_copy, 1))?;
    class.define_method("key", method!(ModelKVOverride::key, 0))?;
    class.define_method("tag", method!(ModelKVOverride::tag, 0))?;
    class.define_method("int_value", method!(ModelKVOverride::int_value, 0))?;
    class.define_method("float_value", method!(ModelKVOverride::float_value, 0))?;
    class.define_method("bool_value", method!(ModelKVOverride::bool_value, 0))?;
    Ok(())
}
