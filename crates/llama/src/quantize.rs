//! Quantizing a model: writing it with another type of weights.

use crate::error::{Error, Result};
use crate::gguf::{self, Gguf, TensorInfo};
use crate::model::path_to_c;
use crate::replace::{cannot_write, Replacement};
use crate::{backend, callback, log, sys};
use std::fs;
use std::path::Path;
use std::ptr;

/// How a model is quantized. [`QuantizeParams::default`] is llama.cpp's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantizeParams {
    /// Threads; 0 or less for one on each core.
    pub n_thread: i32,
    /// The type, one of `LLAMA_FTYPE_…`.
    pub ftype: i32,
    /// Quantize tensors that are quantized already.
    pub allow_requantize: bool,
    /// Quantize `output.weight`, too.
    pub quantize_output_tensor: bool,
    /// Copy the tensors as they are; the type is of no effect.
    pub only_copy: bool,
    /// The same type for all tensors, no mixture.
    pub pure: bool,
}

impl Default for QuantizeParams {
    fn default() -> Self {
        // SAFETY: returns a struct by value.
        let p = unsafe { sys::llama_model_quantize_default_params() };
        Self {
            n_thread: p.nthread,
            ftype: p.ftype as i32,
            allow_requantize: p.allow_requantize,
            quantize_output_tensor: p.quantize_output_tensor,
            only_copy: p.only_copy,
            pure: p.pure_,
        }
    }
}

/// A type that can be asked for: its number, its name, and the values in a block of the tensors' main type.
struct FileType(u32, &'static str, u64);

const FILE_TYPES: &[FileType] = &[
    FileType(sys::LLAMA_FTYPE_ALL_F32, "F32", 1),
    FileType(sys::LLAMA_FTYPE_MOSTLY_F16, "F16", 1),
    FileType(sys::LLAMA_FTYPE_MOSTLY_Q4_0, "Q4_0", 32),
    FileType(sys::LLAMA_FTYPE_MOSTLY_Q4_1, "Q4_1", 32),
    FileType(sys::LLAMA_FTYPE_MOSTLY_Q5_0, "Q5_0", 32),
    FileType(sys::LLAMA_FTYPE_MOSTLY_Q5_1, "Q5_1", 32),
    FileType(sys::LLAMA_FTYPE_MOSTLY_Q8_0, "Q8_0", 32),
    FileType(sys::LLAMA_FTYPE_MOSTLY_Q2_K, "Q2_K", 256),
    FileType(sys::LLAMA_FTYPE_MOSTLY_Q2_K_S, "Q2_K_S", 256),
    FileType(sys::LLAMA_FTYPE_MOSTLY_Q3_K_S, "Q3_K_S", 256),
    FileType(sys::LLAMA_FTYPE_MOSTLY_Q3_K_M, "Q3_K_M", 256),
    FileType(sys::LLAMA_FTYPE_MOSTLY_Q3_K_L, "Q3_K_L", 256),
    FileType(sys::LLAMA_FTYPE_MOSTLY_Q4_K_S, "Q4_K_S", 256),
    FileType(sys::LLAMA_FTYPE_MOSTLY_Q4_K_M, "Q4_K_M", 256),
    FileType(sys::LLAMA_FTYPE_MOSTLY_Q5_K_S, "Q5_K_S", 256),
    FileType(sys::LLAMA_FTYPE_MOSTLY_Q5_K_M, "Q5_K_M", 256),
    FileType(sys::LLAMA_FTYPE_MOSTLY_Q6_K, "Q6_K", 256),
    FileType(sys::LLAMA_FTYPE_MOSTLY_IQ2_XXS, "IQ2_XXS", 256),
    FileType(sys::LLAMA_FTYPE_MOSTLY_IQ2_XS, "IQ2_XS", 256),
];

/// The block that llama.cpp falls back to where a row is no multiple of the large ones.
const FALLBACK_BLOCK: u64 = 32;

/// The most threads that are accepted.
const MAX_THREADS: i32 = 512;

/// Writes the model `input` as `output` with the type of `params`. `progress` gets the name of each tensor and the
/// fraction that is done, and stops the work by returning false. The output appears when it is complete.
///
/// # Errors
///
/// [`Error::Argument`] for an unknown type; [`Error::State`] when the input cannot be read, is no model, is the output
/// itself, or has rows that the type's blocks do not divide, and when the output cannot be written;
/// [`Error::Cancelled`].
///
/// # Examples
///
/// ```
/// use llama::quantize::{quantize, QuantizeParams};
/// # let input = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/tiny/tiny.gguf");
/// # let output = std::env::temp_dir().join(format!("quantize-{}.gguf", std::process::id()));
/// let q8_0 = QuantizeParams { ftype: 7, n_thread: 1, ..Default::default() };
/// quantize(input.as_ref(), &output, &q8_0, &mut |_name, _fraction| true)?;
/// assert_eq!(std::fs::metadata(&output).map(|file| file.len()).ok(), Some(1_622_080));
/// # let _ = std::fs::remove_file(output);
/// # Ok::<(), llama::error::Error>(())
/// ```
pub fn quantize(
    input: &Path,
    output: &Path,
    params: &QuantizeParams,
    progress: &mut dyn FnMut(&str, f32) -> bool,
) -> Result<()> {
    let file_type = FILE_TYPES.iter().find(|t| i64::from(t.0) == i64::from(params.ftype)).ok_or_else(|| {
        let known: Vec<_> = FILE_TYPES.iter().map(|t| format!("{} ({})", t.0, t.1)).collect();
        Error::argument(format!("ftype is {}, it must be one of {}", params.ftype, known.join(", ")))
    })?;
    if params.n_thread > MAX_THREADS {
        return Err(Error::argument(format!("n_thread is {}, {MAX_THREADS} is the limit", params.n_thread)));
    }
    // Zero or less are as many as there are cores.
    backend::check_threads(
        u32::try_from(params.n_thread).ok().filter(|&n| n > 0).unwrap_or_else(backend::usable_cores),
    )?;
    let cannot = |reason: &str| Error::state(format!("cannot quantize {}: {reason}", input.display()));
    let header = Gguf::open(input).map_err(|e| cannot(&e.to_string()))?;
    gguf::check_model(&header, &[], false).map_err(|e| cannot(&e.to_string()))?;
    if is_same_file(input, output) {
        return Err(cannot("the output is the same file"));
    }
    check_rows(&header, file_type, params).map_err(|reason| cannot(&reason))?;
    backend::init(false);

    let replacement = Replacement::new(output)?;
    // SAFETY: returns a struct by value.
    let mut native = unsafe { sys::llama_model_quantize_default_params() };
    native.nthread = params.n_thread;
    native.ftype = params.ftype as sys::llama_ftype;
    native.allow_requantize = params.allow_requantize;
    native.quantize_output_tensor = params.quantize_output_tensor;
    native.only_copy = params.only_copy;
    native.pure_ = params.pure;
    native.imatrix = ptr::null_mut();
    let (c_input, c_output) = (path_to_c(input)?, path_to_c(replacement.path())?);

    let mut observer = |text: &str| match parse_progress(text) {
        Some((name, fraction)) => callback::outside(|| progress(name, fraction)) && !replacement.is_inherited(),
        None => true,
    };
    let (status, _) = log::observe(&mut observer, || {
        // SAFETY: the strings and the parameters live until the call returns.
        log::capture(|| unsafe { sys::shim_quantize(c_input.as_ptr(), c_output.as_ptr(), &native) })
    });
    if status != sys::SHIM_OK {
        return Err(match Error::from_status(status, &format!("cannot quantize {}", input.display())) {
            // What the C++ library says of a full disk.
            Error::State(message) if message.contains("iostream error") => {
                cannot_write(output, &"writing failed; is the disk full?")
            }
            Error::State(message) if message.contains("requantizing from type") => {
                Error::State(format!("{message}: begin with a file in F32 or F16, or set allow_requantize"))
            }
            Error::State(message) if message.contains("importance matrix") => Error::State(format!(
                "cannot quantize {}: {} needs an importance matrix, which cannot be given here; Q2_K is the smallest type \
                 without",
                input.display(),
                file_type.1
            )),
            other => other,
        });
    }
    check_output(&replacement, output)?;
    replacement.commit()
}

/// A process that was forked in the middle shares the file: whatever it wrote there is in the way.
fn check_output(replacement: &Replacement, output: &Path) -> Result<()> {
    let header = Gguf::open(replacement.path()).map_err(|e| cannot_write(output, &e))?;
    let data = header.tensors.iter().map(|tensor| tensor.offset + tensor.n_bytes).max().unwrap_or(0);
    let expected = header.data_offset + data.next_multiple_of(header.alignment);
    if header.file_size > expected {
        return Err(cannot_write(output, &"another process has written to it meanwhile"));
    }
    Ok(())
}

/// llama.cpp's line for each tensor starts like `[   3/  20]               blk.0.attn_q.weight - …`.
fn parse_progress(text: &str) -> Option<(&str, f32)> {
    let (count, rest) = text.strip_prefix('[')?.split_once(']')?;
    let (i, n) = count.split_once('/')?;
    let (i, n): (u32, u32) = (i.trim().parse().ok()?, n.trim().parse().ok()?);
    let (name, _) = rest.split_once(" - ")?;
    Some((name.trim(), (i.saturating_sub(1)) as f32 / n.max(1) as f32))
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    match (fs::canonicalize(a), fs::canonicalize(b)) {
        (Ok(a), Ok(b)) if a == b => true,
        _ => same_inode(a, b),
    }
}

#[cfg(unix)]
fn same_inode(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (fs::metadata(a), fs::metadata(b)) {
        (Ok(a), Ok(b)) => a.dev() == b.dev() && a.ino() == b.ino(),
        _ => false,
    }
}

#[cfg(not(unix))]
fn same_inode(_: &Path, _: &Path) -> bool {
    false
}

/// llama.cpp asserts that blocks divide a row, or, with some types, writes garbage.
fn check_rows(header: &Gguf, file_type: &FileType, params: &QuantizeParams) -> std::result::Result<(), String> {
    let &FileType(_, name, block) = file_type;
    if params.only_copy || block == 1 {
        return Ok(());
    }
    let block = if params.pure { block } else { FALLBACK_BLOCK };
    for tensor in header.tensors.iter().filter(|tensor| is_quantized(tensor, params)) {
        let row = tensor.dims.first().copied().unwrap_or(0);
        if row % block != 0 {
            return Err(format!(
                "{name} stores blocks of {block} values, which do not divide the rows of {row} values of the tensor {}",
                tensor.name
            ));
        }
    }
    Ok(())
}

/// Which tensors llama.cpp quantizes.
fn is_quantized(tensor: &TensorInfo, params: &QuantizeParams) -> bool {
    let matrix = tensor.dims.iter().rposition(|&n| n > 1).is_some_and(|last| last == 1);
    matrix
        && tensor.name.ends_with("weight")
        && (params.quantize_output_tensor || tensor.name != "output.weight")
        && !tensor.name.contains("ffn_gate_inp.weight")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_read_from_the_log() {
        let line = "[   3/  20]                  blk.0.attn_q.weight - [  256,   256,     1,     1], type =    f16, ";
        assert_eq!(parse_progress(line), Some(("blk.0.attn_q.weight", 0.1)));
        assert_eq!(parse_progress("size =    0.002 MB\n"), None);
    }
}
