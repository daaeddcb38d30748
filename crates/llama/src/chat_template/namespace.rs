//! Jinja's namespaces: objects whose attributes a template may set, and so carry from one turn of a loop to the next.
//!
//! minijinja's own may hold themselves, and end the process when they are written. These write nothing of what they
//! hold, and hold no others.

use super::bounds::failed;
use minijinja::value::{Kwargs, Object, ObjectRepr, Value};
use minijinja::Error;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Debug, Default)]
pub(super) struct Namespace(Mutex<BTreeMap<String, Value>>);

impl Object for Namespace {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key.as_str()?).cloned()
    }

    fn render(self: &Arc<Self>, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("<namespace>")
    }
}

impl Namespace {
    fn set(&self, name: &str, value: Value) -> Result<(), Error> {
        if value.downcast_object_ref::<Self>().is_some() {
            return Err(failed("a namespace cannot be put into another one"));
        }
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), value);
        Ok(())
    }
}

/// `namespace(name=value, …)`.
pub(super) fn new(attributes: Kwargs) -> Result<Value, Error> {
    let namespace = Namespace::default();
    for name in attributes.args() {
        namespace.set(name, attributes.get(name)?)?;
    }
    attributes.assert_all_used()?;
    Ok(Value::from_object(namespace))
}

/// `{% set namespace.name = value %}`.
pub(super) fn set(value: Value, namespace: Value, name: &str) -> Result<(), Error> {
    match namespace.downcast_object_ref::<Namespace>() {
        Some(namespace) => namespace.set(name, value),
        None => Err(failed(format!("can only assign to namespaces, not {}", namespace.kind()))),
    }
}
