# frozen_string_literal: true

module LLaMACpp
  # The keywords of {LLaMACpp.generate}, checked, and as a {Generation} takes them.
  #
  # @api private
  class GenerateSettings
    # Those of {LLaMACpp.generate}, for {Chat#say}, which takes the same keywords.
    DEFAULTS = {
      n_predict: 128, n_keep: 10, n_batch: 512, repeat_last_n: 64, repeat_penalty: 1.1, frequency: 0.0, presence: 0.0,
      top_k: 40, top_p: 0.95, tfs_z: 1.0, typical_p: 1.0, temperature: 0.8, n_threads: nil, min_p: 0.0, mirostat: 0,
      tau: 5.0, eta: 0.1, logit_bias: nil, grammar: nil, stop: nil, seed: nil, echo: false
    }.freeze

    # The kinds that they must have.
    KINDS = {
      n_predict: Integer, n_keep: Integer, n_batch: Integer, repeat_last_n: Integer, top_k: Integer, mirostat: Integer,
      repeat_penalty: Float, frequency: Float, presence: Float, top_p: Float, tfs_z: Float, typical_p: Float,
      min_p: Float, temperature: Float, tau: Float, eta: Float
    }.freeze
    private_constant :KINDS

    # @param n_vocab [Integer] tokens of the model's vocabulary
    # @param options [Hash{Symbol => Object}] some of the keywords
    # @param refused [Array<Symbol>] those that make no sense here
    # @return [GenerateSettings] with the defaults of the others
    # @raise [ArgumentError] for an unknown keyword
    def self.with_defaults(n_vocab, options, refused: [])
      unknown = options.keys - (DEFAULTS.keys - refused)
      raise ArgumentError, "unknown keyword: #{unknown.map(&:inspect).join(', ')}" unless unknown.empty?

      new(DEFAULTS.merge(options), n_vocab)
    end

    # @param context [Object]
    # @raise [ArgumentError] if it is no {Context}
    def self.check_context(context)
      return if context.is_a?(Context)

      hint = ': make one with Model#context' if context.is_a?(Model)
      raise ArgumentError, "context must be a Context, got an instance of #{context.class}#{hint}"
    end

    # As a model takes a text: raw bytes as they are, other encodings converted.
    #
    # @param name [String] what it is, for the error
    # @param text [String]
    # @return [String] in UTF-8
    def self.in_utf8(name, text)
      raw = [Encoding::UTF_8, Encoding::US_ASCII, Encoding::BINARY].include?(text.encoding)
      raw ? text.dup.force_encoding(Encoding::UTF_8) : text.encode(Encoding::UTF_8)
    rescue EncodingError => e
      raise ArgumentError, "#{name} cannot be converted from #{text.encoding} to UTF-8: #{e.message}"
    end

    # @param keywords [Hash{Symbol => Object}] all of them
    # @param n_vocab [Integer] tokens of the model's vocabulary
    # @raise [ArgumentError] for a wrong kind of value
    def initialize(keywords, n_vocab)
      @keywords = keywords
      @n_vocab = n_vocab
      KINDS.each { |name, kind| check_kind(name, keywords[name], kind) }
      check_ranges
      check_stop
      check_grammar
      check_logit_bias
    end

    # A grammar remembers where it stands: each run has its own.
    #
    # @return [Hash{Symbol => Object}]
    def for_run
      grammar = @keywords[:grammar]
      grammar = grammar.is_a?(String) ? parse(grammar) : grammar&.dup
      stop = Array(@keywords[:stop]).map { |text| text.is_a?(String) ? self.class.in_utf8('stop', text) : text }
      @keywords.merge(grammar:, stop:)
    end

    private

    def parse(grammar)
      text = self.class.in_utf8('grammar', grammar)
      Grammar.from_gbnf(text)
    rescue ArgumentError => e
      hint = ' (the text of a grammar is wanted here, not the name of a file)' unless text.nil? || text.include?('::=')
      raise ArgumentError, "grammar: #{e.message}#{hint}"
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

    def check_ranges
      n_batch, mirostat = @keywords.values_at(:n_batch, :mirostat)
      raise ArgumentError, "n_batch is #{n_batch}, it must be 1 or more" unless n_batch.positive?
      return if (0..2).cover?(mirostat)

      raise ArgumentError, "mirostat is #{mirostat}, it must be 0 (none), 1 or 2"
    end

    def check_stop
      Array(@keywords[:stop]).each do |text|
        next if text.is_a?(String) && !text.empty?
        next if text.is_a?(Regexp) && (!text.fixed_encoding? || text.encoding == Encoding::UTF_8)

        raise ArgumentError,
              "stop must be a String that is not empty, a Regexp for UTF-8, or an Array of them, got #{text.inspect}"
      end
    end

    def check_grammar
      grammar = @keywords[:grammar]
      return if grammar.nil? || grammar.is_a?(Grammar) || grammar.is_a?(String)

      raise ArgumentError, "grammar must be a Grammar or a String, got an instance of #{grammar.class}"
    end

    def check_logit_bias
      bias = @keywords[:logit_bias]
      return if bias.nil?
      raise ArgumentError, "logit_bias must be a Hash, got an instance of #{bias.class}" unless bias.is_a?(Hash)

      bias.each do |id, value|
        check_integer('a token of logit_bias', id)
        unless id.between?(0, @n_vocab - 1)
          raise ArgumentError, "logit_bias has the token #{id}, the vocabulary has 0 to #{@n_vocab - 1}"
        end

        check_float("logit_bias[#{id}]", value)
      end
    end
  end
  private_constant :GenerateSettings
end
