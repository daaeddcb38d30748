//! `LLaMACpp::Model`: weights and vocabulary of a GGUF file.

use crate::model_params::ModelParams;
use crate::support::gvl::{self, Parked};
use crate::support::memory::Reported;
use crate::support::{args, errors};
use llama::model::{Model as Native, SpecialToken};
use magnus::{
    block::Proc, gc::Marker, method, prelude::*, typed_data::Obj, value::Opaque, DataTypeFunctions, Error, RArray,
    RModule, RString, Ruby, TryConvert, TypedData, Value,
};
use std::cell::{Cell, RefCell};
use std::sync::atomic::Ordering;
use std::sync::Arc;

#[derive(Default, TypedData)]
#[magnus(class = "LLaMACpp::Model", free_immediately, size, mark)]
pub struct Model {
    loaded: RefCell<Option<Loaded>>,
    loading: Cell<bool>,
}

struct Loaded {
    native: Arc<Native>,
    params: Opaque<Value>,
    _reported: Arc<Reported>,
}

impl DataTypeFunctions for Model {
    fn mark(&self, marker: &Marker) {
        if let Ok(Some(loaded)) = self.loaded.try_borrow().as_deref() {
            marker.mark(loaded.params);
        }
    }

    fn size(&self) -> usize {
        let native = self.loaded.try_borrow().ok().and_then(|loaded| loaded.as_ref().map(|l| l.native.clone()));
        size_of::<Self>()
            + native.map_or(0, |native| native.heap_bytes() + native.mapped_bytes() + native.vocab_bytes())
    }
}

/// Says that a load is under way for as long as it lives.
struct Loading<'a>(&'a Cell<bool>);

impl Drop for Loading<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

impl Model {
    /// The native model; `None` when nothing is loaded.
    pub fn loaded(&self) -> Option<Arc<Native>> {
        self.loaded.borrow().as_ref().map(|loaded| loaded.native.clone())
    }

    /// Another object for a native model, which lives on when the user frees theirs.
    pub fn sharing(ruby: &Ruby, native: Arc<Native>) -> Obj<Self> {
        let loaded = Loaded { native, params: ruby.qnil().as_value().into(), _reported: Arc::default() };
        ruby.obj_wrap(Self { loaded: RefCell::new(Some(loaded)), loading: Cell::default() })
    }

    /// The native model.
    pub fn native(ruby: &Ruby, rb_self: &Self) -> Result<Arc<Native>, Error> {
        rb_self
            .loaded()
            .ok_or_else(|| errors::runtime(ruby, "the model is empty: it was freed, or no file was loaded yet"))
    }

    fn load(ruby: &Ruby, rb_self: Obj<Self>, path: Value, params: Value, progress: Option<Proc>) -> Result<(), Error> {
        rb_self.check_frozen()?;
        let path = args::path(ruby, "model_path", path)?;
        let rb_params = Obj::<ModelParams>::try_convert(params)
            .map_err(|_| args::not_a(ruby, "params", "a ModelParams", params))?;
        let native_params = rb_params.native();
        if rb_self.loaded.borrow().is_some() {
            return Err(errors::runtime(ruby, "the model is loaded already: free it first, or make another"));
        }
        if rb_self.loading.replace(true) {
            return Err(errors::runtime(ruby, "the model is being loaded by another thread"));
        }
        let _loading = Loading(&rb_self.loading);

        let parked = Parked::default();
        let native = gvl::release(ruby, |cancel| {
            Native::load(&path, &native_params, &mut |fraction| {
                let wanted = match progress {
                    Some(block) => gvl::acquire(|_| report(block, fraction, &parked)).unwrap_or(false),
                    None => true,
                };
                wanted && !cancel.load(Ordering::Relaxed)
            })
        });
        parked.raise()?;
        let native = native?;
        let reported = Arc::new(Reported::new(native.heap_bytes() + native.vocab_bytes()));
        // The object's own copy: changes to the caller's come too late to mean anything.
        let params: Value = params.funcall("dup", ())?;
        rb_self.loaded.replace(Some(Loaded { native: Arc::new(native), params: params.into(), _reported: reported }));
        Ok(())
    }

    fn initialize_copy(rb_self: Obj<Self>, other: Obj<Self>) -> Result<Obj<Self>, Error> {
        rb_self.check_frozen()?;
        let copy = other.loaded.borrow().as_ref().map(|loaded| Loaded {
            native: loaded.native.clone(),
            params: loaded.params,
            _reported: loaded._reported.clone(),
        });
        rb_self.loaded.replace(copy);
        Ok(rb_self)
    }

    fn is_empty(&self) -> bool {
        self.loaded.borrow().is_none()
    }

    fn free(&self) {
        self.loaded.replace(None);
    }

    fn params(ruby: &Ruby, rb_self: &Self) -> Option<Value> {
        rb_self.loaded.borrow().as_ref().map(|loaded| ruby.get_inner(loaded.params))
    }

    fn tokenize(
        ruby: &Ruby,
        rb_self: &Self,
        text: Value,
        n_max: Value,
        add_bos: Value,
        special: Value,
    ) -> Result<RArray, Error> {
        let model = Self::native(ruby, rb_self)?;
        let text = args::text(ruby, "text", text)?;
        let n_max = if n_max.is_nil() { None } else { Some(args::count(ruby, "n_max_tokens", n_max)?) };
        let (add_bos, special) = (args::truth(add_bos), args::truth(special));
        let tokens = if text.len() < 4096 {
            model.tokenize(&text, add_bos, special).map_err(|e| errors::to_ruby(ruby, e))?
        } else {
            gvl::release(ruby, |_| model.tokenize(&text, add_bos, special))?
        };
        if let Some(n_max) = n_max.filter(|&n| n < tokens.len()) {
            return Err(errors::runtime(
                ruby,
                format!("the text has {} tokens, n_max_tokens is {n_max}", tokens.len()),
            ));
        }
        args::int_array(ruby, &tokens)
    }

    fn apply_lora(
        ruby: &Ruby,
        rb_self: Obj<Self>,
        path: Value,
        scale: Value,
        base: Value,
        n_threads: Value,
    ) -> Result<(), Error> {
        rb_self.check_frozen()?;
        let model = Self::native(ruby, &rb_self)?;
        let path = args::path(ruby, "lora_path", path)?;
        let scale = args::float(ruby, "scale", scale)?;
        let base = if base.is_nil() { None } else { Some(args::path(ruby, "base_model_path", base)?) };
        let n_threads = args::count(ruby, "n_threads", n_threads)? as u32;
        gvl::release(ruby, |cancel| model.apply_lora(&path, scale, base.as_deref(), n_threads, cancel))
    }

    fn token_to_piece(ruby: &Ruby, rb_self: &Self, token: Value) -> Result<RString, Error> {
        let model = Self::native(ruby, rb_self)?;
        let token = i32::try_convert(token)?;
        Ok(args::utf8(ruby, model.piece(token)))
    }

    fn detokenize(ruby: &Ruby, rb_self: &Self, tokens: Value) -> Result<RString, Error> {
        let model = Self::native(ruby, rb_self)?;
        let text = model.text_of(&args::tokens(ruby, "tokens", tokens)?).map_err(|e| errors::to_ruby(ruby, e))?;
        Ok(args::utf8(ruby, &text))
    }

    fn text(ruby: &Ruby, rb_self: &Self, token: Value) -> Result<RString, Error> {
        let text = Self::native(ruby, rb_self)?.text(i32::try_convert(token)?).map_err(|e| errors::to_ruby(ruby, e))?;
        Ok(args::utf8(ruby, &text))
    }

    fn score(ruby: &Ruby, rb_self: &Self, token: Value) -> Result<f32, Error> {
        Self::native(ruby, rb_self)?.score(i32::try_convert(token)?).map_err(|e| errors::to_ruby(ruby, e))
    }

    fn token_type(ruby: &Ruby, rb_self: &Self, token: Value) -> Result<i32, Error> {
        Self::native(ruby, rb_self)?.token_type(i32::try_convert(token)?).map_err(|e| errors::to_ruby(ruby, e))
    }

    fn metadata(ruby: &Ruby, rb_self: &Self, key: Value) -> Result<Option<RString>, Error> {
        let key = args::string(ruby, "key", key)?;
        Ok(Self::native(ruby, rb_self)?.metadata(&key).map(|text| args::utf8(ruby, text.as_bytes())))
    }

    fn vocab_type(ruby: &Ruby, rb_self: &Self) -> Result<i64, Error> {
        Ok(match Self::native(ruby, rb_self)?.vocab_type() {
            llama::model::VocabType::Spm => 0,
            llama::model::VocabType::Bpe => 1,
        })
    }
}

/// Calls the user's block; false when it wants no more, or raised.
fn report(block: Proc, fraction: f32, parked: &Parked) -> bool {
    match block.call::<_, Value>((f64::from(fraction),)) {
        Ok(answer) => !answer.is_kind_of(Ruby::get_with(answer).class_false_class()),
        Err(error) => {
            parked.park(error);
            false
        }
    }
}

/// A method without arguments that asks the native model.
macro_rules! getter {
    ($class:ident, $name:literal, $f:expr) => {
        $class.define_method(
            $name,
            method!(|ruby: &Ruby, rb_self: &Model| { Model::native(ruby, rb_self).map(|model| ($f)(&*model)) }, 0),
        )?;
    };
}

pub fn init(ruby: &Ruby, module: RModule) -> Result<(), Error> {
    let class = module.define_class("Model", ruby.class_object())?;
    class.define_alloc_func::<Model>();
    class.define_private_method("native_load_file", method!(Model::load, 3))?;
    class.define_private_method("initialize_copy", method!(Model::initialize_copy, 1))?;
    class.define_private_method("native_tokenize_text", method!(Model::tokenize, 4))?;
    class.define_private_method("native_metadata", method!(Model::metadata, 1))?;
    class.define_private_method("native_apply_lora", method!(Model::apply_lora, 4))?;
    class.define_method("empty?", method!(Model::is_empty, 0))?;
    class.define_method("free", method!(Model::free, 0))?;
    class.define_method("params", method!(Model::params, 0))?;
    getter!(class, "n_vocab", Native::n_vocab);
    getter!(class, "n_ctx_train", Native::n_ctx_train);
    getter!(class, "n_embd", Native::n_embd);
    getter!(class, "rope_freq_scale_train", Native::rope_freq_scale_train);
    getter!(class, "desc", Native::desc);
    getter!(class, "size", Native::size);
    getter!(class, "n_params", Native::n_params);
    getter!(class, "token_bos", |m: &Native| m.special_token(SpecialToken::Bos));
    getter!(class, "token_eos", |m: &Native| m.special_token(SpecialToken::Eos));
    getter!(class, "token_nl", |m: &Native| m.special_token(SpecialToken::Newline));
    getter!(class, "token_prefix", |m: &Native| m.special_token(SpecialToken::Prefix));
    getter!(class, "token_middle", |m: &Native| m.special_token(SpecialToken::Middle));
    getter!(class, "token_suffix", |m: &Native| m.special_token(SpecialToken::Suffix));
    getter!(class, "token_eot", |m: &Native| m.special_token(SpecialToken::Eot));
    getter!(class, "add_bos_token?", |m: &Native| m.add_bos_token() != Some(false));
    getter!(class, "add_eos_token?", |m: &Native| m.add_eos_token() != Some(false));
    class.define_method("vocab_type", method!(Model::vocab_type, 0))?;
    class.define_method("token_to_piece", method!(Model::token_to_piece, 1))?;
    class.define_method("detokenize", method!(Model::detokenize, 1))?;
    class.define_method("text", method!(Model::text, 1))?;
    class.define_method("score", method!(Model::score, 1))?;
    class.define_method("type", method!(Model::token_type, 1))?;
    Ok(())
}
