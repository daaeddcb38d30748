//! Metadata as llama.cpp's `get_key` sees it.

use std::ffi::CStr;

use super::super::{Array, Gguf, GgufError, Value, ValueType};
use crate::untrusted::FileError;

/// A value that takes the place of one in a model's metadata.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OverrideValue {
    /// Where a file has an integer. llama.cpp keeps the lower 32 bits.
    Int(i64),
    /// Where a file has a float. llama.cpp rounds it to single precision.
    Float(f64),
    /// Where a file has a bool.
    Bool(bool),
}

/// The metadata of a file, with overrides applied where llama.cpp applies them.
pub(super) struct Keys<'a> {
    gguf: &'a Gguf,
    overrides: &'a [(String, OverrideValue)],
}

impl<'a> Keys<'a> {
    pub(super) const fn new(gguf: &'a Gguf, overrides: &'a [(String, OverrideValue)]) -> Self {
        Self { gguf, overrides }
    }

    /// llama.cpp reads the list up to an empty key, and keeps the first value of each key.
    fn override_of(&self, key: &str) -> Option<OverrideValue> {
        self.overrides
            .iter()
            .take_while(|(name, _)| !name.is_empty())
            .find_map(|(name, value)| (name == key).then_some(*value))
    }

    pub(super) fn u32(&self, key: &str) -> Result<Option<u32>, GgufError> {
        if let Some(OverrideValue::Int(value)) = self.override_of(key) {
            // As a C++ conversion does it.
            return Ok(Some((value & i64::from(u32::MAX)) as u32));
        }
        self.typed(key, ValueType::U32, Value::as_u32)
    }

    pub(super) fn f32(&self, key: &str) -> Result<Option<f32>, GgufError> {
        if let Some(OverrideValue::Float(value)) = self.override_of(key) {
            return Ok(Some(value as f32));
        }
        self.typed(key, ValueType::F32, Value::as_f32)
    }

    pub(super) fn bool(&self, key: &str) -> Result<Option<bool>, GgufError> {
        if let Some(OverrideValue::Bool(value)) = self.override_of(key) {
            return Ok(Some(value));
        }
        self.typed(key, ValueType::Bool, Value::as_bool)
    }

    /// A string as llama.cpp gets it: up to the first NUL.
    pub(super) fn text(&self, key: &str) -> Result<Option<&'a [u8]>, GgufError> {
        if self.override_of(key).is_some() {
            return Err(FileError::malformed(format!(
                "{key} is a string, which llama.cpp does not let anybody override"
            )));
        }
        let text = self.typed(key, ValueType::String, Value::as_bytes)?;
        Ok(text.map(c_str))
    }

    /// An array. No override reaches it.
    pub(super) fn array(&self, key: &str) -> Result<Option<&'a Array>, GgufError> {
        self.typed(key, ValueType::Array, Value::as_array)
    }

    pub(super) fn required<T>(&self, key: &str, value: Option<T>) -> Result<T, GgufError> {
        value.ok_or_else(|| FileError::malformed(format!("{key} is missing")))
    }

    /// `key` is `value`, but has to be `allowed`.
    pub(super) fn fault(&self, key: &str, value: impl std::fmt::Display, allowed: &str) -> GgufError {
        let origin = match (self.override_of(key), self.gguf.get(key)) {
            (Some(_), _) => " (by an override)",
            (None, Some(_)) => "",
            (None, None) => " (by default, as it is missing)",
        };
        FileError::malformed(format!("{key} is {value}{origin}, but has to be {allowed}"))
    }

    fn typed<T>(
        &self,
        key: &str,
        expected: ValueType,
        get: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, GgufError> {
        let Some(value) = self.gguf.get(key) else {
            return Ok(None);
        };
        match get(value) {
            Some(value) => Ok(Some(value)),
            None => {
                Err(FileError::malformed(format!("{key} has the type {} instead of {expected}", value.value_type())))
            }
        }
    }
}

/// What llama.cpp makes of a string: C strings end at the first NUL.
pub(super) fn c_str(bytes: &[u8]) -> &[u8] {
    CStr::from_bytes_until_nul(bytes).map_or(bytes, CStr::to_bytes)
}
