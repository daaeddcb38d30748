# frozen_string_literal: true

module LLaMACpp
  # Where the time of a {Context} went. Times are milliseconds; counts read 1 at least, as in llama.cpp.
  class Timings
    # @!attribute [r] t_start_ms
    #   @return [Float] when the model's loading began, on a clock that only goes forward
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #     context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #     timings = context.timings
    #     timings.t_start_ms < timings.t_end_ms #=> true

    # @!attribute [r] t_end_ms
    #   @return [Float] now, on the same clock
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #     context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #     timings = context.timings
    #     (timings.t_end_ms - timings.t_start_ms).positive? #=> true

    # @!attribute [r] t_load_ms
    #   @return [Float] from the beginning of the load to the end of the first decode
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #     context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #     timings = context.timings
    #     timings.t_load_ms.positive? #=> true

    # @!attribute [r] t_sample_ms
    #   @return [Float] in samplers
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #     context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #     timings = context.timings
    #     timings.t_sample_ms #=> 0.0

    # @!attribute [r] t_p_eval_ms
    #   @return [Float] in decodes of several tokens, the prompt's for instance
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #     context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #     timings = context.timings
    #     timings.t_p_eval_ms.positive? #=> true

    # @!attribute [r] t_eval_ms
    #   @return [Float] in decodes of single tokens
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #     context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #     timings = context.timings
    #     timings.t_eval_ms #=> 0.0

    # @!attribute [r] n_sample
    #   @return [Integer] tokens that were drawn
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #     context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #     timings = context.timings
    #     timings.n_sample #=> 1

    # @!attribute [r] n_p_eval
    #   @return [Integer] tokens in decodes of several
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #     context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #     timings = context.timings
    #     timings.n_p_eval #=> 2

    # @!attribute [r] n_eval
    #   @return [Integer] decodes of single tokens
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #     context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #     timings = context.timings
    #     timings.n_eval #=> 1

    # @return [Float] tokens generated each second, by the decodes of single tokens; 0.0 before the first
    # @example
    #   LLaMACpp::Timings.new.tokens_per_second #=> 0.0
    def tokens_per_second
      t_eval_ms.positive? ? n_eval * 1000.0 / t_eval_ms : 0.0
    end

    # @return [String] the times for people
    # @example
    #   LLaMACpp::Timings.new.inspect
    #   #=> "#<LLaMACpp::Timings prompt: 0.0 ms / 0 tokens, eval: 0.0 ms / 0 tokens>"
    def inspect
      format('#<%<class>s prompt: %<prompt>.1f ms / %<n_prompt>d tokens, eval: %<eval>.1f ms / %<n_eval>d tokens>',
             class: self.class, prompt: t_p_eval_ms, n_prompt: n_p_eval, eval: t_eval_ms, n_eval:)
    end
  end
end
