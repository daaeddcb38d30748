# frozen_string_literal: true

module LLaMACpp
  # Chooses the next token: the samplers of {Context}, one after the other. It calls what is behind their keywords, and
  # looks at the settings once: a small model's step takes no longer than a few dozen calls of methods in Ruby.
  #
  # @api private
  class SamplerChain
    # @param context [Context]
    # @param settings [Hash{Symbol => Object}] as {LLaMACpp.generate} takes them
    def initialize(context, settings)
      @context = context
      @settings = settings
      @mu = 2.0 * settings[:tau]
      @grammar = settings[:grammar]
      @bias = settings[:logit_bias].to_a
      @penalties = settings.values_at(:repeat_penalty, :frequency, :presence)
      @filters = filters
    end

    # @param last_tokens [Array<Integer>] what has been said, for the penalties
    # @return [Integer] the token
    def draw(last_tokens)
      candidates = fresh_candidates
      @bias.each { |token, bias| candidates.add_bias(token, bias) }
      penalize(candidates, last_tokens)
      @context.sample_grammar(candidates, grammar: @grammar) if @grammar
      choose(candidates).tap { |id| @context.grammar_accept_token(grammar: @grammar, token: id) if @grammar }
    end

    private

    # The same object for each token: the logits of a large vocabulary fill several hundred kilobytes.
    def fresh_candidates
      return @candidates = @context.candidates unless @candidates

      @context.send(:native_refill_candidates, @candidates)
      @candidates
    end

    def penalize(candidates, last_tokens)
      return if last_tokens.empty?

      @context.send(:native_repetition_penalties, candidates, last_tokens, *@penalties)
    end

    def choose(candidates)
      return @context.sample_token_greedy(candidates) if @settings[:temperature] <= 0
      return choose_by_mirostat(candidates) unless @settings[:mirostat].zero?

      @filters.each { |name, value| @context.send(name, candidates, value, 1) }
      @context.send(:native_temp, candidates, @settings[:temperature])
      @context.sample_token(candidates)
    end

    # In the order of llama.cpp's own programs. Those that would keep everything are left out.
    def filters
      top_k, tfs_z, typical_p, top_p, min_p = @settings.values_at(:top_k, :tfs_z, :typical_p, :top_p, :min_p)
      [
        ([:native_top_k, top_k] if top_k.positive?), ([:native_tail_free, tfs_z] if tfs_z < 1),
        ([:native_typical, typical_p] if typical_p < 1), ([:native_top_p, top_p] if top_p < 1),
        ([:native_min_p, min_p] if min_p.positive?)
      ].compact
    end

    def choose_by_mirostat(candidates)
      tau, eta = @settings.values_at(:tau, :eta)
      @context.sample_temp(candidates, temp: @settings[:temperature])
      id, @mu = if @settings[:mirostat] == 1
                  @context.sample_token_mirostat(candidates, tau:, eta:, m: 100, mu: @mu)
                else
                  @context.sample_token_mirostat_v2(candidates, tau:, eta:, mu: @mu)
                end
      id
    end
  end
  private_constant :SamplerChain
end
