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

    # Goes through the candidates in their present order.
    #
    # @yield [candidate] each of them
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

    # @!method size
    #   @return [Integer] how many candidates there are
    #   @example
    #     token = LLaMACpp::TokenData.new(id: 7, logit: 1.0, p: 0.25)
    #     other = LLaMACpp::TokenData.new(id: 3, logit: 2.0, p: 0.75)
    #     array = LLaMACpp::TokenDataArray.new([token, other])
    #     array.size #=> 2

    # @!method sorted
    #   @return [Boolean] whether the candidates are sorted by their logits, the largest first
    #   @example
    #     token = LLaMACpp::TokenData.new(id: 7, logit: 1.0, p: 0.25)
    #     other = LLaMACpp::TokenData.new(id: 3, logit: 2.0, p: 0.75)
    #     array = LLaMACpp::TokenDataArray.new([token, other])
    #     array.sorted #=> false

    # @!method [](index)
    #   @param index [Integer] its place; a negative one counts from the end
    #   @return [TokenData, nil] a copy of the candidate; nil outside
    #   @example
    #     token = LLaMACpp::TokenData.new(id: 7, logit: 1.0, p: 0.25)
    #     other = LLaMACpp::TokenData.new(id: 3, logit: 2.0, p: 0.75)
    #     array = LLaMACpp::TokenDataArray.new([token, other])
    #     array[-1].id #=> 3
    #     array[2] #=> nil

    # @!method ids
    #   @return [Array<Integer>] the tokens, in their present order
    #   @example
    #     token = LLaMACpp::TokenData.new(id: 7, logit: 1.0, p: 0.25)
    #     other = LLaMACpp::TokenData.new(id: 3, logit: 2.0, p: 0.75)
    #     array = LLaMACpp::TokenDataArray.new([token, other])
    #     array.ids #=> [7, 3]

    # @!method logits
    #   @return [Array<Float>] their logits
    #   @example
    #     token = LLaMACpp::TokenData.new(id: 7, logit: 1.0, p: 0.25)
    #     other = LLaMACpp::TokenData.new(id: 3, logit: 2.0, p: 0.75)
    #     array = LLaMACpp::TokenDataArray.new([token, other])
    #     array.logits #=> [1.0, 2.0]

    # @!method probabilities
    #   @return [Array<Float>] their probabilities, as the last sampler left them; see {Context#sample_softmax}
    #   @example
    #     token = LLaMACpp::TokenData.new(id: 7, logit: 1.0, p: 0.25)
    #     other = LLaMACpp::TokenData.new(id: 3, logit: 2.0, p: 0.75)
    #     array = LLaMACpp::TokenDataArray.new([token, other])
    #     array.probabilities #=> [0.25, 0.75]

    # @!method add_bias(token, bias)
    #   Adds to the logit of a token; one that is no candidate is left alone.
    #   @param token [Integer] its id
    #   @param bias [Float] minus infinity makes it impossible
    #   @return [nil]
    #   @raise [ArgumentError] for a wrong kind of value
    #   @example
    #     token = LLaMACpp::TokenData.new(id: 7, logit: 1.0, p: 0.25)
    #     other = LLaMACpp::TokenData.new(id: 3, logit: 2.0, p: 0.75)
    #     array = LLaMACpp::TokenDataArray.new([token, other])
    #     array.add_bias(3, -Float::INFINITY) #=> nil
    #     array.logits #=> [1.0, -Float::INFINITY]

    # @!method inspect
    #   @return [String] size and order, not the candidates
    #   @example
    #     token = LLaMACpp::TokenData.new(id: 7, logit: 1.0, p: 0.25)
    #     other = LLaMACpp::TokenData.new(id: 3, logit: 2.0, p: 0.75)
    #     array = LLaMACpp::TokenDataArray.new([token, other])
    #     array.inspect #=> "#<LLaMACpp::TokenDataArray size: 2, sorted: false>"

    # Another name of {#size}.
    #
    # @return [Integer]
    # @example
    #   token = LLaMACpp::TokenData.new(id: 7, logit: 1.0, p: 0.25)
    #   other = LLaMACpp::TokenData.new(id: 3, logit: 2.0, p: 0.75)
    #   array = LLaMACpp::TokenDataArray.new([token, other])
    #   array.length #=> 2
    alias length size
  end
end
