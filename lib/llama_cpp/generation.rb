# frozen_string_literal: true

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

    CLAIMS = Mutex.new
    private_constant :CLAIMS

    # @param context [Context]
    # @param tokens [Array<Integer>] the prompt
    # @param settings [Hash{Symbol => Object}] as {LLaMACpp.generate} takes them, and +:stop_tokens+, which end it like
    #   the end of the sequence
    # @param cached [Integer] how many of the tokens the cache has already, at their positions in the sequence 0
    def initialize(context, tokens, settings, cached: 0)
      @context = context
      @tokens = tokens
      @settings = settings
      @past = cached
      check_room
    end

    # The tokens that the cache has, if it did not overflow.
    # @return [Array<Integer>]
    def cached_tokens
      @history.first(@past)
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
        yield part if block_given?
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

      raise ArgumentError, "the prompt has #{@tokens.size} tokens, a context of #{@context.n_ctx} takes #{room}: " \
                           'shorten it, or make the context with a larger n_ctx'
    end

    def each_piece
      exclusively do
        prepare
        feed(@tokens.drop(@past))
        each_token { |id| yield @context.model.token_to_piece(id) }
      end
    end

    def prepare
      @past.zero? ? @context.kv_cache_clear : @context.kv_cache_seq_rm(0, @past, -1)
      @context.send(:native_restart_rng, @settings[:seed])
      @history = @tokens.dup
      @chain = SamplerChain.new(@context, @settings)
    end

    def each_token
      ends = [@context.model.token_eos, *@settings[:stop_tokens]]
      remaining = @settings[:n_predict]
      until remaining.zero?
        id = @chain.draw(penalized_tokens)
        return if ends.include?(id)

        yield id
        return if (remaining -= 1).zero?

        @history << id
        feed([id])
      end
    end

    def penalized_tokens
      count = @settings[:repeat_last_n]
      count.negative? ? @history : @history.last(count)
    end

    # Decodes the tokens at the end of what the cache has.
    def feed(tokens)
      tokens.each_slice([@settings[:n_batch], @context.n_batch].min) do |part|
        make_room if @past + part.size > @context.n_ctx
        @context.send(:native_decode_tokens, part, @past)
        @past += part.size
      end
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

    # Two runs at once on one context would feed each other's tokens.
    def exclusively
      claim
      threads = @context.n_threads, @context.n_threads_batch
      @context.send(:native_set_n_threads, *([@settings[:n_threads]] * 2)) if @settings[:n_threads]
      yield
    ensure
      @context.send(:native_set_n_threads, *threads) if threads && @settings[:n_threads]
      CLAIMS.synchronize { @context.send(:generation=, nil) if @context.send(:generation).equal?(self) }
    end

    def claim
      CLAIMS.synchronize do
        if @context.send(:generation)
          raise 'another generate is running on this context: give each thread a context of its own, or take turns'
        end

        @context.send(:generation=, self)
      end
    end
  end
  private_constant :Generation

  class Context
    # As {LLaMACpp.generate}, on this context.
    #
    # @param prompt [String] the text to continue
    # @param options [Hash] its keywords
    # @yield (see LLaMACpp.generate)
    # @yieldparam (see LLaMACpp.generate)
    # @return (see LLaMACpp.generate)
    # @raise (see LLaMACpp.generate)
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   context.generate('The capital of Japan is', temperature: 0) #=> "Tokyo."
    def generate(prompt, **options, &block)
      LLaMACpp.generate(self, prompt, **options, &block)
    end

    private

    # @return [Generation, nil] the run that is under way
    attr_reader :generation

    # @return [Integer] how many runs there were, so that one can tell whether another came between
    def runs
      @runs ||= 0
    end

    def generation=(generation)
      @generation = generation
      @runs = runs + 1 if generation
    end
  end

  # The kinds that the keywords of {LLaMACpp.generate} must have.
  GENERATE_KINDS = {
    n_predict: Integer, n_keep: Integer, n_batch: Integer, repeat_last_n: Integer, top_k: Integer, mirostat: Integer,
    repeat_penalty: Numeric, frequency: Numeric, presence: Numeric, top_p: Numeric, tfs_z: Numeric, typical_p: Numeric,
    min_p: Numeric, temperature: Numeric, tau: Numeric, eta: Numeric
  }.freeze
  private_constant :GENERATE_KINDS

  module_function

  # Generates the continuation of a prompt.
  #
  # It starts from an empty cache and from the context's seed each time: a used context gives what a fresh one gives.
  # When the context is full, the first +n_keep+ tokens stay, the older half of the rest goes, and generation goes on.
  #
  # @param context [Context] the context to work with
  # @param prompt [String] the text to continue, of at most <tt>n_ctx - 4</tt> tokens
  # @param n_predict [Integer] the most tokens to generate; negative: until the end of the sequence
  # @param n_keep [Integer] tokens at the beginning to keep when the context is full; negative: the prompt
  # @param n_batch [Integer] the most tokens to decode at once
  # @param repeat_last_n [Integer] the tokens that count for the penalties; negative: all
  # @param repeat_penalty [Float] see {Context#sample_repetition_penalties}; 1.0 is none
  # @param frequency [Float] penalty for each occurrence; 0.0 is none
  # @param presence [Float] penalty for any occurrence; 0.0 is none
  # @param top_k [Integer] see {Context#sample_top_k}; 0 keeps all
  # @param top_p [Float] see {Context#sample_top_p}; 1.0 keeps all
  # @param tfs_z [Float] see {Context#sample_tail_free}; 1.0 keeps all
  # @param typical_p [Float] see {Context#sample_typical}; 1.0 keeps all
  # @param temperature [Float] see {Context#sample_temp}; 0.0 or less takes the most probable token
  # @param n_threads [Integer, nil] threads for this run; nil as the context was made
  # @param min_p [Float] see {Context#sample_min_p}; 0.0 keeps all
  # @param mirostat [Integer] 1 or 2 for Mirostat instead of the filters; 0 for none
  # @param tau [Float] Mirostat's target surprise in bits
  # @param eta [Float] Mirostat's learning rate
  # @param logit_bias [Hash{Integer => Float}, nil] added to the logits of tokens
  # @param grammar [Grammar, String, nil] what the text must follow; a String is GBNF
  # @param stop [String, Regexp, Array<String, Regexp>, nil] texts that end the generation and are not returned. Of a
  #   Regexp, matches of up to 128 characters are found.
  # @param seed [Integer, nil] start of the random numbers for this run
  # @param echo [Boolean] begin with the prompt
  # @param stream [Boolean] return an Enumerator::Lazy when there is no block
  # @yield [text] as it comes, never half a character; +break+ ends it
  # @yieldparam text [String]
  # @return [String, Enumerator::Lazy] the continuation, without white space around it
  # @raise [ArgumentError] for a wrong kind of value, or a prompt that is too long
  # @raise [RuntimeError] when another thread uses the context
  # @example
  #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
  #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
  #   LLaMACpp.generate(context, 'The capital of France is', temperature: 0) #=> "Paris."
  def generate(context, prompt, n_predict: 128, n_keep: 10, n_batch: 512, repeat_last_n: 64, repeat_penalty: 1.1,
               frequency: 0.0, presence: 0.0, top_k: 40, top_p: 0.95, tfs_z: 1.0, typical_p: 1.0, temperature: 0.8,
               n_threads: nil, min_p: 0.0, mirostat: 0, tau: 5.0, eta: 0.1, logit_bias: nil, grammar: nil, stop: nil,
               seed: nil, echo: false, stream: false, &block)
    settings = { n_predict:, n_keep:, n_batch:, repeat_last_n:, repeat_penalty:, frequency:, presence:, top_k:, top_p:,
                 tfs_z:, typical_p:, temperature:, n_threads:, min_p:, mirostat:, tau:, eta:, logit_bias:, grammar:,
                 stop:, seed:, echo: }
    check_generate(context, prompt, settings)
    return stream_lazily(context, prompt, settings) if stream && !block

    run_generation(context, prompt, settings, &block).strip
  end

  class << self
    private

    def stream_lazily(context, prompt, settings)
      Enumerator.new { |texts| run_generation(context, prompt, settings) { |text| texts << text } }.lazy
    end

    # The settings of an answer, from the keywords of {Chat#say}.
    def chat_settings(context, n_predict, options)
      refused = options.keys & %i[n_keep echo stream]
      raise ArgumentError, "unknown keyword: #{refused.map(&:inspect).join(', ')}" unless refused.empty?

      settings = GENERATE_DEFAULTS.merge(n_predict:, **options)
      unknown = settings.keys - GENERATE_DEFAULTS.keys
      raise ArgumentError, "unknown keyword: #{unknown.map(&:inspect).join(', ')}" unless unknown.empty?

      check_generate(context, '', settings)
      generate_settings(settings)
    end

    def run_generation(context, prompt, settings, &)
      prompt = in_utf8('prompt', prompt)
      tokens = context.model.tokenize(text: " #{prompt}", add_bos: true)
      echo = settings[:echo] ? prompt.scrub('?') : ''
      Generation.new(context, tokens, generate_settings(settings)).run(echo:, &)
    end

    def check_generate(context, prompt, settings)
      unless context.is_a?(Context)
        raise ArgumentError, "context must be a Context, got an instance of #{context.class}"
      end
      raise ArgumentError, "prompt must be a String, got an instance of #{prompt.class}" unless prompt.is_a?(String)

      GENERATE_KINDS.each { |name, kind| check_kind(name, settings[name], kind) }
      check_ranges(settings)
      check_stop(settings[:stop])
      check_grammar(settings[:grammar])
      check_logit_bias(settings[:logit_bias])
    end

    # As a model takes a text: raw bytes as they are, other encodings converted.
    def in_utf8(name, text)
      raw = [Encoding::UTF_8, Encoding::US_ASCII, Encoding::BINARY].include?(text.encoding)
      raw ? text.dup.force_encoding(Encoding::UTF_8) : text.encode(Encoding::UTF_8)
    rescue EncodingError => e
      raise ArgumentError, "#{name} cannot be converted from #{text.encoding} to UTF-8: #{e.message}"
    end

    def check_kind(name, value, kind)
      kind == Integer ? check_integer(name, value) : check_float(name, value)
    end

    def check_integer(name, value)
      raise ArgumentError, "#{name} must be an Integer, got #{value.inspect[0, 40]}" unless value.is_a?(Integer)
      return if value.bit_length < 32

      raise ArgumentError, "#{name} is #{value}, it must be between -2147483648 and 2147483647"
    end

    def check_float(name, value)
      return if value.is_a?(Integer)
      raise ArgumentError, "#{name} must be a Float, got #{value.inspect[0, 40]}" unless value.is_a?(Float)
      raise ArgumentError, "#{name} is NaN" if value.nan?
    end

    def check_ranges(settings)
      %i[n_batch].each do |name|
        raise ArgumentError, "#{name} is #{settings[name]}, it must be 1 or more" unless settings[name].positive?
      end
      return if (0..2).cover?(settings[:mirostat])

      raise ArgumentError, "mirostat is #{settings[:mirostat]}, it must be 0 (none), 1 or 2"
    end

    def check_stop(stop)
      Array(stop).each do |text|
        next if text.is_a?(String) && !text.empty?
        next if text.is_a?(Regexp) && (!text.fixed_encoding? || text.encoding == Encoding::UTF_8)

        raise ArgumentError,
              "stop must be a String that is not empty, a Regexp for UTF-8, or an Array of them, got #{text.inspect}"
      end
    end

    def check_grammar(grammar)
      return if grammar.nil? || grammar.is_a?(Grammar) || grammar.is_a?(String)

      raise ArgumentError, "grammar must be a Grammar or a String, got an instance of #{grammar.class}"
    end

    def check_logit_bias(bias)
      return if bias.nil?
      raise ArgumentError, "logit_bias must be a Hash, got an instance of #{bias.class}" unless bias.is_a?(Hash)

      bias.each do |id, value|
        check_integer('a token of logit_bias', id)
        check_float("logit_bias[#{id}]", value)
      end
    end

    # A grammar remembers where it stands: each run has its own.
    def generate_settings(settings)
      grammar = settings[:grammar]
      grammar = grammar.is_a?(String) ? Grammar.from_gbnf(grammar) : grammar&.dup
      stop = Array(settings[:stop]).map { |text| text.is_a?(String) ? in_utf8('stop', text) : text }
      settings.merge(grammar:, stop:)
    end
  end
end
