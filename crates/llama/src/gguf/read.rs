//! Reading a header, and what can be said about it without knowing what the model is for.

use std::collections::HashSet;
use std::io::Read;

use super::value::{Array, Strings, Value, ValueType};
use super::{Gguf, TensorInfo, TensorType};
use crate::untrusted::{quoted, FileError, Reader};

const MAGIC: [u8; 4] = *b"GGUF";
const VERSIONS: std::ops::RangeInclusive<u32> = 2..=3;
const DEFAULT_ALIGNMENT: u64 = 32;

/// llama.cpp holds a header in memory, several times over: no real one is near this.
const MAX_HEADER_BYTES: u64 = 256 << 20;
/// The specification's limit.
const MAX_KEY_BYTES: u64 = 65_535;
/// `GGML_MAX_NAME`, with the NUL that ends a name: llama.cpp cuts longer ones off.
const MAX_NAME_BYTES: u64 = 63;
/// llama.cpp looks tensors up by walking a list, for each of them. The largest model that its graphs can hold has
/// fewer.
const MAX_TENSORS: u64 = 16_384;
/// llama.cpp counts keys and elements with an `int`.
const MAX_COUNT: u64 = i32::MAX as u64;
/// llama.cpp makes a text of each array, to log the first forty characters.
const MAX_ARRAY_TEXT: u64 = 256 << 20;
const MAX_ALIGNMENT: u64 = 1 << 20;

/// Bytes that the shortest key and value, or tensor, take: what bounds their number by the size of the file.
const MIN_PAIR_BYTES: u64 = 8 + 1 + 4 + 1;
const MIN_TENSOR_BYTES: u64 = 8 + 1 + 4 + 8 + 4 + 8;

pub(super) fn header<R: Read>(mut reader: Reader<R>) -> Result<Gguf, FileError> {
    let version = preamble(&mut reader)?;

    let n_tensors = reader.u64("the number of tensors")?;
    let n_pairs = reader.u64("the number of metadata values")?;
    if n_tensors > MAX_TENSORS {
        return Err(reader.here(format!("{n_tensors} tensors are more than the limit of {MAX_TENSORS}")));
    }
    if n_pairs > MAX_COUNT {
        return Err(reader.here(format!("{n_pairs} metadata values are more than the limit of {MAX_COUNT}")));
    }
    reader.expect(n_pairs, MIN_PAIR_BYTES, "metadata values")?;

    let metadata = metadata(&mut reader, n_pairs)?;
    reader.expect(n_tensors, MIN_TENSOR_BYTES, "tensors")?;
    let alignment = alignment(&metadata)?;
    let tensors = tensors(&mut reader, n_tensors, alignment)?;

    let Some(data_offset) = reader.position().checked_next_multiple_of(alignment) else {
        return Err(reader.here("the header is too long"));
    };
    let gguf = Gguf { version, alignment, metadata, tensors, data_offset, file_size: reader.size() };
    check_data(&gguf)?;
    Ok(gguf)
}

fn preamble<R: Read>(reader: &mut Reader<R>) -> Result<u32, FileError> {
    let wrong_kind = |found: String| FileError::WrongKind { expected: "a GGUF model", found };
    if reader.size() < MAGIC.len() as u64 {
        return Err(wrong_kind(format!("the file has {} bytes", reader.size())));
    }
    let magic: [u8; 4] = reader.array("the magic")?;
    if magic != MAGIC {
        return Err(wrong_kind(format!("it starts with {} instead of 'GGUF'", quoted(&magic))));
    }
    let position = reader.position();
    let version = reader.u32("the version")?;
    match version {
        _ if VERSIONS.contains(&version) => Ok(version),
        1 => Err(FileError::Unsupported("GGUF version 1 (convert the model again: versions 2 and 3 are read)".into())),
        _ if VERSIONS.contains(&version.swap_bytes()) => Err(FileError::Unsupported(format!(
            "GGUF version {} in the byte order of another machine",
            version.swap_bytes()
        ))),
        0 => Err(FileError::malformed_at(position, "version 0 (versions 2 and 3 are read)")),
        _ => Err(FileError::Unsupported(format!("GGUF version {version} (versions 2 and 3 are read)"))),
    }
}

fn metadata<R: Read>(reader: &mut Reader<R>, n_pairs: u64) -> Result<Vec<(String, Value)>, FileError> {
    let mut metadata = Vec::new();
    let mut seen = HashSet::new();
    for _ in 0..n_pairs {
        let position = reader.position();
        let key = name(reader, "a key", MAX_KEY_BYTES)?;
        if !seen.insert(key.clone()) {
            return Err(FileError::malformed_at(position, format!("the key {} occurs twice", quoted(key.as_bytes()))));
        }
        let position = reader.position();
        let number = reader.u32("a value's type")?;
        let Some(value_type) = ValueType::from_number(number) else {
            return Err(FileError::malformed_at(
                position,
                format!("{} has the unknown value type {number} (0 to 12 are known)", quoted(key.as_bytes())),
            ));
        };
        let value = value(reader, value_type, &key)?;
        metadata.push((key, value));
        check_length(reader)?;
    }
    Ok(metadata)
}

fn check_length<R>(reader: &Reader<R>) -> Result<(), FileError>
where
    R: Read,
{
    if reader.position() > MAX_HEADER_BYTES {
        return Err(FileError::Unsupported(format!("a header of more than {} MiB", MAX_HEADER_BYTES >> 20)));
    }
    Ok(())
}

/// A key or a tensor's name. llama.cpp takes both for C strings: a NUL would hide the rest.
fn name<R: Read>(reader: &mut Reader<R>, what: &str, limit: u64) -> Result<String, FileError> {
    let position = reader.position();
    let length = reader.u64("a length")?;
    if length == 0 || length > limit {
        return Err(FileError::malformed_at(position, format!("{what} of {length} bytes (1 to {limit} are allowed)")));
    }
    let bytes = reader.bytes(length, what)?;
    if bytes.contains(&0) {
        return Err(FileError::malformed_at(position, format!("{what} with a NUL byte: {}", quoted(&bytes))));
    }
    String::from_utf8(bytes).map_err(|error| {
        FileError::malformed_at(position, format!("{what} that is not UTF-8: {}", quoted(error.as_bytes())))
    })
}

fn value<R: Read>(reader: &mut Reader<R>, value_type: ValueType, key: &str) -> Result<Value, FileError> {
    const WHAT: &str = "a metadata value";
    Ok(match value_type {
        ValueType::U8 => Value::U8(u8::from_ne_bytes(reader.array(WHAT)?)),
        ValueType::I8 => Value::I8(i8::from_ne_bytes(reader.array(WHAT)?)),
        ValueType::U16 => Value::U16(u16::from_ne_bytes(reader.array(WHAT)?)),
        ValueType::I16 => Value::I16(i16::from_ne_bytes(reader.array(WHAT)?)),
        ValueType::U32 => Value::U32(u32::from_ne_bytes(reader.array(WHAT)?)),
        ValueType::I32 => Value::I32(i32::from_ne_bytes(reader.array(WHAT)?)),
        ValueType::F32 => Value::F32(f32::from_ne_bytes(reader.array(WHAT)?)),
        ValueType::U64 => Value::U64(u64::from_ne_bytes(reader.array(WHAT)?)),
        ValueType::I64 => Value::I64(i64::from_ne_bytes(reader.array(WHAT)?)),
        ValueType::F64 => Value::F64(f64::from_ne_bytes(reader.array(WHAT)?)),
        ValueType::Bool => {
            let position = reader.position();
            let [byte] = reader.array(WHAT)?;
            Value::Bool(boolean(byte, position, key)?)
        }
        ValueType::String => {
            let mut bytes = Vec::new();
            string(reader, &mut bytes, key)?;
            Value::String(bytes)
        }
        ValueType::Array => Value::Array(array(reader, key)?),
    })
}

/// llama.cpp reads the byte as a C++ `bool`, for which all but 0 and 1 is undefined behaviour.
fn boolean(byte: u8, position: u64, key: &str) -> Result<bool, FileError> {
    match byte {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(FileError::malformed_at(
            position,
            format!("{} has the bool {byte} (0 and 1 are allowed)", quoted(key.as_bytes())),
        )),
    }
}

fn string<R: Read>(reader: &mut Reader<R>, out: &mut Vec<u8>, key: &str) -> Result<(), FileError> {
    let position = reader.position();
    let length = reader.u64("a string's length")?;
    let limit = MAX_HEADER_BYTES.min(reader.remaining());
    if length > limit {
        return Err(FileError::malformed_at(
            position,
            format!("{} has a string of {length} bytes, but only {limit} follow", quoted(key.as_bytes())),
        ));
    }
    reader.append(out, length, "a string")
}

fn array<R: Read>(reader: &mut Reader<R>, key: &str) -> Result<Array, FileError> {
    let position = reader.position();
    let number = reader.u32("an array's type")?;
    let count = reader.u64("an array's length")?;
    let key_name = || quoted(key.as_bytes());
    let fault = |what: String| FileError::malformed_at(position, what);

    let Some(element_type) = ValueType::from_number(number) else {
        return Err(fault(format!("{} is an array of the unknown type {number} (0 to 12 are known)", key_name())));
    };
    // Bytes in the file, and the longest text that llama.cpp can make of one: "-128, ".
    let (unit, text) = match element_type {
        ValueType::U8 => (1, 5),
        ValueType::I8 => (1, 6),
        ValueType::Bool => (1, 7),
        ValueType::U16 => (2, 7),
        ValueType::I16 => (2, 8),
        ValueType::U32 => (4, 12),
        ValueType::I32 => (4, 13),
        ValueType::F32 => (4, 49),
        ValueType::U64 | ValueType::I64 => (8, 23),
        ValueType::F64 => (8, 319),
        ValueType::String => (8, 0),
        ValueType::Array => {
            return Err(FileError::Unsupported(format!("{} is an array of arrays", key_name())));
        }
    };
    if count > MAX_COUNT {
        return Err(fault(format!("{} has {count} elements (at most {MAX_COUNT} are allowed)", key_name())));
    }
    match count.checked_mul(unit) {
        Some(bytes) if bytes <= reader.remaining() => {}
        _ => {
            return Err(fault(format!(
                "{} has {count} elements of at least {unit} bytes, but only {} bytes follow",
                key_name(),
                reader.remaining()
            )));
        }
    }
    if count.saturating_mul(unit) > MAX_HEADER_BYTES || count.saturating_mul(text) > MAX_ARRAY_TEXT {
        return Err(FileError::Unsupported(format!(
            "{} is an array of {count} elements of type {element_type}",
            key_name()
        )));
    }

    Ok(match element_type {
        ValueType::U8 => Array::U8(reader.bytes(count, "an array")?),
        ValueType::I8 => Array::I8(numbers(reader, count, i8::from_ne_bytes)?),
        ValueType::U16 => Array::U16(numbers(reader, count, u16::from_ne_bytes)?),
        ValueType::I16 => Array::I16(numbers(reader, count, i16::from_ne_bytes)?),
        ValueType::U32 => Array::U32(numbers(reader, count, u32::from_ne_bytes)?),
        ValueType::I32 => Array::I32(numbers(reader, count, i32::from_ne_bytes)?),
        ValueType::F32 => Array::F32(numbers(reader, count, f32::from_ne_bytes)?),
        ValueType::U64 => Array::U64(numbers(reader, count, u64::from_ne_bytes)?),
        ValueType::I64 => Array::I64(numbers(reader, count, i64::from_ne_bytes)?),
        ValueType::F64 => Array::F64(numbers(reader, count, f64::from_ne_bytes)?),
        ValueType::Bool => {
            let mut items = Vec::new();
            for _ in 0..count {
                let position = reader.position();
                let [byte] = reader.array("an array")?;
                items.push(boolean(byte, position, key)?);
            }
            Array::Bool(items)
        }
        ValueType::String => {
            let mut items = Strings::default();
            while (items.len() as u64) < count {
                // Most strings are in the reader's buffer, whole, and need no question for each of their parts.
                let bytes = whole_strings(reader.ready(), count, &mut items);
                if bytes == 0 {
                    items.push_with(|bytes| string(reader, bytes, key))?;
                }
                reader.consume(bytes);
                check_length(reader)?;
            }
            Array::String(items)
        }
        ValueType::Array => return Err(fault(format!("{} is an array of arrays", key_name()))),
    })
}

/// Adds the strings at the beginning of `bytes` to `items`, until those are `count`, and returns how many bytes they take.
fn whole_strings(bytes: &[u8], count: u64, items: &mut Strings) -> usize {
    let mut rest = bytes;
    while (items.len() as u64) < count {
        let Some((length, tail)) = rest.split_first_chunk() else { break };
        let length = usize::try_from(u64::from_ne_bytes(*length)).unwrap_or(usize::MAX);
        let Some((string, tail)) = tail.split_at_checked(length) else { break };
        items.push(string);
        rest = tail;
    }
    bytes.len() - rest.len()
}

fn numbers<R: Read, T, const N: usize>(
    reader: &mut Reader<R>,
    count: u64,
    convert: impl Fn([u8; N]) -> T,
) -> Result<Vec<T>, FileError> {
    let bytes = reader.bytes(count.saturating_mul(N as u64), "an array")?;
    Ok(bytes.chunks_exact(N).filter_map(|chunk| chunk.try_into().ok().map(&convert)).collect())
}

fn alignment(metadata: &[(String, Value)]) -> Result<u64, FileError> {
    const KEY: &str = "general.alignment";
    let Some((_, value)) = metadata.iter().find(|(key, _)| key == KEY) else {
        return Ok(DEFAULT_ALIGNMENT);
    };
    let Some(alignment) = value.as_u32() else {
        return Err(FileError::malformed(format!("{KEY} has the type {} instead of u32", value.value_type())));
    };
    let alignment = u64::from(alignment);
    if !alignment.is_power_of_two() || !(8..=MAX_ALIGNMENT).contains(&alignment) {
        return Err(FileError::malformed(format!(
            "{KEY} is {alignment} (a power of two from 8 to {MAX_ALIGNMENT} is allowed)"
        )));
    }
    Ok(alignment)
}

fn tensors<R: Read>(reader: &mut Reader<R>, n_tensors: u64, alignment: u64) -> Result<Vec<TensorInfo>, FileError> {
    let mut tensors = Vec::new();
    let mut seen = HashSet::new();
    for _ in 0..n_tensors {
        let position = reader.position();
        let tensor = tensor(reader, alignment)?;
        if !seen.insert(tensor.name.clone()) {
            return Err(FileError::malformed_at(
                position,
                format!("the tensor {} occurs twice", quoted(tensor.name.as_bytes())),
            ));
        }
        tensors.push(tensor);
        check_length(reader)?;
    }
    Ok(tensors)
}

fn tensor<R: Read>(reader: &mut Reader<R>, alignment: u64) -> Result<TensorInfo, FileError> {
    let name = name(reader, "a tensor's name", MAX_NAME_BYTES)?;
    let shown = quoted(name.as_bytes());

    let position = reader.position();
    let n_dims = reader.u32("a tensor's number of dimensions")?;
    if !(1..=4).contains(&n_dims) {
        return Err(FileError::malformed_at(position, format!("{shown} has {n_dims} dimensions (1 to 4 are allowed)")));
    }
    let n_dims = n_dims as usize;

    let position = reader.position();
    let mut dims = [1; 4];
    for dim in dims.iter_mut().take(n_dims) {
        *dim = reader.u64("a tensor's dimension")?;
    }
    // ggml computes with 64-bit numbers that have a sign.
    let elements = dims.iter().try_fold(1_u64, |product, &dim| product.checked_mul(dim));
    let n_elements = match elements {
        Some(elements) if elements > 0 && i64::try_from(elements).is_ok() => elements,
        _ => {
            return Err(FileError::malformed_at(
                position,
                format!(
                    "{shown} has the dimensions {:?} (each has to be at least 1, their product less than 2^63)",
                    dims.get(..n_dims).unwrap_or(&dims)
                ),
            ));
        }
    };

    let position = reader.position();
    let number = reader.u32("a tensor's type")?;
    let Some(tensor_type) = TensorType::from_number(number) else {
        return Err(FileError::malformed_at(
            position,
            format!("{shown} has the type {number}, which the bundled llama.cpp does not know"),
        ));
    };
    let [row, ..] = dims;
    if row % tensor_type.block_size() != 0 {
        return Err(FileError::malformed_at(
            position,
            format!(
                "{shown} has rows of {row} elements, which are no whole number of {} blocks of {}",
                tensor_type.name(),
                tensor_type.block_size()
            ),
        ));
    }
    let rows = n_elements.checked_div(row);
    let row_bytes = tensor_type.row_bytes(row);
    let Some(n_bytes) = rows.zip(row_bytes).and_then(|(rows, bytes)| bytes.checked_mul(rows)) else {
        return Err(FileError::malformed_at(
            position,
            format!("{shown} has {n_elements} elements of type {}, more than there can be bytes", tensor_type.name()),
        ));
    };

    let position = reader.position();
    let offset = reader.u64("a tensor's offset")?;
    if offset % alignment != 0 {
        return Err(FileError::malformed_at(
            position,
            format!("{shown} starts at the offset {offset}, which is no multiple of the alignment, {alignment}"),
        ));
    }
    Ok(TensorInfo { name, tensor_type, n_dims, dims, offset, n_bytes })
}

/// All data is in the file, and no byte of it belongs to two tensors.
fn check_data(gguf: &Gguf) -> Result<(), FileError> {
    let mut by_offset: Vec<&TensorInfo> = gguf.tensors.iter().collect();
    by_offset.sort_by_key(|tensor| tensor.offset);

    let mut previous: Option<(&TensorInfo, u64)> = None;
    for tensor in by_offset {
        let start = gguf.data_offset.checked_add(tensor.offset);
        let end = start.and_then(|start| start.checked_add(tensor.n_bytes));
        let (Some(start), Some(end)) = (start, end) else {
            return Err(outside(gguf, tensor));
        };
        if end > gguf.file_size {
            return Err(outside(gguf, tensor));
        }
        if let Some((before, before_end)) = previous {
            if start < before_end {
                return Err(FileError::malformed_at(
                    start,
                    format!(
                        "the tensors {} and {} share data",
                        quoted(before.name.as_bytes()),
                        quoted(tensor.name.as_bytes())
                    ),
                ));
            }
        }
        previous = Some((tensor, end));
    }

    // Most writers pad the last tensor too, some do not. A file that ends within that padding was cut off.
    let end = previous.map_or(0, |(_, end)| end);
    let padded = end.checked_next_multiple_of(gguf.alignment).unwrap_or(u64::MAX);
    if gguf.file_size > end && gguf.file_size < padded {
        return Err(FileError::malformed(format!(
            "the file has {} bytes, but its data ends at byte {padded}: it was cut off",
            gguf.file_size
        )));
    }
    Ok(())
}

fn outside(gguf: &Gguf, tensor: &TensorInfo) -> FileError {
    FileError::malformed(format!(
        "the data of {} ({} bytes at the offset {}) ends outside of the file, which has {} bytes, {} of them data: \
         was the file cut off?",
        quoted(tensor.name.as_bytes()),
        tensor.n_bytes,
        tensor.offset,
        gguf.file_size,
        gguf.file_size.saturating_sub(gguf.data_offset),
    ))
}
