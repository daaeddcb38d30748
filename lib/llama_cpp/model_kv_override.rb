# frozen_string_literal: true

module LLaMACpp
  # A metadata key with another value than the model's file has.
  #
  # @example
  #   override = LLaMACpp::ModelKVOverride.new(key: 'llama.context_length', value: 128)
  #   params = LLaMACpp::ModelParams.new
  #   params.kv_overrides = [override]
  #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: params)
  #   model.n_ctx_train #=> 128
  class ModelKVOverride
    # Without arguments: an override of no key.
    #
    # @param key [String] at most 127 bytes
    # @param value [Integer, Float, true, false] the value
    # @param tag [Integer, nil] the kind, if it is not to follow from the value
    # @raise [ArgumentError] for a key that is empty or too long, or a value that does not fit the tag
    # @example
    #   LLaMACpp::ModelKVOverride.new(key: 'llama.rope.freq_base', value: 1e6).tag #=> 1
    def initialize(key: UNSET, value: UNSET, tag: nil)
      return if key.equal?(UNSET) && value.equal?(UNSET) && tag.nil?

      missing = { key:, value: }.select { |_, given| given.equal?(UNSET) }.keys
      raise ArgumentError, "missing keyword: #{missing.map(&:inspect).join(', ')}" unless missing.empty?

      native_init(key, value, tag)
    end

    # @!attribute [r] key
    #   @return [String] the key
    #   @example
    #     override = LLaMACpp::ModelKVOverride.new(key: 'llama.context_length', value: 128)
    #     override.key #=> "llama.context_length"

    # @!attribute [r] tag
    #   @return [Integer] the kind of the value: +LLAMA_KV_OVERRIDE_INT+, +LLAMA_KV_OVERRIDE_FLOAT+ or
    #     +LLAMA_KV_OVERRIDE_BOOL+
    #   @example
    #     override = LLaMACpp::ModelKVOverride.new(key: 'llama.context_length', value: 128)
    #     override.tag == LLaMACpp::LLAMA_KV_OVERRIDE_INT #=> true

    # @!attribute [r] int_value
    #   @return [Integer] the value of an INT, else 0
    #   @example
    #     override = LLaMACpp::ModelKVOverride.new(key: 'llama.context_length', value: 128)
    #     override.int_value #=> 128

    # @!attribute [r] float_value
    #   @return [Float] the value of a FLOAT, else 0.0
    #   @example
    #     override = LLaMACpp::ModelKVOverride.new(key: 'llama.context_length', value: 128)
    #     override.float_value #=> 0.0

    # @!attribute [r] bool_value
    #   @return [Boolean] the value of a BOOL, else false
    #   @example
    #     override = LLaMACpp::ModelKVOverride.new(key: 'llama.context_length', value: 128)
    #     override.bool_value #=> false

    # @return [Integer, Float, Boolean] the value that counts, as the tag says
    # @example
    #   LLaMACpp::ModelKVOverride.new(key: 'general.name', value: true).value #=> true
    def value
      { LLAMA_KV_OVERRIDE_INT => int_value, LLAMA_KV_OVERRIDE_FLOAT => float_value }.fetch(tag, bool_value)
    end

    # @param other [Object]
    # @return [Boolean] whether it gives the same key the same value of the same kind
    # @example
    #   one, other = [1, 1.0].map { |value| LLaMACpp::ModelKVOverride.new(key: 'llama.block_count', value: value) }
    #   one == other #=> false
    def ==(other)
      other.is_a?(ModelKVOverride) && [key, tag, value] == [other.key, other.tag, other.value]
    end

    # Whether +other+ can take the place of this object as the key of a Hash.
    #
    # @param other [Object]
    # @return [Boolean]
    # @example
    #   LLaMACpp::ModelKVOverride.new.eql?(LLaMACpp::ModelKVOverride.new) #=> true
    def eql?(other)
      other.instance_of?(self.class) && [key, tag, value].eql?([other.key, other.tag, other.value])
    end

    # @return [Integer] the same for objects that are {#eql?}
    # @example
    #   LLaMACpp::ModelKVOverride.new.hash == LLaMACpp::ModelKVOverride.new.hash #=> true
    def hash
      [self.class, key, tag, value].hash
    end

    # @return [String] key and value
    # @example
    #   LLaMACpp::ModelKVOverride.new(key: 'llama.context_length', value: 128).inspect
    #   #=> "#<LLaMACpp::ModelKVOverride llama.context_length: 128>"
    def inspect
      "#<#{self.class} #{key}: #{value}>"
    end
  end
end
