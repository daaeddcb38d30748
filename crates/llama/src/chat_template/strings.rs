//! What templates do with texts, where minijinja's fuel does not see what it costs.

use super::bounds::failed;
use minijinja::value::{Rest, StringInput, Value, ValueOrKwargs};
use minijinja::{filters, Environment, Error, State};
use minijinja_contrib::pycompat;
use std::borrow::Cow;

/// Digits of a number in a format.
const MAX_DIGITS: usize = 3;
/// Characters to strip: each of a text is compared with each of them.
const MAX_STRIPPED: usize = 64;

/// Bounds the methods and filters of texts.
pub(super) fn apply(environment: &mut Environment) {
    // Templates are written for Python's Jinja, and call the methods of its strings and lists.
    environment.set_unknown_method_callback(call_method);
    environment.add_filter("format", |state: &mut State, format: &Value, values: Rest<ValueOrKwargs>| {
        check_format(format.as_str().unwrap_or_default())?;
        filters::format(state, format, values)
    });
    environment.add_filter("trim", |text: StringInput<'_>, chars: Option<Cow<'_, str>>| {
        check_stripped(chars.as_deref().unwrap_or_default())?;
        Ok::<_, Error>(filters::trim(text, chars))
    });
}

fn call_method(state: &mut State, value: &Value, method: &str, args: &[Value]) -> Result<Value, Error> {
    if let Some(text) = value.as_str() {
        state.consume_fuel((text.len() / 64) as u64)?;
        match method {
            "format" => check_format(text)?,
            "strip" | "lstrip" | "rstrip" => check_stripped(args.first().and_then(Value::as_str).unwrap_or_default())?,
            _ => {}
        }
    }
    pycompat::unknown_method_callback(state, value, method, args)
}

fn check_stripped(chars: &str) -> Result<(), Error> {
    match chars.chars().nth(MAX_STRIPPED) {
        Some(_) => Err(failed(format!("more than {MAX_STRIPPED} characters to strip"))),
        None => Ok(()),
    }
}

/// A width or a precision is a number of characters to make. They stand between `{` and `}`, or behind a `%`.
fn check_format(format: &str) -> Result<(), Error> {
    let (mut within, mut digits) = (false, 0);
    for c in format.chars() {
        within = match c {
            '{' | '%' => true,
            '}' => false,
            _ => within && !c.is_whitespace(),
        };
        digits = if within && c.is_numeric() { digits + 1 } else { 0 };
        if digits > MAX_DIGITS {
            return Err(failed(format!("a format with a number of more than {MAX_DIGITS} digits")));
        }
    }
    Ok(())
}
