# frozen_string_literal: true

module LLaMACpp
  # A token with its logit and its probability.
  class TokenData
    # Old programs make one for each token of the vocabulary, again and again. By way of Class#new, a function in C, the
    # keywords would become a Hash each time: twice as slow.
    #
    # @param (see #initialize)
    # @raise (see #initialize)
    # @return [TokenData]
    # @example
    #   LLaMACpp::TokenData.new(id: 42, logit: 1.5, p: 0.0).id #=> 42
    def self.new(id:, logit:, p:)
      native_new(id, logit, p)
    end

    # A subclass may have an +initialize+ of its own.
    #
    # @api private
    def self.inherited(subclass)
      super
      subclass.define_singleton_method(:new, Class.instance_method(:new))
    end
    private_class_method :inherited

    # @param id [Integer] the token
    # @param logit [Float, Integer] its log-odds
    # @param p [Float, Integer] its probability
    # @raise [ArgumentError] for a wrong kind of value
    # @example
    #   subclass = Class.new(LLaMACpp::TokenData)
    #   subclass.new(id: 42, logit: 1.5, p: 0.0).logit #=> 1.5
    def initialize(id:, logit:, p:)
      native_init(id, logit, p)
    end

    # @!attribute [rw] id
    #   @return [Integer] the token
    #   @example
    #     token = LLaMACpp::TokenData.new(id: 42, logit: 1.5, p: 0.0)
    #     token.id = 7
    #     token.id #=> 7

    # @!attribute [rw] logit
    #   @return [Float] the log-odds, in single precision
    #   @raise [ArgumentError] for what is no number
    #   @example
    #     token = LLaMACpp::TokenData.new(id: 42, logit: 1.5, p: 0.0)
    #     token.logit = 2
    #     token.logit #=> 2.0

    # @!attribute [rw] p
    #   @return [Float] the probability, in single precision
    #   @raise [ArgumentError] for what is no number
    #   @example
    #     token = LLaMACpp::TokenData.new(id: 42, logit: 1.5, p: 0.0)
    #     token.p = 0.25
    #     token.p #=> 0.25

    # @return [String] all of it
    # @example
    #   LLaMACpp::TokenData.new(id: 42, logit: 1.5, p: 0.0).inspect
    #   #=> "#<LLaMACpp::TokenData id: 42, logit: 1.5, p: 0.0>"
    def inspect
      "#<#{self.class} id: #{id}, logit: #{logit}, p: #{p}>"
    end
  end
end
