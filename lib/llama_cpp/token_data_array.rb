# frozen_string_literal: true

module LLaMACpp
  # Candidates for the next token. The samplers of a {Context} sort them, shorten them and draw from them.
  #
  # {Context#candidates} makes one straight from the logits.
  class TokenDataArray
    include Enumerable

    # Copies the candidates.
    #
    # @param array [Array<TokenData>] at least one
    # @param sorted [Boolean] whether their logits fall
    # @raise [ArgumentError] for none, or for something that is no TokenData
    # @example
    #   tokens = [1.0, 3.0].each_with_index.map { |logit, id| LLaMACpp::TokenData.new(id: id, logit: logit, p: 0.0) }
    #   LLaMACpp::TokenDataArray.new(tokens).size #=> 2
    def initialize(array, sorted: false)
      native_init(array, sorted)
    end

    # @yield [candidate] each candidate in its present order
    # @yieldparam candidate [TokenData] a copy
    # @return [self, Enumerator]
    # @example
    #   tokens = [LLaMACpp::TokenData.new(id: 7, logit: 1.0, p: 0.0)]
    #   LLaMACpp::TokenDataArray.new(tokens).map(&:id) #=> [7]
    def each
      return enum_for(:each) { size } unless block_given?

      index = 0
      while index < size
        yield self[index]
        index += 1
      end
      self
    end

    alias length size
  end
end
