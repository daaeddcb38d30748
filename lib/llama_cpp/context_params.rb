# frozen_string_literal: true

require_relative 'parameters'

module LLaMACpp
  # How a {Context} is made. What the values may be is checked when a context is made of them.
  #
  # <tt>LLaMACpp::Params</tt> is another name of this class.
  class ContextParams
    extend ParameterKeywords

    # @!method initialize(**keywords)
    #   Any accessor can be given as a keyword; the others have their defaults.
    #
    #   @option keywords [Integer] :seed (-1) see {#seed}
    #   @option keywords [Integer] :n_ctx (512) see {#n_ctx}
    #   @option keywords [Integer] :n_batch (512) see {#n_batch}
    #   @option keywords [Integer] :n_threads (4) see {#n_threads}
    #   @option keywords [Integer] :n_threads_batch (4) see {#n_threads_batch}
    #   @option keywords [Integer] :rope_scaling_type (LLAMA_ROPE_SCALING_UNSPECIFIED) see {#rope_scaling_type}
    #   @option keywords [Float] :rope_freq_base (0.0) see {#rope_freq_base}
    #   @option keywords [Float] :rope_freq_scale (0.0) see {#rope_freq_scale}
    #   @option keywords [Float] :yarn_ext_factor (-1.0) see {#yarn_ext_factor}
    #   @option keywords [Float] :yarn_attn_factor (1.0) see {#yarn_attn_factor}
    #   @option keywords [Float] :yarn_beta_fast (32.0) see {#yarn_beta_fast}
    #   @option keywords [Float] :yarn_beta_slow (1.0) see {#yarn_beta_slow}
    #   @option keywords [Integer] :yarn_orig_ctx (0) see {#yarn_orig_ctx}
    #   @option keywords [Integer] :type_k (1) see {#type_k}
    #   @option keywords [Integer] :type_v (1) see {#type_v}
    #   @option keywords [Boolean] :mul_mat_q (true) see {#mul_mat_q}
    #   @option keywords [Boolean] :logits_all (false) see {#logits_all}
    #   @option keywords [Boolean] :embedding (false) see {#embedding}
    #   @option keywords [Boolean] :offload_kqv (true) see {#offload_kqv}
    #   @raise [ArgumentError] for an unknown keyword, or as the accessor raises
    #   @example
    #     params = LLaMACpp::ContextParams.new(n_ctx: 2048, seed: 42)
    #     [params.n_ctx, params.n_batch] #=> [2048, 512]
    parameters :seed, :n_ctx, :n_batch, :n_threads, :n_threads_batch, :rope_scaling_type, :rope_freq_base,
               :rope_freq_scale, :yarn_ext_factor, :yarn_attn_factor, :yarn_beta_fast, :yarn_beta_slow, :yarn_orig_ctx,
               :type_k, :type_v, :mul_mat_q, :logits_all, :embedding, :offload_kqv

    # @!group Size and speed

    # @!attribute [rw] n_ctx
    #   How many tokens the KV cache holds; 0 takes what the model was trained with. Default: 512.
    #   @return [Integer]
    #   @raise [RangeError, TypeError] for what is no Integer of 32 bits without a sign
    #   @example
    #     params = LLaMACpp::ContextParams.new
    #     params.n_ctx #=> 512
    #     params.n_ctx = 0

    # @!attribute [rw] n_batch
    #   The most tokens that one {Context#decode} takes, 1 or more. Default: 512.
    #   @return [Integer]
    #   @raise [RangeError, TypeError] for what is no Integer of 32 bits without a sign
    #   @example
    #     params = LLaMACpp::ContextParams.new
    #     params.n_batch #=> 512
    #     params.n_batch = 64

    # @!attribute [rw] n_threads
    #   Threads to decode a single token with: 1 to 64, or to four for each usable core if that is more. The default
    #   reads 4, but a context takes no more than there are cores; a number that was set is taken as it is. More threads
    #   than cores are slow.
    #   @return [Integer]
    #   @raise [RangeError, TypeError] for what is no Integer of 32 bits without a sign
    #   @example
    #     params = LLaMACpp::ContextParams.new
    #     params.n_threads #=> 4
    #     params.n_threads = 1

    # @!attribute [rw] n_threads_batch
    #   Threads to decode several tokens with; as {#n_threads}.
    #   @return [Integer]
    #   @raise [RangeError, TypeError] for what is no Integer of 32 bits without a sign
    #   @example
    #     params = LLaMACpp::ContextParams.new
    #     params.n_threads_batch #=> 4
    #     params.n_threads_batch = 1

    # @!attribute [rw] type_k
    #   How the keys in the cache are stored, in ggml's numbers: 0 (F32), 1 (F16), 2 (Q4_0), 3 (Q4_1), 6 (Q5_0),
    #   7 (Q5_1) or 8 (Q8_0). Quantized ones take less memory, but the cache cannot be shifted then. Default: 1.
    #   @return [Integer]
    #   @raise [RangeError, TypeError] for what is no Integer of 32 bits
    #   @example
    #     params = LLaMACpp::ContextParams.new
    #     params.type_k #=> 1
    #     params.type_k = 8

    # @!attribute [rw] type_v
    #   How the values in the cache are stored: 0 (F32) or 1 (F16). Default: 1.
    #   @return [Integer]
    #   @raise [RangeError, TypeError] for what is no Integer of 32 bits
    #   @example
    #     params = LLaMACpp::ContextParams.new
    #     params.type_v #=> 1
    #     params.type_v = 0

    # @!attribute [rw] offload_kqv
    #   Keep the cache in the memory of the GPU. Without a GPU in the build it has no effect. Default: true.
    #   @return [Boolean]
    #   @example
    #     params = LLaMACpp::ContextParams.new
    #     params.offload_kqv #=> true
    #     params.offload_kqv = false

    # @!attribute [rw] mul_mat_q
    #   Of no effect in this build of llama.cpp. Default: true.
    #   @return [Boolean]
    #   @example
    #     params = LLaMACpp::ContextParams.new
    #     params.mul_mat_q #=> true
    #     params.mul_mat_q = false

    # @!endgroup
    # @!group What comes out

    # @!attribute [rw] seed
    #   The start of the random numbers: 0 to 4294967295, or -1 for another one each time. Default: -1.
    #   @return [Integer]
    #   @raise [ArgumentError] for another negative number
    #   @raise [RangeError, TypeError] for what is no Integer of 32 bits without a sign
    #   @example
    #     params = LLaMACpp::ContextParams.new
    #     params.seed #=> -1
    #     params.seed = 42

    # @!attribute [rw] logits_all
    #   Keep the logits of every token that is decoded, not of the last one only; see {Context#logits}. Default: false.
    #   @return [Boolean]
    #   @example
    #     params = LLaMACpp::ContextParams.new
    #     params.logits_all #=> false
    #     params.logits_all = true

    # @!attribute [rw] embedding
    #   Keep the embedding of the last token; see {Context#embeddings}. Default: false.
    #   @return [Boolean]
    #   @example
    #     params = LLaMACpp::ContextParams.new
    #     params.embedding #=> false
    #     params.embedding = true

    # @!endgroup
    # @!group Positions

    # @!attribute [rw] rope_scaling_type
    #   How positions beyond the training context are scaled: +LLAMA_ROPE_SCALING_UNSPECIFIED+ (as the model says),
    #   +LLAMA_ROPE_SCALING_NONE+, +LLAMA_ROPE_SCALING_LINEAR+ or +LLAMA_ROPE_SCALING_YARN+. Default: as the model says.
    #   @return [Integer]
    #   @raise [ArgumentError] for a number beyond 8 bits
    #   @raise [RangeError, TypeError] for what is no Integer of 32 bits
    #   @example
    #     params = LLaMACpp::ContextParams.new
    #     params.rope_scaling_type == LLaMACpp::LLAMA_ROPE_SCALING_UNSPECIFIED #=> true
    #     params.rope_scaling_type = LLaMACpp::LLAMA_ROPE_SCALING_YARN

    # @!attribute [rw] rope_freq_base
    #   The base of the rotary embedding's frequencies; 0.0 takes the model's. Default: 0.0.
    #   @return [Float] in single precision, like the following ones
    #   @raise [ArgumentError] for what is no number
    #   @example
    #     params = LLaMACpp::ContextParams.new
    #     params.rope_freq_base #=> 0.0
    #     params.rope_freq_base = 1_000_000

    # @!attribute [rw] rope_freq_scale
    #   The factor of the rotary embedding's frequencies; 0.0 takes the model's. Default: 0.0.
    #   @return [Float]
    #   @raise [ArgumentError] for what is no number
    #   @example
    #     params = LLaMACpp::ContextParams.new
    #     params.rope_freq_scale #=> 0.0
    #     params.rope_freq_scale = 0.5

    # @!attribute [rw] yarn_ext_factor
    #   YaRN: how much is extrapolated, 0.0 to 1.0; negative takes the model's. Default: -1.0.
    #   @return [Float]
    #   @raise [ArgumentError] for what is no number
    #   @example
    #     params = LLaMACpp::ContextParams.new
    #     params.yarn_ext_factor #=> -1.0
    #     params.yarn_ext_factor = 1.0

    # @!attribute [rw] yarn_attn_factor
    #   YaRN: the factor of the attention's magnitude. Default: 1.0.
    #   @return [Float]
    #   @raise [ArgumentError] for what is no number
    #   @example
    #     params = LLaMACpp::ContextParams.new
    #     params.yarn_attn_factor #=> 1.0
    #     params.yarn_attn_factor = 0.5

    # @!attribute [rw] yarn_beta_fast
    #   YaRN: rotations over the training context from which on dimensions are extrapolated. Default: 32.0.
    #   @return [Float]
    #   @raise [ArgumentError] for what is no number
    #   @example
    #     params = LLaMACpp::ContextParams.new
    #     params.yarn_beta_fast #=> 32.0
    #     params.yarn_beta_fast = 16

    # @!attribute [rw] yarn_beta_slow
    #   YaRN: rotations over the training context up to which dimensions are interpolated. Default: 1.0.
    #   @return [Float]
    #   @raise [ArgumentError] for what is no number
    #   @example
    #     params = LLaMACpp::ContextParams.new
    #     params.yarn_beta_slow #=> 1.0
    #     params.yarn_beta_slow = 2

    # @!attribute [rw] yarn_orig_ctx
    #   YaRN: the training context in tokens; 0 takes the model's. Default: 0.
    #   @return [Integer]
    #   @raise [RangeError, TypeError] for what is no Integer of 32 bits without a sign
    #   @example
    #     params = LLaMACpp::ContextParams.new
    #     params.yarn_orig_ctx #=> 0
    #     params.yarn_orig_ctx = 4096

    # @!endgroup

    # @!method ==(other)
    #   @param other [Object]
    #   @return [Boolean] whether all of it is the same; a number of threads that was set differs from the default
    #   @example
    #     LLaMACpp::ContextParams.new == LLaMACpp::ContextParams.new(n_ctx: 64) #=> false
  end
end
