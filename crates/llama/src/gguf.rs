//! GGUF files, without llama.cpp: what is in one, and whether llama.cpp may be trusted with it.
//!
//! A model file is input like any other, but llama.cpp b1892 believes what it says: lengths become allocations, counts
//! become divisors, a file that ends early makes it free memory that it never took. So [`Gguf::open`] reads the header
//! first and proves it sound as a file of this format, and [`check_model`] proves that what it says can be loaded and
//! computed with. Neither reads the weights.

mod check;
mod read;
mod tensor_type;
#[cfg(test)]
mod tests;
mod value;
#[cfg(test)]
pub(crate) mod write;

use std::path::Path;

pub use check::{check_model, OverrideValue};
pub use tensor_type::TensorType;
pub use value::{Array, Strings, Value, ValueType};

use crate::untrusted::{FileError, Reader};

/// Why a GGUF file is refused.
pub type GgufError = FileError;

/// The header of a GGUF file: its metadata and the list of its tensors.
///
/// # Examples
///
/// ```
/// use llama::gguf::{Gguf, TensorType, Value};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/tiny/tiny.gguf");
/// let model = Gguf::open(path)?;
/// assert_eq!(model.get("llama.embedding_length").and_then(Value::as_u32), Some(256));
///
/// let embedding = model.tensor("token_embd.weight").unwrap();
/// assert_eq!(embedding.shape(), [256, 640]);
/// assert_eq!(embedding.tensor_type, TensorType::F16);
/// # Ok::<(), llama::gguf::GgufError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Gguf {
    /// The version of the format: 2 or 3.
    pub version: u32,
    /// The data of each tensor starts at a multiple of this many bytes.
    pub alignment: u64,
    /// Keys and values in the order of the file. No key occurs twice.
    pub metadata: Vec<(String, Value)>,
    /// The tensors in the order of the file. No name occurs twice.
    pub tensors: Vec<TensorInfo>,
    /// Where the tensors' data starts, in bytes from the start of the file.
    pub data_offset: u64,
    /// Bytes of the whole file.
    pub file_size: u64,
}

impl Gguf {
    /// Reads the header of the file at `path`.
    ///
    /// # Errors
    ///
    /// [`FileError::Io`] if it cannot be read, [`FileError::WrongKind`] if it is no GGUF file,
    /// [`FileError::Unsupported`] if its version or byte order is none that the bundled llama.cpp reads, and
    /// [`FileError::Malformed`] if anything in its header is wrong, or if it is shorter than its header says.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, GgufError> {
        read::header(Reader::open(path.as_ref())?)
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.metadata.iter().find_map(|(name, value)| (name == key).then_some(value))
    }

    /// The tensor `name`.
    pub fn tensor(&self, name: &str) -> Option<&TensorInfo> {
        self.tensors.iter().find(|tensor| tensor.name == name)
    }
}

/// A tensor as a header lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TensorInfo {
    /// Its name: 1 to 63 bytes.
    pub name: String,
    /// The type of its elements.
    pub tensor_type: TensorType,
    /// How many of the four dimensions the file spells out: 1 to 4.
    pub n_dims: usize,
    /// Elements along each of ggml's four dimensions, the contiguous one first; 1 for those that are not spelt out.
    pub dims: [u64; 4],
    /// Where its data starts, in bytes from [`Gguf::data_offset`].
    pub offset: u64,
    /// Bytes of its data.
    pub n_bytes: u64,
}

impl TensorInfo {
    /// The dimensions that the file spells out, the contiguous one first.
    pub fn shape(&self) -> &[u64] {
        self.dims.get(..self.n_dims).unwrap_or(&self.dims)
    }
}
