# frozen_string_literal: true

module Recorded
  class Continuation
    # Generated texts.
    module Texts
      def generate_cold
        generate(n_predict: 48, temperature: 0.01)
      end

      def generate_default
        generate(n_predict: 48)
      end

      def generate_opts
        generate(n_predict: 32, repeat_last_n: 16, repeat_penalty: 1.2, frequency: 0.2, presence: 0.1,
                 top_k: 20, tfs_z: 0.97, typical_p: 0.9, top_p: 0.9, temperature: 1.1)
      end

      # More tokens than the context has room for.
      def generate_past_ctx
        generate(n_predict: 300, temperature: 0.01)
      end

      # The same text, up to the token that would need more room.
      def generate_up_to_ctx
        prompt = @model.tokenize(text: " #{@prompt}", add_bos: true)
        generate(n_ctx: 512, n_predict: N_CTX - prompt.size, temperature: 0.01)
      end

      private

      def generate(n_ctx: N_CTX, **settings)
        LLaMACpp.generate(Models.new_context(@model, n_ctx:), @prompt, n_threads: 1, **settings)
      end
    end
  end
end
