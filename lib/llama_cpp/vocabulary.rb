# frozen_string_literal: true

module LLaMACpp
  # The vocabulary of a model. These methods are in the extension.
  class Model
    # @!group Vocabulary

    # @!method n_vocab
    #   @return [Integer] how many tokens the vocabulary has
    #   @raise [RuntimeError] when the model is empty
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     model.n_vocab #=> 640

    # @!method vocab_type
    #   @return [Integer] the kind of the vocabulary, one of +LLAMA_VOCAB_TYPE_…+
    #   @raise [RuntimeError] when the model is empty
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     model.vocab_type == LLaMACpp::LLAMA_VOCAB_TYPE_SPM #=> true

    # @!method token_to_piece(token)
    #   The bytes that a token stands for. Tokens may be parts of a character: join the pieces before you show them, or
    #   use {#detokenize}.
    #   @param token [Integer] its id
    #   @return [String] in UTF-8, perhaps invalid by itself; empty for control tokens and outside of the vocabulary
    #   @raise [RuntimeError] when the model is empty
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     model.token_to_piece(266) #=> " is"

    # @!method detokenize(tokens)
    #   The text of several tokens: all pieces, joined.
    #   @param tokens [Array<Integer>] their ids
    #   @return [String] in UTF-8
    #   @raise [RuntimeError] when the model is empty
    #   @raise [ArgumentError] for a wrong kind of value
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     model.detokenize(model.tokenize(text: 'The capital of France is')) #=> " The capital of France is"

    # @!method text(token)
    #   @param token [Integer] its id
    #   @return [String] how the vocabulary writes it: +▁+ for a space, +<0x0A>+ for a byte
    #   @raise [ArgumentError, IndexError] for an id outside of the vocabulary
    #   @raise [RuntimeError] when the model is empty
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     model.text(266) #=> "▁is"

    # @!method score(token)
    #   @param token [Integer] its id
    #   @return [Float] its score in the vocabulary; the tokenizer prefers higher ones
    #   @raise [ArgumentError, IndexError] for an id outside of the vocabulary
    #   @raise [RuntimeError] when the model is empty
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     model.score(266) #=> -7.0

    # @!method type(token)
    #   @param token [Integer] its id
    #   @return [Integer] its kind, one of +LLAMA_TOKEN_TYPE_…+
    #   @raise [ArgumentError, IndexError] for an id outside of the vocabulary
    #   @raise [RuntimeError] when the model is empty
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     model.type(1) == LLaMACpp::LLAMA_TOKEN_TYPE_CONTROL #=> true

    # @!method token_bos
    #   @return [Integer] the token for the beginning of a sequence
    #   @raise [RuntimeError] when the model is empty
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     model.token_bos #=> 1

    # @!method token_eos
    #   @return [Integer] the token for the end of a sequence
    #   @raise [RuntimeError] when the model is empty
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     model.token_eos #=> 2

    # @!method token_nl
    #   @return [Integer] the token for the end of a line
    #   @raise [RuntimeError] when the model is empty
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     model.text(model.token_nl) #=> "<0x0A>"

    # @!method token_prefix
    #   Before the text that precedes a gap, in models that fill gaps in code. Other models have such a number, too;
    #   their vocabulary ends before it. So with {#token_middle}, {#token_suffix} and {#token_eot}.
    #   @return [Integer]
    #   @raise [RuntimeError] when the model is empty
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     model.token_prefix #=> 32007

    # @!method token_middle
    #   Before the text that fills a gap; see {#token_prefix}.
    #   @return [Integer]
    #   @raise [RuntimeError] when the model is empty
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     model.token_middle #=> 32009

    # @!method token_suffix
    #   Before the text that follows a gap; see {#token_prefix}.
    #   @return [Integer]
    #   @raise [RuntimeError] when the model is empty
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     model.token_suffix #=> 32008

    # @!method token_eot
    #   At the end of the text that fills a gap; see {#token_prefix}.
    #   @return [Integer]
    #   @raise [RuntimeError] when the model is empty
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     model.token_eot #=> 32010

    # @!method add_bos_token?
    #   @return [Boolean] whether a text should begin with {#token_bos}; true when the file does not say
    #   @raise [RuntimeError] when the model is empty
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     model.add_bos_token? #=> true

    # @!method add_eos_token?
    #   @return [Boolean] whether a text should end with {#token_eos}; true when the file does not say
    #   @raise [RuntimeError] when the model is empty
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     model.add_eos_token? #=> true

    # @!endgroup
  end
end
