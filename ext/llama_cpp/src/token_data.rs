//! `LLaMACpp::TokenData`: a token with its logit and probability.

use crate::support::args;
use llama::sampling::TokenData as Native;
use magnus::{method, prelude::*, typed_data::Obj, Error, RClass, RModule, Ruby, TryConvert, Value};
use std::cell::Cell;

#[magnus::wrap(class = "LLaMACpp::TokenData", free_immediately, size)]
pub struct TokenData(Cell<Native>);

impl Default for TokenData {
    fn default() -> Self {
        Self(Cell::new(Native { id: 0, logit: 0.0, p: 0.0 }))
    }
}

impl TokenData {
    pub fn native(&self) -> Native {
        self.0.get()
    }

    /// An object for one of an array's candidates.
    pub fn wrap(ruby: &Ruby, native: Native) -> Obj<Self> {
        ruby.obj_wrap(Self(Cell::new(native)))
    }

    /// What `new` and `initialize` do, at once.
    fn create(ruby: &Ruby, _class: RClass, id: Value, logit: Value, p: Value) -> Result<Obj<Self>, Error> {
        Ok(Self::wrap(ruby, native_from(ruby, id, logit, p)?))
    }

    fn initialize(ruby: &Ruby, rb_self: Obj<Self>, id: Value, logit: Value, p: Value) -> Result<(), Error> {
        rb_self.check_frozen()?;
        rb_self.0.set(native_from(ruby, id, logit, p)?);
        Ok(())
    }

    fn initialize_copy(rb_self: Obj<Self>, other: Obj<Self>) -> Result<Obj<Self>, Error> {
        rb_self.check_frozen()?;
        rb_self.0.set(other.0.get());
        Ok(rb_self)
    }

    fn id(&self) -> i32 {
        self.0.get().id
    }

    fn set_id(rb_self: Obj<Self>, id: Value) -> Result<i32, Error> {
        rb_self.check_frozen()?;
        let id = i32::try_convert(id)?;
        rb_self.0.set(Native { id, ..rb_self.0.get() });
        Ok(id)
    }

    fn logit(&self) -> f32 {
        self.0.get().logit
    }

    fn set_logit(ruby: &Ruby, rb_self: Obj<Self>, logit: Value) -> Result<f32, Error> {
        rb_self.check_frozen()?;
        let logit = args::float(ruby, "logit", logit)?;
        rb_self.0.set(Native { logit, ..rb_self.0.get() });
        Ok(logit)
    }

    fn p(&self) -> f32 {
        self.0.get().p
    }

    fn set_p(ruby: &Ruby, rb_self: Obj<Self>, p: Value) -> Result<f32, Error> {
        rb_self.check_frozen()?;
        let p = args::float(ruby, "p", p)?;
        rb_self.0.set(Native { p, ..rb_self.0.get() });
        Ok(p)
    }
}

fn native_from(ruby: &Ruby, id: Value, logit: Value, p: Value) -> Result<Native, Error> {
    Ok(Native {
        id: args::int32(ruby, "id", id)?,
        logit: args::float(ruby, "logit", logit)?,
        p: args::float(ruby, "p", p)?,
    })
}

pub fn init(ruby: &Ruby, module: RModule) -> Result<(), Error> {
    let class = module.define_class("TokenData", ruby.class_object())?;
    class.define_alloc_func::<TokenData>();
    class.singleton_class()?.define_private_method("native_new", method!(TokenData::create, 3))?;
    class.define_private_method("native_init", method!(TokenData::initialize, 3))?;
    class.define_private_method("initialize_copy", method!(TokenData::initialize_copy, 1))?;
    class.define_method("id", method!(TokenData::id, 0))?;
    class.define_method("id=", method!(TokenData::set_id, 1))?;
    class.define_method("logit", method!(TokenData::logit, 0))?;
    class.define_method("logit=", method!(TokenData::set_logit, 1))?;
    class.define_method("p", method!(TokenData::p, 0))?;
    class.define_method("p=", method!(TokenData::set_p, 1))?;
    Ok(())
}
