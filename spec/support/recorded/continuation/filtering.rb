# frozen_string_literal: true

module Recorded
  class Continuation
    # What each sampler leaves of the candidates.
    module Filtering
      def top_k_size
        context = prompted
        candidates = candidates(context)
        before = [candidates.size, candidates.sorted]
        context.sample_top_k(candidates, k: 8)
        before + [candidates.size, candidates.sorted]
      end

      def top_p_size
        left_by([0.1, 0.5, 0.9, 1.0]) { |context, candidates, prob| context.sample_top_p(candidates, prob:) }
      end

      def min_p_size
        left_by([0.0, 0.05, 0.3]) { |context, candidates, prob| context.sample_min_p(candidates, prob:) }
      end

      def tail_free_size
        left_by([0.5, 0.9, 1.0]) { |context, candidates, z| context.sample_tail_free(candidates, z:) }
      end

      def typical_size
        left_by([0.2, 0.5, 1.0]) { |context, candidates, prob| context.sample_typical(candidates, prob:) }
      end

      private

      # The size of the candidates and whether they are sorted, after a sampler with each of these values.
      def left_by(values)
        context = prompted
        values.map do |value|
          candidates = candidates(context)
          yield context, candidates, value
          [candidates.size, candidates.sorted]
        end
      end
    end
  end
end
