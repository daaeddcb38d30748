//! The values of a GGUF file's metadata.

use std::borrow::Cow;
use std::fmt;

/// The type of a metadata value, with the numbers of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
#[allow(missing_docs)] // the names are what is to be said about them
pub enum ValueType {
    U8 = 0,
    I8 = 1,
    U16 = 2,
    I16 = 3,
    U32 = 4,
    I32 = 5,
    F32 = 6,
    Bool = 7,
    String = 8,
    Array = 9,
    U64 = 10,
    I64 = 11,
    F64 = 12,
}

impl ValueType {
    /// All types, in the order of their numbers.
    pub const ALL: [Self; 13] = [
        Self::U8,
        Self::I8,
        Self::U16,
        Self::I16,
        Self::U32,
        Self::I32,
        Self::F32,
        Self::Bool,
        Self::String,
        Self::Array,
        Self::U64,
        Self::I64,
        Self::F64,
    ];

    /// The type with the number `number`.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|known| *known as u32 == number)
    }

    /// The name as llama.cpp prints it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::I8 => "i8",
            Self::U16 => "u16",
            Self::I16 => "i16",
            Self::U32 => "u32",
            Self::I32 => "i32",
            Self::F32 => "f32",
            Self::Bool => "bool",
            Self::String => "str",
            Self::Array => "arr",
            Self::U64 => "u64",
            Self::I64 => "i64",
            Self::F64 => "f64",
        }
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A metadata value. Strings are bytes: the format asks for UTF-8, files do not always comply.
///
/// # Examples
///
/// ```
/// use llama::gguf::Value;
///
/// let name = Value::String(b"tiny \xff".to_vec());
/// assert_eq!(name.to_str_lossy().unwrap(), "tiny \u{fffd}");
/// assert_eq!(Value::U32(7).as_u32(), Some(7));
/// assert_eq!(Value::I32(7).as_u32(), None);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // the names are what is to be said about them
pub enum Value {
    U8(u8),
    I8(i8),
    U16(u16),
    I16(i16),
    U32(u32),
    I32(i32),
    F32(f32),
    Bool(bool),
    String(Vec<u8>),
    Array(Array),
    U64(u64),
    I64(i64),
    F64(f64),
}

impl Value {
    /// Its type.
    pub const fn value_type(&self) -> ValueType {
        match self {
            Self::U8(_) => ValueType::U8,
            Self::I8(_) => ValueType::I8,
            Self::U16(_) => ValueType::U16,
            Self::I16(_) => ValueType::I16,
            Self::U32(_) => ValueType::U32,
            Self::I32(_) => ValueType::I32,
            Self::F32(_) => ValueType::F32,
            Self::Bool(_) => ValueType::Bool,
            Self::String(_) => ValueType::String,
            Self::Array(_) => ValueType::Array,
            Self::U64(_) => ValueType::U64,
            Self::I64(_) => ValueType::I64,
            Self::F64(_) => ValueType::F64,
        }
    }

    /// The number, if it is of type `u32`.
    pub const fn as_u32(&self) -> Option<u32> {
        match self {
            Self::U32(number) => Some(*number),
            _ => None,
        }
    }

    /// The number, if it is of type `f32`.
    pub const fn as_f32(&self) -> Option<f32> {
        match self {
            Self::F32(number) => Some(*number),
            _ => None,
        }
    }

    /// The value, if it is of type `bool`.
    pub const fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The bytes, if it is a string.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Self::String(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The text, if it is a string; what is no UTF-8 in it becomes U+FFFD.
    pub fn to_str_lossy(&self) -> Option<Cow<'_, str>> {
        self.as_bytes().map(String::from_utf8_lossy)
    }

    /// The elements, if it is an array.
    pub const fn as_array(&self) -> Option<&Array> {
        match self {
            Self::Array(array) => Some(array),
            _ => None,
        }
    }
}

/// An array of values of one type. Arrays of arrays are refused when a file is read, as llama.cpp cannot hold them.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // the names are what is to be said about them
pub enum Array {
    U8(Vec<u8>),
    I8(Vec<i8>),
    U16(Vec<u16>),
    I16(Vec<i16>),
    U32(Vec<u32>),
    I32(Vec<i32>),
    F32(Vec<f32>),
    Bool(Vec<bool>),
    String(Strings),
    U64(Vec<u64>),
    I64(Vec<i64>),
    F64(Vec<f64>),
}

impl Array {
    /// How many elements it has.
    pub fn len(&self) -> usize {
        match self {
            Self::U8(items) => items.len(),
            Self::I8(items) => items.len(),
            Self::U16(items) => items.len(),
            Self::I16(items) => items.len(),
            Self::U32(items) => items.len(),
            Self::I32(items) => items.len(),
            Self::F32(items) => items.len(),
            Self::Bool(items) => items.len(),
            Self::String(items) => items.len(),
            Self::U64(items) => items.len(),
            Self::I64(items) => items.len(),
            Self::F64(items) => items.len(),
        }
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of its elements.
    pub const fn element_type(&self) -> ValueType {
        match self {
            Self::U8(_) => ValueType::U8,
            Self::I8(_) => ValueType::I8,
            Self::U16(_) => ValueType::U16,
            Self::I16(_) => ValueType::I16,
            Self::U32(_) => ValueType::U32,
            Self::I32(_) => ValueType::I32,
            Self::F32(_) => ValueType::F32,
            Self::Bool(_) => ValueType::Bool,
            Self::String(_) => ValueType::String,
            Self::U64(_) => ValueType::U64,
            Self::I64(_) => ValueType::I64,
            Self::F64(_) => ValueType::F64,
        }
    }
}

/// Strings, one after the other in one buffer: a vocabulary has a hundred thousand of them.
///
/// # Examples
///
/// ```
/// use llama::gguf::Strings;
///
/// let strings: Strings = [&b"<s>"[..], b"", b"\xe2\x96\x81the"].into_iter().collect();
/// assert_eq!(strings.len(), 3);
/// assert_eq!(strings.get(2), Some("▁the".as_bytes()));
/// assert_eq!(strings.get(3), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strings {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Strings {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The string with the index `index`.
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        let start = match index.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        self.bytes.get(start..*self.ends.get(index)?)
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends.iter().filter_map(move |&end| {
            let string = self.bytes.get(start..end);
            start = end;
            string
        })
    }

    /// Whether none is empty, and each is what llama.cpp takes for UTF-8, without a NUL. (One look at all of them takes a
    /// fraction of a look at each.)
    pub(super) fn are_plain_text(&self) -> bool {
        let mut start = 0;
        let none_empty = self.ends.iter().all(|&end| std::mem::replace(&mut start, end) < end);
        let starts_character = |at: usize| self.bytes.get(at).is_none_or(|byte| !is_continuation(*byte));
        none_empty && is_lax_utf8_without_nul(&self.bytes) && self.ends.iter().all(|&end| starts_character(end))
    }

    /// Lets `fill` append bytes; what it appended is one more string.
    pub(super) fn push_with<E>(&mut self, fill: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        fill(&mut self.bytes)?;
        self.ends.push(self.bytes.len());
        Ok(())
    }

    /// Appends one.
    pub(super) fn push(&mut self, string: &[u8]) {
        self.bytes.extend_from_slice(string);
        self.ends.push(self.bytes.len());
    }
}

const fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// Whether just those bytes are continuations that the lead bytes before them ask for. Without a branch for each byte,
/// so that the compiler looks at many at a time.
fn is_lax_utf8_without_nul(bytes: &[u8]) -> bool {
    let fits = |[a, b, c, d]: [u8; 4]| {
        let wanted = (c >= 0xc0) | (b >= 0xe0) | (a >= 0xf0);
        (is_continuation(d) == wanted) & (d != 0) & (d < 0xf8)
    };
    let mut edge = [0; 6];
    let n = bytes.len().min(3);
    // The first three, as if nothing was before them; and nothing may be missing behind the last.
    let (Some(head), Some(first)) = (edge.get_mut(3..3 + n), bytes.get(..n)) else { return false };
    head.copy_from_slice(first);
    let begins = edge.windows(4).take(n).all(|window| window.try_into().is_ok_and(fits));
    let ends = match bytes {
        [.., a, b, c] => (*c < 0xc0) & (*b < 0xe0) & (*a < 0xf0),
        [b, c] => (*c < 0xc0) & (*b < 0xe0),
        [c] => *c < 0xc0,
        [] => true,
    };
    begins
        & ends
        & bytes.windows(4).fold(true, |all, window| match window {
            &[a, b, c, d] => all & fits([a, b, c, d]),
            _ => all,
        })
}

impl<'a> FromIterator<&'a [u8]> for Strings {
    fn from_iter<I: IntoIterator<Item = &'a [u8]>>(strings: I) -> Self {
        let mut collected = Self::default();
        for string in strings {
            collected.push(string);
        }
        collected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lax_utf8_is_seen_wherever_it_is() {
        let slowly = |bytes: &[u8]| {
            let mut rest = bytes;
            while let Some((&lead, tail)) = rest.split_first() {
                let n = match lead {
                    0 | 0x80..=0xbf | 0xf8.. => return false,
                    0x01..=0x7f => 0,
                    0xc0..=0xdf => 1,
                    0xe0..=0xef => 2,
                    0xf0..=0xf7 => 3,
                };
                match tail.split_at_checked(n) {
                    Some((bytes, after)) if bytes.iter().all(|byte| is_continuation(*byte)) => rest = after,
                    _ => return false,
                }
            }
            true
        };
        let bytes = [0, b'a', 0x80, 0xbf, 0xc3, 0xe2, 0xf0, 0xf8];
        let mut good = 0;
        // All texts of up to six of them.
        for length in 0..=6 {
            for number in 0..bytes.len().pow(length) {
                let text: Vec<u8> = (0..length).map(|i| bytes[number / bytes.len().pow(i) % bytes.len()]).collect();
                let strings: Strings = [text.as_slice()].into_iter().collect();
                assert_eq!(strings.are_plain_text(), !text.is_empty() && slowly(&text), "{text:x?}");
                good += usize::from(strings.are_plain_text());
            }
        }
        assert!(good > 100, "{good}");
    }

    #[test]
    fn no_character_goes_on_in_the_next_string() {
        let halves: Strings = [&b"a\xc3"[..], b"\xa4b"].into_iter().collect();
        let whole: Strings = [&b"a"[..], b"\xc3\xa4b"].into_iter().collect();
        let empty: Strings = [&b"a"[..], b"", b"b"].into_iter().collect();
        assert_eq!([halves, whole, empty].map(|strings| strings.are_plain_text()), [false, true, false]);
    }
}
