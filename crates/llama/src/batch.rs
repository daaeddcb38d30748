//! A batch: tokens with their positions and sequences, to be decoded together.

use crate::error::{Error, Result};
use crate::sys;
use std::ptr;

/// Tokens for one decode. All indices are checked against what was asked for at the beginning.
#[derive(Clone, Debug)]
pub struct Batch {
    n_tokens: usize,
    max_tokens: usize,
    max_seqs: usize,
    input: Input,
    /// Positions, sequences and flags: own ones for each token, or the rule of [`Batch::single`].
    layout: Layout,
    /// Position of the first token of a single sequence.
    pub all_pos_0: i32,
    /// Distance between positions of a single sequence.
    pub all_pos_1: i32,
    /// The single sequence.
    pub all_seq_id: i32,
}

#[derive(Clone, Debug)]
enum Input {
    Tokens(Vec<i32>),
    /// `n_tokens × n_embd` floats.
    Embeddings {
        values: Vec<f32>,
        n_embd: usize,
    },
}

#[derive(Clone, Debug)]
enum Layout {
    /// `pos[i] = all_pos_0 + i * all_pos_1`, one sequence, logits as the context decides.
    Single,
    Own {
        pos: Vec<i32>,
        n_seq_id: Vec<i32>,
        seq_id: Vec<i32>,
        logits: Vec<i8>,
    },
}

impl Batch {
    /// More tokens than any context has.
    pub const MAX_TOKENS: usize = 1 << 24;
    /// More sequences in one token than anybody wants.
    pub const MAX_SEQS: usize = 1 << 16;
    /// Entries of a table, so that a batch cannot eat the machine's memory.
    const MAX_ENTRIES: usize = 1 << 26;

    /// A batch for up to `max_tokens` tokens in up to `max_seqs` sequences each. With `n_embd > 0` it holds embeddings
    /// of that width instead of token ids. Everything in it is zero.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] when a size is beyond its limit, [`Error::NoMemory`].
    ///
    /// # Examples
    ///
    /// ```
    /// use llama::batch::Batch;
    /// let mut batch = Batch::new(2, 0, 1)?;
    /// batch.set_token(0, 42)?;
    /// batch.set_n_tokens(1)?;
    /// assert_eq!(batch.token(0)?, 42);
    /// assert!(batch.set_token(2, 0).is_err());
    /// # Ok::<(), llama::error::Error>(())
    /// ```
    pub fn new(max_tokens: usize, n_embd: usize, max_seqs: usize) -> Result<Self> {
        at_most("max_n_token", max_tokens, Self::MAX_TOKENS)?;
        at_most("max_n_seq", max_seqs, Self::MAX_SEQS)?;
        at_most("max_n_token times max_n_seq", max_tokens.saturating_mul(max_seqs), Self::MAX_ENTRIES)?;
        at_most("max_n_token times n_embd", max_tokens.saturating_mul(n_embd), Self::MAX_ENTRIES)?;
        Ok(Self {
            n_tokens: 0,
            max_tokens,
            max_seqs,
            input: if n_embd > 0 {
                Input::Embeddings { values: zeroed(max_tokens * n_embd)?, n_embd }
            } else {
                Input::Tokens(zeroed(max_tokens)?)
            },
            layout: Layout::Own {
                pos: zeroed(max_tokens)?,
                n_seq_id: zeroed(max_tokens)?,
                seq_id: zeroed(max_tokens * max_seqs)?,
                logits: zeroed(max_tokens)?,
            },
            all_pos_0: 0,
            all_pos_1: 0,
            all_seq_id: 0,
        })
    }

    /// Tokens of the sequence `seq_id` at the positions from `pos_0` on.
    pub fn single(tokens: Vec<i32>, pos_0: i32, seq_id: i32) -> Self {
        Self {
            n_tokens: tokens.len(),
            max_tokens: tokens.len(),
            max_seqs: 1,
            input: Input::Tokens(tokens),
            layout: Layout::Single,
            all_pos_0: pos_0,
            all_pos_1: 1,
            all_seq_id: seq_id,
        }
    }

    /// Embeddings (`n × n_embd` floats) of the sequence 0 at the positions from `pos_0` on.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] when the number of floats is no multiple of `n_embd`.
    pub fn single_embeddings(values: Vec<f32>, n_embd: usize, pos_0: i32) -> Result<Self> {
        if n_embd == 0 || values.len() % n_embd != 0 {
            return Err(Error::argument(format!(
                "{} floats are no multiple of the embedding's width {n_embd}",
                values.len()
            )));
        }
        let n_tokens = values.len() / n_embd;
        Ok(Self {
            n_tokens,
            max_tokens: n_tokens,
            max_seqs: 1,
            input: Input::Embeddings { values, n_embd },
            layout: Layout::Single,
            all_pos_0: pos_0,
            all_pos_1: 1,
            all_seq_id: 0,
        })
    }

    /// Tokens in the batch.
    pub fn n_tokens(&self) -> usize {
        self.n_tokens
    }

    /// Tokens that fit.
    pub fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    /// Says how many of the tokens count.
    ///
    /// # Errors
    ///
    /// [`Error::Index`] for more than fit.
    pub fn set_n_tokens(&mut self, n: usize) -> Result<()> {
        if n > self.max_tokens {
            return Err(Error::Index(format!(
                "n_tokens is {n}, but the batch was made for {} tokens",
                self.max_tokens
            )));
        }
        self.n_tokens = n;
        Ok(())
    }

    /// Bytes of memory.
    pub fn memsize(&self) -> usize {
        let input = match &self.input {
            Input::Tokens(tokens) => size_of_val(tokens.as_slice()),
            Input::Embeddings { values, .. } => size_of_val(values.as_slice()),
        };
        let layout = match &self.layout {
            Layout::Single => 0,
            Layout::Own { pos, n_seq_id, seq_id, logits } => {
                (pos.len() + n_seq_id.len() + seq_id.len()) * 4 + logits.len()
            }
        };
        size_of::<Self>() + input + layout
    }

    fn index(&self, i: usize) -> Result<usize> {
        if i < self.max_tokens {
            Ok(i)
        } else {
            Err(Error::Index(format!(
                "index {i} is outside of the batch, which was made for {} tokens",
                self.max_tokens
            )))
        }
    }

    fn seq_index(&self, i: usize, j: usize) -> Result<usize> {
        let i = self.index(i)?;
        if j < self.max_seqs {
            Ok(i * self.max_seqs + j)
        } else {
            Err(Error::Index(format!(
                "sequence index {j} is outside of the batch, which was made for {} per token",
                self.max_seqs
            )))
        }
    }

    /// The id of token `i`.
    ///
    /// # Errors
    ///
    /// [`Error::Index`] outside of the batch, [`Error::State`] when it holds embeddings.
    pub fn token(&self, i: usize) -> Result<i32> {
        let i = self.index(i)?;
        match &self.input {
            Input::Tokens(tokens) => Ok(tokens[i]),
            Input::Embeddings { .. } => Err(holds_embeddings()),
        }
    }

    /// Sets the id of token `i`.
    ///
    /// # Errors
    ///
    /// As [`Batch::token`].
    pub fn set_token(&mut self, i: usize, id: i32) -> Result<()> {
        let i = self.index(i)?;
        match &mut self.input {
            Input::Tokens(tokens) => tokens[i] = id,
            Input::Embeddings { .. } => return Err(holds_embeddings()),
        }
        Ok(())
    }

    /// The position of token `i`.
    ///
    /// # Errors
    ///
    /// [`Error::Index`] outside of the batch.
    pub fn pos(&self, i: usize) -> Result<i32> {
        let i = self.index(i)?;
        Ok(match &self.layout {
            Layout::Single => self.single_pos(i),
            Layout::Own { pos, .. } => pos[i],
        })
    }

    fn single_pos(&self, i: usize) -> i32 {
        let pos = i64::from(self.all_pos_0) + i as i64 * i64::from(self.all_pos_1);
        i32::try_from(pos).unwrap_or(if pos < 0 { i32::MIN } else { i32::MAX })
    }

    /// Sets the position of token `i`.
    ///
    /// # Errors
    ///
    /// [`Error::Index`] outside of the batch.
    pub fn set_pos(&mut self, i: usize, value: i32) -> Result<()> {
        let i = self.index(i)?;
        if let Layout::Own { pos, .. } = self.own() {
            pos[i] = value;
        }
        Ok(())
    }

    /// How many sequences token `i` belongs to.
    ///
    /// # Errors
    ///
    /// [`Error::Index`] outside of the batch.
    pub fn n_seq_id(&self, i: usize) -> Result<i32> {
        let i = self.index(i)?;
        Ok(match &self.layout {
            Layout::Single => 1,
            Layout::Own { n_seq_id, .. } => n_seq_id[i],
        })
    }

    /// Says how many sequences token `i` belongs to.
    ///
    /// # Errors
    ///
    /// [`Error::Index`] outside of the batch, or for more sequences than it was made for.
    pub fn set_n_seq_id(&mut self, i: usize, n: usize) -> Result<()> {
        let i = self.index(i)?;
        if n > self.max_seqs {
            return Err(Error::Index(format!(
                "n_seq_id is {n}, but the batch was made for {} sequences per token",
                self.max_seqs
            )));
        }
        if let Layout::Own { n_seq_id, .. } = self.own() {
            n_seq_id[i] = n as i32;
        }
        Ok(())
    }

    /// Sequence `j` of token `i`.
    ///
    /// # Errors
    ///
    /// [`Error::Index`] outside of the batch.
    pub fn seq_id(&self, i: usize, j: usize) -> Result<i32> {
        let k = self.seq_index(i, j)?;
        Ok(match &self.layout {
            Layout::Single => self.all_seq_id,
            Layout::Own { seq_id, .. } => seq_id[k],
        })
    }

    /// Sets sequence `j` of token `i`.
    ///
    /// # Errors
    ///
    /// [`Error::Index`] outside of the batch.
    pub fn set_seq_id(&mut self, i: usize, j: usize, id: i32) -> Result<()> {
        let k = self.seq_index(i, j)?;
        if let Layout::Own { seq_id, .. } = self.own() {
            seq_id[k] = id;
        }
        Ok(())
    }

    /// Whether logits are wanted for token `i`. Of a single sequence it is the last token.
    ///
    /// # Errors
    ///
    /// [`Error::Index`] outside of the batch.
    pub fn logits(&self, i: usize) -> Result<bool> {
        let i = self.index(i)?;
        Ok(match &self.layout {
            Layout::Single => i + 1 == self.n_tokens,
            Layout::Own { logits, .. } => logits[i] != 0,
        })
    }

    /// Says whether logits are wanted for token `i`.
    ///
    /// # Errors
    ///
    /// [`Error::Index`] outside of the batch.
    pub fn set_logits(&mut self, i: usize, wanted: bool) -> Result<()> {
        let i = self.index(i)?;
        if let Layout::Own { logits, .. } = self.own() {
            logits[i] = i8::from(wanted);
        }
        Ok(())
    }

    /// The layout with a place for each token; that of a single sequence is written out first.
    fn own(&mut self) -> &mut Layout {
        if let Layout::Single = self.layout {
            let n = self.max_tokens;
            let mut logits = vec![0; n];
            if let Some(last) = self.n_tokens.checked_sub(1) {
                logits[last] = 1;
            }
            self.layout = Layout::Own {
                pos: (0..n).map(|i| self.single_pos(i)).collect(),
                n_seq_id: vec![1; n],
                seq_id: vec![self.all_seq_id; n],
                logits,
            };
        }
        &mut self.layout
    }

    /// Proves that llama.cpp can take the batch: everything that it would assert, or index with.
    pub(crate) fn check(&self, n_vocab: i32, n_embd: i32) -> Result<()> {
        match &self.input {
            Input::Tokens(tokens) => {
                for (i, &id) in tokens.iter().take(self.n_tokens).enumerate() {
                    if !(0..n_vocab).contains(&id) {
                        return Err(Error::argument(format!(
                            "token {id} at index {i} is outside of the vocabulary, which has the tokens 0 to {}",
                            n_vocab - 1
                        )));
                    }
                }
            }
            Input::Embeddings { n_embd: width, .. } => {
                if i32::try_from(*width).ok() != Some(n_embd) {
                    return Err(Error::argument(format!(
                        "the batch holds embeddings of {width} floats, the model's have {n_embd}"
                    )));
                }
            }
        }
        match &self.layout {
            Layout::Single => self.check_single(),
            Layout::Own { pos, n_seq_id, seq_id, .. } => {
                for i in 0..self.n_tokens {
                    if pos[i] < 0 {
                        return Err(Error::argument(format!("position {} at index {i} is negative", pos[i])));
                    }
                    let n = usize::try_from(n_seq_id[i]).unwrap_or(0);
                    if n == 0 {
                        return Err(Error::argument(format!(
                            "the token at index {i} belongs to no sequence: set its n_seq_id to 1 or more, and its sequence ids"
                        )));
                    }
                    let first = i * self.max_seqs;
                    for (j, &id) in seq_id.iter().skip(first).take(n).enumerate() {
                        if id < 0 {
                            return Err(Error::argument(format!("sequence id {id} at index {i}, {j} is negative")));
                        }
                    }
                }
                Ok(())
            }
        }
    }

    fn check_single(&self) -> Result<()> {
        if self.all_seq_id < 0 {
            return Err(Error::argument(format!("sequence id {} is negative", self.all_seq_id)));
        }
        let first = i64::from(self.all_pos_0);
        let last = first + (self.n_tokens as i64 - 1) * i64::from(self.all_pos_1);
        for pos in [first, last] {
            if !(0..=i64::from(i32::MAX)).contains(&pos) {
                return Err(Error::argument(format!("position {pos} is outside of 0 to {}", i32::MAX)));
            }
        }
        Ok(())
    }

    /// The tokens for which logits are flagged; `None` when the context decides.
    pub(crate) fn flagged(&self) -> Option<Vec<usize>> {
        match &self.layout {
            Layout::Single => None,
            Layout::Own { logits, .. } => Some(
                logits.iter().take(self.n_tokens).enumerate().filter(|(_, &flag)| flag != 0).map(|(i, _)| i).collect(),
            ),
        }
    }

    /// Calls `f` with the batch as llama.cpp has it; `all_logits` asks for every token's logits.
    pub(crate) fn with_native<T>(&mut self, all_logits: bool, f: impl FnOnce(&sys::llama_batch) -> T) -> T {
        let mut native = sys::llama_batch {
            n_tokens: i32::try_from(self.n_tokens).unwrap_or(i32::MAX),
            token: ptr::null_mut(),
            embd: ptr::null_mut(),
            pos: ptr::null_mut(),
            n_seq_id: ptr::null_mut(),
            seq_id: ptr::null_mut(),
            logits: ptr::null_mut(),
            all_pos_0: self.all_pos_0,
            all_pos_1: self.all_pos_1,
            all_seq_id: self.all_seq_id,
        };
        match &mut self.input {
            Input::Tokens(tokens) => native.token = tokens.as_mut_ptr(),
            Input::Embeddings { values, .. } => native.embd = values.as_mut_ptr(),
        }
        let mut rows: Vec<*mut i32> = Vec::new();
        if let Layout::Own { pos, n_seq_id, seq_id, logits } = &mut self.layout {
            rows = seq_id.chunks_exact_mut(self.max_seqs.max(1)).take(self.n_tokens).map(<[i32]>::as_mut_ptr).collect();
            native.pos = pos.as_mut_ptr();
            native.n_seq_id = n_seq_id.as_mut_ptr();
            if !all_logits {
                native.logits = logits.as_mut_ptr();
            }
        }
        if !rows.is_empty() {
            native.seq_id = rows.as_mut_ptr();
        }
        f(&native)
    }
}

fn holds_embeddings() -> Error {
    Error::state("the batch was made with n_embd > 0: it holds embeddings, no token ids")
}

/// `n` zeros. `vec!` would end the process where there is no memory.
fn zeroed<T: Clone + Default>(n: usize) -> Result<Vec<T>> {
    let mut zeros = Vec::new();
    zeros.try_reserve_exact(n).map_err(|_| {
        Error::NoMemory(format!("cannot make the batch: out of memory for {} bytes", n.saturating_mul(size_of::<T>())))
    })?;
    zeros.resize(n, T::default());
    Ok(zeros)
}

fn at_most(name: &str, value: usize, limit: usize) -> Result<()> {
    if value > limit {
        Err(Error::argument(format!("{name} is {value}, {limit} is the limit")))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_sequence_answers_with_what_it_stands_for() {
        let batch = Batch::single(vec![5, 6, 7], 10, 3);
        assert_eq!((0..3).map(|i| batch.pos(i).unwrap()).collect::<Vec<_>>(), [10, 11, 12]);
        assert_eq!((0..3).map(|i| batch.logits(i).unwrap()).collect::<Vec<_>>(), [false, false, true]);
        assert_eq!((batch.n_seq_id(1).unwrap(), batch.seq_id(1, 0).unwrap()), (1, 3));
        assert!(batch.pos(3).is_err() && batch.seq_id(0, 1).is_err());
    }

    #[test]
    fn setting_one_token_of_a_single_sequence_keeps_the_others() {
        let mut batch = Batch::single(vec![5, 6, 7], 10, 3);
        batch.set_pos(1, 99).unwrap();
        assert_eq!((0..3).map(|i| batch.pos(i).unwrap()).collect::<Vec<_>>(), [10, 99, 12]);
        assert_eq!(batch.seq_id(2, 0).unwrap(), 3);
        assert_eq!(batch.flagged(), Some(vec![2]));
    }

    #[test]
    fn what_llama_cpp_would_index_with_is_checked() {
        let mut batch = Batch::single(vec![5], 0, 0);
        assert!(batch.check(5, 1).unwrap_err().to_string().contains("token 5 at index 0"));
        assert!(batch.check(6, 1).is_ok());
        batch.all_pos_0 = -1;
        assert!(batch.check(6, 1).is_err());
        let mut batch = Batch::new(1, 0, 1).unwrap();
        batch.set_n_tokens(1).unwrap();
        assert!(batch.check(6, 1).unwrap_err().to_string().contains("no sequence"));
        batch.set_n_seq_id(0, 1).unwrap();
        assert!(batch.check(6, 1).is_ok());
        batch.set_seq_id(0, 0, -4).unwrap();
        assert!(batch.check(6, 1).unwrap_err().to_string().contains("-4"));
    }
}
