# frozen_string_literal: true

module LLaMACpp
  # A model: weights and vocabulary of a GGUF file.
  class Model
    # Reads the header of a GGUF file, without loading it.
    #
    # @param path [String] the file
    # @return [Hash{String => Object}] metadata under its keys; +"gguf.version"+; +"gguf.tensors"+, an Array of Hashes
    #   with +:name+, +:type+, +:shape+ (the contiguous dimension first) and +:n_bytes+
    # @raise [RuntimeError] when it cannot be read, or is no sound GGUF file
    # @example
    #   metadata = LLaMACpp::Model.metadata('models/tiny/tiny.gguf')
    #   metadata['llama.embedding_length'] #=> 256
    def self.metadata(path)
      version, values, tensors = Native.metadata(path)
      values.merge('gguf.version' => version, 'gguf.tensors' => tensors)
    end

    # Loads a model, and frees it when the block ends.
    #
    # @param path [String] a GGUF file
    # @param params [Hash] the keywords of {ModelParams#initialize}
    # @yield [model]
    # @yieldparam model [Model]
    # @return [Object, Model] what the block returns; the model without a block
    # @raise (see #load)
    # @example
    #   LLaMACpp::Model.open('models/tiny/tiny.gguf', use_mmap: false) { |model| model.n_vocab } #=> 640
    def self.open(path, **params)
      model = new(model_path: path, params: ModelParams.new(**params))
      return model unless block_given?

      begin
        yield model
      ensure
        model.free
      end
    end

    # Loads a model; without arguments the model stays empty until {#load}.
    #
    # @param model_path [String] a GGUF file
    # @param params [ModelParams] how to load it
    # @yield (see #load)
    # @yieldparam (see #load)
    # @yieldreturn (see #load)
    # @raise (see #load)
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   model.desc #=> "llama ?B F16"
    def initialize(model_path: UNSET, params: UNSET, &block)
      return if model_path.equal?(UNSET) && params.equal?(UNSET)

      missing = { model_path:, params: }.select { |_, given| given.equal?(UNSET) }.keys
      raise ArgumentError, "missing keyword: #{missing.map(&:inspect).join(', ')}" unless missing.empty?

      native_load_file(model_path, params, block)
    end

    # Loads a model into an empty one. Other threads run meanwhile; an interrupt ends the load.
    #
    # @param model_path [String] a GGUF file
    # @param params [ModelParams] how to load it
    # @yield [fraction] as the weights come in
    # @yieldparam fraction [Float] how much is loaded, 0.0 to 1.0
    # @yieldreturn [Object] false cancels the load
    # @return [nil]
    # @raise [RuntimeError] when a model is loaded already, the file cannot be read or is no model that llama.cpp can
    #   load, or the block returned false
    # @raise [ArgumentError] for a wrong kind of value
    # @example
    #   model = LLaMACpp::Model.new
    #   params = LLaMACpp::ModelParams.new
    #   model.load(model_path: 'models/tiny/tiny.gguf', params: params) { |fraction| fraction <= 1.0 }
    #   model.empty? #=> false
    def load(model_path:, params:, &block)
      native_load_file(model_path, params, block)
    end

    # Adds a LoRA adapter to the weights. It waits until no context of the model computes.
    #
    # A model whose file is mapped (the default) gets a private copy of the pages that change; the file stays as it is.
    #
    # @param lora_path [String] an adapter in llama.cpp's GGLA format
    # @param scale [Float] how strongly it counts
    # @param base_model_path [String, nil] a GGUF file with better weights to add it to, of the same shapes
    # @param n_threads [Integer] threads to compute with
    # @return [nil]
    # @raise [RuntimeError] when a file cannot be read, or the adapter does not fit the model
    # @raise [ArgumentError] for a wrong kind of value
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   begin
    #     model.apply_lora_from_file(lora_path: 'README.md')
    #   rescue RuntimeError => e
    #     e.message.include?('README.md') #=> true
    #   end
    def apply_lora_from_file(lora_path:, scale: 1.0, base_model_path: nil, n_threads: 1)
      native_apply_lora(lora_path, scale, base_model_path, n_threads)
    end

    # The tokens of a text.
    #
    # @param text [String] any text. One in another encoding than UTF-8 is converted; a SentencePiece vocabulary takes
    #   invalid UTF-8 byte by byte.
    # @param n_max_tokens [Integer, nil] the most that are wanted; nil for as many as there are
    # @param add_bos [Boolean] put the beginning-of-sequence token first
    # @param special [Boolean] take the text of special tokens, like +</s>+, for these tokens
    # @return [Array<Integer>]
    # @raise [RuntimeError] when there are more than +n_max_tokens+, or the model is empty
    # @raise [ArgumentError] for invalid UTF-8 with a BPE vocabulary
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   model.tokenize(text: 'The capital of France is', add_bos: true) #=> [1, 262, 299, 268, 410, 306, 316, 266]
    def tokenize(text:, n_max_tokens: nil, add_bos: false, special: false)
      native_tokenize_text(text, n_max_tokens, add_bos, special)
    end

    # @!method empty?
    #   @return [Boolean] whether nothing is loaded, or it was freed
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     model.empty? #=> false
    #     LLaMACpp::Model.new.empty? #=> true

    # @!method free
    #   Lets go of the model. Contexts that were made of it go on working: the memory is released with the last of them.
    #   Freeing again does no harm.
    #   @return [nil]
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     model.free #=> nil
    #     model.empty? #=> true

    # @!method params
    #   @return [ModelParams, nil] a copy of those that it was loaded with; nil when it is empty
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     model.params.use_mmap #=> true

    # @!method desc
    #   @return [String] architecture, size and kind of weights; llama.cpp knows the sizes of well-known models
    #   @raise [RuntimeError] when the model is empty
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     model.desc #=> "llama ?B F16"

    # @!method size
    #   @return [Integer] bytes of all tensors
    #   @raise [RuntimeError] when the model is empty
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     model.size #=> 3019776

    # @!method n_params
    #   @return [Integer] numbers in all tensors
    #   @raise [RuntimeError] when the model is empty
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     model.n_params #=> 1508608

    # @!method n_ctx_train
    #   @return [Integer] tokens in the context that it was trained with
    #   @raise [RuntimeError] when the model is empty
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     model.n_ctx_train #=> 256

    # @!method n_embd
    #   @return [Integer] floats in an embedding
    #   @raise [RuntimeError] when the model is empty
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     model.n_embd #=> 256

    # @!method rope_freq_scale_train
    #   @return [Float] the factor of the rotary embedding's frequencies that it was trained with
    #   @raise [RuntimeError] when the model is empty
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     model.rope_freq_scale_train #=> 1.0

    # Makes a context of the model.
    #
    # @param params [Hash] the keywords of {ContextParams#initialize}
    # @return [Context]
    # @raise (see Context#initialize)
    # @example
    #   model = LLaMACpp::Model.open('models/tiny/tiny.gguf')
    #   model.context(n_ctx: 64).n_ctx #=> 64
    def context(**params)
      Context.new(model: self, params: ContextParams.new(**params))
    end

    # The model's own chat template, which {Chat} uses.
    #
    # @return [String, nil] Jinja text; nil when the file has none
    # @raise [RuntimeError] for an empty model
    # @example
    #   LLaMACpp::Model.open('models/tiny/tiny.gguf').chat_template #=> nil
    def chat_template
      native_metadata('tokenizer.chat_template')
    end

    # @return [String] what it is, and how large
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   model.inspect #=> "#<LLaMACpp::Model llama ?B F16, 3.0 MB>"
    def inspect
      return "#<#{self.class} empty>" if empty?

      format('#<%<class>s %<desc>s, %<size>s>', class: self.class, desc:, size: human_size)
    end

    private

    # Bytes as people say them.
    def human_size
      return "#{size} B" if size < 1000

      unit, power = %w[kB MB GB TB PB].each_with_index.find { |_, index| size < 1000**(index + 2) }
      number = size.to_f / (1000**(power + 1))
      "#{number.round(number < 10 ? 1 : 0)} #{unit}"
    end
  end
end
