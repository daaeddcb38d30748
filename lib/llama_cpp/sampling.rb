# frozen_string_literal: true

module LLaMACpp
  # The samplers. Each works on a {TokenDataArray}, whose entries it may change, sort and drop.
  #
  # A logit that is NaN counts as impossible (-Infinity). The methods that choose a token raise RuntimeError when no
  # candidate is left, or none is possible.
  class Context
    # Lowers the logits of tokens that occurred lately.
    #
    # @param candidates [TokenDataArray]
    # @param last_n_tokens [Array<Integer>] the tokens that count
    # @param penalty_repeat [Float] positive logits are divided by it, negative ones multiplied; 1.0 is no penalty
    # @param penalty_freq [Float] taken off for each occurrence
    # @param penalty_present [Float] taken off once
    # @return [nil]
    # @raise [ArgumentError] for a wrong kind of value, or NaN
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #   candidates = context.candidates
    #   penalties = { penalty_repeat: 2.0, penalty_freq: 0.0, penalty_present: 0.0 }
    #   context.sample_repetition_penalties(candidates, [444], **penalties) #=> nil
    def sample_repetition_penalties(candidates, last_n_tokens, penalty_repeat:, penalty_freq:, penalty_present:)
      native_repetition_penalties(candidates, last_n_tokens, penalty_repeat, penalty_freq, penalty_present)
    end

    # Keeps the +k+ best.
    #
    # @param candidates [TokenDataArray]
    # @param k [Integer] how many
    # @param min_keep [Integer] the fewest that stay
    # @return [nil]
    # @raise [ArgumentError] for a wrong kind of value, or NaN
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #   candidates = context.candidates
    #   context.sample_top_k(candidates, k: 2) #=> nil
    def sample_top_k(candidates, k:, min_keep: 1)
      native_top_k(candidates, k, min_keep)
    end

    # Keeps the most probable until their probabilities add up to +prob+ (nucleus sampling).
    #
    # @param candidates [TokenDataArray]
    # @param prob [Float] 1.0 and above keeps all
    # @param min_keep [Integer] the fewest that stay
    # @return [nil]
    # @raise [ArgumentError] for a wrong kind of value, or NaN
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #   candidates = context.candidates
    #   context.sample_top_p(candidates, prob: 0.9) #=> nil
    def sample_top_p(candidates, prob:, min_keep: 1)
      native_top_p(candidates, prob, min_keep)
    end

    # Keeps those that are at least +prob+ times as probable as the best.
    #
    # @param candidates [TokenDataArray]
    # @param prob [Float] 0.0 and below keeps all
    # @param min_keep [Integer] the fewest that stay
    # @return [nil]
    # @raise [ArgumentError] for a wrong kind of value, or NaN
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #   candidates = context.candidates
    #   context.sample_min_p(candidates, prob: 0.05) #=> nil
    def sample_min_p(candidates, prob:, min_keep: 1)
      native_min_p(candidates, prob, min_keep)
    end

    # Cuts the tail of improbable candidates where the curve of the probabilities flattens.
    #
    # @param candidates [TokenDataArray]
    # @param z [Float] 1.0 and above keeps all
    # @param min_keep [Integer] the fewest that stay
    # @return [nil]
    # @raise [ArgumentError] for a wrong kind of value, or NaN
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #   candidates = context.candidates
    #   context.sample_tail_free(candidates, z: 0.95) #=> nil
    def sample_tail_free(candidates, z:, min_keep: 1)
      native_tail_free(candidates, z, min_keep)
    end

    # Keeps those whose surprise is nearest to the expected one, until their probabilities add up to +prob+.
    #
    # @param candidates [TokenDataArray]
    # @param prob [Float] 1.0 and above keeps all
    # @param min_keep [Integer] the fewest that stay
    # @return [nil]
    # @raise [ArgumentError] for a wrong kind of value, or NaN
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #   candidates = context.candidates
    #   context.sample_typical(candidates, prob: 0.9) #=> nil
    def sample_typical(candidates, prob:, min_keep: 1)
      native_typical(candidates, prob, min_keep)
    end

    # Divides the logits by +temp+. At 0.0 or below only the best candidate stays possible.
    #
    # @param candidates [TokenDataArray]
    # @param temp [Float] below 1.0 sharpens, above 1.0 flattens
    # @return [nil]
    # @raise [ArgumentError] for a wrong kind of value, or NaN
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #   candidates = context.candidates
    #   context.sample_temp(candidates, temp: 0.8) #=> nil
    def sample_temp(candidates, temp:)
      native_temp(candidates, temp)
    end

    # As {#sample_temp}.
    #
    # @deprecated Use {#sample_temp}.
    # @param candidates [TokenDataArray]
    # @param temperature [Float]
    # @return [nil]
    # @raise (see #sample_temp)
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #   candidates = context.candidates
    #   context.sample_temperature(candidates, temperature: 0.8) #=> nil
    def sample_temperature(candidates, temperature:)
      deprecated(:sample_temperature, :sample_temp)
      native_temp(candidates, temperature)
    end

    # Moves the candidates away from what another context would say (classifier-free guidance).
    #
    # @param candidates [TokenDataArray] the whole vocabulary in the order of the ids
    # @param guidance [Context] a context of a model with the same vocabulary, with its logits; they stay as they are
    # @param scale [Float] how far; 1.0 is not at all
    # @return [nil]
    # @raise [ArgumentError] for other candidates, or another vocabulary
    # @raise [RuntimeError] when the other context has no logits
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #   candidates = context.candidates
    #   other = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   other.decode(LLaMACpp::Batch.get_one(tokens: [1], n_tokens: 1, pos_zero: 0, seq_id: 0))
    #   context.sample_classifier_free_guidance(candidates, guidance: other, scale: 1.5) #=> nil
    def sample_classifier_free_guidance(candidates, guidance:, scale:)
      native_guidance(candidates, guidance, scale)
    end

    # As {#sample_classifier_free_guidance}, on Arrays: +logits+ gets the guided values.
    #
    # @param logits [Array<Float>] +n_vocab+ values, changed in place
    # @param logits_guidance [Array<Float>] +n_vocab+ values
    # @param scale [Float] how far; 1.0 is not at all
    # @return [nil]
    # @raise [ArgumentError] for unequal lengths, or others than +n_vocab+
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #   candidates = context.candidates
    #   logits = context.logits
    #   context.sample_apply_guidance(logits: logits, logits_guidance: context.logits, scale: 1.0)
    #   logits.sum { |l| Math.exp(l) }.round(3) #=> 1.0
    def sample_apply_guidance(logits:, logits_guidance:, scale:)
      native_apply_guidance(logits, logits_guidance, scale)
    end

    # Makes the candidates impossible that the grammar does not allow next.
    #
    # @param candidates [TokenDataArray]
    # @param grammar [Grammar]
    # @return [nil]
    # @raise [RuntimeError] when the grammar is too ambiguous to follow
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #   candidates = context.candidates
    #   context.sample_grammar(candidates, grammar: LLaMACpp::Grammar.from_gbnf('root ::= [0-9]+'))
    #   model.token_to_piece(context.sample_token_greedy(candidates)).match?(/\A[0-9]+\z/) #=> true
    def sample_grammar(candidates, grammar:)
      native_grammar(candidates, grammar)
    end

    # Tells the grammar which token was chosen.
    #
    # @param grammar [Grammar]
    # @param token [Integer]
    # @return [nil]
    # @raise [RuntimeError] for a token that the grammar forbids; the grammar stays as it was
    # @raise [ArgumentError] for a token outside of the vocabulary
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #   candidates = context.candidates
    #   grammar = LLaMACpp::Grammar.from_gbnf('root ::= " a"')
    #   context.grammar_accept_token(grammar: grammar, token: model.tokenize(text: 'a').last)
    #   grammar.may_end? #=> true
    def grammar_accept_token(grammar:, token:)
      native_accept_token(grammar, token)
    end

    # @!method sample_softmax(candidates)
    #   Sorts the candidates by their logits, the largest first, and computes their probabilities.
    #   @param candidates [TokenDataArray]
    #   @return [nil]
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #     context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #     candidates = context.candidates
    #     context.sample_softmax(candidates) #=> nil
    #     candidates.probabilities.sum.round(3) #=> 1.0

    # @!method sample_token_greedy(candidates)
    #   @param candidates [TokenDataArray]
    #   @return [Integer] the candidate with the largest logit
    #   @raise [RuntimeError] when no candidate is possible
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #     tokens = model.tokenize(text: 'The capital of France is', add_bos: true)
    #     context.decode(LLaMACpp::Batch.get_one(tokens: tokens, n_tokens: tokens.size, pos_zero: 0, seq_id: 0))
    #     model.token_to_piece(context.sample_token_greedy(context.candidates)) #=> " P"

    # @!method sample_token(candidates)
    #   Draws one of the candidates, each with its probability.
    #   @param candidates [TokenDataArray]
    #   @return [Integer] its id
    #   @raise [RuntimeError] when no candidate is possible
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #     context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #     candidates = context.candidates
    #     context.sample_top_k(candidates, k: 1)
    #     context.sample_token(candidates) == candidates[0].id #=> true

    # Draws a token so that the surprise stays near +tau+ (Mirostat 1).
    #
    # @param candidates [TokenDataArray]
    # @param tau [Float] the surprise that is aimed at, in bits
    # @param eta [Float] how fast +mu+ follows
    # @param m [Integer] candidates that the estimate looks at
    # @param mu [Float] the state; twice +tau+ to begin with
    # @return [Array(Integer, Float)] the token and the new +mu+
    # @raise [RuntimeError] when no candidate is possible
    # @raise [ArgumentError] for numbers that are not finite, or an +m+ below 2
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #   candidates = context.candidates
    #   id, mu = context.sample_token_mirostat(candidates, tau: 5.0, eta: 0.1, m: 100, mu: 10.0)
    #   [id.class, mu.class] #=> [Integer, Float]
    def sample_token_mirostat(candidates, tau:, eta:, m:, mu:)
      native_mirostat(candidates, tau, eta, m, mu)
    end

    # Draws a token so that the surprise stays near +tau+ (Mirostat 2).
    #
    # @param candidates [TokenDataArray]
    # @param tau [Float] the surprise that is aimed at, in bits
    # @param eta [Float] how fast +mu+ follows
    # @param mu [Float] the state; twice +tau+ to begin with
    # @return [Array(Integer, Float)] the token and the new +mu+
    # @raise (see #sample_token_mirostat)
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #   candidates = context.candidates
    #   id, mu = context.sample_token_mirostat_v2(candidates, tau: 5.0, eta: 0.1, mu: 10.0)
    #   [id.class, mu.class] #=> [Integer, Float]
    def sample_token_mirostat_v2(candidates, tau:, eta:, mu:)
      native_mirostat_v2(candidates, tau, eta, mu)
    end
  end
end
