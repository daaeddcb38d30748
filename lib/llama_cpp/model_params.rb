# frozen_string_literal: true

require_relative 'parameters'

module LLaMACpp
  # How a {Model} is loaded.
  class ModelParams
    extend ParameterKeywords

    # @!method initialize(**keywords)
    #   Any accessor can be given as a keyword; the others have their defaults.
    #
    #   @option keywords [Integer] :n_gpu_layers (0) see {#n_gpu_layers}
    #   @option keywords [Integer] :split_mode (LLAMA_SPLIT_LAYER) see {#split_mode}
    #   @option keywords [Integer] :main_gpu (0) see {#main_gpu}
    #   @option keywords [Array<Float>] :tensor_split ([]) see {#tensor_split}
    #   @option keywords [Boolean] :vocab_only (false) see {#vocab_only}
    #   @option keywords [Boolean] :use_mmap (true) see {#use_mmap}
    #   @option keywords [Boolean] :use_mlock (false) see {#use_mlock}
    #   @option keywords [Array<ModelKVOverride>] :kv_overrides ([]) see {#kv_overrides}
    #   @raise [ArgumentError] for an unknown keyword, or as the accessor raises
    #   @example
    #     params = LLaMACpp::ModelParams.new(use_mmap: false)
    #     params.n_gpu_layers #=> 0
    parameters :n_gpu_layers, :split_mode, :main_gpu, :tensor_split, :vocab_only, :use_mmap, :use_mlock, :kv_overrides

    # @!attribute [rw] n_gpu_layers
    #   How many layers go into the memory of the GPU. Without a GPU in the build it has no effect. Default: 0.
    #   @return [Integer]
    #   @raise [RangeError, TypeError] for what is no Integer of 32 bits
    #   @example
    #     params = LLaMACpp::ModelParams.new
    #     params.n_gpu_layers #=> 0
    #     params.n_gpu_layers = 99

    # @!attribute [rw] split_mode
    #   How a model is spread over several GPUs: +LLAMA_SPLIT_NONE+, +LLAMA_SPLIT_LAYER+ or +LLAMA_SPLIT_ROW+. Default:
    #   +LLAMA_SPLIT_LAYER+. Another number makes the load fail.
    #   @return [Integer]
    #   @raise [RangeError, TypeError] for what is no Integer of 32 bits
    #   @example
    #     params = LLaMACpp::ModelParams.new
    #     params.split_mode == LLaMACpp::LLAMA_SPLIT_LAYER #=> true
    #     params.split_mode = LLaMACpp::LLAMA_SPLIT_NONE

    # @!attribute [rw] main_gpu
    #   The GPU for what is not split, counted from 0. Default: 0.
    #   @return [Integer]
    #   @raise [RangeError, TypeError] for what is no Integer of 32 bits
    #   @example
    #     params = LLaMACpp::ModelParams.new
    #     params.main_gpu #=> 0
    #     params.main_gpu = 1

    # @!attribute [rw] tensor_split
    #   The share of the model that each GPU gets; the shares need not add up to 1. Default: empty, llama.cpp decides.
    #   The Array that is read is a copy.
    #   @return [Array<Float>] at most {LLaMACpp.max_devices} of them
    #   @raise [ArgumentError] for more, or for a share that is negative or not finite
    #   @example
    #     params = LLaMACpp::ModelParams.new
    #     params.tensor_split #=> []
    #     params.tensor_split = [1.0]
    #     params.tensor_split #=> [1.0]

    # @!attribute [rw] vocab_only
    #   Load the vocabulary only: such a model tokenizes, but no context can be made of it. Default: false.
    #   @return [Boolean]
    #   @example
    #     params = LLaMACpp::ModelParams.new
    #     params.vocab_only #=> false
    #     params.vocab_only = true
    #     LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: params).tokenize(text: 'a') #=> [277]

    # @!attribute [rw] use_mmap
    #   Map the file into memory instead of reading it: loads at once, and several processes share the pages. Default:
    #   true.
    #   @return [Boolean]
    #   @example
    #     params = LLaMACpp::ModelParams.new
    #     params.use_mmap #=> true
    #     params.use_mmap = false

    # @!attribute [rw] use_mlock
    #   Keep the weights from being swapped out. It takes what the system allows (<tt>ulimit -l</tt>), with a warning
    #   when that is too little. Default: false.
    #   @return [Boolean]
    #   @example
    #     params = LLaMACpp::ModelParams.new
    #     params.use_mlock #=> false
    #     params.use_mlock = true

    # @!attribute [rw] kv_overrides
    #   Metadata that is to be taken as other than the file says. Default: none. The Array that is read is a copy.
    #   @return [Array<ModelKVOverride>]
    #   @raise [ArgumentError] for something else, or an override without a key
    #   @example
    #     params = LLaMACpp::ModelParams.new
    #     params.kv_overrides = [LLaMACpp::ModelKVOverride.new(key: 'llama.context_length', value: 128)]
    #     params.kv_overrides.map(&:key) #=> ["llama.context_length"]

    # @!method ==(other)
    #   @param other [Object]
    #   @return [Boolean] whether all of it is the same
    #   @example
    #     LLaMACpp::ModelParams.new == LLaMACpp::ModelParams.new(main_gpu: 1) #=> false
  end
end
