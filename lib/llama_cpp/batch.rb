# frozen_string_literal: true

module LLaMACpp
  # Tokens with their positions and sequences, to be decoded together.
  class Batch
    # @param max_n_token [Integer] tokens that fit
    # @param n_embd [Integer] 0 for token ids; else the width of embeddings to be given instead
    # @param max_n_seq [Integer] sequences that one token can belong to
    # @raise [ArgumentError] for a wrong kind of value, or one beyond the limits
    # @example
    #   batch = LLaMACpp::Batch.new(max_n_token: 2, n_embd: 0, max_n_seq: 1)
    #   batch.set_token(0, 42)
    #   batch.get_token(0) #=> 42
    def initialize(max_n_token:, n_embd:, max_n_seq:)
      native_init(max_n_token, n_embd, max_n_seq)
    end

    # A batch of one sequence at consecutive positions.
    #
    # @param tokens [Array<Integer>] the tokens
    # @param n_tokens [Integer] how many of them count
    # @param pos_zero [Integer] the position of the first
    # @param seq_id [Integer] the sequence
    # @return [Batch]
    # @raise [ArgumentError] for a wrong kind of value, or more +n_tokens+ than there are
    # @example
    #   batch = LLaMACpp::Batch.get_one(tokens: [1, 2, 3], n_tokens: 3, pos_zero: 10, seq_id: 0)
    #   batch.get_pos(2) #=> 12
    def self.get_one(tokens:, n_tokens:, pos_zero:, seq_id:)
      allocate.tap { |batch| batch.send(:native_init_single, tokens, n_tokens, pos_zero, seq_id) }
    end
  end
end
