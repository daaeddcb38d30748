//! `LLaMACpp::Batch`: tokens to be decoded together.

use crate::support::{args, errors};
use llama::batch::Batch as Native;
use magnus::{
    method, prelude::*, typed_data::Obj, DataTypeFunctions, Error, RModule, Ruby, TryConvert, TypedData, Value,
};
use std::cell::RefCell;

#[derive(Default, TypedData)]
#[magnus(class = "LLaMACpp::Batch", free_immediately, size)]
pub struct Batch(RefCell<Option<Native>>);

impl DataTypeFunctions for Batch {
    fn size(&self) -> usize {
        self.0.try_borrow().ok().and_then(|b| b.as_ref().map(Native::memsize)).unwrap_or(size_of::<Self>())
    }
}

impl Batch {
    /// Runs `f` on the batch, which is in use until `f` returns.
    pub fn with<T>(
        ruby: &Ruby,
        rb_self: Obj<Self>,
        f: impl FnOnce(&mut Native) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut guard = rb_self
            .0
            .try_borrow_mut()
            .map_err(|_| errors::runtime(ruby, "the batch is being decoded by another thread"))?;
        f(guard
            .as_mut()
            .ok_or_else(|| errors::runtime(ruby, "the batch was allocated, but not initialized: make it with new"))?)
    }

    fn read<T>(
        ruby: &Ruby,
        rb_self: Obj<Self>,
        f: impl FnOnce(&Native) -> llama::error::Result<T>,
    ) -> Result<T, Error> {
        Self::with(ruby, rb_self, |batch| f(batch).map_err(|e| errors::to_ruby(ruby, e)))
    }

    fn write(
        ruby: &Ruby,
        rb_self: Obj<Self>,
        f: impl FnOnce(&mut Native) -> llama::error::Result<()>,
    ) -> Result<(), Error> {
        rb_self.check_frozen()?;
        Self::with(ruby, rb_self, |batch| f(batch).map_err(|e| errors::to_ruby(ruby, e)))
    }

    fn set(ruby: &Ruby, rb_self: Obj<Self>, native: Native) -> Result<(), Error> {
        rb_self.check_frozen()?;
        let mut guard = rb_self.0.try_borrow_mut().map_err(|_| errors::runtime(ruby, "the batch is being decoded"))?;
        if guard.is_some() {
            return Err(errors::runtime(ruby, "the batch is initialized already"));
        }
        *guard = Some(native);
        Ok(())
    }

    fn initialize(
        ruby: &Ruby,
        rb_self: Obj<Self>,
        max_n_token: Value,
        n_embd: Value,
        max_n_seq: Value,
    ) -> Result<(), Error> {
        let native = Native::new(
            args::count(ruby, "max_n_token", max_n_token)?,
            args::count(ruby, "n_embd", n_embd)?,
            args::count(ruby, "max_n_seq", max_n_seq)?,
        )
        .map_err(|e| errors::to_ruby(ruby, e))?;
        Self::set(ruby, rb_self, native)
    }

    fn initialize_single(
        ruby: &Ruby,
        rb_self: Obj<Self>,
        tokens: Value,
        n_tokens: Value,
        pos_zero: Value,
        seq_id: Value,
    ) -> Result<(), Error> {
        let mut tokens = args::tokens(ruby, "tokens", tokens)?;
        let n_tokens = args::count(ruby, "n_tokens", n_tokens)?;
        let pos_zero = args::int32(ruby, "pos_zero", pos_zero)?;
        let seq_id = args::int32(ruby, "seq_id", seq_id)?;
        if n_tokens > tokens.len() {
            return Err(errors::argument(ruby, format!("n_tokens is {n_tokens}, but tokens has {}", tokens.len())));
        }
        tokens.truncate(n_tokens);
        Self::set(ruby, rb_self, Native::single(tokens, pos_zero, seq_id))
    }

    fn initialize_copy(ruby: &Ruby, rb_self: Obj<Self>, other: Obj<Self>) -> Result<Obj<Self>, Error> {
        if other.0.try_borrow().is_ok_and(|native| native.is_none()) {
            return Ok(rb_self);
        }
        let copy = Self::with(ruby, other, |native| Ok(native.clone()))?;
        Self::set(ruby, rb_self, copy)?;
        Ok(rb_self)
    }

    fn n_tokens(ruby: &Ruby, rb_self: Obj<Self>) -> Result<usize, Error> {
        Self::read(ruby, rb_self, |batch| Ok(batch.n_tokens()))
    }

    fn set_n_tokens(ruby: &Ruby, rb_self: Obj<Self>, n: Value) -> Result<Value, Error> {
        let count = args::index(ruby, "n_tokens", n)?;
        Self::write(ruby, rb_self, |batch| batch.set_n_tokens(count))?;
        Ok(n)
    }

    fn token(ruby: &Ruby, rb_self: Obj<Self>, i: Value) -> Result<i32, Error> {
        let i = args::index(ruby, "index", i)?;
        Self::read(ruby, rb_self, |batch| batch.token(i))
    }

    fn set_token(ruby: &Ruby, rb_self: Obj<Self>, i: Value, id: Value) -> Result<i32, Error> {
        let (i, id) = (args::index(ruby, "index", i)?, i32::try_convert(id)?);
        Self::write(ruby, rb_self, |batch| batch.set_token(i, id))?;
        Ok(id)
    }

    fn pos(ruby: &Ruby, rb_self: Obj<Self>, i: Value) -> Result<i32, Error> {
        let i = args::index(ruby, "index", i)?;
        Self::read(ruby, rb_self, |batch| batch.pos(i))
    }

    fn set_pos(ruby: &Ruby, rb_self: Obj<Self>, i: Value, pos: Value) -> Result<i32, Error> {
        let (i, pos) = (args::index(ruby, "index", i)?, i32::try_convert(pos)?);
        Self::write(ruby, rb_self, |batch| batch.set_pos(i, pos))?;
        Ok(pos)
    }

    fn n_seq_id(ruby: &Ruby, rb_self: Obj<Self>, i: Value) -> Result<i32, Error> {
        let i = args::index(ruby, "index", i)?;
        Self::read(ruby, rb_self, |batch| batch.n_seq_id(i))
    }

    fn set_n_seq_id(ruby: &Ruby, rb_self: Obj<Self>, i: Value, n: Value) -> Result<usize, Error> {
        let (i, n) = (args::index(ruby, "index", i)?, args::index(ruby, "n_seq_id", n)?);
        Self::write(ruby, rb_self, |batch| batch.set_n_seq_id(i, n))?;
        Ok(n)
    }

    fn seq_id(ruby: &Ruby, rb_self: Obj<Self>, i: Value, j: Value) -> Result<i32, Error> {
        let (i, j) = (args::index(ruby, "index", i)?, args::index(ruby, "sequence index", j)?);
        Self::read(ruby, rb_self, |batch| batch.seq_id(i, j))
    }

    fn set_seq_id(ruby: &Ruby, rb_self: Obj<Self>, i: Value, j: Value, id: Value) -> Result<i32, Error> {
        let (i, j) = (args::index(ruby, "index", i)?, args::index(ruby, "sequence index", j)?);
        let id = i32::try_convert(id)?;
        Self::write(ruby, rb_self, |batch| batch.set_seq_id(i, j, id))?;
        Ok(id)
    }

    fn logits(ruby: &Ruby, rb_self: Obj<Self>, i: Value) -> Result<bool, Error> {
        let i = args::index(ruby, "index", i)?;
        Self::read(ruby, rb_self, |batch| batch.logits(i))
    }

    fn set_logits(ruby: &Ruby, rb_self: Obj<Self>, i: Value, wanted: Value) -> Result<bool, Error> {
        let (i, wanted) = (args::index(ruby, "index", i)?, args::truth(wanted));
        Self::write(ruby, rb_self, |batch| batch.set_logits(i, wanted))?;
        Ok(wanted)
    }
}

/// A reader and a writer for a field of the native batch.
macro_rules! field {
    ($class:ident, $name:literal, $setter:literal, $field:ident) => {
        $class.define_method(
            $name,
            method!(|ruby: &Ruby, rb_self: Obj<Batch>| Batch::read(ruby, rb_self, |batch| Ok(batch.$field)), 0),
        )?;
        $class.define_method(
            $setter,
            method!(
                |ruby: &Ruby, rb_self: Obj<Batch>, value: Value| {
                    let value = i32::try_convert(value)?;
                    Batch::write(ruby, rb_self, |batch| {
                        batch.$field = value;
                        Ok(())
                    })?;
                    Ok::<_, Error>(value)
                },
                1
            ),
        )?;
    };
}

pub fn init(ruby: &Ruby, module: RModule) -> Result<(), Error> {
    let class = module.define_class("Batch", ruby.class_object())?;
    class.define_alloc_func::<Batch>();
    class.define_private_method("native_init", method!(Batch::initialize, 3))?;
    class.define_private_method("native_init_single", method!(Batch::initialize_single, 4))?;
    class.define_private_method("initialize_copy", method!(Batch::initialize_copy, 1))?;
    class.define_method("n_tokens", method!(Batch::n_tokens, 0))?;
    class.define_method("n_tokens=", method!(Batch::set_n_tokens, 1))?;
    field!(class, "all_pos_zero", "all_pos_zero=", all_pos_0);
    field!(class, "all_pos_one", "all_pos_one=", all_pos_1);
    field!(class, "all_seq_id", "all_seq_id=", all_seq_id);
    class.define_method("get_token", method!(Batch::token, 1))?;
    class.define_method("set_token", method!(Batch::set_token, 2))?;
    class.define_method("get_pos", method!(Batch::pos, 1))?;
    class.define_method("set_pos", method!(Batch::set_pos, 2))?;
    class.define_method("get_n_seq_id", method!(Batch::n_seq_id, 1))?;
    class.define_method("set_n_seq_id", method!(Batch::set_n_seq_id, 2))?;
    class.define_method("get_seq_id", method!(Batch::seq_id, 2))?;
    class.define_method("set_seq_id", method!(Batch::set_seq_id, 3))?;
    class.define_method("get_logits", method!(Batch::logits, 1))?;
    class.define_method("set_logits", method!(Batch::set_logits, 2))?;
    class.define_alias("get_logit", "get_logits")?;
    class.define_alias("set_logit", "set_logits")?;
    Ok(())
}
