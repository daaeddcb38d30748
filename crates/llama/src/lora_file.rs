//! LoRA adapters in llama.cpp's GGLA format, without llama.cpp: what is in one, and whether it fits a model.
//!
//! llama.cpp b1892 reads a name's length as a number with a sign and then that many bytes onto its stack, passes over
//! tensors that it does not know, and leaves to the threads that compute to find out that two matrices do not fit. So
//! [`LoraFile::open`] proves the file sound first, and [`LoraFile::check_against`] that all of it can be applied.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::io::{Read, Seek};
use std::path::Path;

use crate::gguf::TensorType;
use crate::untrusted::{quoted, FileError, Reader};

/// `LLAMA_FILE_MAGIC_GGLA`.
const MAGIC: u32 = 0x6767_6c61;
const VERSION: u32 = 1;
/// `GGML_MAX_NAME`, with the NUL that ends a name.
const MAX_NAME_BYTES: i32 = 63;
const DATA_ALIGNMENT: u64 = 32;
const SUFFIX_A: &str = ".loraA";
const SUFFIX_B: &str = ".loraB";

/// A LoRA adapter: for each tensor that it changes, two narrow matrices whose product is added to it.
///
/// # Examples
///
/// ```no_run
/// use llama::gguf::Gguf;
/// use llama::lora_file::LoraFile;
///
/// let model = Gguf::open("model.gguf")?;
/// let adapter = LoraFile::open("adapter.ggla.bin")?;
/// adapter.check_against(|name| model.tensor(name).map(|tensor| (tensor.dims, tensor.tensor_type)))?;
/// for pair in &adapter.pairs {
///     println!("{}: rank {}", pair.target, pair.rank());
/// }
/// # Ok::<(), llama::untrusted::FileError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoraFile {
    /// The rank by which the adapter's strength is divided: at least 1.
    pub r: i32,
    /// The factor of the adapter's strength.
    pub alpha: i32,
    /// What it changes, in the order of the file.
    pub pairs: Vec<LoraPair>,
}

/// What an adapter has for one tensor of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoraPair {
    /// The name of the model's tensor.
    pub target: String,
    /// Rank times the target's columns.
    pub a: LoraTensor,
    /// Rank times the target's rows.
    pub b: LoraTensor,
}

impl LoraPair {
    /// Over how many numbers the product of both matrices sums.
    pub const fn rank(&self) -> u64 {
        let [rank, _] = self.a.dims;
        rank
    }
}

/// One of the two matrices.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoraTensor {
    /// `F32` or `F16`.
    pub tensor_type: TensorType,
    /// Elements along both dimensions, the contiguous one first.
    pub dims: [u64; 2],
    /// Where its data starts, in bytes from the start of the file.
    pub offset: u64,
}

impl LoraFile {
    /// Reads the file at `path`, except for the data.
    ///
    /// # Errors
    ///
    /// [`FileError::Io`] if it cannot be read, [`FileError::WrongKind`] if it is no GGLA file,
    /// [`FileError::Unsupported`] if its version is not 1, and [`FileError::Malformed`] if anything in it is wrong, or
    /// if it is shorter than it says.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, FileError> {
        read(&mut Reader::open(path.as_ref())?)
    }

    /// Proves that llama.cpp can add the adapter to a model of which `tensor` returns the dimensions, the contiguous
    /// one first, and the type of a tensor.
    ///
    /// # Errors
    ///
    /// [`FileError::WrongKind`] names a tensor that the model does not have or that has another shape,
    /// [`FileError::Unsupported`] one whose type cannot be written.
    pub fn check_against(&self, tensor: impl Fn(&str) -> Option<([u64; 4], TensorType)>) -> Result<(), FileError> {
        for pair in &self.pairs {
            let (dims, tensor_type) = find(&tensor, &pair.target, "the model")?;
            pair.check_shape(dims)?;
            pair.check_sum(tensor_type)?;
        }
        Ok(())
    }

    /// Proves the same for llama.cpp's way with a base model: it adds the adapter to the tensors of `base` and converts
    /// the sums to the types of `model`.
    ///
    /// # Errors
    ///
    /// As [`Self::check_against`], for both models; and the same two for a base tensor that has another shape than the
    /// model's, or a type that cannot be converted.
    pub fn check_against_base(
        &self,
        model: impl Fn(&str) -> Option<([u64; 4], TensorType)>,
        base: impl Fn(&str) -> Option<([u64; 4], TensorType)>,
    ) -> Result<(), FileError> {
        for pair in &self.pairs {
            let target = &pair.target;
            let (dims, tensor_type) = find(&model, target, "the model")?;
            let (base_dims, base_type) = find(&base, target, "the base model")?;
            pair.check_shape(dims)?;
            if base_dims != dims {
                return Err(FileError::WrongKind {
                    expected: "a base of this model",
                    found: format!(
                        "its tensor '{target}' has the dimensions {base_dims:?}, but the model's has {dims:?}"
                    ),
                });
            }
            pair.check_sum(base_type)?;
            // ggml_compute_forward_dup asserts both in the threads that compute.
            if base_type != tensor_type && (base_type.is_quantized() || !tensor_type.is_writable()) {
                return Err(FileError::Unsupported(format!(
                    "the base model's tensor '{target}' has the type {}, which cannot be converted to the model's, {}: \
                     take a base model of type f16 or f32",
                    base_type.name(),
                    tensor_type.name()
                )));
            }
        }
        Ok(())
    }
}

fn find(
    tensor: impl Fn(&str) -> Option<([u64; 4], TensorType)>,
    name: &str,
    whose: &str,
) -> Result<([u64; 4], TensorType), FileError> {
    tensor(name).ok_or_else(|| {
        other_model(format!("it changes the tensor {}, which {whose} does not have", quoted(name.as_bytes())))
    })
}

fn other_model(found: String) -> FileError {
    FileError::WrongKind { expected: "an adapter for this model", found }
}

impl LoraPair {
    fn check_shape(&self, dims: [u64; 4]) -> Result<(), FileError> {
        let ([_, columns], [_, rows]) = (self.a.dims, self.b.dims);
        if dims == [columns, rows, 1, 1] {
            return Ok(());
        }
        Err(other_model(format!(
            "it is for a tensor '{}' of {columns} times {rows} elements, but the model's has the dimensions {dims:?}",
            self.target
        )))
    }

    /// `ggml_add` writes the sum as the type of the target; for types that it cannot write, it writes floats beyond the
    /// row.
    fn check_sum(&self, target: TensorType) -> Result<(), FileError> {
        if target.is_writable() {
            return Ok(());
        }
        Err(FileError::Unsupported(format!(
            "adding an adapter to the tensor '{}', which has the type {}",
            self.target,
            target.name()
        )))
    }
}

fn read<R: Read + Seek>(reader: &mut Reader<R>) -> Result<LoraFile, FileError> {
    let wrong_kind = |found: String| FileError::WrongKind { expected: "a LoRA adapter (GGLA)", found };
    if reader.size() < 4 {
        return Err(wrong_kind(format!("the file has {} bytes", reader.size())));
    }
    let magic = reader.u32("the magic")?;
    if magic != MAGIC {
        return Err(wrong_kind(format!("it starts with {} instead of 'algg'", quoted(&magic.to_ne_bytes()))));
    }
    let version = reader.u32("the version")?;
    if version != VERSION {
        return Err(FileError::Unsupported(format!("GGLA version {version} (version {VERSION} is read)")));
    }
    let position = reader.position();
    let r = reader.i32("the rank")?;
    if r < 1 {
        return Err(FileError::malformed_at(position, format!("r is {r}, but has to be at least 1")));
    }
    let alpha = reader.i32("alpha")?;

    let mut halves = Halves::default();
    while reader.remaining() > 0 {
        tensor(reader, &mut halves)?;
    }
    Ok(LoraFile { r, alpha, pairs: halves.into_pairs()? })
}

fn tensor<R: Read + Seek>(reader: &mut Reader<R>, halves: &mut Halves) -> Result<(), FileError> {
    let start = reader.position();
    let n_dims = reader.i32("a tensor's number of dimensions")?;
    let name_length = reader.i32("a name's length")?;
    let number = reader.i32("a tensor's type")?;
    if !(1..=2).contains(&n_dims) {
        return Err(FileError::malformed_at(start, format!("a tensor has {n_dims} dimensions (1 or 2 are allowed)")));
    }
    if !(1..=MAX_NAME_BYTES).contains(&name_length) {
        return Err(FileError::malformed_at(
            start,
            format!("a tensor's name has {name_length} bytes (1 to {MAX_NAME_BYTES} are allowed)"),
        ));
    }
    let mut dims = [1_u64; 2];
    for dim in dims.iter_mut().take(n_dims as usize) {
        let position = reader.position();
        let value = reader.i32("a tensor's dimension")?;
        *dim = match u64::try_from(value) {
            Ok(value) if value > 0 => value,
            _ => {
                return Err(FileError::malformed_at(
                    position,
                    format!("a tensor's dimension is {value}, but has to be at least 1"),
                ));
            }
        };
    }

    let position = reader.position();
    let name = reader.bytes(u64::from(name_length.unsigned_abs()), "a tensor's name")?;
    let shown = quoted(&name);
    let fault = |what: String| FileError::malformed_at(position, what);
    let name = match String::from_utf8(name) {
        Ok(name) if !name.contains('\0') => name,
        _ => return Err(fault(format!("a tensor's name is no text: {shown}"))),
    };
    let (target, half) = match (name.strip_suffix(SUFFIX_A), name.strip_suffix(SUFFIX_B)) {
        (Some(target), _) if !target.is_empty() => (target, Half::A),
        (_, Some(target)) if !target.is_empty() => (target, Half::B),
        _ => {
            return Err(fault(format!(
                "{shown} is no name of a LoRA tensor, which ends with '{SUFFIX_A}' or '{SUFFIX_B}'"
            )));
        }
    };
    // Its own numbers, which are those of ggml for these two.
    let tensor_type = match number {
        0 => TensorType::F32,
        1 => TensorType::F16,
        _ => {
            return Err(FileError::malformed_at(
                start,
                format!("{shown} has the type {number} (0, f32, and 1, f16, are allowed)"),
            ));
        }
    };

    let [row, rows] = dims;
    let n_bytes = tensor_type.row_bytes(row).and_then(|bytes| bytes.checked_mul(rows));
    let offset = reader.position().checked_next_multiple_of(DATA_ALIGNMENT);
    let (Some(n_bytes), Some(offset)) = (n_bytes, offset) else {
        return Err(fault(format!("{shown} is too large")));
    };
    reader.skip(offset.saturating_sub(reader.position()), "a tensor's padding")?;
    reader.skip(n_bytes, &format!("the data of {shown}"))?;

    let tensor = LoraTensor { tensor_type, dims, offset };
    if !halves.insert(target, half, tensor) {
        return Err(fault(format!("the tensor {shown} occurs twice")));
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Half {
    A,
    B,
}

/// The matrices that were read, by the tensor that they are for. They may come in any order.
#[derive(Default)]
struct Halves {
    targets: Vec<(String, Option<LoraTensor>, Option<LoraTensor>)>,
    index: HashMap<String, usize>,
}

impl Halves {
    /// False if it is there already.
    fn insert(&mut self, target: &str, half: Half, tensor: LoraTensor) -> bool {
        let next = self.targets.len();
        let index = *self.index.entry(target.to_owned()).or_insert(next);
        if index == next {
            self.targets.push((target.to_owned(), None, None));
        }
        let Some((_, a, b)) = self.targets.get_mut(index) else {
            return false;
        };
        let place = match half {
            Half::A => a,
            Half::B => b,
        };
        place.replace(tensor).is_none()
    }

    fn into_pairs(self) -> Result<Vec<LoraPair>, FileError> {
        if self.targets.is_empty() {
            return Err(FileError::malformed("the adapter has no tensors"));
        }
        self.targets.into_iter().map(|(target, a, b)| pair(target, a, b)).collect()
    }
}

fn pair(target: String, a: Option<LoraTensor>, b: Option<LoraTensor>) -> Result<LoraPair, FileError> {
    let (a, b) = match (a, b) {
        (Some(a), Some(b)) => (a, b),
        // llama.cpp would pass over it.
        (a, _) => {
            let (there, missing) = if a.is_some() { (SUFFIX_A, SUFFIX_B) } else { (SUFFIX_B, SUFFIX_A) };
            return Err(FileError::malformed(format!(
                "there is a tensor '{target}{there}', but no '{target}{missing}'"
            )));
        }
    };
    let ([rank_a, _], [rank_b, _]) = (a.dims, b.dims);
    if rank_a != rank_b {
        return Err(FileError::malformed(format!(
            "'{target}{SUFFIX_A}' has the rank {rank_a}, but '{target}{SUFFIX_B}' has {rank_b}"
        )));
    }
    // ggml_mul_mat asserts it in the threads that compute.
    if a.tensor_type == TensorType::F32 && b.tensor_type != TensorType::F32 {
        return Err(FileError::malformed(format!(
            "'{target}{SUFFIX_A}' has the type f32 and '{target}{SUFFIX_B}' has {}, which cannot be multiplied",
            b.tensor_type.name()
        )));
    }
    Ok(LoraPair { target, a, b })
}
