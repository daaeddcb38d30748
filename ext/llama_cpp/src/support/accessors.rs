//! Readers and writers of a parameter object's fields.

/// Defines `name` and `name=` on a class whose Rust type holds a `RefCell` of the parameters in `.0`.
///
/// The kind says how Ruby's value becomes the field's: `int` and `uint` by Ruby's own conversion, `float` from a Float
/// or an Integer, `bool` by truth.
macro_rules! accessors {
    ($class:ident, $ty:ty, { $($field:ident = $setter:literal: $kind:ident),* $(,)? }) => {
        $(
            $class.define_method(
                stringify!($field),
                magnus::method!(|rb_self: &$ty| rb_self.0.borrow().$field.clone(), 0),
            )?;
            $class.define_method(
                $setter,
                magnus::method!(
                    |ruby: &magnus::Ruby, rb_self: magnus::typed_data::Obj<$ty>, value: magnus::Value| {
                        magnus::value::ReprValue::check_frozen(rb_self)?;
                        let value = $crate::support::accessors::$kind(ruby, stringify!($field), value)?;
                        rb_self.0.borrow_mut().$field = value;
                        Ok::<_, magnus::Error>(value)
                    },
                    1
                ),
            )?;
        )*
    };
}
pub(crate) use accessors;

use super::args;
use magnus::{Error, Ruby, TryConvert, Value};

pub fn int(ruby: &Ruby, name: &str, value: Value) -> Result<i32, Error> {
    i32::try_convert(value).map_err(|e| named(ruby, name, value, e, &format!("{} to {}", i32::MIN, i32::MAX)))
}

pub fn uint(ruby: &Ruby, name: &str, value: Value) -> Result<u32, Error> {
    u32::try_convert(value).map_err(|e| named(ruby, name, value, e, &format!("0 to {}", u32::MAX)))
}

/// Ruby's own errors do not say which one.
fn named(ruby: &Ruby, name: &str, value: Value, error: Error, range: &str) -> Error {
    if error.is_kind_of(ruby.exception_range_error()) {
        Error::new(ruby.exception_range_error(), format!("{name} is {}, it must be {range}", args::shorten(value)))
    } else if error.is_kind_of(ruby.exception_type_error()) {
        Error::new(ruby.exception_type_error(), format!("{name} must be an Integer, got {}", args::describe(value)))
    } else {
        error
    }
}

pub fn float(ruby: &Ruby, name: &str, value: Value) -> Result<f32, Error> {
    args::float(ruby, name, value)
}

pub fn bool(_: &Ruby, _: &str, value: Value) -> Result<bool, Error> {
    Ok(args::truth(value))
}
