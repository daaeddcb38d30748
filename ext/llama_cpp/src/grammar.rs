//! `LLaMACpp::GrammarElement` and `LLaMACpp::Grammar`: which texts are allowed.

use crate::support::{args, errors};
use llama::grammar::{Element, ElementType, Grammar as Native, Matcher};
use magnus::{
    method, prelude::*, typed_data::Obj, DataTypeFunctions, Error, RArray, RClass, RModule, Ruby, TryConvert,
    TypedData, Value,
};
use std::cell::{Cell, RefCell};

#[derive(Clone, Copy, Default)]
struct Fields {
    kind: i64,
    value: u32,
}

/// Holds any number as its type until a grammar is made of it, as the C++ gem does.
#[magnus::wrap(class = "LLaMACpp::GrammarElement", free_immediately, size)]
#[derive(Default)]
pub struct GrammarElement(Cell<Fields>);

impl GrammarElement {
    fn wrap(ruby: &Ruby, element: &Element) -> Obj<Self> {
        ruby.obj_wrap(Self(Cell::new(Fields { kind: element.kind as i64, value: element.value })))
    }

    fn initialize(ruby: &Ruby, rb_self: Obj<Self>, kind: Value, value: Value) -> Result<(), Error> {
        rb_self.check_frozen()?;
        let kind = args::int(ruby, "type", kind, i64::from(i32::MIN), i64::from(i32::MAX))?;
        let value = args::int(ruby, "value", value, 0, i64::from(u32::MAX))? as u32;
        rb_self.0.set(Fields { kind, value });
        Ok(())
    }

    fn initialize_copy(rb_self: Obj<Self>, other: Obj<Self>) -> Result<Obj<Self>, Error> {
        rb_self.check_frozen()?;
        rb_self.0.set(other.0.get());
        Ok(rb_self)
    }

    fn kind(&self) -> i64 {
        self.0.get().kind
    }

    fn set_kind(rb_self: Obj<Self>, kind: Value) -> Result<i64, Error> {
        rb_self.check_frozen()?;
        let kind = i64::from(i32::try_convert(kind)?);
        rb_self.0.set(Fields { kind, ..rb_self.0.get() });
        Ok(kind)
    }

    fn value(&self) -> u32 {
        self.0.get().value
    }

    fn set_value(rb_self: Obj<Self>, value: Value) -> Result<u32, Error> {
        rb_self.check_frozen()?;
        let value = u32::try_convert(value)?;
        rb_self.0.set(Fields { value, ..rb_self.0.get() });
        Ok(value)
    }
}

#[derive(Default, TypedData)]
#[magnus(class = "LLaMACpp::Grammar", free_immediately, size)]
pub struct Grammar(RefCell<Option<Matcher>>);

impl DataTypeFunctions for Grammar {
    fn size(&self) -> usize {
        let matcher = self.0.try_borrow().ok().and_then(|m| m.as_ref().map(|m| m.memsize() + m.grammar().memsize()));
        size_of::<Self>() + matcher.unwrap_or(0)
    }
}

impl Grammar {
    pub fn from_argument(ruby: &Ruby, value: Value) -> Result<Obj<Self>, Error> {
        Obj::<Self>::try_convert(value).map_err(|_| args::not_a(ruby, "grammar", "a Grammar", value))
    }

    /// Runs `f` on the matcher.
    pub fn with<T>(
        ruby: &Ruby,
        rb_self: Obj<Self>,
        f: impl FnOnce(&mut Matcher) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut guard = rb_self.0.try_borrow_mut().map_err(|_| errors::runtime(ruby, "the grammar is in use"))?;
        f(guard
            .as_mut()
            .ok_or_else(|| errors::runtime(ruby, "the grammar was allocated, but not initialized: make it with new"))?)
    }

    fn set(ruby: &Ruby, rb_self: Obj<Self>, native: &Native) -> Result<(), Error> {
        rb_self.check_frozen()?;
        let mut guard = rb_self.0.try_borrow_mut().map_err(|_| errors::runtime(ruby, "the grammar is in use"))?;
        if guard.is_some() {
            return Err(errors::runtime(ruby, "the grammar is initialized already"));
        }
        *guard = Some(native.matcher());
        Ok(())
    }

    fn initialize(ruby: &Ruby, rb_self: Obj<Self>, rules: Value, start: Value) -> Result<(), Error> {
        let array = RArray::from_value(rules)
            .ok_or_else(|| args::not_a(ruby, "rules", "an Array of Arrays of GrammarElement", rules))?;
        let start = args::count(ruby, "start_rule_index", start)?;
        let mut native = args::room(ruby, array.len())?;
        for i in 0..array.len() {
            let rule: Value = array.entry(i as isize)?;
            let elements = RArray::from_value(rule)
                .ok_or_else(|| args::not_a(ruby, &format!("rules[{i}]"), "an Array of GrammarElement", rule))?;
            let mut native_rule = args::room(ruby, elements.len())?;
            for j in 0..elements.len() {
                let element: Value = elements.entry(j as isize)?;
                let name = || format!("rules[{i}][{j}]");
                let fields = Obj::<GrammarElement>::try_convert(element)
                    .map_err(|_| args::not_a(ruby, &name(), "a GrammarElement", element))?
                    .0
                    .get();
                let kind = ElementType::try_from(fields.kind)
                    .map_err(|e| errors::argument(ruby, format!("{}: {e}", name())))?;
                native_rule.push(Element { kind, value: fields.value });
            }
            native.push(native_rule);
        }
        let native = Native::new(native, start).map_err(|e| errors::argument(ruby, e.to_string()))?;
        Self::set(ruby, rb_self, &native)
    }

    fn from_gbnf(ruby: &Ruby, class: RClass, text: Value, root: Value) -> Result<Value, Error> {
        let text = args::string(ruby, "text", text)?;
        let root = args::string(ruby, "root", root)?;
        let native = Native::from_gbnf(&text, &root).map_err(|e| errors::argument(ruby, e.to_string()))?;
        let grammar = Obj::<Self>::try_convert(class.funcall("allocate", ())?)?;
        Self::set(ruby, grammar, &native)?;
        Ok(grammar.as_value())
    }

    fn initialize_copy(rb_self: Obj<Self>, other: Obj<Self>) -> Result<Obj<Self>, Error> {
        rb_self.check_frozen()?;
        let copy = other.0.borrow().clone();
        rb_self.0.replace(copy);
        Ok(rb_self)
    }

    fn rules(ruby: &Ruby, rb_self: Obj<Self>) -> Result<RArray, Error> {
        let native = Self::with(ruby, rb_self, |matcher| Ok(matcher.grammar().clone()))?;
        let rules = ruby.ary_new_capa(native.rules().len());
        for rule in native.rules() {
            let elements = ruby.ary_new_capa(rule.len());
            for element in rule {
                elements.push(GrammarElement::wrap(ruby, element))?;
            }
            rules.push(elements)?;
        }
        Ok(rules)
    }

    fn start_rule_index(ruby: &Ruby, rb_self: Obj<Self>) -> Result<usize, Error> {
        Self::with(ruby, rb_self, |matcher| Ok(matcher.grammar().start()))
    }

    fn may_end(ruby: &Ruby, rb_self: Obj<Self>) -> Result<bool, Error> {
        Self::with(ruby, rb_self, |matcher| Ok(matcher.may_end()))
    }
}

pub fn init(ruby: &Ruby, module: RModule) -> Result<(), Error> {
    let class = module.define_class("GrammarElement", ruby.class_object())?;
    class.define_alloc_func::<GrammarElement>();
    class.define_private_method("native_init", method!(GrammarElement::initialize, 2))?;
    class.define_private_method("initialize_copy", method!(GrammarElement::initialize_copy, 1))?;
    class.define_method("type", method!(GrammarElement::kind, 0))?;
    class.define_method("type=", method!(GrammarElement::set_kind, 1))?;
    class.define_method("value", method!(GrammarElement::value, 0))?;
    class.define_method("value=", method!(GrammarElement::set_value, 1))?;

    let class = module.define_class("Grammar", ruby.class_object())?;
    class.define_alloc_func::<Grammar>();
    class.define_private_method("native_init", method!(Grammar::initialize, 2))?;
    class.define_private_method("initialize_copy", method!(Grammar::initialize_copy, 1))?;
    class.define_singleton_method("native_from_gbnf", method!(Grammar::from_gbnf, 2))?;
    class.define_method("rules", method!(Grammar::rules, 0))?;
    class.define_method("start_rule_index", method!(Grammar::start_rule_index, 0))?;
    class.define_method("may_end?", method!(Grammar::may_end, 0))?;
    Ok(())
}
