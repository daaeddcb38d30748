# frozen_string_literal: true

module Bench
  # Decoding and nothing else: the loop that everything is compared with.
  class BareLoop
    # Behind the control tokens and the bytes.
    FIRST = 259

    # @param context [LLaMACpp::Context]
    def initialize(context)
      @context = context
      @n_pieces = context.model.n_vocab - FIRST
      @batch = LLaMACpp::Batch.new(max_n_token: 1, n_embd: 0, max_n_seq: 1)
      @batch.n_tokens = 1
      @batch.set_n_seq_id(0, 1)
      @batch.set_seq_id(0, 0, 0)
      @batch.set_logits(0, true)
    end

    # @param prompt [Array<Integer>] tokens to begin with, decoded at once and not counted
    # @return [Float] seconds for that many others, one at a time
    def run(prompt, count)
      @context.kv_cache_clear
      feed(prompt, 0)
      Clock.time { prompt.size.upto(prompt.size + count - 1) { |pos| step(pos) } }
    end

    # @return [Float] seconds for that many tokens, one at a time, behind a first one that is not counted
    def decode(count)
      @context.kv_cache_clear
      step(0)
      Clock.time { 1.upto(count) { |pos| step(pos) } }
    end

    # Decodes until the time is over; as often as that takes from the beginning.
    #
    # @param seconds [Float]
    # @return [Float] tokens per second
    def rate(seconds)
      start = Clock.now
      count = 0
      until (elapsed = Clock.now - start) >= seconds
        pos = count % @context.n_ctx
        @context.kv_cache_clear if pos.zero?
        step(pos)
        count += 1
      end
      count / elapsed
    end

    # @param chunk [Integer] tokens to decode at once
    # @return [Float] seconds for a prompt of that many tokens
    def prompt(count, chunk = @context.n_batch)
      @context.kv_cache_clear
      tokens = Array.new(count) { |i| token(i) }
      Clock.time do
        tokens.each_slice(chunk).with_index { |part, i| feed(part, i * chunk) }
      end
    end

    private

    def feed(tokens, pos)
      @context.decode(LLaMACpp::Batch.get_one(tokens:, n_tokens: tokens.size, pos_zero: pos, seq_id: 0))
    end

    def step(pos)
      @batch.set_token(0, token(pos))
      @batch.set_pos(0, pos)
      @context.decode(@batch)
    end

    def token(index)
      FIRST + (index * 7919 % @n_pieces)
    end
  end
end
