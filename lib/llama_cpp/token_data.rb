# frozen_string_literal: true

module LLaMACpp
  # A token with its logit and its probability.
  #
  # @!attribute [rw] id
  #   @return [Integer] the token
  # @!attribute [rw] logit
  #   @return [Float] the log-odds, in single precision
  # @!attribute [rw] p
  #   @return [Float] the probability, in single precision
  class TokenData
    # @param id [Integer] the token
    # @param logit [Float, Integer] its log-odds
    # @param p [Float, Integer] its probability
    # @raise [ArgumentError] for a wrong kind of value
    # @example
    #   token = LLaMACpp::TokenData.new(id: 42, logit: 1.5, p: 0.0)
    #   token.logit #=> 1.5
    def initialize(id:, logit:, p:)
      native_init(id, logit, p)
    end

    # @return [String]
    def inspect
      "#<#{self.class} id: #{id}, logit: #{logit}, p: #{p}>"
    end
  end
end
