//! Adding a LoRA adapter to a model's weights.

use crate::context_params::Threads;
use crate::error::{check, Error, Result};
use crate::gguf::{self, Gguf, TensorType};
use crate::lora_file::LoraFile;
use crate::model::{path_to_c, reason, Model};
use crate::{backend, log, sys};
use std::ffi::CString;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr;
use std::sync::atomic::AtomicBool;

impl Model {
    /// Adds the adapter `path`, `scale` times, to the weights; those of `base`, if it is given, take the place of the
    /// model's own (which may be quantized) in the sum. Waits until no context computes, or `cancel` is set. A model whose file is mapped
    /// gets a private copy of the pages that change.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] for a `scale` that is not finite or an `n_threads` outside of 1 to [`Threads::max`];
    /// [`Error::State`] when a file cannot be read or the adapter does not fit the model; [`Error::Cancelled`]. The model
    /// is as it was then.
    pub fn apply_lora(
        &self,
        path: &Path,
        scale: f32,
        base: Option<&Path>,
        n_threads: u32,
        cancel: &AtomicBool,
    ) -> Result<()> {
        if !scale.is_finite() {
            return Err(Error::argument(format!("scale is {scale}, it must be a finite number")));
        }
        if !(1..=Threads::max()).contains(&n_threads) {
            return Err(Error::argument(format!("n_threads is {n_threads}, it must be 1 to {} here", Threads::max())));
        }
        let n_threads = Threads::Exactly(n_threads).effective();
        backend::check_threads(n_threads)?;
        let what = format!("cannot apply the LoRA adapter {}", path.display());
        let cannot = |e: &dyn std::fmt::Display| Error::state(format!("{what}: {e}"));
        if self.vocab_only() {
            return Err(cannot(&"the model was loaded with vocab_only, it has no weights"));
        }
        let adapter = LoraFile::open(path).map_err(|e| cannot(&e))?;
        adapter.check_against(|name| self.tensor(name)).map_err(|e| cannot(&e))?;
        if let Some(base) = base {
            let header = Gguf::open(base).map_err(|e| cannot(&e))?;
            gguf::check_model(&header, &[], false).map_err(|e| cannot(&e))?;
            let base_tensor = |name: &str| header.tensor(name).map(|tensor| (tensor.dims, tensor.tensor_type));
            adapter.check_against_base(|name| self.tensor(name), base_tensor).map_err(|e| cannot(&e))?;
        }

        let c_path = path_to_c(path)?;
        let c_base = base.map(path_to_c).transpose()?;
        let c_base = c_base.as_deref().map_or(ptr::null(), std::ffi::CStr::as_ptr);
        let n_threads = i32::try_from(n_threads).unwrap_or(1);
        self.write_weights(cancel, |file, weights| {
            if !weights.writable {
                // SAFETY: the model is loaded, nobody reads its weights, and the file is the one that is mapped.
                check(unsafe { sys::shim_model_make_writable(self.as_ptr(), file.as_raw_fd()) }, &what)?;
                weights.writable = true;
            }
            // SAFETY: the strings live until the call returns; the adapter was proven to fit.
            let (status, errors) = log::capture(|| unsafe {
                sys::shim_model_apply_lora(self.as_ptr(), c_path.as_ptr(), scale, c_base, n_threads)
            });
            match status {
                sys::SHIM_FAILED => Err(cannot(&reason(&errors))),
                status => check(status, &what),
            }
        })
    }

    /// A tensor's dimensions, the contiguous one first, and its type.
    fn tensor(&self, name: &str) -> Option<([u64; 4], TensorType)> {
        let c_name = CString::new(name).ok()?;
        // SAFETY: the model is loaded; what is returned belongs to it.
        let tensor = unsafe { sys::llama_get_model_tensor(self.as_ptr(), c_name.as_ptr()).as_ref() }?;
        Some((tensor.ne.map(|n| u64::try_from(n).unwrap_or(0)), TensorType::from_number(tensor.type_)?))
    }
}
