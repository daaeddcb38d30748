# frozen_string_literal: true

# llama.cpp in Ruby: load a GGUF model, generate text.
module LLaMACpp
  # The value of a keyword that was not given, where nil would be one.
  UNSET = Object.new.freeze
  private_constant :UNSET

  update_log_threshold(nil)

  module_function

  # Prepares llama.cpp. Loading the gem does it; calling it again does no harm.
  #
  # @param numa [Boolean] spread the work over the nodes of a NUMA machine
  # @return [nil]
  # @example
  #   LLaMACpp.backend_init(numa: false) #=> nil
  def backend_init(numa: false)
    Native.backend_init(numa)
  end

  # @!method backend_free
  #   Takes down what {backend_init} prepared. It happens at the end of the process; calling it earlier, or again, does
  #   no harm.
  #   @return [nil]
  #   @example
  #     LLaMACpp.backend_free #=> nil

  # @!method print_system_info
  #   @return [String] which features of the processor are in use; despite its name it prints nothing
  #   @example
  #     LLaMACpp.print_system_info.include?('AVX2 = ') #=> true

  # @!method time_us
  #   @return [Integer] microseconds on llama.cpp's clock, which only goes forward
  #   @example
  #     earlier = LLaMACpp.time_us
  #     LLaMACpp.time_us >= earlier #=> true

  # @!method mmap_supported?
  #   @return [Boolean] whether models can be mapped into memory here
  #   @example
  #     LLaMACpp.mmap_supported? #=> true

  # @!method mlock_supported?
  #   @return [Boolean] whether memory can be kept from being swapped out here
  #   @example
  #     LLaMACpp.mlock_supported? #=> true

  # @!method max_devices
  #   @return [Integer] the most devices that a model can be split over; 1 without GPUs in the build
  #   @example
  #     LLaMACpp.max_devices >= 1 #=> true

  # Writes a model with another type of weights.
  #
  # The output appears when it is complete; an error or an interrupt leaves nothing behind.
  #
  # @param input_path [String] a GGUF file of F32 or F16 weights
  # @param output_path [String] the file to write; it must not be the input
  # @param params [ModelQuantizeParams] the type, the number of threads, …
  # @yield [name, fraction] before each tensor
  # @yieldparam name [String] the tensor's name
  # @yieldparam fraction [Float] how much is done, 0.0 to 1.0
  # @yieldreturn [Object] false stops the work
  # @return [nil]
  # @raise [ArgumentError] for a wrong kind of value, or a type that llama.cpp does not know
  # @raise [RuntimeError] when the input cannot be read, the output cannot be written, both are the same file, the
  #   type's blocks do not divide the rows of a tensor, or the block returned false
  # @example
  #   params = LLaMACpp::ModelQuantizeParams.new
  #   params.ftype = LLaMACpp::LLAMA_FTYPE_MOSTLY_Q8_0
  #   params.n_thread = 1
  #   LLaMACpp.model_quantize(input_path: 'models/tiny/tiny.gguf', output_path: 'tmp/tiny-q8_0.gguf', params: params)
  #   File.size('tmp/tiny-q8_0.gguf') #=> 1622080
  def model_quantize(input_path:, output_path:, params:, &block)
    Native.model_quantize(input_path, output_path, params, block)
  end

  # How the library was built.
  #
  # @return [Hash{Symbol => Object}] +:version+ of the gem, +:llama_cpp+ (the build), +:flags+ (the processor's flags
  #   and the back ends), +:system_info+ (features in use), +:mmap+, +:mlock+, +:max_devices+, +:usable_cores+
  # @example
  #   LLaMACpp.build_info[:llama_cpp] #=> "b1892"
  def build_info
    Native.build_info.merge(
      version: VERSION, system_info: print_system_info, mmap: mmap_supported?, mlock: mlock_supported?,
      max_devices:, usable_cores: Native.usable_cores
    )
  end
end
