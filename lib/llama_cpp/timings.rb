# frozen_string_literal: true

module LLaMACpp
  # Where the time of a {Context} went. Times are milliseconds; counts read 1 at least, as in llama.cpp.
  class Timings
    # @return [Float] tokens generated each second, by the decodes of single tokens; 0.0 before the first
    # @example
    #   LLaMACpp::Timings.new.tokens_per_second #=> 0.0
    def tokens_per_second
      t_eval_ms.positive? ? n_eval * 1000.0 / t_eval_ms : 0.0
    end

    # @return [String]
    def inspect
      format('#<%<class>s prompt: %<prompt>.1f ms / %<n_prompt>d tokens, eval: %<eval>.1f ms / %<n_eval>d tokens>',
             class: self.class, prompt: t_p_eval_ms, n_prompt: n_p_eval, eval: t_eval_ms, n_eval:)
    end
  end
end
