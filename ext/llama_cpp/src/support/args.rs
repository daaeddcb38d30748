//! Arguments: what Ruby passes, as numbers and bytes, with errors that name the parameter.

use super::errors;
use magnus::{
    prelude::*,
    value::{Qfalse, Qnil},
    Error, Float, Integer, RArray, RString, Ruby, TryConvert, Value,
};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// How a value looks in an error message: short, and whatever its own `inspect` does.
pub fn describe(value: Value) -> String {
    // SAFETY: the name is copied before anything else happens.
    let class = unsafe { value.classname() }.into_owned();
    if value.is_nil() {
        return "nil".into();
    }
    if Integer::from_value(value).is_some() || Float::from_value(value).is_some() {
        let text = value.to_string();
        let short: String = text.chars().take(40).collect();
        return format!("{short}{} ({class})", if short.len() < text.len() { "…" } else { "" });
    }
    format!("an instance of {class}")
}

/// `ArgumentError` for a `value` that is not what `name` must be.
pub fn not_a(ruby: &Ruby, name: &str, kind: &str, value: Value) -> Error {
    errors::argument(ruby, format!("{name} must be {kind}, got {}", describe(value)))
}

/// An Integer within `min..=max`.
pub fn int(ruby: &Ruby, name: &str, value: Value, min: i64, max: i64) -> Result<i64, Error> {
    let integer = Integer::from_value(value).ok_or_else(|| not_a(ruby, name, "an Integer", value))?;
    match integer.to_i64() {
        Ok(n) if (min..=max).contains(&n) => Ok(n),
        _ => Err(errors::argument(ruby, format!("{name} is {}, it must be between {min} and {max}", shorten(value)))),
    }
}

/// A number as it looks in an error message.
pub fn shorten(value: Value) -> String {
    let text = value.to_string();
    if text.len() <= 40 {
        text
    } else {
        format!("{}… ({} digits)", text.chars().take(20).collect::<String>(), text.len())
    }
}

/// An Integer of 32 bits.
pub fn int32(ruby: &Ruby, name: &str, value: Value) -> Result<i32, Error> {
    int(ruby, name, value, i64::from(i32::MIN), i64::from(i32::MAX)).map(|n| n as i32)
}

/// An Integer of 32 bits that is not negative.
pub fn count(ruby: &Ruby, name: &str, value: Value) -> Result<usize, Error> {
    int(ruby, name, value, 0, i64::from(i32::MAX)).map(|n| n as usize)
}

/// An index: an Integer; a negative one is `ArgumentError`.
pub fn index(ruby: &Ruby, name: &str, value: Value) -> Result<usize, Error> {
    let n = i64::try_convert(value)?;
    usize::try_from(n).map_err(|_| errors::argument(ruby, format!("{name} is {n}, it must not be negative")))
}

/// A Float, or an Integer that becomes one.
pub fn float(ruby: &Ruby, name: &str, value: Value) -> Result<f32, Error> {
    double(ruby, name, value).map(|x| x as f32)
}

/// As [`float`], in double precision.
pub fn double(ruby: &Ruby, name: &str, value: Value) -> Result<f64, Error> {
    if let Some(float) = Float::from_value(value) {
        return Ok(float.to_f64());
    }
    if Integer::from_value(value).is_some() {
        return f64::try_convert(value);
    }
    Err(not_a(ruby, name, "a Float", value))
}

/// Anything, for its truth.
pub fn truth(value: Value) -> bool {
    Qnil::from_value(value).is_none() && Qfalse::from_value(value).is_none()
}

/// A `Vec` with room for `n`; `NoMemoryError` when there is none.
pub fn room<T>(ruby: &Ruby, n: usize) -> Result<Vec<T>, Error> {
    llama::error::room(n).map_err(|e| errors::to_ruby(ruby, e))
}

/// A String's bytes, copied.
pub fn bytes(ruby: &Ruby, name: &str, value: Value) -> Result<Vec<u8>, Error> {
    let string = RString::from_value(value).ok_or_else(|| not_a(ruby, name, "a String", value))?;
    let mut bytes = room(ruby, string.len())?;
    // SAFETY: the bytes are copied at once.
    bytes.extend_from_slice(unsafe { string.as_slice() });
    Ok(bytes)
}

/// A String in UTF-8: one in another encoding is transcoded; raw bytes are taken as they are.
pub fn text(ruby: &Ruby, name: &str, value: Value) -> Result<Vec<u8>, Error> {
    use magnus::encoding::{EncodingCapable, RbEncoding};
    let string = RString::from_value(value).ok_or_else(|| not_a(ruby, name, "a String", value))?;
    let encoding = RbEncoding::from(string.enc_get());
    if [ruby.utf8_encoding(), ruby.usascii_encoding(), ruby.ascii8bit_encoding()]
        .iter()
        .any(|e| e.name() == encoding.name())
    {
        return bytes(ruby, name, value);
    }
    let utf8: Value = string.funcall("encode", ("UTF-8",)).map_err(|e| {
        errors::argument(ruby, format!("{name} cannot be converted from {} to UTF-8: {e}", encoding.name()))
    })?;
    bytes(ruby, name, utf8)
}

/// A String that is UTF-8 throughout.
pub fn string(ruby: &Ruby, name: &str, value: Value) -> Result<String, Error> {
    String::from_utf8(text(ruby, name, value)?).map_err(|e| {
        errors::argument(ruby, format!("{name} is not valid UTF-8 at byte {}", e.utf8_error().valid_up_to()))
    })
}

/// Bytes of a path; no system has longer ones.
const MAX_PATH: usize = 65_535;

/// A path: a String, or what has `to_path`.
pub fn path(ruby: &Ruby, name: &str, value: Value) -> Result<PathBuf, Error> {
    let value = if RString::from_value(value).is_none() && value.respond_to("to_path", false)? {
        value.funcall("to_path", ())?
    } else {
        value
    };
    let bytes = bytes(ruby, name, value)?;
    if bytes.len() > MAX_PATH {
        return Err(errors::argument(ruby, format!("{name} has {} bytes, {MAX_PATH} is the limit", bytes.len())));
    }
    if bytes.contains(&0) {
        return Err(errors::argument(ruby, format!("{name} contains a NUL byte")));
    }
    if bytes.is_empty() {
        return Err(errors::argument(ruby, format!("{name} is empty")));
    }
    Ok(PathBuf::from(OsStr::from_bytes(&bytes)))
}

/// An Array of Integers of 32 bits.
pub fn tokens(ruby: &Ruby, name: &str, value: Value) -> Result<Vec<i32>, Error> {
    let array = RArray::from_value(value).ok_or_else(|| not_a(ruby, name, "an Array of Integers", value))?;
    let mut tokens = room(ruby, array.len())?;
    for i in 0..array.len() {
        let value: Value = array.entry(i as isize)?;
        tokens.push(match Integer::from_value(value).and_then(|integer| integer.to_i32().ok()) {
            Some(token) => token,
            None => int32(ruby, &format!("{name}[{i}]"), value)?,
        });
    }
    Ok(tokens)
}

/// An Array of Floats.
pub fn floats(ruby: &Ruby, name: &str, value: Value) -> Result<Vec<f32>, Error> {
    let array = RArray::from_value(value).ok_or_else(|| not_a(ruby, name, "an Array of Floats", value))?;
    let mut floats = room(ruby, array.len())?;
    for i in 0..array.len() {
        let value: Value = array.entry(i as isize)?;
        floats.push(match Float::from_value(value) {
            Some(float) => float.to_f64() as f32,
            None => float(ruby, &format!("{name}[{i}]"), value)?,
        });
    }
    Ok(floats)
}

/// An Array of Floats from numbers.
pub fn float_array(ruby: &Ruby, numbers: &[f32]) -> Result<RArray, Error> {
    filled(ruby, numbers, |number| ruby.float_from_f64(f64::from(number)).as_value())
}

/// An Array of Integers.
pub fn int_array(ruby: &Ruby, numbers: &[i32]) -> Result<RArray, Error> {
    filled(ruby, numbers, |number| ruby.integer_from_i64(i64::from(number)).as_value())
}

/// An Array that is filled by parts: pushing one by one takes several times as long.
fn filled<T: Copy>(ruby: &Ruby, numbers: &[T], to_ruby: impl Fn(T) -> Value) -> Result<RArray, Error> {
    let array = ruby.ary_new_capa(numbers.len());
    // On the stack: there the collector sees those that are objects.
    let mut part = [ruby.qnil().as_value(); 128];
    for chunk in numbers.chunks(part.len()) {
        for (slot, &number) in part.iter_mut().zip(chunk) {
            *slot = to_ruby(number);
        }
        array.cat(part.get(..chunk.len()).unwrap_or(&part))?;
    }
    Ok(array)
}

/// A String in UTF-8 of these bytes.
pub fn utf8(ruby: &Ruby, bytes: &[u8]) -> RString {
    ruby.enc_str_new(bytes, ruby.utf8_encoding())
}
