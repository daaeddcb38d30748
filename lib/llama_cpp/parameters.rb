# frozen_string_literal: true

module LLaMACpp
  # What {ModelParams}, {ContextParams} and {ModelQuantizeParams} have in common: all their accessors at a glance.
  module Parameters
    # All accessors with their values, in a fixed order.
    #
    # @return [Hash{Symbol => Object}]
    # @example
    #   LLaMACpp::ModelQuantizeParams.new.to_h.slice(:ftype, :pure) #=> {ftype: 9, pure: false}
    def to_h
      names.to_h { |name| [name, public_send(name)] }
    end

    # Whether +other+ can take the place of this object as the key of a Hash.
    #
    # @param other [Object]
    # @return [Boolean]
    # @example
    #   LLaMACpp::ContextParams.new(n_ctx: 64).eql?(LLaMACpp::ContextParams.new(n_ctx: 64)) #=> true
    def eql?(other)
      other.instance_of?(self.class) && to_h.eql?(other.to_h)
    end

    # @return [Integer] the same for objects that are {#eql?}
    # @example
    #   sizes = { LLaMACpp::ContextParams.new(n_ctx: 64) => 'small' }
    #   sizes[LLaMACpp::ContextParams.new(n_ctx: 64)] #=> "small"
    def hash
      [self.class, to_h].hash
    end

    # @return [String] what differs from the defaults
    # @example
    #   LLaMACpp::ContextParams.new(n_ctx: 64, logits_all: true).inspect
    #   #=> "#<LLaMACpp::ContextParams n_ctx: 64, logits_all: true>"
    def inspect
      defaults = self.class.allocate.to_h
      changed = to_h.filter_map { |name, value| "#{name}: #{value.inspect}" unless defaults[name] == value }
      changed.empty? ? "#<#{self.class}>" : "#<#{self.class} #{changed.join(', ')}>"
    end

    # As {#inspect}.
    #
    # @return [String]
    # @example
    #   LLaMACpp::ModelParams.new(use_mmap: false).to_s #=> "#<LLaMACpp::ModelParams use_mmap: false>"
    def to_s
      inspect
    end

    private

    def assign(values)
      values.each { |name, value| public_send(:"#{name}=", value) unless UNSET.equal?(value) }
    end
  end

  # What makes a class one with {Parameters}: +extend+ it, then <tt>parameters :n_ctx, :n_batch</tt>.
  #
  # @api private
  module ParameterKeywords
    private

    # They become keywords of +initialize+ itself, not entries of a Hash: Ruby refuses the unknown ones, and tools see
    # them.
    def parameters(*names)
      include Parameters
      define_method(:names) { names }
      private :names
      class_eval(<<~RUBY, __FILE__, __LINE__ + 1)
        # def initialize(n_ctx: UNSET, n_batch: UNSET)
        #   assign(n_ctx:, n_batch:)
        # end
        def initialize(#{names.map { |name| "#{name}: UNSET" }.join(', ')})
          assign(#{names.map { |name| "#{name}:" }.join(', ')})
        end
      RUBY
    end
  end
  private_constant :ParameterKeywords
end
