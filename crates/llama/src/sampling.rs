//! Candidates for the next token, and llama.cpp's samplers over them.
//!
//! llama.cpp sorts, divides and draws without a look at the numbers. Here NaN counts as "impossible" (`-Infinity`),
//! `+Infinity` as the largest float; no sampler sees an empty list, and drawing from candidates of which none is
//! possible is an error.

use crate::context::Context;
use crate::error::{check, copied, Error, Result};
use crate::grammar::Matcher;
use crate::model::SpecialToken;
use crate::sys;

/// A token with its logit and probability, laid out as llama.cpp has it.
pub type TokenData = sys::llama_token_data;

/// Candidates for the next token.
#[derive(Clone)]
pub struct Candidates {
    data: Vec<TokenData>,
    sorted: bool,
    /// Whether each stands at the place of its id, so that it can be found without a search.
    by_id: bool,
}

impl Candidates {
    /// Candidates as they are given; `sorted` promises that the logits fall.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] for none.
    pub fn new(data: Vec<TokenData>, sorted: bool) -> Result<Self> {
        if data.is_empty() {
            return Err(Error::argument("there must be at least one candidate"));
        }
        let falling = data.windows(2).all(|pair| pair[0].logit >= pair[1].logit);
        Ok(Self { data, sorted: sorted && falling, by_id: false })
    }

    /// All tokens of a vocabulary with these logits, in the order of their ids.
    pub fn from_logits(logits: &[f32]) -> Self {
        let mut candidates = Self { data: Vec::new(), sorted: false, by_id: true };
        candidates.refill(logits);
        candidates
    }

    /// As [`Candidates::from_logits`], in the memory that is there.
    pub fn refill(&mut self, logits: &[f32]) {
        self.data.clear();
        self.data.extend((0i32..).zip(logits).map(|(id, &logit)| TokenData { id, logit, p: 0.0 }));
        self.sorted = false;
        self.by_id = true;
    }

    /// The candidates.
    pub fn as_slice(&self) -> &[TokenData] {
        &self.data
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// Whether none is left.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// Whether the logits are known to fall.
    pub fn is_sorted(&self) -> bool {
        self.sorted
    }

    /// Bytes of memory.
    pub fn memsize(&self) -> usize {
        size_of::<Self>() + self.data.capacity() * size_of::<TokenData>()
    }

    /// Makes the candidates for which `allowed` is false impossible.
    pub fn forbid(&mut self, mut allowed: impl FnMut(usize, &TokenData) -> bool) {
        for (i, candidate) in self.data.iter_mut().enumerate() {
            if !allowed(i, candidate) {
                candidate.logit = f32::NEG_INFINITY;
                self.sorted = false;
            }
        }
    }

    /// Adds `bias` to the logit of a token.
    pub fn add_bias(&mut self, token: i32, bias: f32) {
        let place = usize::try_from(token).ok().filter(|_| self.by_id);
        let found = match place {
            Some(place) => self.data.get_mut(place..=place).unwrap_or_default(),
            None => &mut self.data,
        };
        for candidate in found.iter_mut().filter(|candidate| candidate.id == token) {
            candidate.logit += bias;
            self.sorted = false;
        }
    }

    /// Calls a sampler of llama.cpp's with the candidates; it may shorten and sort them.
    fn apply(&mut self, f: impl FnOnce(*mut sys::llama_token_data_array) -> i32) -> Result<()> {
        self.tame();
        let mut native =
            sys::llama_token_data_array { data: self.data.as_mut_ptr(), size: self.data.len(), sorted: self.sorted };
        let status = f(&mut native);
        self.data.truncate(native.size);
        self.sorted = native.sorted;
        self.by_id = false;
        check(status, "cannot sample")
    }

    /// As [`Candidates::apply`], for a sampler that does no more than change the logits of these tokens.
    fn apply_to(&mut self, tokens: &[i32], f: impl FnOnce(*mut sys::llama_token_data_array) -> i32) -> Result<()> {
        if !self.by_id {
            return self.apply(f);
        }
        self.tame();
        let mut ids = copied(tokens)?;
        ids.sort_unstable();
        ids.dedup();
        let places: Vec<usize> =
            ids.into_iter().filter_map(|id| usize::try_from(id).ok()).filter(|&i| i < self.data.len()).collect();
        let data = places.iter().filter_map(|&i| self.data.get(i)).copied().collect();
        let mut part = Self { data, sorted: self.sorted, by_id: false };
        part.apply(f)?;
        for (i, candidate) in places.into_iter().zip(part.data) {
            if let Some(place) = self.data.get_mut(i) {
                *place = candidate;
            }
        }
        self.sorted = part.sorted;
        Ok(())
    }

    /// Sorting and dividing are defined for these numbers.
    fn tame(&mut self) {
        // Each sampler asks, and the answer is nearly always the same: it should come fast.
        if self.data.iter().fold(true, |tame, candidate| tame & (candidate.logit < f32::INFINITY)) {
            return;
        }
        for candidate in &mut self.data {
            if candidate.logit.is_nan() {
                candidate.logit = f32::NEG_INFINITY;
                self.sorted = false;
            } else if candidate.logit == f32::INFINITY {
                candidate.logit = f32::MAX;
            }
        }
    }

    /// Whether any candidate can be drawn.
    fn any_possible(&self) -> bool {
        self.data.iter().any(|candidate| candidate.logit > f32::NEG_INFINITY)
    }

    fn check_drawable(&mut self) -> Result<()> {
        self.tame();
        if self.data.is_empty() {
            Err(Error::state("no candidate is left to draw from: the samplers before have removed all of them"))
        } else if !self.any_possible() {
            Err(Error::state("none of the candidates is possible: all logits are -Infinity (a grammar or a bias may forbid every token)"))
        } else {
            Ok(())
        }
    }

    /// Filters have nothing to do where nothing is possible.
    fn is_void(&mut self) -> bool {
        self.tame();
        if self.any_possible() {
            return false;
        }
        for candidate in &mut self.data {
            candidate.p = 0.0;
        }
        true
    }
}

/// The samplers. Each takes the context for its random numbers and its timings.
impl Context {
    /// Lowers the logits of tokens that occur in `last_tokens`: divided by `repeat`, less `freq` for each occurrence
    /// and `present` once.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] for a `repeat` of 0 or below.
    pub fn sample_repetition_penalties(
        &mut self,
        candidates: &mut Candidates,
        last_tokens: &[i32],
        repeat: f32,
        freq: f32,
        present: f32,
    ) -> Result<()> {
        finite("penalty_freq", freq)?;
        finite("penalty_present", present)?;
        finite("penalty_repeat", repeat)?;
        if repeat <= 0.0 {
            return Err(Error::argument(format!("penalty_repeat is {repeat}, it must be above 0 (1.0 is no penalty)")));
        }
        let ctx = self.as_ptr();
        // llama.cpp looks up each candidate among the tokens. Here the tokens are looked up among the candidates.
        // SAFETY: the context lives, the tokens are readable.
        candidates.apply_to(last_tokens, |c| unsafe {
            sys::shim_sample_repetition_penalties(
                ctx,
                c,
                last_tokens.as_ptr(),
                last_tokens.len(),
                repeat,
                freq,
                present,
            )
        })
    }

    /// Sorts by falling logits and computes probabilities.
    ///
    /// # Errors
    ///
    /// None but of llama.cpp's own.
    pub fn sample_softmax(&mut self, candidates: &mut Candidates) -> Result<()> {
        if candidates.is_void() {
            return Ok(());
        }
        let ctx = self.as_ptr();
        // SAFETY: the context lives; the candidates are not empty and have no NaN.
        candidates.apply(|c| unsafe { sys::shim_sample_softmax(ctx, c) })
    }

    /// Keeps the `k` best, at least `min_keep`.
    ///
    /// # Errors
    ///
    /// None but of llama.cpp's own.
    pub fn sample_top_k(&mut self, candidates: &mut Candidates, k: i32, min_keep: usize) -> Result<()> {
        let ctx = self.as_ptr();
        let min_keep = min_keep.min(candidates.len());
        // SAFETY: the context lives; numbers can be sorted.
        candidates.apply(|c| unsafe { sys::shim_sample_top_k(ctx, c, k.max(0), min_keep) })
    }

    /// Keeps the most probable whose probabilities add up to `p`, at least `min_keep`.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] for NaN.
    pub fn sample_top_p(&mut self, candidates: &mut Candidates, p: f32, min_keep: usize) -> Result<()> {
        number("prob", p)?;
        if candidates.is_void() {
            return Ok(());
        }
        let ctx = self.as_ptr();
        // SAFETY: as for softmax.
        candidates.apply(|c| unsafe { sys::shim_sample_top_p(ctx, c, p, min_keep) })
    }

    /// Keeps those that are at least `p` times as probable as the best, at least `min_keep`.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] for NaN.
    pub fn sample_min_p(&mut self, candidates: &mut Candidates, p: f32, min_keep: usize) -> Result<()> {
        number("prob", p)?;
        if candidates.is_void() {
            return Ok(());
        }
        let ctx = self.as_ptr();
        // SAFETY: as for softmax.
        candidates.apply(|c| unsafe { sys::shim_sample_min_p(ctx, c, p, min_keep) })
    }

    /// Cuts the tail where the second derivatives of the probabilities add up to `z`, but keeps at least `min_keep`.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] for NaN.
    pub fn sample_tail_free(&mut self, candidates: &mut Candidates, z: f32, min_keep: usize) -> Result<()> {
        number("z", z)?;
        if candidates.is_void() {
            return Ok(());
        }
        let ctx = self.as_ptr();
        // SAFETY: as for softmax.
        candidates.apply(|c| unsafe { sys::shim_sample_tail_free(ctx, c, z, min_keep) })
    }

    /// Keeps those whose surprise is nearest to the expected one, until their probabilities add up to `p`, at least
    /// `min_keep`.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] for NaN.
    pub fn sample_typical(&mut self, candidates: &mut Candidates, p: f32, min_keep: usize) -> Result<()> {
        number("prob", p)?;
        if candidates.is_void() {
            return Ok(());
        }
        if p < 1.0 {
            // A candidate of probability zero makes the entropy NaN, and with it the order that llama.cpp sorts by.
            self.sample_softmax(candidates)?;
            let possible = candidates.data.iter().take_while(|candidate| candidate.p > 0.0).count();
            candidates.data.truncate(possible.max(1));
        }
        let ctx = self.as_ptr();
        // llama.cpp subtracts one from it.
        let min_keep = min_keep.max(1);
        // SAFETY: as for softmax.
        candidates.apply(|c| unsafe { sys::shim_sample_typical(ctx, c, p, min_keep) })
    }

    /// Divides the logits by `temp`. At 0 or below only the best candidate stays possible.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] for NaN.
    pub fn sample_temp(&mut self, candidates: &mut Candidates, temp: f32) -> Result<()> {
        number("temp", temp)?;
        candidates.tame();
        let Some((best, logit)) = best(candidates) else { return Ok(()) };
        // A quotient beyond the numbers' range would make all alike.
        if temp <= 0.0 || logit.is_finite() && (logit / temp).is_infinite() {
            candidates.forbid(|i, _| i == best);
            return Ok(());
        }
        let ctx = self.as_ptr();
        // SAFETY: the context lives, the divisor is positive.
        candidates.apply(|c| unsafe { sys::shim_sample_temp(ctx, c, temp) })?;
        candidates.tame();
        Ok(())
    }

    /// Moves `logits` away from `guidance` by `scale`; 1.0 changes nothing. Both become log-probabilities.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] when the lengths are not `n_vocab`, or for a `scale` that is not finite.
    pub fn sample_apply_guidance(&mut self, logits: &mut [f32], guidance: &mut [f32], scale: f32) -> Result<()> {
        finite("scale", scale)?;
        let n_vocab = usize::try_from(self.model().n_vocab()).unwrap_or(0);
        if logits.len() != guidance.len() {
            return Err(Error::argument(format!(
                "logits has {} values, logits_guidance {}: they must be equal",
                logits.len(),
                guidance.len()
            )));
        }
        if logits.len() != n_vocab {
            return Err(Error::argument(format!(
                "logits has {} values, the vocabulary {n_vocab} tokens",
                logits.len()
            )));
        }
        let ctx = self.as_ptr();
        // SAFETY: both slices have `n_vocab` floats.
        let status = unsafe { sys::shim_sample_apply_guidance(ctx, logits.as_mut_ptr(), guidance.as_mut_ptr(), scale) };
        check(status, "cannot apply the guidance")
    }

    /// As [`Context::sample_apply_guidance`], on candidates and on the logits of another context, which stay as they are.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] when the candidates are not the whole vocabulary in the order of the ids, or the two
    /// contexts' vocabularies differ; [`Error::State`] when the other context has no logits.
    pub fn sample_guidance(&mut self, candidates: &mut Candidates, guidance: &[f32], scale: f32) -> Result<()> {
        let n_vocab = usize::try_from(self.model().n_vocab()).unwrap_or(0);
        if candidates.len() != n_vocab || (0i32..).zip(&candidates.data).any(|(id, candidate)| id != candidate.id) {
            return Err(Error::argument(format!(
                "guidance needs all {n_vocab} tokens of the vocabulary as candidates, in the order of their ids; \
                 apply it before other samplers"
            )));
        }
        candidates.tame();
        let mut logits: Vec<f32> = candidates.data.iter().map(|candidate| candidate.logit).collect();
        let mut guidance = copied(guidance)?;
        self.sample_apply_guidance(&mut logits, &mut guidance, scale)?;
        for (candidate, logit) in candidates.data.iter_mut().zip(logits) {
            candidate.logit = logit;
        }
        candidates.sorted = false;
        candidates.tame();
        Ok(())
    }

    /// Makes the candidates impossible that the grammar does not allow next. The end of the sequence is allowed where
    /// the text may end.
    ///
    /// # Errors
    ///
    /// [`Error::State`] when the grammar is too ambiguous to follow.
    pub fn sample_grammar(&mut self, candidates: &mut Candidates, matcher: &mut Matcher) -> Result<()> {
        let model = self.model().clone();
        let eos = model.special_token(SpecialToken::Eos);
        let may_end = matcher.may_end();
        let mut verdicts = vec![false; candidates.len()];
        let pieces = candidates.data.iter().map(|candidate| model.piece(candidate.id));
        matcher
            .allowed(pieces, |i, allowed| {
                if let Some(verdict) = verdicts.get_mut(i) {
                    *verdict = allowed;
                }
            })
            .map_err(|e| Error::state(e.to_string()))?;
        candidates.forbid(
            |i, candidate| if candidate.id == eos { may_end } else { verdicts.get(i).copied().unwrap_or(false) },
        );
        Ok(())
    }

    /// Tells the grammar which token was chosen.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] for a token outside of the vocabulary, [`Error::State`] for one that the grammar forbids; it
    /// stays as it was.
    pub fn grammar_accept_token(&mut self, matcher: &mut Matcher, token: i32) -> Result<()> {
        let model = self.model().clone();
        if !model.has_token(token) {
            return Err(Error::argument(format!(
                "token {token} is outside of the vocabulary, which has the tokens 0 to {}",
                model.n_vocab() - 1
            )));
        }
        if token == model.special_token(SpecialToken::Eos) {
            return if matcher.may_end() {
                Ok(())
            } else {
                Err(Error::state("the grammar does not allow the text to end here"))
            };
        }
        matcher.accept(model.piece(token)).map_err(|e| {
            Error::state(format!("token {token} ({:?}): {e}", String::from_utf8_lossy(model.piece(token))))
        })
    }

    /// Draws by probability.
    ///
    /// # Errors
    ///
    /// [`Error::State`] when no candidate is possible.
    pub fn sample_token(&mut self, candidates: &mut Candidates) -> Result<i32> {
        candidates.check_drawable()?;
        let ctx = self.as_ptr();
        let mut token = 0;
        // SAFETY: the context lives; at least one candidate has a finite logit, so the probabilities are numbers.
        candidates.apply(|c| unsafe { sys::shim_sample_token(ctx, c, &mut token) })?;
        Ok(token)
    }

    /// The most probable.
    ///
    /// # Errors
    ///
    /// As [`Context::sample_token`].
    pub fn sample_token_greedy(&mut self, candidates: &mut Candidates) -> Result<i32> {
        candidates.check_drawable()?;
        let ctx = self.as_ptr();
        let mut token = 0;
        // SAFETY: the context lives, the candidates are not empty.
        candidates.apply(|c| unsafe { sys::shim_sample_token_greedy(ctx, c, &mut token) })?;
        Ok(token)
    }

    /// Mirostat 1: draws so that the surprise stays near `tau`. `m` candidates serve for the estimate. Returns the
    /// token and the new `mu`.
    ///
    /// # Errors
    ///
    /// [`Error::State`] when no candidate is possible, [`Error::Argument`] for numbers that are not finite or an `m`
    /// below 2.
    pub fn sample_token_mirostat(
        &mut self,
        candidates: &mut Candidates,
        tau: f32,
        eta: f32,
        m: i32,
        mu: f32,
    ) -> Result<(i32, f32)> {
        for (name, value) in [("tau", tau), ("eta", eta), ("mu", mu)] {
            finite(name, value)?;
        }
        if m < 2 {
            return Err(Error::argument(format!("m is {m}, it must be 2 or more")));
        }
        candidates.check_drawable()?;
        self.only_possible(candidates)?;
        let ctx = self.as_ptr();
        let (mut token, mut mu) = (0, mu);
        if !can_estimate(candidates) {
            // One candidate, or several that are equally likely, give no slope to estimate from: k is all of them.
            token = self.sample_token(candidates)?;
            return Ok((token, next_mu(candidates, token, tau, eta, mu)));
        }
        // SAFETY: the context lives, the candidates are possible, the numbers finite.
        candidates.apply(|c| unsafe { sys::shim_sample_token_mirostat(ctx, c, tau, eta, m, &mut mu, &mut token) })?;
        Ok((token, mu))
    }

    /// Mirostat 2: as [`Context::sample_token_mirostat`], without the estimate.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn sample_token_mirostat_v2(
        &mut self,
        candidates: &mut Candidates,
        tau: f32,
        eta: f32,
        mu: f32,
    ) -> Result<(i32, f32)> {
        for (name, value) in [("tau", tau), ("eta", eta), ("mu", mu)] {
            finite(name, value)?;
        }
        candidates.check_drawable()?;
        self.only_possible(candidates)?;
        let ctx = self.as_ptr();
        let (mut token, mut mu) = (0, mu);
        // SAFETY: as above.
        candidates.apply(|c| unsafe { sys::shim_sample_token_mirostat_v2(ctx, c, tau, eta, &mut mu, &mut token) })?;
        Ok((token, mu))
    }

    /// Drops the candidates of probability zero: their surprise is infinite.
    fn only_possible(&mut self, candidates: &mut Candidates) -> Result<()> {
        if candidates.data.iter().any(|candidate| candidate.logit == f32::NEG_INFINITY) {
            self.sample_softmax(candidates)?;
            let possible = candidates.data.iter().take_while(|c| c.logit > f32::NEG_INFINITY).count();
            candidates.data.truncate(possible.max(1));
        }
        Ok(())
    }
}

/// The first of the candidates with the largest logit.
fn best(candidates: &Candidates) -> Option<(usize, f32)> {
    let mut best: Option<(usize, f32)> = None;
    for (i, candidate) in candidates.data.iter().enumerate() {
        if best.is_none_or(|(_, logit)| candidate.logit > logit) {
            best = Some((i, candidate.logit));
        }
    }
    best
}

/// Whether Mirostat has a slope to estimate: two candidates at least, of different probability.
fn can_estimate(candidates: &Candidates) -> bool {
    candidates.data.windows(2).any(|pair| pair[0].logit != pair[1].logit)
}

fn next_mu(candidates: &Candidates, token: i32, tau: f32, eta: f32, mu: f32) -> f32 {
    let p = candidates.data.iter().find(|candidate| candidate.id == token).map_or(1.0, |candidate| candidate.p);
    mu - eta * (-p.log2() - tau)
}

fn number(name: &str, value: f32) -> Result<()> {
    if value.is_nan() {
        Err(Error::argument(format!("{name} is NaN")))
    } else {
        Ok(())
    }
}

fn finite(name: &str, value: f32) -> Result<()> {
    if value.is_finite() {
        Ok(())
    } else {
        Err(Error::argument(format!("{name} is {value}, it must be a finite number")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context_params::ContextParams;
    use crate::model::{Model, ModelParams};
    use std::sync::Arc;

    fn context() -> Context {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/tiny/tiny.gguf");
        let model = Arc::new(Model::load(path, &ModelParams::default(), &mut |_| true).unwrap());
        Context::new(model, &ContextParams { n_ctx: 8, ..Default::default() }).unwrap()
    }

    /// The same candidates, of which it is not known that they stand in the order of their ids.
    fn searched(candidates: &Candidates) -> Candidates {
        Candidates::new(candidates.as_slice().to_vec(), false).unwrap()
    }

    fn bits(candidates: &Candidates) -> Vec<(i32, u32)> {
        candidates.as_slice().iter().map(|candidate| (candidate.id, candidate.logit.to_bits())).collect()
    }

    #[test]
    fn penalties_are_the_same_whether_tokens_are_looked_up_or_searched() {
        let mut context = context();
        let logits: Vec<f32> = (0u8..100).map(|i| (f32::from(i) - 50.0) / 7.0).collect();
        let last_tokens = [99, 3, 3, 0, -1, 3, 100, i32::MAX, 98];
        let mut fast = Candidates::from_logits(&logits);
        let mut slow = searched(&fast);
        for candidates in [&mut fast, &mut slow] {
            context.sample_repetition_penalties(candidates, &last_tokens, 1.3, 0.11, 0.7).unwrap();
        }
        assert_eq!(bits(&fast), bits(&slow));
        let changed: Vec<usize> = (0..100).filter(|&i| fast.as_slice()[i].logit != logits[i]).collect();
        assert_eq!(changed, [0, 3, 98, 99]);
    }

    #[test]
    fn a_bias_finds_its_token_before_and_after_sorting() {
        let mut context = context();
        let mut candidates = Candidates::from_logits(&[1.0, 4.0, 2.0]);
        candidates.add_bias(2, 0.5);
        for nowhere in [-1, 3, i32::MIN, i32::MAX] {
            candidates.add_bias(nowhere, 9.0);
        }
        context.sample_softmax(&mut candidates).unwrap();
        candidates.add_bias(2, 0.25);
        assert_eq!(bits(&candidates), [(1, 4f32.to_bits()), (2, 2.75f32.to_bits()), (0, 1f32.to_bits())]);
        candidates.refill(&[7.0, 8.0]);
        candidates.add_bias(0, 1.0);
        assert_eq!(bits(&candidates), [(0, 8f32.to_bits()), (1, 8f32.to_bits())]);
    }

    #[test]
    fn no_number_stays_that_cannot_be_sorted() {
        let mut context = context();
        let mut candidates = Candidates::from_logits(&[f32::NAN, f32::INFINITY, 0.5, f32::NEG_INFINITY]);
        context.sample_repetition_penalties(&mut candidates, &[2], 2.0, 0.0, 0.0).unwrap();
        let logits: Vec<f32> = candidates.as_slice().iter().map(|candidate| candidate.logit).collect();
        assert_eq!(logits, [f32::NEG_INFINITY, f32::MAX, 0.25, f32::NEG_INFINITY]);
    }
}
