//! Whether llama.cpp b1892 can load a model and compute with it without harm.
//!
//! llama.cpp throws for some of what may be wrong, and those exceptions are caught. What is checked here is the rest:
//! what it divides by, indexes with, allocates by or calls through without looking, and what it asserts only in the
//! threads that compute. The comments name the function that would come to grief.

mod architecture;
mod hyperparameters;
mod keys;
mod tensors;
mod vocabulary;

use architecture::Architecture;
use hyperparameters::Hyperparameters;
use keys::Keys;
pub use keys::OverrideValue;

use super::{Gguf, GgufError};
use crate::untrusted::{quoted, FileError};

/// Proves that llama.cpp either loads the model whose header is `gguf`, or refuses it by an exception, and that a
/// model that it loads is safe to make contexts of, to tokenize with and to evaluate.
///
/// `overrides` are what the caller will pass to llama.cpp in place of values of the file: pairs of a key and its
/// value, of which, as in llama.cpp, the first with a key counts, and only where the value has the type that is asked
/// for. With `vocab_only`, only what llama.cpp needs for its tokenizer is looked at.
///
/// Two conditions depend on more than the file and are the caller's: a batch's positions must be less than the
/// context length for the architectures with learned positions (`gpt2`, `starcoder`), and the number of cells of a
/// context times [`embedding width of its heads`](crate::gguf) must fit into 32 bits.
///
/// # Errors
///
/// [`FileError::Malformed`] names the key or tensor, its value and what is allowed; [`FileError::Unsupported`] an
/// architecture that the bundled llama.cpp does not know.
///
/// # Examples
///
/// ```
/// use llama::gguf::{check_model, Gguf, OverrideValue};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/tiny/tiny.gguf");
/// let model = Gguf::open(path)?;
/// check_model(&model, &[], false)?;
///
/// let overrides = [("llama.attention.head_count".to_owned(), OverrideValue::Int(0))];
/// assert_eq!(
///     check_model(&model, &overrides, false).unwrap_err().to_string(),
///     "malformed: llama.attention.head_count is 0 (by an override), but has to be at least 1",
/// );
/// # Ok::<(), llama::gguf::GgufError>(())
/// ```
pub fn check_model(gguf: &Gguf, overrides: &[(String, OverrideValue)], vocab_only: bool) -> Result<(), GgufError> {
    let keys = Keys::new(gguf, overrides);
    let architecture = architecture_of(&keys)?;

    keys.text("general.name")?;
    // llama_model_loader reads it without get_key: another type ends in an assertion.
    if let Some(value) = gguf.get("general.file_type") {
        if value.as_u32().is_none() {
            return Err(FileError::malformed(format!(
                "general.file_type has the type {} instead of u32",
                value.value_type()
            )));
        }
    }

    let n_vocab = vocabulary::check(&keys)?;
    let hyperparameters = Hyperparameters::read(&keys, architecture, n_vocab)?;
    if vocab_only {
        return Ok(());
    }
    hyperparameters.check_widths(&keys)?;
    tensors::check(gguf, &hyperparameters)
}

fn architecture_of(keys: &Keys<'_>) -> Result<Architecture, GgufError> {
    const KEY: &str = "general.architecture";
    let Some(name) = keys.text(KEY)? else {
        return Err(FileError::malformed(format!("{KEY} is missing")));
    };
    Architecture::from_name(name).ok_or_else(|| {
        FileError::Unsupported(format!(
            "the architecture {} (the bundled llama.cpp knows {})",
            quoted(name),
            Architecture::ALL.map(Architecture::name).join(", ")
        ))
    })
}
