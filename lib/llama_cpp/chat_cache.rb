# frozen_string_literal: true

module LLaMACpp
  # What a context's cache has of a {Chat}: only the rest is decoded in a turn.
  #
  # @api private
  class ChatCache
    # @param context [Context]
    def initialize(context)
      @context = context
      forget
    end

    # Nothing of the cache is known any more.
    def forget
      @tokens = []
      @runs = nil
    end

    # @param tokens [Array<Integer>] what the cache has after a turn
    def remember(tokens)
      @tokens = tokens
      @runs = @context.send(:runs)
    end

    # How many of the tokens the cache has, after what lies between them and others that it has was taken out. One of
    # them at least is decoded again, for its logits.
    #
    # @param tokens [Array<Integer>] the conversation
    # @param gap [Boolean] whether something may have been left out of it
    # @return [Integer]
    def reuse(tokens, gap:)
      return 0 unless @runs == @context.send(:runs) && @context.kv_cache_token_count == @tokens.size

      same = common_prefix(tokens)
      same = close_gap(tokens, same) if gap
      [same, tokens.size - 1].min
    end

    private

    def common_prefix(tokens)
      tokens.zip(@tokens).index { |token, cached| token != cached } || tokens.size
    end

    # Where an old exchange was left out, what follows it moves up in the cache instead of being decoded again.
    def close_gap(tokens, same)
      gap = (1...(@tokens.size - same)).find do |size|
        tokens[same, @tokens.size - same - size] == @tokens.drop(same + size)
      end
      return same unless gap

      @context.kv_cache_seq_rm(0, same, same + gap)
      @context.kv_cache_seq_shift(0, same + gap, -1, -gap)
      @tokens.size - gap
    rescue RuntimeError
      # Quantized keys cannot be moved: the cache is filled anew.
      @context.kv_cache_clear
      0
    end
  end
  private_constant :ChatCache
end
