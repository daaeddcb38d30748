//! Following a text through a grammar.

use super::error::{Refusal, TooComplex};
use super::stacks::{SetId, Stacks, Steps, DEAD};
use super::utf8::Decoder;
use super::Grammar;

/// A text under a grammar: what has been accepted, and what may come next.
///
/// A clone goes on by itself. It shares the grammar, and copies what is known about the text
/// (usually a few kilobytes).
///
/// # Examples
///
/// ```
/// use llama::grammar::Grammar;
///
/// let grammar = Grammar::from_gbnf(r#"root ::= [0-9]+ ("." [0-9]+)?"#, "root")?;
/// let mut matcher = grammar.matcher();
/// matcher.accept(b"3")?;
/// assert!(matcher.may_end());
/// matcher.accept(b".")?;
/// assert!(!matcher.may_end());
/// assert_eq!(
///     matcher.accept(b"1.4").unwrap_err().to_string(),
///     "the grammar forbids '.' (U+002E) at byte 1 of the piece",
/// );
/// // A refused piece changes nothing.
/// matcher.accept(b"14")?;
/// assert!(matcher.may_end());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Matcher {
    grammar: Grammar,
    stacks: Stacks,
    at: SetId,
    partial: Decoder,
}

impl Matcher {
    pub(super) fn new(grammar: Grammar, stacks: Stacks, at: SetId) -> Self {
        Self { grammar, stacks, at, partial: Decoder::default() }
    }

    /// The grammar.
    pub fn grammar(&self) -> &Grammar {
        &self.grammar
    }

    /// Whether the text may end here: a token that ends it is allowed.
    pub fn may_end(&self) -> bool {
        self.partial.pending().is_none() && self.stacks.accepts(self.at)
    }

    /// Appends a piece to the text. It may end within a character, which the next piece goes on with.
    ///
    /// # Errors
    ///
    /// What is wrong with the piece and where. The text is then as it was.
    pub fn accept(&mut self, piece: &[u8]) -> Result<(), Refusal> {
        (self.at, self.partial) = self.follow(piece, &mut Steps::default())?;
        Ok(())
    }

    /// Whether [`Matcher::accept`] would accept the piece.
    ///
    /// # Errors
    ///
    /// The grammar is [`TooComplex`] for an answer.
    pub fn allows(&mut self, piece: &[u8]) -> Result<bool, TooComplex> {
        self.answer(piece, &mut Steps::default())
    }

    /// Asks for many pieces, each of them as the next one: calls `verdict` with the index of each
    /// and whether it is allowed. This is what a whole vocabulary is tested with.
    ///
    /// # Errors
    ///
    /// The grammar is [`TooComplex`] for an answer, for this piece or for all of them together;
    /// the verdicts so far are right.
    ///
    /// # Examples
    ///
    /// ```
    /// use llama::grammar::Grammar;
    ///
    /// let mut matcher = Grammar::from_gbnf(r#"root ::= "yes" | "no""#, "root")?.matcher();
    /// let vocabulary: [&[u8]; 4] = [b"", b"y", b"no", b"nothing"];
    /// let mut allowed = Vec::new();
    /// matcher.allowed(vocabulary, |index, verdict| {
    ///     if verdict {
    ///         allowed.push(index);
    ///     }
    /// })?;
    /// assert_eq!(allowed, [1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn allowed<'a>(
        &mut self,
        pieces: impl IntoIterator<Item = &'a [u8]>,
        mut verdict: impl FnMut(usize, bool),
    ) -> Result<(), TooComplex> {
        let mut steps = Steps::default();
        for (index, piece) in pieces.into_iter().enumerate() {
            let answer = self.answer(piece, &mut steps)?;
            verdict(index, answer);
        }
        Ok(())
    }

    /// The memory that this matcher takes besides its grammar, in bytes.
    pub fn memsize(&self) -> usize {
        size_of::<Self>() + self.stacks.memsize()
    }

    fn answer(&mut self, piece: &[u8], steps: &mut Steps) -> Result<bool, TooComplex> {
        match self.follow(piece, steps) {
            Ok(_) => Ok(true),
            Err(Refusal::TooComplex(error)) => Err(error),
            Err(_) => Ok(false),
        }
    }

    /// Where a piece leads. Changes nothing that can be seen from outside.
    fn follow(&mut self, piece: &[u8], steps: &mut Steps) -> Result<(SetId, Decoder), Refusal> {
        if piece.is_empty() {
            return Err(Refusal::Empty);
        }
        let mut at = self.at;
        let mut partial = self.partial;
        for (offset, &byte) in piece.iter().enumerate() {
            let Ok(decoded) = partial.push(byte) else {
                return Err(Refusal::NotUtf8 { offset, byte });
            };
            let Some(code_point) = decoded else {
                continue;
            };
            if code_point == 0 {
                return Err(Refusal::Nul { offset });
            }
            at = self.read(at, code_point, steps)?;
            if at == DEAD {
                return Err(Refusal::Character {
                    offset,
                    character: char::from_u32(code_point).unwrap_or(char::REPLACEMENT_CHARACTER),
                });
            }
        }
        if let Some(range) = partial.pending() {
            let program = self.grammar.program();
            if !self.stacks.may_read(program, at, range, steps)? {
                return Err(Refusal::PartialCharacter);
            }
        }
        Ok((at, partial))
    }

    fn read(&mut self, mut from: SetId, code_point: u32, steps: &mut Steps) -> Result<SetId, TooComplex> {
        let program = self.grammar.program();
        let symbol = program.alphabet.symbol(code_point);
        if let Some(to) = self.stacks.known_move(from, symbol) {
            return Ok(to);
        }
        if self.stacks.is_crowded() {
            let mut states = [self.at, from];
            let kept = self.stacks.keep_only(&mut states, steps);
            [self.at, from] = states;
            kept?;
        }
        self.stacks.read(program, from, symbol, code_point, steps)
    }
}

#[cfg(test)]
impl Matcher {
    /// Forgets what is not needed, as a crowded matcher does.
    pub(super) fn clear(&mut self) {
        let mut states = [self.at];
        let kept = self.stacks.keep_only(&mut states, &mut Steps::default());
        assert_eq!(kept, Ok(()));
        [self.at] = states;
    }
}
