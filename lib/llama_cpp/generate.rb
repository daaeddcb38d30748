# frozen_string_literal: true

require_relative 'generate_settings'
require_relative 'generation'

# llama.cpp in Ruby: load a GGUF model, generate text.
module LLaMACpp
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
    settings = checked_settings(context, prompt, settings)
    return stream_lazily(context, prompt, settings) if stream && !block

    run(context, prompt, settings, &block).strip
  end

  class << self
    private

    def checked_settings(context, prompt, settings)
      GenerateSettings.check_context(context)
      raise ArgumentError, "prompt must be a String, got an instance of #{prompt.class}" unless prompt.is_a?(String)

      GenerateSettings.new(settings, context.send(:native_model).n_vocab)
    end

    def stream_lazily(context, prompt, settings)
      Enumerator.new { |texts| run(context, prompt, settings, lazy: true) { |text| texts << text } }.lazy
    end

    def run(context, prompt, settings, lazy: false, &block)
      prompt = GenerateSettings.in_utf8('prompt', prompt)
      tokens = context.send(:native_model).tokenize(text: " #{prompt}", add_bos: true)
      settings = settings.for_run
      Generation.new(context, tokens, settings, lazy:).run(echo: settings[:echo] ? prompt.scrub('?') : '', &block)
    end
  end

  # A context: the KV cache of a {Model}, and the outputs of its last decode.
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

    # @return [Claim, nil] that of the run that is under way
    attr_reader :claim

    # @return [Integer] how many runs there were, so that one can tell whether another came between
    def runs
      @runs ||= 0
    end

    def claim=(claim)
      @claim = claim
      @runs = runs + 1 if claim
    end
  end
end
