# frozen_string_literal: true

module LLaMACpp
  # Tokens with their positions and sequences, to be decoded together by {Context#decode}.
  #
  # A new batch is empty: fill it token by token, and say with {#n_tokens=} how many there are. For one sequence at
  # consecutive positions {.get_one} is shorter.
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

    # @!attribute [rw] n_tokens
    #   How many tokens count, from the first on. 0 in a new batch.
    #   @return [Integer]
    #   @raise [IndexError] for more than fit
    #   @example
    #     batch = LLaMACpp::Batch.new(max_n_token: 2, n_embd: 0, max_n_seq: 2)
    #     batch.n_tokens = 1
    #     batch.n_tokens #=> 1

    # @!attribute [rw] all_pos_zero
    #   The position of the first token, in a batch of {.get_one} whose positions were not set one by one.
    #   @return [Integer]
    #   @example
    #     batch = LLaMACpp::Batch.get_one(tokens: [1, 2, 3], n_tokens: 3, pos_zero: 10, seq_id: 0)
    #     batch.all_pos_zero #=> 10
    #     batch.all_pos_zero = 20
    #     batch.get_pos(2) #=> 22

    # @!attribute [rw] all_pos_one
    #   The distance between two positions, in a batch of {.get_one} whose positions were not set one by one.
    #   @return [Integer]
    #   @example
    #     batch = LLaMACpp::Batch.get_one(tokens: [1, 2, 3], n_tokens: 3, pos_zero: 10, seq_id: 0)
    #     batch.all_pos_one #=> 1
    #     batch.all_pos_one = 2
    #     batch.get_pos(2) #=> 14

    # @!attribute [rw] all_seq_id
    #   The sequence of all tokens, in a batch of {.get_one} whose sequences were not set one by one.
    #   @return [Integer]
    #   @example
    #     batch = LLaMACpp::Batch.get_one(tokens: [1, 2, 3], n_tokens: 3, pos_zero: 10, seq_id: 0)
    #     batch.all_seq_id #=> 0
    #     batch.all_seq_id = 1
    #     batch.get_seq_id(2, 0) #=> 1

    # @!method get_token(index)
    #   @param index [Integer] which token, from 0
    #   @return [Integer] its id
    #   @raise [ArgumentError, IndexError] for an index outside of the batch
    #   @raise [RuntimeError] when the batch holds embeddings
    #   @example
    #     batch = LLaMACpp::Batch.get_one(tokens: [1, 2, 3], n_tokens: 3, pos_zero: 10, seq_id: 0)
    #     batch.get_token(1) #=> 2

    # @!method set_token(index, id)
    #   @param index [Integer] which token, from 0
    #   @param id [Integer] its id; whether the vocabulary has it is checked by {Context#decode}
    #   @return [Integer] the id
    #   @raise [ArgumentError, IndexError] for an index outside of the batch
    #   @raise [RuntimeError] when the batch holds embeddings
    #   @example
    #     batch = LLaMACpp::Batch.new(max_n_token: 2, n_embd: 0, max_n_seq: 2)
    #     batch.set_token(0, 42) #=> 42
    #     batch.get_token(0) #=> 42

    # @!method get_pos(index)
    #   @param index [Integer] which token, from 0
    #   @return [Integer] its position in its sequences
    #   @raise [ArgumentError, IndexError] for an index outside of the batch
    #   @example
    #     batch = LLaMACpp::Batch.get_one(tokens: [1, 2, 3], n_tokens: 3, pos_zero: 10, seq_id: 0)
    #     batch.get_pos(1) #=> 11

    # @!method set_pos(index, pos)
    #   @param index [Integer] which token, from 0
    #   @param pos [Integer] its position in its sequences
    #   @return [Integer] the position
    #   @raise [ArgumentError, IndexError] for an index outside of the batch
    #   @example
    #     batch = LLaMACpp::Batch.new(max_n_token: 2, n_embd: 0, max_n_seq: 2)
    #     batch.set_pos(0, 5) #=> 5
    #     batch.get_pos(0) #=> 5

    # @!method get_n_seq_id(index)
    #   @param index [Integer] which token, from 0
    #   @return [Integer] how many sequences it belongs to
    #   @raise [ArgumentError, IndexError] for an index outside of the batch
    #   @example
    #     batch = LLaMACpp::Batch.get_one(tokens: [1, 2, 3], n_tokens: 3, pos_zero: 10, seq_id: 0)
    #     batch.get_n_seq_id(0) #=> 1

    # @!method set_n_seq_id(index, count)
    #   @param index [Integer] which token, from 0
    #   @param count [Integer] how many sequences it belongs to
    #   @return [Integer] the count
    #   @raise [ArgumentError, IndexError] for an index outside of the batch, or more sequences than it was made for
    #   @example
    #     batch = LLaMACpp::Batch.new(max_n_token: 2, n_embd: 0, max_n_seq: 2)
    #     batch.set_n_seq_id(0, 2) #=> 2
    #     batch.get_n_seq_id(0) #=> 2

    # @!method get_seq_id(index, which)
    #   @param index [Integer] which token, from 0
    #   @param which [Integer] which of its sequences, from 0
    #   @return [Integer] the sequence
    #   @raise [ArgumentError, IndexError] for an index outside of the batch
    #   @example
    #     batch = LLaMACpp::Batch.get_one(tokens: [1, 2, 3], n_tokens: 3, pos_zero: 10, seq_id: 0)
    #     batch.get_seq_id(1, 0) #=> 0

    # @!method set_seq_id(index, which, id)
    #   @param index [Integer] which token, from 0
    #   @param which [Integer] which of its sequences, from 0
    #   @param id [Integer] the sequence
    #   @return [Integer] the sequence
    #   @raise [ArgumentError, IndexError] for an index outside of the batch
    #   @example
    #     batch = LLaMACpp::Batch.new(max_n_token: 2, n_embd: 0, max_n_seq: 2)
    #     batch.set_n_seq_id(0, 2)
    #     batch.set_seq_id(0, 0, 3)
    #     batch.set_seq_id(0, 1, 7) #=> 7
    #     [batch.get_seq_id(0, 0), batch.get_seq_id(0, 1)] #=> [3, 7]

    # @!method get_logits(index)
    #   @param index [Integer] which token, from 0
    #   @return [Boolean] whether the decode computes its logits; in a batch of {.get_one} that is the last token
    #   @raise [ArgumentError, IndexError] for an index outside of the batch
    #   @example
    #     batch = LLaMACpp::Batch.get_one(tokens: [1, 2, 3], n_tokens: 3, pos_zero: 10, seq_id: 0)
    #     [batch.get_logits(0), batch.get_logits(2)] #=> [false, true]

    # @!method set_logits(index, wanted)
    #   @param index [Integer] which token, from 0
    #   @param wanted [Boolean] whether the decode computes its logits
    #   @return [Boolean] the same
    #   @raise [ArgumentError, IndexError] for an index outside of the batch
    #   @example
    #     batch = LLaMACpp::Batch.new(max_n_token: 2, n_embd: 0, max_n_seq: 2)
    #     batch.set_logits(0, true) #=> true
    #     batch.get_logits(0) #=> true

    # @!method get_logit(index)
    #   Another name of {#get_logits}.
    #   @param (see #get_logits)
    #   @return (see #get_logits)
    #   @raise (see #get_logits)
    #   @example
    #     batch = LLaMACpp::Batch.get_one(tokens: [1, 2, 3], n_tokens: 3, pos_zero: 10, seq_id: 0)
    #     batch.get_logit(2) #=> true

    # @!method set_logit(index, wanted)
    #   Another name of {#set_logits}.
    #   @param (see #set_logits)
    #   @return (see #set_logits)
    #   @raise (see #set_logits)
    #   @example
    #     batch = LLaMACpp::Batch.new(max_n_token: 2, n_embd: 0, max_n_seq: 2)
    #     batch.set_logit(0, true)
    #     batch.get_logit(0) #=> true
  end
end
