# frozen_string_literal: true

# llama.cpp in Ruby: load a GGUF model, generate text.
module LLaMACpp
  module_function

  # The embedding of a text: a direction that texts of a similar meaning share.
  #
  # It is the model's state at the last token, computed in a context of its own: one that is passed stays as it is. With
  # +normalize+, the cosine similarity of two embeddings is <tt>a.zip(b).sum { |x, y| x * y }</tt>.
  #
  # @param context_or_model [Context, Model] whose model to use; a context's number of threads is taken over
  # @param input [String, Array<String>] a text, or several
  # @param normalize [Boolean] make the length 1
  # @return [Array<Float>, Array<Array<Float>>] +n_embd+ values for a text; an Array of them for an Array
  # @raise [ArgumentError] for a wrong kind of value, or a text longer than the model's training context
  # @raise [RuntimeError] for an empty model
  # @example
  #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
  #   a, b = LLaMACpp.embed(model, ['The cat says meow.', 'The dog says woof.'])
  #   a.size #=> 256
  #   a.zip(b).sum { |x, y| x * y }.between?(-1.0, 1.0) #=> true
  def embed(context_or_model, input, normalize: true)
    model = context_or_model.is_a?(Context) ? context_or_model.send(:native_model) : context_or_model
    raise ArgumentError, "expected a Context or a Model, got an instance of #{model.class}" unless model.is_a?(Model)

    texts = input.is_a?(Array) ? input : [input]
    unless texts.all?(String)
      raise ArgumentError, "input must be a String or an Array of Strings, got #{input.inspect[0, 40]}"
    end

    vectors = Embedder.new(model, context_or_model, texts, normalize:).vectors
    input.is_a?(Array) ? vectors : vectors.first
  end

  # Computes the embeddings of texts, one after the other, in a context of its own.
  #
  # @api private
  class Embedder
    # @param model [Model]
    # @param like [Context, Model] whose number of threads to use
    # @param texts [Array<String>]
    # @param normalize [Boolean]
    def initialize(model, like, texts, normalize:)
      @model = model
      @like = like
      @normalize = normalize
      @texts = texts.map { |text| model.tokenize(text:, add_bos: true) }
      limit = model.n_ctx_train
      longest = @texts.map(&:size).max || 0
      return if longest <= limit

      raise ArgumentError, "a text has #{longest} tokens, the model was trained with #{limit}: split it"
    end

    # @return [Array<Array<Float>>]
    def vectors
      return [] if @texts.empty?

      context = Context.new(model: @model, params:)
      @texts.map { |tokens| @normalize ? normalize(vector(context, tokens)) : vector(context, tokens) }
    ensure
      context&.free
    end

    private

    def params
      ContextParams.new.tap do |params|
        params.embedding = true
        params.n_ctx = [@texts.map(&:size).max, 32].max
        params.n_batch = [params.n_ctx, 512].min
        next unless @like.is_a?(Context)

        params.n_threads = @like.n_threads
        params.n_threads_batch = @like.n_threads_batch
      end
    end

    def vector(context, tokens)
      raise ArgumentError, 'a text has no tokens' if tokens.empty?

      context.kv_cache_clear
      tokens.each_slice(context.n_batch).with_index do |part, index|
        context.send(:native_decode_tokens, part, index * context.n_batch)
      end
      context.embeddings
    end

    def normalize(vector)
      length = Math.sqrt(vector.sum { |x| x * x })
      length.zero? ? vector : vector.map { |x| x / length }
    end
  end
  private_constant :Embedder
end
