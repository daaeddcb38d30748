//! What the header of a GGUF file says, as Ruby values.

use crate::support::{args, errors};
use llama::gguf::{Array, Gguf, Value as Native};
use magnus::{prelude::*, Error, RArray, RHash, Ruby, Value};
use std::path::Path;

/// A Hash: metadata under its keys, the tensors under `"tensors"`, the format under `"gguf"`.
pub fn read(ruby: &Ruby, path: &Path) -> Result<Value, Error> {
    let header = Gguf::open(path).map_err(|e| errors::runtime(ruby, e.to_string()))?;
    let metadata = ruby.hash_new();
    for (key, value) in &header.metadata {
        metadata.aset(ruby.str_new(key), to_ruby(ruby, value)?)?;
    }
    let tensors = ruby.ary_new_capa(header.tensors.len());
    for tensor in &header.tensors {
        let info: RHash = ruby.hash_new();
        info.aset(ruby.to_symbol("name"), tensor.name.as_str())?;
        info.aset(ruby.to_symbol("type"), tensor.tensor_type.name())?;
        info.aset(ruby.to_symbol("shape"), ruby.ary_from_iter(tensor.shape().iter().copied()))?;
        info.aset(ruby.to_symbol("n_bytes"), tensor.n_bytes)?;
        tensors.push(info)?;
    }
    let result = ruby.ary_new_capa(3);
    result.push(header.version)?;
    result.push(metadata)?;
    result.push(tensors)?;
    Ok(result.as_value())
}

fn to_ruby(ruby: &Ruby, value: &Native) -> Result<Value, Error> {
    Ok(match value {
        Native::U8(v) => ruby.integer_from_u64(u64::from(*v)).as_value(),
        Native::I8(v) => ruby.integer_from_i64(i64::from(*v)).as_value(),
        Native::U16(v) => ruby.integer_from_u64(u64::from(*v)).as_value(),
        Native::I16(v) => ruby.integer_from_i64(i64::from(*v)).as_value(),
        Native::U32(v) => ruby.integer_from_u64(u64::from(*v)).as_value(),
        Native::I32(v) => ruby.integer_from_i64(i64::from(*v)).as_value(),
        Native::U64(v) => ruby.integer_from_u64(*v).as_value(),
        Native::I64(v) => ruby.integer_from_i64(*v).as_value(),
        Native::F32(v) => ruby.float_from_f64(f64::from(*v)).as_value(),
        Native::F64(v) => ruby.float_from_f64(*v).as_value(),
        Native::Bool(v) => ruby.into_value(*v),
        Native::String(v) => args::utf8(ruby, v).as_value(),
        Native::Array(array) => array_to_ruby(ruby, array)?.as_value(),
    })
}

fn array_to_ruby(ruby: &Ruby, array: &Array) -> Result<RArray, Error> {
    Ok(match array {
        Array::U8(v) => ruby.ary_from_iter(v.iter().copied()),
        Array::I8(v) => ruby.ary_from_iter(v.iter().copied()),
        Array::U16(v) => ruby.ary_from_iter(v.iter().copied()),
        Array::I16(v) => ruby.ary_from_iter(v.iter().copied()),
        Array::U32(v) => ruby.ary_from_iter(v.iter().copied()),
        Array::I32(v) => args::int_array(ruby, v)?,
        Array::F32(v) => args::float_array(ruby, v)?,
        Array::U64(v) => ruby.ary_from_iter(v.iter().copied()),
        Array::I64(v) => ruby.ary_from_iter(v.iter().copied()),
        Array::F64(v) => ruby.ary_from_iter(v.iter().copied()),
        Array::Bool(v) => ruby.ary_from_iter(v.iter().copied()),
        Array::String(v) => {
            let strings = ruby.ary_new_capa(v.len());
            for bytes in v.iter() {
                strings.push(args::utf8(ruby, bytes))?;
            }
            strings
        }
    })
}
