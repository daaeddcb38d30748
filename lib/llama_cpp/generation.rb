# frozen_string_literal: true

require_relative 'claim'
require_relative 'sampler_chain'
require_relative 'text_stream'

# llama.cpp in Ruby: load a GGUF model, generate text.
module LLaMACpp
  # One run of {LLaMACpp.generate}: feeds the prompt, then draws token after token.
  #
  # @api private
  class Generation
    # The prompt leaves room for that many tokens at least.
    ROOM = 4

    # @param context [Context]
    # @param tokens [Array<Integer>] the prompt
    # @param settings [Hash{Symbol => Object}] as {LLaMACpp.generate} takes them, and +:stop_tokens+, which end it like
    #   the end of the sequence
    # @param cached [Integer] how many of the tokens the cache has already, at their positions in the sequence 0
    # @param lazy [Boolean] whether nobody may ever ask for the rest of the text: another run may take over then
    def initialize(context, tokens, settings, cached: 0, lazy: false)
      @context = context
      # The user may free theirs meanwhile.
      @model = context.send(:native_model)
      @tokens = tokens
      @settings = settings
      @past = cached
      @claim = Claim.new(context, lazy:)
      check_room
    end

    # The tokens that the cache has, if it did not overflow; none before the run.
    # @return [Array<Integer>]
    def cached_tokens
      @history ? @history.first(@past) : []
    end

    # @param echo [String] text to begin with
    # @yield [text] as it comes, whole characters only
    # @return [String] all of it
    def run(echo: '')
      text = TextStream.new(@settings[:stop])
      shown = +''
      emit = lambda do |part|
        next if part.empty?

        shown << part
        @claim.hand_over { yield part } if block_given?
      end
      emit.call(echo)
      each_piece do |piece|
        emit.call(text.push(piece))
        break if text.stopped?
      end
      emit.call(text.finish)
      shown
    end

    private

    def check_room
      room = @context.n_ctx - ROOM
      return if @tokens.size.between?(1, room)
      raise ArgumentError, 'the prompt has no tokens' if @tokens.empty?

      raise ArgumentError, "the prompt has #{@tokens.size} tokens, a context of #{@context.n_ctx} takes " \
                           "#{[room, 0].max}: shorten it, or make the context with a larger n_ctx"
    end

    def each_piece
      @claim.hold(@settings[:n_threads]) do
        prepare
        feed(@tokens.drop(@past))
        each_token { |id| yield @model.token_to_piece(id) }
      end
    end

    def prepare
      @past.zero? ? @context.kv_cache_clear : @context.kv_cache_seq_rm(0, @past, -1)
      @context.send(:native_restart_rng, @settings[:seed])
      @history = @tokens.dup
      @recent = recent_of(@history)
      @chain = SamplerChain.new(@context, @settings)
    end

    def each_token
      ends = [@model.token_eos, *@settings[:stop_tokens]]
      remaining = @settings[:n_predict]
      until remaining.zero?
        check_cache
        id = @chain.draw(@recent)
        return if ends.include?(id)

        yield id
        return if (remaining -= 1).zero?

        remember(id)
        decode([id])
      end
    end

    # What the user's block does to the cache shows up in the text otherwise.
    def check_cache
      return if @context.send(:native_used_cells) == @past

      raise 'the KV cache was changed while text was generated: use another context for other work'
    end

    # The tokens that count for the penalties.
    def recent_of(tokens)
      count = @settings[:repeat_last_n]
      count.negative? ? tokens : tokens.last(count)
    end

    # In place: a part of the history, taken for each token, would have Ruby copy the whole history each time.
    def remember(id)
      @history << id
      return if @recent.equal?(@history)

      @recent << id
      @recent.rotate!.pop if @recent.size > @settings[:repeat_last_n]
    end

    # Decodes any number of tokens.
    def feed(tokens)
      tokens.each_slice([@settings[:n_batch], @context.n_batch].min) { |part| decode(part) }
    end

    # Decodes tokens at the end of what the cache has.
    def decode(tokens)
      make_room if @past + tokens.size > @context.n_ctx
      @context.send(:native_decode_tokens, tokens, @past)
      @past += tokens.size
    end

    # Drops the older half of what is not to be kept, and moves the rest up.
    def make_room
      keep = @settings[:n_keep]
      keep = @tokens.size if keep.negative?
      keep = [keep, @past - 2].min
      dropped = [(@past - keep) / 2, 1].max
      @context.kv_cache_seq_rm(0, keep, keep + dropped)
      @context.kv_cache_seq_shift(0, keep + dropped, @past, -dropped)
      @past -= dropped
    end
  end
  private_constant :Generation
end
