# frozen_string_literal: true

module LLaMACpp
  # The KV cache of a context: which tokens of which sequences it remembers. These methods are in the extension.
  class Context
    # @!group KV cache

    # @!method kv_cache_token_count
    #   @return [Integer] tokens in the cache; one that belongs to several sequences counts for each
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #     context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #     context.kv_cache_token_count #=> 2

    # @!method kv_cache_clear
    #   Empties the cache.
    #   @return [nil]
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #     context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #     context.kv_cache_clear #=> nil
    #     context.kv_cache_token_count #=> 0

    # @!method kv_cache_seq_rm(seq_id, p0, p1)
    #   Removes the positions from +p0+ to before +p1+ of a sequence.
    #   @param seq_id [Integer] the sequence; negative: any
    #   @param p0 [Integer] the first position; negative: 0
    #   @param p1 [Integer] the position after the last; negative: no end
    #   @return [nil]
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #     context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #     context.kv_cache_seq_rm(0, 1, -1) #=> nil
    #     context.kv_cache_token_count #=> 1

    # @!method kv_cache_seq_cp(seq_id_src, seq_id_dst, p0, p1)
    #   Makes the positions from +p0+ to before +p1+ of a sequence belong to another one, too. That takes no memory:
    #   both share the cells.
    #   @param seq_id_src [Integer] the sequence
    #   @param seq_id_dst [Integer] the other one
    #   @param p0 [Integer] the first position; negative: 0
    #   @param p1 [Integer] the position after the last; negative: no end
    #   @return [nil]
    #   @raise [ArgumentError] for a negative sequence
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #     context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #     context.kv_cache_seq_cp(0, 1, 0, -1) #=> nil
    #     context.kv_cache_token_count #=> 4

    # @!method kv_cache_seq_keep(seq_id)
    #   Removes all other sequences.
    #   @param seq_id [Integer] the sequence
    #   @return [nil]
    #   @raise [ArgumentError] for a negative sequence
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #     context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #     context.kv_cache_seq_cp(0, 1, 0, 1)
    #     context.kv_cache_seq_keep(1) #=> nil
    #     context.kv_cache_token_count #=> 1

    # @!method kv_cache_seq_shift(seq_id, p0, p1, delta)
    #   Moves the positions from +p0+ to before +p1+ of a sequence; those that become negative are removed. The next
    #   decode rotates the keys to their new places.
    #   @param seq_id [Integer] the sequence
    #   @param p0 [Integer] the first position; negative: 0
    #   @param p1 [Integer] the position after the last; negative: no end
    #   @param delta [Integer] how far
    #   @return [nil]
    #   @raise [ArgumentError] for a negative sequence, or positions beyond 2147483647
    #   @raise [RuntimeError] when the keys are quantized; see {ContextParams#type_k}
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #     context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #     context.kv_cache_seq_rm(0, 0, 1)
    #     context.kv_cache_seq_shift(0, 1, -1, -1) #=> nil
    #     context.kv_cache_seq_rm(0, 0, 1)
    #     context.kv_cache_token_count #=> 0

    # @!method kv_cache_seq_div(seq_id, p0, p1, divisor)
    #   Divides the positions from +p0+ to before +p1+ of a sequence.
    #   @param seq_id [Integer] the sequence
    #   @param p0 [Integer] the first position; negative: 0
    #   @param p1 [Integer] the position after the last; negative: no end
    #   @param divisor [Integer] 1 or more
    #   @return [nil]
    #   @raise [ArgumentError] for a negative sequence, or a divisor below 1
    #   @raise [RuntimeError] when the keys are quantized; see {ContextParams#type_k}
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #     context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #     context.kv_cache_seq_div(0, 0, -1, 2) #=> nil
    #     context.kv_cache_seq_rm(0, 0, 1)
    #     context.kv_cache_token_count #=> 0

    # @!endgroup
  end
end
