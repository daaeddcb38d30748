# frozen_string_literal: true

module Recorded
  class Continuation
    # What each sampler draws, token after token.
    module Drawing
      # The tokens that are drawn.
      LENGTH = 25

      # What the model is bound to in the case of a grammar.
      DIGITS = 'root ::= [0-9]+'

      def greedy
        draw(40) { |context, candidates| context.sample_token_greedy(candidates) }
      end

      def sample_token
        draw { |context, candidates| context.sample_token(candidates) }
      end

      def top_k
        draw_after { |context, candidates| context.sample_top_k(candidates, k: 8) }
      end

      def top_p
        draw_after { |context, candidates| context.sample_top_p(candidates, prob: 0.8) }
      end

      def temp
        draw_after { |context, candidates| context.sample_temp(candidates, temp: 0.5) }
      end

      def penalties
        draw do |context, candidates, drawn|
          unless drawn.empty?
            context.sample_repetition_penalties(candidates, drawn,
                                                penalty_repeat: 1.3, penalty_freq: 0.2, penalty_present: 0.1)
          end
          context.sample_token_greedy(candidates)
        end
      end

      def mirostat
        mu = 10.0
        draw do |context, candidates|
          id, mu = context.sample_token_mirostat(candidates, tau: 5.0, eta: 0.1, m: 100, mu:)
          id
        end
      end

      def mirostat_v2
        mu = 10.0
        draw do |context, candidates|
          id, mu = context.sample_token_mirostat_v2(candidates, tau: 5.0, eta: 0.1, mu:)
          id
        end
      end

      def set_rng_seed
        context = prompted
        Array.new(3) do
          context.set_rng_seed(7)
          context.sample_token(candidates(context))
        end
      end

      def cfg
        context = prompted
        guidance = Models.new_context(@model, n_ctx: N_CTX)
        Models.decode(guidance, @tokens.first(1))
        candidates = candidates(context)
        context.sample_classifier_free_guidance(candidates, guidance:, scale: 1.5)
        context.sample_token_greedy(candidates)
      end

      # A grammar of digits, which the original could not use: ten tokens as text.
      def grammar_digits
        grammar = LLaMACpp::Grammar.from_gbnf(DIGITS)
        ids = draw(10) do |context, candidates|
          context.sample_grammar(candidates, grammar:)
          context.sample_token_greedy(candidates).tap { |token| context.grammar_accept_token(grammar:, token:) }
        end
        ids.map { |id| @model.token_to_piece(id) }.join
      end

      private

      # Tokens one after the other, each as the block chooses it.
      def draw(count = LENGTH)
        context = prompted
        drawn = []
        loop do
          drawn << yield(context, candidates(context), drawn)
          return drawn if drawn.size == count

          Models.decode(context, drawn.last(1), pos: @tokens.size + drawn.size - 1)
        end
      end

      def draw_after
        draw do |context, candidates|
          yield context, candidates
          context.sample_token(candidates)
        end
      end
    end
  end
end
