//! Session files: the state of a context, with the tokens that led to it.

use crate::context::Context;
use crate::error::{check, Error, Result};
use crate::gguf::TensorType;
use crate::replace::Replacement;
use crate::session_file::{Expected, SessionFile};
use crate::sys;
use std::path::Path;
use std::ptr;

/// Memory of the shim's, released when this is dropped.
struct State {
    bytes: *mut u8,
    n_bytes: usize,
}

impl State {
    fn as_slice(&self) -> &[u8] {
        // SAFETY: the shim filled that many bytes, and they are ours.
        unsafe { std::slice::from_raw_parts(self.bytes, self.n_bytes) }
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // SAFETY: it came from the shim and is released once.
        unsafe { sys::shim_free(self.bytes.cast()) };
    }
}

impl Context {
    /// Saves the state (random numbers, logits, embedding, KV cache) with `tokens`. The file appears when it is
    /// complete.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] for a token outside of the vocabulary; [`Error::State`] when the file cannot be written, the
    /// cache is of a type that llama.cpp cannot save, or positions were moved and nothing decoded since.
    pub fn save_session(&mut self, path: &Path, tokens: &[i32]) -> Result<()> {
        if let Some(token) = tokens.iter().find(|token| !self.model().has_token(**token)) {
            return Err(Error::argument(format!(
                "session_tokens has {token}, but the vocabulary has the tokens 0 to {}",
                self.model().n_vocab() - 1
            )));
        }
        let n_tokens = u32::try_from(tokens.len()).map_err(|_| Error::argument("there are too many session_tokens"))?;
        let what = format!("cannot save the session {}", path.display());
        if !self.expected()?.has_plain_cache() {
            return Err(Error::state(format!(
                "{what}: llama.cpp saves KV caches only whose keys and values have the same type, F16 or F32"
            )));
        }
        if self.info().has_shift {
            return Err(Error::state(format!("{what}: positions of the KV cache were moved; decode a batch first")));
        }
        let file = Replacement::new(path)?;
        let mut state = State { bytes: ptr::null_mut(), n_bytes: 0 };
        // SAFETY: the context lives; the shim writes both.
        check(unsafe { sys::shim_state_get(self.as_ptr(), &mut state.bytes, &mut state.n_bytes) }, &what)?;

        // SAFETY: returns a number.
        let mut hparams = vec![0u8; unsafe { sys::shim_hparams_bytes() }];
        // SAFETY: the buffer has the size that was asked for.
        unsafe { sys::shim_hparams_copy(self.model().as_ptr(), hparams.as_mut_ptr().cast()) };
        let mut head = Vec::new();
        head.extend(sys::LLAMA_SESSION_MAGIC.to_ne_bytes());
        head.extend(sys::LLAMA_SESSION_VERSION.to_ne_bytes());
        head.extend(hparams);
        head.extend(n_tokens.to_ne_bytes());
        head.extend(tokens.iter().flat_map(|token| token.to_ne_bytes()));
        file.write(&[&head, state.as_slice()])?;
        file.commit()
    }

    /// Takes over the state of a session file and returns the tokens that were saved with it.
    ///
    /// # Errors
    ///
    /// [`Error::State`] when the file cannot be read, is no session, or is one of another model or another size of
    /// context. The context is as it was then.
    pub fn load_session(&mut self, path: &Path) -> Result<Vec<i32>> {
        let what = format!("cannot load the session {}", path.display());
        let model = self.model().clone();
        let is_of_model = |bytes: &[u8]| {
            // SAFETY: the reader passes as many bytes as `Expected::hparams_bytes` says.
            unsafe { sys::shim_hparams_match(model.as_ptr(), bytes.as_ptr().cast()) }
        };
        let session = SessionFile::open(path, &self.expected()?, is_of_model)
            .map_err(|e| Error::state(format!("{what}: {e}")))?;
        if session.n_used_without_data > 0 {
            return Err(Error::state(format!(
                "{what}: it lacks the keys and values of {} of its {} tokens; the program that saved it has lost them",
                session.n_used_without_data, session.n_used
            )));
        }
        // SAFETY: the state was proven to be one for this context.
        check(unsafe { sys::shim_state_set(self.as_ptr(), session.state.as_ptr(), session.state.len()) }, &what)?;
        self.restored(session.n_logits);
        Ok(session.tokens)
    }

    /// What a session file for this context must look like.
    fn expected(&self) -> Result<Expected> {
        let info = self.info();
        let model = self.model();
        let h = model.hparams();
        let cache_type = |number: i32| {
            u32::try_from(number)
                .ok()
                .and_then(TensorType::from_number)
                .ok_or_else(|| Error::state(format!("the KV cache has the unknown type {number}")))
        };
        Ok(Expected {
            // SAFETY: returns a number.
            hparams_bytes: unsafe { sys::shim_hparams_bytes() },
            n_vocab: u32::try_from(model.n_vocab()).unwrap_or(0),
            n_embedding: info.n_embedding as u64,
            logits_capacity: info.n_logits_capacity as u64,
            n_ctx: info.kv_size,
            kv_bytes: info.kv_total_bytes as u64,
            n_layer: h.n_layer,
            n_embd_k_gqa: h.n_embd_k_gqa,
            n_embd_v_gqa: h.n_embd_v_gqa,
            type_k: cache_type(self.params().type_k)?,
            type_v: cache_type(self.params().type_v)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::batch::Batch;
    use crate::context::Context;
    use crate::context_params::ContextParams;
    use crate::model::{Model, ModelParams};
    use std::sync::atomic::AtomicBool;
    use std::sync::Arc;

    fn context(n_ctx: u32) -> Context {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/tiny/tiny.gguf");
        let model = Arc::new(Model::load(path, &ModelParams::default(), &mut |_| true).unwrap());
        Context::new(model, &ContextParams { n_ctx, ..Default::default() }).unwrap()
    }

    fn decode(context: &mut Context, tokens: &[i32], pos: i32) -> Vec<f32> {
        context.decode(&mut Batch::single(tokens.to_vec(), pos, 0), &AtomicBool::new(false)).unwrap();
        context.logits().unwrap().to_vec()
    }

    #[test]
    fn a_session_goes_on_where_it_was_saved_even_with_a_hole_in_the_cache() {
        let path = std::env::temp_dir().join(format!("llama-session-{}", std::process::id()));
        let tokens = [1, 262, 299, 268, 410, 306, 316, 266];
        let mut saved = context(64);
        decode(&mut saved, &tokens, 0);
        // The next free cell is now before cells that are in use.
        saved.kv_seq_rm(0, 2, 4);
        saved.save_session(&path, &tokens).unwrap();
        let expected = decode(&mut saved, &[442], 8);

        let mut loaded = context(64);
        decode(&mut loaded, &[1, 500], 0);
        assert_eq!(loaded.load_session(&path).unwrap(), tokens);
        assert_eq!(loaded.kv_token_count(), 6);
        assert_eq!(decode(&mut loaded, &[442], 8), expected);

        let mut other = context(32);
        decode(&mut other, &[1], 0);
        assert!(other.load_session(&path).is_err());
        assert_eq!(other.kv_token_count(), 1);
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn moved_positions_must_be_decoded_before_saving() {
        let path = std::env::temp_dir().join(format!("llama-moved-{}", std::process::id()));
        let mut context = context(64);
        decode(&mut context, &[1, 262, 299, 268], 0);
        context.kv_seq_shift(0, 0, -1, 3).unwrap();
        assert!(context.save_session(&path, &[]).unwrap_err().to_string().contains("decode a batch first"));
        assert!(!path.exists());
        decode(&mut context, &[410], 7);
        context.save_session(&path, &[]).unwrap();
        std::fs::remove_file(path).unwrap();
    }
}
