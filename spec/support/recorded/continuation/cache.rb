# frozen_string_literal: true

require 'tmpdir'

module Recorded
  class Continuation
    # The KV cache, sequences, sessions.
    module Cache
      def kv
        context = prompted
        steps = [
          -> {},
          -> { context.kv_cache_seq_cp(0, 1, 0, -1) },
          -> { context.kv_cache_seq_rm(1, 0, 2) },
          -> { context.kv_cache_seq_keep(0) },
          -> { context.kv_cache_clear }
        ]
        steps.map do |step|
          step.call
          context.kv_cache_token_count
        end
      end

      # The second and the third token go, the rest moves up, and the last token follows once more.
      def kv_shift
        context = prompted
        context.kv_cache_seq_rm(0, 1, 3)
        context.kv_cache_seq_shift(0, 3, -1, -2)
        Models.decode(context, @tokens.last(1), pos: @tokens.size - 2)
        context.logits.first(32)
      end

      # The prompt out of a session file, and its last token once more.
      def session
        Dir.mktmpdir do |dir|
          session_path = File.join(dir, 'session')
          prompted.save_session_file(session_path:, session_tokens: @tokens)
          context = Models.new_context(@model, n_ctx: N_CTX)
          loaded = context.load_session_file(session_path:)
          Models.decode(context, @tokens.last(1), pos: @tokens.size)
          [loaded, context.logits.first(16), context.kv_cache_token_count]
        end
      end

      # The prompt as two sequences of one batch.
      def multi_seq_batch
        context = Models.new_context(@model, n_ctx: N_CTX)
        entries = [0, 1].flat_map do |seq|
          @tokens.each_with_index.map { |token, pos| [token, pos, [seq], pos == @tokens.size - 1] }
        end
        context.decode(Models.batch_of(*entries))
        [context.kv_cache_token_count, context.logits.last(8)]
      end
    end
  end
end
