//! A model: weights and vocabulary of a GGUF file.

use crate::error::{check, copied, room, Error, Result};
use crate::gguf::{self, Gguf, OverrideValue};
use crate::{backend, callback, log, sys};
use std::ffi::{c_char, c_void, CStr, CString};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{OnceLock, RwLock, RwLockReadGuard, TryLockError};
use std::time::Duration;

/// How a model is loaded. [`ModelParams::default`] is llama.cpp's.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelParams {
    /// Layers to keep in the GPU's memory.
    pub n_gpu_layers: i32,
    /// How a model is split over several GPUs: 0 not at all, 1 by layers, 2 by rows.
    pub split_mode: i32,
    /// The GPU for what is not split.
    pub main_gpu: i32,
    /// The share of each GPU, at most [`backend::max_devices`] of them.
    pub tensor_split: Vec<f32>,
    /// Load the vocabulary only.
    pub vocab_only: bool,
    /// Map the file instead of reading it.
    pub use_mmap: bool,
    /// Keep the weights from being swapped out.
    pub use_mlock: bool,
    /// Metadata to be taken as other than the file says.
    pub kv_overrides: Vec<KvOverride>,
}

impl Default for ModelParams {
    fn default() -> Self {
        // SAFETY: returns a struct by value.
        let p = unsafe { sys::llama_model_default_params() };
        Self {
            n_gpu_layers: p.n_gpu_layers,
            split_mode: p.split_mode as i32,
            main_gpu: p.main_gpu,
            tensor_split: Vec::new(),
            vocab_only: p.vocab_only,
            use_mmap: p.use_mmap,
            use_mlock: p.use_mlock,
            kv_overrides: Vec::new(),
        }
    }
}

/// A metadata key with another value than the file has.
#[derive(Clone, Debug, PartialEq)]
pub struct KvOverride {
    /// Like `llama.context_length`; at most 127 bytes.
    pub key: String,
    /// The value.
    pub value: KvValue,
}

/// The value of a [`KvOverride`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KvValue {
    /// An integer.
    Int(i64),
    /// A floating point number.
    Float(f64),
    /// A truth value.
    Bool(bool),
}

impl From<KvValue> for OverrideValue {
    fn from(value: KvValue) -> Self {
        match value {
            KvValue::Int(v) => Self::Int(v),
            KvValue::Float(v) => Self::Float(v),
            KvValue::Bool(v) => Self::Bool(v),
        }
    }
}

impl KvOverride {
    /// The longest key in bytes.
    pub const MAX_KEY: usize = 127;

    fn to_native(&self) -> Result<sys::llama_model_kv_override> {
        if self.key.len() > Self::MAX_KEY {
            return Err(Error::argument(format!(
                "the key of a metadata override has {} bytes, {} is the limit",
                self.key.len(),
                Self::MAX_KEY
            )));
        }
        // SAFETY: all fields are plain data, for which zero is a value.
        let mut native: sys::llama_model_kv_override = unsafe { std::mem::zeroed() };
        for (to, from) in native.key.iter_mut().zip(self.key.bytes()) {
            *to = from as c_char;
        }
        match self.value {
            KvValue::Int(v) => {
                native.tag = sys::LLAMA_KV_OVERRIDE_INT;
                native.__bindgen_anon_1.int_value = v;
            }
            KvValue::Float(v) => {
                native.tag = sys::LLAMA_KV_OVERRIDE_FLOAT;
                native.__bindgen_anon_1.float_value = v;
            }
            KvValue::Bool(v) => {
                native.tag = sys::LLAMA_KV_OVERRIDE_BOOL;
                native.__bindgen_anon_1.bool_value = v;
            }
        }
        Ok(native)
    }
}

/// The vocabulary's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VocabType {
    /// SentencePiece.
    Spm,
    /// Byte pair encoding.
    Bpe,
}

/// Widths of the model that others need.
pub(crate) type Hparams = sys::shim_hparams;

/// A loaded model. Contexts hold an `Arc` of it, so it lives as long as the last of them.
pub struct Model {
    ptr: NonNull<sys::llama_model>,
    path: PathBuf,
    file: File,
    hparams: Hparams,
    params: ModelParams,
    pieces: OnceLock<Pieces>,
    /// Contexts read the weights while they compute; a LoRA adapter writes them.
    weights: RwLock<Weights>,
    /// The process that took the weights' lock last.
    used_by: AtomicU32,
}

// SAFETY: after loading, llama.cpp only reads a model, but for the LoRA adapter, which `weights` keeps apart from the
// readers.
unsafe impl Send for Model {}
// SAFETY: as above.
unsafe impl Sync for Model {}

/// The pieces of all tokens, one after the other.
struct Pieces {
    bytes: Vec<u8>,
    /// Where each piece ends.
    ends: Vec<usize>,
}

/// How long it may go unnoticed that a model's weights are free, or that nobody waits for them any more.
const WAIT_INTERVAL: Duration = Duration::from_millis(1);

impl Model {
    /// Loads the GGUF file `path`. `progress` gets the fraction that is loaded, from 0.0 to 1.0, and stops the load by
    /// returning false.
    ///
    /// # Errors
    ///
    /// [`Error::State`] when the file cannot be read or is no model that llama.cpp can load, [`Error::Cancelled`] when
    /// `progress` says so.
    ///
    /// # Examples
    ///
    /// ```
    /// use llama::model::{Model, ModelParams};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/tiny/tiny.gguf");
    /// let model = Model::load(path, &ModelParams::default(), &mut |_fraction| true)?;
    /// assert_eq!(model.n_vocab(), 640);
    /// # Ok::<(), llama::error::Error>(())
    /// ```
    pub fn load(path: impl AsRef<Path>, params: &ModelParams, progress: &mut dyn FnMut(f32) -> bool) -> Result<Self> {
        let path = path.as_ref();
        let max_devices = usize::try_from(backend::max_devices()).unwrap_or(0);
        if params.tensor_split.len() > max_devices {
            return Err(Error::argument(format!(
                "tensor_split has {} values, {max_devices} is the number of devices",
                params.tensor_split.len()
            )));
        }
        // llama.cpp would take layers before the first for some of the model's.
        if params.n_gpu_layers < 0 {
            return Err(Error::argument(format!(
                "n_gpu_layers is {}, it must be 0 or more; a number beyond the model's layers takes all of them",
                params.n_gpu_layers
            )));
        }
        if !(0..=2).contains(&params.split_mode) {
            return Err(Error::argument(format!(
                "split_mode is {}, it must be 0 (none), 1 (layer) or 2 (row)",
                params.split_mode
            )));
        }
        let c_path = path_to_c(path)?;
        // The file is not to be trusted: llama.cpp sees it after it has been proven sound.
        let overrides: Vec<_> =
            params.kv_overrides.iter().map(|o| (o.key.clone(), OverrideValue::from(o.value))).collect();
        Gguf::open(path)
            .and_then(|header| gguf::check_model(&header, &overrides, params.vocab_only))
            .map_err(|e| cannot_load(path, &e.to_string()))?;
        // Not before: opening a pipe without a writer waits for one.
        let file = File::open(path).map_err(|e| cannot_load(path, &e.to_string()))?;
        backend::init(false);

        let mut split = params.tensor_split.clone();
        split.resize(max_devices, 0.0);
        let mut overrides = params.kv_overrides.iter().map(KvOverride::to_native).collect::<Result<Vec<_>>>()?;
        // An empty key ends the list.
        // SAFETY: all fields are plain data, for which zero is a value.
        overrides.push(unsafe { std::mem::zeroed() });

        let mut watch = Watch { progress, cancelled: false };
        // SAFETY: returns a struct by value.
        let mut native = unsafe { sys::llama_model_default_params() };
        native.n_gpu_layers = params.n_gpu_layers;
        native.split_mode = params.split_mode as sys::llama_split_mode;
        native.main_gpu = params.main_gpu;
        native.tensor_split = if params.tensor_split.is_empty() { ptr::null() } else { split.as_ptr() };
        native.vocab_only = params.vocab_only;
        native.use_mmap = params.use_mmap;
        native.use_mlock = params.use_mlock;
        native.kv_overrides = if params.kv_overrides.is_empty() { ptr::null() } else { overrides.as_ptr() };
        native.progress_callback = Some(Watch::call);
        native.progress_callback_user_data = ptr::from_mut(&mut watch).cast();

        let mut out = ptr::null_mut();
        // SAFETY: everything that is pointed to lives until the call returns.
        let (status, errors) = log::capture(|| unsafe { sys::shim_model_load(c_path.as_ptr(), &native, &mut out) });
        let Some(ptr) = NonNull::new(out) else {
            if watch.cancelled {
                return Err(Error::Cancelled);
            }
            return Err(match Error::from_status(status, &format!("cannot load {}", path.display())) {
                Error::State(_) if status == sys::SHIM_FAILED => cannot_load(path, &reason(&errors)),
                other => other,
            });
        };
        Ok(Self {
            ptr,
            path: path.to_owned(),
            file,
            // SAFETY: the model is loaded.
            hparams: unsafe { sys::shim_model_hparams(out) },
            params: params.clone(),
            pieces: OnceLock::new(),
            weights: RwLock::new(Weights::default()),
            used_by: AtomicU32::new(std::process::id()),
        })
    }

    pub(crate) fn as_ptr(&self) -> *mut sys::llama_model {
        self.ptr.as_ptr()
    }

    pub(crate) fn hparams(&self) -> &Hparams {
        &self.hparams
    }

    /// Held while a context computes.
    pub(crate) fn read_weights(&self, cancel: &AtomicBool) -> Result<RwLockReadGuard<'_, Weights>> {
        self.wait_for_weights(cancel, || self.weights.try_read())
    }

    /// Runs `f` while no context computes.
    pub(crate) fn write_weights<T>(
        &self,
        cancel: &AtomicBool,
        f: impl FnOnce(&File, &mut Weights) -> Result<T>,
    ) -> Result<T> {
        let mut weights = self.wait_for_weights(cancel, || self.weights.try_write())?;
        f(&self.file, &mut weights)
    }

    /// Waits for a lock in a way that can be cancelled, and that ends where nobody will ever let go of it.
    fn wait_for_weights<G>(
        &self,
        cancel: &AtomicBool,
        try_lock: impl Fn() -> std::result::Result<G, TryLockError<G>>,
    ) -> Result<G> {
        loop {
            match try_lock() {
                Ok(guard) => {
                    self.used_by.store(std::process::id(), Ordering::Relaxed);
                    return Ok(guard);
                }
                Err(TryLockError::Poisoned(poisoned)) => return Ok(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) if cancel.load(Ordering::Relaxed) => return Err(Error::Cancelled),
                Err(TryLockError::WouldBlock) if self.used_by.load(Ordering::Relaxed) != std::process::id() => {
                    return Err(Error::state(
                        "the model's weights were in use by another thread when this process was forked: load the model \
                         again",
                    ));
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(WAIT_INTERVAL),
            }
        }
    }

    /// The file that it was loaded from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How it was loaded.
    pub fn params(&self) -> &ModelParams {
        &self.params
    }

    /// Tokens in the vocabulary.
    pub fn n_vocab(&self) -> i32 {
        // SAFETY: the model is loaded.
        unsafe { sys::llama_n_vocab(self.as_ptr()) }
    }

    /// The kind of the vocabulary.
    pub fn vocab_type(&self) -> VocabType {
        // SAFETY: the model is loaded.
        match unsafe { sys::llama_vocab_type(self.as_ptr()) } {
            sys::LLAMA_VOCAB_TYPE_BPE => VocabType::Bpe,
            _ => VocabType::Spm,
        }
    }

    /// The context in tokens that it was trained with.
    pub fn n_ctx_train(&self) -> i32 {
        // SAFETY: the model is loaded.
        unsafe { sys::llama_n_ctx_train(self.as_ptr()) }
    }

    /// Floats in an embedding.
    pub fn n_embd(&self) -> i32 {
        // SAFETY: the model is loaded.
        unsafe { sys::llama_n_embd(self.as_ptr()) }
    }

    /// The factor of the rotary embedding's frequencies that it was trained with.
    pub fn rope_freq_scale_train(&self) -> f32 {
        // SAFETY: the model is loaded.
        unsafe { sys::llama_rope_freq_scale_train(self.as_ptr()) }
    }

    /// Architecture, size and quantization, like `llama 7B Q4_0`.
    pub fn desc(&self) -> String {
        let mut buf = [0 as c_char; 256];
        // SAFETY: the model is loaded, the buffer has that size, and what is written ends with a NUL.
        unsafe {
            sys::llama_model_desc(self.as_ptr(), buf.as_mut_ptr(), buf.len());
            CStr::from_ptr(buf.as_ptr()).to_string_lossy().into_owned()
        }
    }

    /// The metadata value of `key` as text; `None` when there is none, or it is an array.
    pub fn metadata(&self, key: &str) -> Option<String> {
        let key = CString::new(key).ok()?;
        let mut buf: Vec<u8> = vec![0; 256];
        loop {
            // SAFETY: the model is loaded, the buffer has that size.
            let n = unsafe {
                sys::llama_model_meta_val_str(self.as_ptr(), key.as_ptr(), buf.as_mut_ptr().cast(), buf.len())
            };
            let n = usize::try_from(n).ok()?;
            if n < buf.len() {
                buf.truncate(n);
                return Some(String::from_utf8_lossy(&buf).into_owned());
            }
            buf.resize(n + 1, 0);
        }
    }

    /// Bytes of all tensors.
    pub fn size(&self) -> u64 {
        // SAFETY: the model is loaded.
        unsafe { sys::llama_model_size(self.as_ptr()) }
    }

    /// Parameters of all tensors.
    pub fn n_params(&self) -> u64 {
        // SAFETY: the model is loaded.
        unsafe { sys::llama_model_n_params(self.as_ptr()) }
    }

    /// Whether only the vocabulary was loaded.
    pub fn vocab_only(&self) -> bool {
        self.hparams.vocab_only
    }

    /// Bytes of this process' memory that the weights take; a mapped file takes none.
    pub fn heap_bytes(&self) -> usize {
        // SAFETY: the model is loaded.
        unsafe { sys::shim_model_heap_bytes(self.as_ptr()) }
    }

    /// Bytes of the file that are mapped.
    pub fn mapped_bytes(&self) -> usize {
        // SAFETY: the model is loaded.
        unsafe { sys::shim_model_mapped_bytes(self.as_ptr()) }
    }

    /// Whether `token` is in the vocabulary.
    pub fn has_token(&self, token: i32) -> bool {
        (0..self.n_vocab()).contains(&token)
    }

    fn check_token(&self, token: i32) -> Result<()> {
        let n_vocab = self.n_vocab();
        if token < 0 {
            Err(Error::argument(format!(
                "token {token} is negative; the vocabulary has the tokens 0 to {}",
                n_vocab - 1
            )))
        } else if token >= n_vocab {
            Err(Error::Index(format!(
                "token {token} is outside of the vocabulary, which has the tokens 0 to {}",
                n_vocab - 1
            )))
        } else {
            Ok(())
        }
    }

    /// The token's text as the vocabulary has it: `▁` for a space, `<0x0A>` for a byte.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] or [`Error::Index`] when the token is outside of the vocabulary.
    pub fn text(&self, token: i32) -> Result<Vec<u8>> {
        self.check_token(token)?;
        // SAFETY: the token is in the vocabulary; the string belongs to the model and is copied.
        Ok(unsafe { CStr::from_ptr(sys::llama_token_get_text(self.as_ptr(), token)) }.to_bytes().to_vec())
    }

    /// The token's score.
    ///
    /// # Errors
    ///
    /// As [`Model::text`].
    pub fn score(&self, token: i32) -> Result<f32> {
        self.check_token(token)?;
        // SAFETY: the token is in the vocabulary.
        Ok(unsafe { sys::llama_token_get_score(self.as_ptr(), token) })
    }

    /// The token's type, one of `LLAMA_TOKEN_TYPE_…`.
    ///
    /// # Errors
    ///
    /// As [`Model::text`].
    pub fn token_type(&self, token: i32) -> Result<i32> {
        self.check_token(token)?;
        // SAFETY: the token is in the vocabulary.
        Ok(unsafe { sys::llama_token_get_type(self.as_ptr(), token) } as i32)
    }

    /// A special token's id. -1, or an id outside of the vocabulary, when the model has none.
    pub fn special_token(&self, token: SpecialToken) -> i32 {
        let get = match token {
            SpecialToken::Bos => sys::llama_token_bos,
            SpecialToken::Eos => sys::llama_token_eos,
            SpecialToken::Newline => sys::llama_token_nl,
            SpecialToken::Prefix => sys::llama_token_prefix,
            SpecialToken::Middle => sys::llama_token_middle,
            SpecialToken::Suffix => sys::llama_token_suffix,
            SpecialToken::Eot => sys::llama_token_eot,
        };
        // SAFETY: the model is loaded.
        unsafe { get(self.as_ptr()) }
    }

    /// Whether the file asks for a beginning-of-sequence token; `None` when it does not say.
    pub fn add_bos_token(&self) -> Option<bool> {
        // SAFETY: the model is loaded.
        tristate(unsafe { sys::llama_add_bos_token(self.as_ptr()) })
    }

    /// Whether the file asks for an end-of-sequence token; `None` when it does not say.
    pub fn add_eos_token(&self) -> Option<bool> {
        // SAFETY: the model is loaded.
        tristate(unsafe { sys::llama_add_eos_token(self.as_ptr()) })
    }

    /// The tokens of `text`, which is UTF-8; a SentencePiece vocabulary takes other bytes, too.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] for invalid UTF-8 with a BPE vocabulary, or for more than 2^31-1 bytes; [`Error::State`]
    /// when the vocabulary has no token for a byte.
    ///
    /// # Examples
    ///
    /// ```
    /// # use llama::model::{Model, ModelParams};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/tiny/tiny.gguf");
    /// # let model = Model::load(path, &ModelParams::default(), &mut |_| true)?;
    /// let tokens = model.tokenize(b"The capital of France is", true, false)?;
    /// assert_eq!(tokens, [1, 262, 299, 268, 410, 306, 316, 266]);
    /// # Ok::<(), llama::error::Error>(())
    /// ```
    pub fn tokenize(&self, text: &[u8], add_bos: bool, special: bool) -> Result<Vec<i32>> {
        if i32::try_from(text.len()).is_err() {
            return Err(Error::argument(format!(
                "a text of {} bytes is too long, {} is the limit",
                text.len(),
                i32::MAX
            )));
        }
        if self.vocab_type() == VocabType::Bpe {
            if let Err(e) = std::str::from_utf8(text) {
                return Err(Error::argument(format!(
                    "the text is not valid UTF-8 at byte {}; this model's vocabulary has tokens for UTF-8 only",
                    e.valid_up_to()
                )));
            }
        }
        let mut tokens = ptr::null_mut();
        let mut n = 0;
        // SAFETY: the text is readable for its length; the shim writes both out parameters.
        let status = unsafe {
            sys::shim_tokenize(self.as_ptr(), text.as_ptr().cast(), text.len(), add_bos, special, &mut tokens, &mut n)
        };
        check(status, "cannot tokenize the text")?;
        if tokens.is_null() {
            return Ok(Vec::new());
        }
        // SAFETY: the shim returned `n` tokens, which are ours to copy and to release.
        let result = copied(unsafe { std::slice::from_raw_parts(tokens, n) });
        // SAFETY: as above.
        unsafe { sys::shim_free(tokens.cast()) };
        result
    }

    /// The bytes that `token` stands for; none for control tokens and for ids outside of the vocabulary. A piece may
    /// be a part of a UTF-8 character.
    pub fn piece(&self, token: i32) -> &[u8] {
        usize::try_from(token).map_or(&[], |token| self.pieces().get(token))
    }

    /// The bytes of these tokens, one after the other.
    ///
    /// # Errors
    ///
    /// [`Error::NoMemory`].
    pub fn text_of(&self, tokens: &[i32]) -> Result<Vec<u8>> {
        let mut text = room(tokens.iter().map(|&token| self.piece(token).len()).sum())?;
        tokens.iter().for_each(|&token| text.extend_from_slice(self.piece(token)));
        Ok(text)
    }

    /// All pieces, made once: samplers under a grammar look at each of them for every token.
    fn pieces(&self) -> &Pieces {
        self.pieces.get_or_init(|| {
            let n_vocab = usize::try_from(self.n_vocab()).unwrap_or(0);
            let mut pieces = Pieces { bytes: Vec::new(), ends: Vec::with_capacity(n_vocab) };
            for token in 0..self.n_vocab() {
                // A piece that llama.cpp cannot decode (text that is not UTF-8) is no text.
                pieces.bytes.extend(self.read_piece(token).unwrap_or_default());
                pieces.ends.push(pieces.bytes.len());
            }
            pieces
        })
    }

    fn read_piece(&self, token: i32) -> Result<Vec<u8>> {
        let mut buf = vec![0u8; 64];
        loop {
            let capacity = i32::try_from(buf.len()).unwrap_or(i32::MAX);
            let mut n = 0;
            // SAFETY: the buffer has that capacity.
            let status =
                unsafe { sys::shim_token_to_piece(self.as_ptr(), token, buf.as_mut_ptr().cast(), capacity, &mut n) };
            check(status, "cannot read the token")?;
            let n = usize::try_from(n).unwrap_or(0);
            if n <= buf.len() {
                buf.truncate(n);
                return Ok(buf);
            }
            buf.resize(n, 0);
        }
    }

    /// Bytes of memory beside the weights: the vocabulary, roughly.
    pub fn vocab_bytes(&self) -> usize {
        let table = self.pieces.get().map_or(0, |p| p.bytes.len() + p.ends.len() * size_of::<usize>());
        // A token's text stands in two tables, with a score, a type and a hash node.
        table + usize::try_from(self.n_vocab()).unwrap_or(0) * 160
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        // SAFETY: nobody else has the pointer any more: contexts hold an `Arc`.
        unsafe { sys::shim_model_free(self.as_ptr()) };
    }
}

impl Pieces {
    fn get(&self, token: usize) -> &[u8] {
        let Some(&end) = self.ends.get(token) else { return &[] };
        let start = if token == 0 { 0 } else { self.ends.get(token - 1).copied().unwrap_or(end) };
        self.bytes.get(start..end).unwrap_or(&[])
    }
}

/// What became of the weights since they were loaded.
#[derive(Default)]
pub(crate) struct Weights {
    /// Whether mapped ones can be written: they are a private copy by then, which must not be made anew.
    pub(crate) writable: bool,
}

/// Tokens with a meaning of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecialToken {
    /// Beginning of sequence.
    Bos,
    /// End of sequence.
    Eos,
    /// A line break.
    Newline,
    /// What comes before a gap to fill.
    Prefix,
    /// The gap.
    Middle,
    /// What comes after it.
    Suffix,
    /// End of the filling.
    Eot,
}

/// llama.cpp's progress callback, tied to a closure.
struct Watch<'a> {
    progress: &'a mut dyn FnMut(f32) -> bool,
    cancelled: bool,
}

impl Watch<'_> {
    extern "C" fn call(fraction: f32, data: *mut c_void) -> bool {
        // SAFETY: `data` is the `Watch` of the load that is under way, on the thread that loads.
        let watch = unsafe { &mut *data.cast::<Watch>() };
        let go_on = callback::outside(|| (watch.progress)(fraction));
        watch.cancelled |= !go_on;
        go_on
    }
}

fn tristate(value: i32) -> Option<bool> {
    match value {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

fn cannot_load(path: &Path, reason: &str) -> Error {
    Error::state(format!("cannot load the model {}: {reason}", path.display()))
}

/// What llama.cpp's own lines say of a failure, without the names of its functions.
pub(crate) fn reason(errors: &[String]) -> String {
    let mut reasons: Vec<&str> = Vec::new();
    for line in errors {
        let text = line.split_once(": ").map_or(line.as_str(), |(function, rest)| {
            if function.trim_end().bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_') {
                rest
            } else {
                line
            }
        });
        let text = text.trim().trim_start_matches("error loading model: ");
        if !text.is_empty() && text != "failed to load model" && !reasons.contains(&text) {
            reasons.push(text);
        }
    }
    if reasons.is_empty() {
        "llama.cpp gives no reason".into()
    } else {
        reasons.join("; ")
    }
}

pub(crate) fn path_to_c(path: &Path) -> Result<CString> {
    CString::new(path.as_os_str().as_encoded_bytes())
        .map_err(|_| Error::argument(format!("the path {:?} contains a NUL byte", path.display().to_string())))
}
