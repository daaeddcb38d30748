//! The samplers of `LLaMACpp::Context`, each on a `TokenDataArray`.

use crate::context::Context;
use crate::grammar::Grammar;
use crate::support::args;
use crate::token_data_array::TokenDataArray;
use llama::context::Context as Native;
use llama::sampling::Candidates;
use magnus::{method, prelude::*, typed_data::Obj, Error, RArray, RClass, RModule, Ruby, TryConvert, Value};

/// Runs a sampler on the candidates; both are in use until it returns.
fn sample<T>(
    ruby: &Ruby,
    context: Obj<Context>,
    candidates: Value,
    f: impl FnOnce(&mut Native, &mut Candidates) -> Result<T, llama::error::Error>,
) -> Result<T, Error> {
    let candidates = Obj::<TokenDataArray>::try_convert(candidates)
        .map_err(|_| args::not_a(ruby, "candidates", "a TokenDataArray", candidates))?;
    TokenDataArray::with(ruby, candidates, |candidates| Context::run(ruby, context, |native| f(native, candidates)))
}

fn min_keep(ruby: &Ruby, value: Value) -> Result<usize, Error> {
    args::count(ruby, "min_keep", value)
}

impl Context {
    fn repetition_penalties(
        ruby: &Ruby,
        rb_self: Obj<Self>,
        candidates: Value,
        last_tokens: Value,
        repeat: Value,
        freq: Value,
        present: Value,
    ) -> Result<(), Error> {
        let last_tokens = args::tokens(ruby, "last_n_tokens", last_tokens)?;
        let repeat = args::float(ruby, "penalty_repeat", repeat)?;
        let freq = args::float(ruby, "penalty_freq", freq)?;
        let present = args::float(ruby, "penalty_present", present)?;
        sample(ruby, rb_self, candidates, |native, c| {
            native.sample_repetition_penalties(c, &last_tokens, repeat, freq, present)
        })
    }

    fn softmax(ruby: &Ruby, rb_self: Obj<Self>, candidates: Value) -> Result<(), Error> {
        sample(ruby, rb_self, candidates, Native::sample_softmax)
    }

    fn top_k(ruby: &Ruby, rb_self: Obj<Self>, candidates: Value, k: Value, keep: Value) -> Result<(), Error> {
        let (k, keep) = (args::int32(ruby, "k", k)?, min_keep(ruby, keep)?);
        sample(ruby, rb_self, candidates, |native, c| native.sample_top_k(c, k, keep))
    }

    fn top_p(ruby: &Ruby, rb_self: Obj<Self>, candidates: Value, prob: Value, keep: Value) -> Result<(), Error> {
        let (prob, keep) = (args::float(ruby, "prob", prob)?, min_keep(ruby, keep)?);
        sample(ruby, rb_self, candidates, |native, c| native.sample_top_p(c, prob, keep))
    }

    fn min_p(ruby: &Ruby, rb_self: Obj<Self>, candidates: Value, prob: Value, keep: Value) -> Result<(), Error> {
        let (prob, keep) = (args::float(ruby, "prob", prob)?, min_keep(ruby, keep)?);
        sample(ruby, rb_self, candidates, |native, c| native.sample_min_p(c, prob, keep))
    }

    fn tail_free(ruby: &Ruby, rb_self: Obj<Self>, candidates: Value, z: Value, keep: Value) -> Result<(), Error> {
        let (z, keep) = (args::float(ruby, "z", z)?, min_keep(ruby, keep)?);
        sample(ruby, rb_self, candidates, |native, c| native.sample_tail_free(c, z, keep))
    }

    fn typical(ruby: &Ruby, rb_self: Obj<Self>, candidates: Value, prob: Value, keep: Value) -> Result<(), Error> {
        let (prob, keep) = (args::float(ruby, "prob", prob)?, min_keep(ruby, keep)?);
        sample(ruby, rb_self, candidates, |native, c| native.sample_typical(c, prob, keep))
    }

    fn temp(ruby: &Ruby, rb_self: Obj<Self>, candidates: Value, temp: Value) -> Result<(), Error> {
        let temp = args::float(ruby, "temp", temp)?;
        sample(ruby, rb_self, candidates, |native, c| native.sample_temp(c, temp))
    }

    fn grammar(ruby: &Ruby, rb_self: Obj<Self>, candidates: Value, grammar: Value) -> Result<(), Error> {
        let grammar = Grammar::from_argument(ruby, grammar)?;
        Grammar::with(ruby, grammar, |matcher| {
            sample(ruby, rb_self, candidates, |native, c| native.sample_grammar(c, matcher))
        })
    }

    fn accept_token(ruby: &Ruby, rb_self: Obj<Self>, grammar: Value, token: Value) -> Result<(), Error> {
        let grammar = Grammar::from_argument(ruby, grammar)?;
        let token = args::int32(ruby, "token", token)?;
        grammar.check_frozen()?;
        Grammar::with(ruby, grammar, |matcher| {
            Self::run(ruby, rb_self, |native| native.grammar_accept_token(matcher, token))
        })
    }

    fn guidance(
        ruby: &Ruby,
        rb_self: Obj<Self>,
        candidates: Value,
        guidance: Value,
        scale: Value,
    ) -> Result<(), Error> {
        let guidance =
            Obj::<Self>::try_convert(guidance).map_err(|_| args::not_a(ruby, "guidance", "a Context", guidance))?;
        let scale = args::float(ruby, "scale", scale)?;
        let logits = Self::run(ruby, guidance, |native| native.logits_row(-1).map(<[f32]>::to_vec))?;
        sample(ruby, rb_self, candidates, |native, c| native.sample_guidance(c, &logits, scale))
    }

    fn apply_guidance(
        ruby: &Ruby,
        rb_self: Obj<Self>,
        logits: Value,
        guidance: Value,
        scale: Value,
    ) -> Result<(), Error> {
        let array =
            RArray::from_value(logits).ok_or_else(|| args::not_a(ruby, "logits", "an Array of Floats", logits))?;
        array.check_frozen()?;
        let mut logits = args::floats(ruby, "logits", logits)?;
        let mut guidance = args::floats(ruby, "logits_guidance", guidance)?;
        let scale = args::float(ruby, "scale", scale)?;
        Self::run(ruby, rb_self, |native| native.sample_apply_guidance(&mut logits, &mut guidance, scale))?;
        for (i, logit) in logits.into_iter().enumerate() {
            array.store(i as isize, ruby.float_from_f64(f64::from(logit)))?;
        }
        Ok(())
    }

    fn mirostat(
        ruby: &Ruby,
        rb_self: Obj<Self>,
        candidates: Value,
        tau: Value,
        eta: Value,
        m: Value,
        mu: Value,
    ) -> Result<(i32, f32), Error> {
        let (tau, eta) = (args::float(ruby, "tau", tau)?, args::float(ruby, "eta", eta)?);
        let (m, mu) = (args::int32(ruby, "m", m)?, args::float(ruby, "mu", mu)?);
        sample(ruby, rb_self, candidates, |native, c| native.sample_token_mirostat(c, tau, eta, m, mu))
    }

    fn mirostat_v2(
        ruby: &Ruby,
        rb_self: Obj<Self>,
        candidates: Value,
        tau: Value,
        eta: Value,
        mu: Value,
    ) -> Result<(i32, f32), Error> {
        let (tau, eta) = (args::float(ruby, "tau", tau)?, args::float(ruby, "eta", eta)?);
        let mu = args::float(ruby, "mu", mu)?;
        sample(ruby, rb_self, candidates, |native, c| native.sample_token_mirostat_v2(c, tau, eta, mu))
    }

    fn greedy(ruby: &Ruby, rb_self: Obj<Self>, candidates: Value) -> Result<i32, Error> {
        sample(ruby, rb_self, candidates, Native::sample_token_greedy)
    }

    fn draw(ruby: &Ruby, rb_self: Obj<Self>, candidates: Value) -> Result<i32, Error> {
        sample(ruby, rb_self, candidates, Native::sample_token)
    }
}

pub fn init(_ruby: &Ruby, module: RModule) -> Result<(), Error> {
    let class: RClass = module.const_get("Context")?;
    class.define_private_method("native_repetition_penalties", method!(Context::repetition_penalties, 5))?;
    class.define_private_method("native_top_k", method!(Context::top_k, 3))?;
    class.define_private_method("native_top_p", method!(Context::top_p, 3))?;
    class.define_private_method("native_min_p", method!(Context::min_p, 3))?;
    class.define_private_method("native_tail_free", method!(Context::tail_free, 3))?;
    class.define_private_method("native_typical", method!(Context::typical, 3))?;
    class.define_private_method("native_temp", method!(Context::temp, 2))?;
    class.define_private_method("native_grammar", method!(Context::grammar, 2))?;
    class.define_private_method("native_accept_token", method!(Context::accept_token, 2))?;
    class.define_private_method("native_guidance", method!(Context::guidance, 3))?;
    class.define_private_method("native_apply_guidance", method!(Context::apply_guidance, 3))?;
    class.define_private_method("native_mirostat", method!(Context::mirostat, 5))?;
    class.define_private_method("native_mirostat_v2", method!(Context::mirostat_v2, 4))?;
    class.define_method("sample_softmax", method!(Context::softmax, 1))?;
    class.define_method("sample_token_greedy", method!(Context::greedy, 1))?;
    class.define_method("sample_token", method!(Context::draw, 1))?;
    Ok(())
}
