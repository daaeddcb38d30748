# frozen_string_literal: true

require_relative 'parameters'

module LLaMACpp
  # How {LLaMACpp.model_quantize} works.
  class ModelQuantizeParams
    extend ParameterKeywords

    # @!method initialize(**keywords)
    #   Any accessor can be given as a keyword; the others have their defaults.
    #
    #   @option keywords [Integer] :n_thread (0) see {#n_thread}
    #   @option keywords [Integer] :ftype (LLAMA_FTYPE_MOSTLY_Q5_1) see {#ftype}
    #   @option keywords [Boolean] :allow_requantize (false) see {#allow_requantize}
    #   @option keywords [Boolean] :quantize_output_tensor (true) see {#quantize_output_tensor}
    #   @option keywords [Boolean] :only_copy (false) see {#only_copy}
    #   @option keywords [Boolean] :pure (false) see {#pure}
    #   @raise [ArgumentError] for an unknown keyword, or as the accessor raises
    #   @example
    #     params = LLaMACpp::ModelQuantizeParams.new(ftype: LLaMACpp::LLAMA_FTYPE_MOSTLY_Q4_K_M)
    #     params.ftype #=> 15
    parameters :n_thread, :ftype, :allow_requantize, :quantize_output_tensor, :only_copy, :pure

    # @!attribute [rw] n_thread
    #   Threads to work with; 0 is one for each core. Default: 0.
    #   @return [Integer]
    #   @raise [RangeError, TypeError] for what is no Integer of 32 bits
    #   @example
    #     params = LLaMACpp::ModelQuantizeParams.new
    #     params.n_thread #=> 0
    #     params.n_thread = 1

    # @!attribute [rw] ftype
    #   The type of the weights to be written, one of +LLAMA_FTYPE_…+. Default: +LLAMA_FTYPE_MOSTLY_Q5_1+.
    #   @return [Integer]
    #   @raise [RangeError, TypeError] for what is no Integer of 32 bits
    #   @example
    #     params = LLaMACpp::ModelQuantizeParams.new
    #     params.ftype == LLaMACpp::LLAMA_FTYPE_MOSTLY_Q5_1 #=> true
    #     params.ftype = LLaMACpp::LLAMA_FTYPE_MOSTLY_Q8_0

    # @!attribute [rw] allow_requantize
    #   Take tensors that are quantized already; what they have lost stays lost. Default: false.
    #   @return [Boolean]
    #   @example
    #     params = LLaMACpp::ModelQuantizeParams.new
    #     params.allow_requantize #=> false
    #     params.allow_requantize = true

    # @!attribute [rw] allow_quantization
    #   Another name of {#allow_requantize}.
    #   @return [Boolean]
    #   @example
    #     params = LLaMACpp::ModelQuantizeParams.new
    #     params.allow_quantization #=> false
    #     params.allow_quantization = true
    #     params.allow_requantize #=> true

    # @!attribute [rw] quantize_output_tensor
    #   Quantize the output tensor, too; without it the file is larger, and a little better. Default: true.
    #   @return [Boolean]
    #   @example
    #     params = LLaMACpp::ModelQuantizeParams.new
    #     params.quantize_output_tensor #=> true
    #     params.quantize_output_tensor = false

    # @!attribute [rw] only_copy
    #   Copy the tensors as they are; {#ftype} has no effect then. Default: false.
    #   @return [Boolean]
    #   @example
    #     params = LLaMACpp::ModelQuantizeParams.new
    #     params.only_copy #=> false
    #     params.only_copy = true

    # @!attribute [rw] pure
    #   Give all tensors the same type, where llama.cpp would mix in better ones. Default: false.
    #   @return [Boolean]
    #   @example
    #     params = LLaMACpp::ModelQuantizeParams.new
    #     params.pure #=> false
    #     params.pure = true

    # @!method ==(other)
    #   @param other [Object]
    #   @return [Boolean] whether all of it is the same
    #   @example
    #     LLaMACpp::ModelQuantizeParams.new == LLaMACpp::ModelQuantizeParams.new(pure: true) #=> false
  end
end
