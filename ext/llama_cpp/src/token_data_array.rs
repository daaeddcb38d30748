//! `LLaMACpp::TokenDataArray`: candidates for the next token.

use crate::support::{args, errors, memory::Reported};
use crate::token_data::TokenData;
use llama::sampling::Candidates;
use magnus::{
    method, prelude::*, typed_data::Obj, DataTypeFunctions, Error, RArray, RModule, RString, Ruby, TryConvert,
    TypedData, Value,
};
use std::cell::RefCell;

#[derive(Default, TypedData)]
#[magnus(class = "LLaMACpp::TokenDataArray", free_immediately, size)]
pub struct TokenDataArray {
    candidates: RefCell<Option<Candidates>>,
    /// A program that makes them one after the other must not wait for the collector to notice that they are large.
    reported: RefCell<Reported>,
}

impl DataTypeFunctions for TokenDataArray {
    fn size(&self) -> usize {
        let candidates = self.candidates.try_borrow().ok().and_then(|c| c.as_ref().map(Candidates::memsize));
        size_of::<Self>() + candidates.unwrap_or(0)
    }
}

impl TokenDataArray {
    pub fn wrap(ruby: &Ruby, candidates: Candidates) -> Obj<Self> {
        let array = Self::default();
        array.hold(candidates);
        ruby.obj_wrap(array)
    }

    fn hold(&self, candidates: Candidates) {
        self.reported.replace(Reported::new(candidates.memsize()));
        self.candidates.replace(Some(candidates));
    }

    /// Runs `f` on the candidates.
    pub fn with<T>(
        ruby: &Ruby,
        rb_self: Obj<Self>,
        f: impl FnOnce(&mut Candidates) -> Result<T, Error>,
    ) -> Result<T, Error> {
        rb_self.check_frozen()?;
        let mut guard =
            rb_self.candidates.try_borrow_mut().map_err(|_| errors::runtime(ruby, "the candidates are in use"))?;
        f(guard.as_mut().ok_or_else(|| uninitialized(ruby))?)
    }

    fn read<T>(&self, ruby: &Ruby, f: impl FnOnce(&Candidates) -> T) -> Result<T, Error> {
        let guard = self.candidates.try_borrow().map_err(|_| errors::runtime(ruby, "the candidates are in use"))?;
        guard.as_ref().map(f).ok_or_else(|| uninitialized(ruby))
    }

    fn initialize(ruby: &Ruby, rb_self: Obj<Self>, array: Value, sorted: Value) -> Result<(), Error> {
        rb_self.check_frozen()?;
        let array =
            RArray::from_value(array).ok_or_else(|| args::not_a(ruby, "array", "an Array of TokenData", array))?;
        let mut data = args::room(ruby, array.len())?;
        for i in 0..array.len() {
            let entry: Value = array.entry(i as isize)?;
            let token = Obj::<TokenData>::try_convert(entry)
                .map_err(|_| args::not_a(ruby, &format!("array[{i}]"), "a TokenData", entry))?;
            data.push(token.native());
        }
        let candidates = Candidates::new(data, args::truth(sorted)).map_err(|e| errors::to_ruby(ruby, e))?;
        rb_self.hold(candidates);
        Ok(())
    }

    fn initialize_copy(rb_self: Obj<Self>, other: Obj<Self>) -> Result<Obj<Self>, Error> {
        rb_self.check_frozen()?;
        let copy = other.candidates.borrow().clone();
        if let Some(copy) = copy {
            rb_self.hold(copy);
        }
        Ok(rb_self)
    }

    fn length(ruby: &Ruby, rb_self: &Self) -> Result<usize, Error> {
        rb_self.read(ruby, Candidates::len)
    }

    fn sorted(ruby: &Ruby, rb_self: &Self) -> Result<bool, Error> {
        rb_self.read(ruby, Candidates::is_sorted)
    }

    fn at(ruby: &Ruby, rb_self: &Self, index: Value) -> Result<Option<Obj<TokenData>>, Error> {
        let index = i64::try_convert(index)?;
        let native = rb_self.read(ruby, |candidates| {
            let slice = candidates.as_slice();
            let index = if index < 0 { index + slice.len() as i64 } else { index };
            usize::try_from(index).ok().and_then(|i| slice.get(i)).copied()
        })?;
        Ok(native.map(|native| TokenData::wrap(ruby, native)))
    }

    fn ids(ruby: &Ruby, rb_self: &Self) -> Result<RArray, Error> {
        let ids = rb_self.read(ruby, |c| c.as_slice().iter().map(|candidate| candidate.id).collect::<Vec<_>>())?;
        args::int_array(ruby, &ids)
    }

    fn logits(ruby: &Ruby, rb_self: &Self) -> Result<RArray, Error> {
        let logits =
            rb_self.read(ruby, |c| c.as_slice().iter().map(|candidate| candidate.logit).collect::<Vec<_>>())?;
        args::float_array(ruby, &logits)
    }

    fn probabilities(ruby: &Ruby, rb_self: &Self) -> Result<RArray, Error> {
        let ps = rb_self.read(ruby, |c| c.as_slice().iter().map(|candidate| candidate.p).collect::<Vec<_>>())?;
        args::float_array(ruby, &ps)
    }

    fn add_bias(ruby: &Ruby, rb_self: Obj<Self>, token: Value, bias: Value) -> Result<(), Error> {
        let token = args::int32(ruby, "token", token)?;
        let bias = args::float(ruby, "bias", bias)?;
        Self::with(ruby, rb_self, |candidates| {
            candidates.add_bias(token, bias);
            Ok(())
        })
    }

    fn inspect(ruby: &Ruby, rb_self: Obj<Self>) -> Result<RString, Error> {
        // SAFETY: the name is copied at once.
        let class = unsafe { rb_self.classname() }.into_owned();
        let text = match rb_self.candidates.borrow().as_ref() {
            Some(c) => format!("#<{class} size: {}, sorted: {}>", c.len(), c.is_sorted()),
            None => format!("#<{class} uninitialized>"),
        };
        Ok(ruby.str_new(&text))
    }
}

fn uninitialized(ruby: &Ruby) -> Error {
    errors::runtime(ruby, "the TokenDataArray was allocated, but not initialized: make it with new")
}

pub fn init(ruby: &Ruby, module: RModule) -> Result<(), Error> {
    let class = module.define_class("TokenDataArray", ruby.class_object())?;
    class.define_alloc_func::<TokenDataArray>();
    class.define_private_method("native_init", method!(TokenDataArray::initialize, 2))?;
    class.define_private_method("initialize_copy", method!(TokenDataArray::initialize_copy, 1))?;
    class.define_method("size", method!(TokenDataArray::length, 0))?;
    class.define_method("sorted", method!(TokenDataArray::sorted, 0))?;
    class.define_method("[]", method!(TokenDataArray::at, 1))?;
    class.define_method("ids", method!(TokenDataArray::ids, 0))?;
    class.define_method("logits", method!(TokenDataArray::logits, 0))?;
    class.define_method("probabilities", method!(TokenDataArray::probabilities, 0))?;
    class.define_method("add_bias", method!(TokenDataArray::add_bias, 2))?;
    class.define_method("inspect", method!(TokenDataArray::inspect, 0))?;
    Ok(())
}
