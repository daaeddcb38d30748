# frozen_string_literal: true

module LLaMACpp
  # A context: the KV cache of a {Model}, and the outputs of its last decode.
  #
  # A context works for one thread at a time; a second one gets a RuntimeError. Several contexts of one model can work
  # at the same time.
  class Context
    # @param model [Model] a loaded model; its memory lives as long as the context
    # @param params [ContextParams] how to make it
    # @raise [ArgumentError] for an empty model, a wrong kind of value, or a parameter outside of its limits
    # @raise [RuntimeError] for a model of which only the vocabulary was loaded, or a cache larger than the machine's
    #   memory
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   context.n_ctx #=> 512
    def initialize(model:, params:)
      native_init(model, params)
    end

    # @!method free
    #   Lets go of the cache at once, instead of when the collector gets to it. Freeing again does no harm; whatever
    #   else is asked of the context afterwards raises RuntimeError.
    #   @return [nil]
    #   @raise [RuntimeError] while another thread uses it
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #     context.free #=> nil

    # @!method model
    #   @return [Model] what it was made of
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #     context.model.equal?(model) #=> true

    # @!method n_ctx
    #   @return [Integer] tokens that the KV cache holds
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #     context.n_ctx #=> 512

    # @!method n_batch
    #   @return [Integer] the most tokens that one {#decode} takes
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     params = LLaMACpp::ContextParams.new(n_batch: 64)
    #     LLaMACpp::Context.new(model: model, params: params).n_batch #=> 64

    # @!method n_threads
    #   @return [Integer] threads that decode a single token
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     params = LLaMACpp::ContextParams.new(n_threads: 1)
    #     LLaMACpp::Context.new(model: model, params: params).n_threads #=> 1

    # @!method n_threads_batch
    #   @return [Integer] threads that decode several tokens
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     params = LLaMACpp::ContextParams.new(n_threads_batch: 1)
    #     LLaMACpp::Context.new(model: model, params: params).n_threads_batch #=> 1

    # @!method decode(batch)
    #   Decodes a batch: its tokens enter the KV cache, and logits and embedding are computed. Other threads run
    #   meanwhile; an interrupt ends it, and leaves the cache as it was.
    #   @param batch [Batch] at most {#n_batch} tokens
    #   @return [nil]
    #   @raise [ArgumentError] for a batch that is empty or too large, or has tokens, positions or sequences out of
    #     range
    #   @raise [RuntimeError] when the cache has no room, or another thread uses the context; nothing has changed then
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #     tokens = model.tokenize(text: 'The capital of France is', add_bos: true)
    #     context.decode(LLaMACpp::Batch.get_one(tokens: tokens, n_tokens: tokens.size, pos_zero: 0, seq_id: 0)) #=> nil
    #     context.kv_cache_token_count #=> 8

    # Decodes tokens of the sequence 0, after dropping what the cache has from +n_past+ on.
    #
    # @deprecated Use {#decode}.
    # @param tokens [Array<Integer>] the tokens
    # @param n_past [Integer] the position of the first
    # @param n_tokens [Integer, nil] how many of them count; nil for all
    # @return [nil]
    # @raise (see #decode)
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   context.eval(tokens: model.tokenize(text: 'Hello', add_bos: true), n_past: 0)
    #   context.kv_cache_token_count.positive? #=> true
    def eval(tokens:, n_past:, n_tokens: nil)
      deprecated(:eval, :decode)
      native_eval_tokens(tokens, n_past, n_tokens)
    end

    # As {#eval}, with embeddings instead of tokens.
    #
    # @deprecated Use {#decode}.
    # @param embd [Array<Float>] <tt>n_tokens × n_embd</tt> values, one token after the other
    # @param n_past [Integer] the position of the first
    # @param n_tokens [Integer, nil] how many tokens count; nil for all
    # @param tokens [Array<Float>] another name of +embd+
    # @return [nil]
    # @raise (see #decode)
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   context.eval_embd(embd: [0.1] * model.n_embd, n_past: 0)
    #   context.kv_cache_token_count #=> 1
    def eval_embd(n_past:, embd: UNSET, n_tokens: nil, tokens: UNSET)
      deprecated(:eval_embd, :decode)
      values = embd.equal?(UNSET) ? tokens : embd
      raise ArgumentError, 'missing keyword: :embd' if values.equal?(UNSET)
      raise ArgumentError, 'embd and tokens are the same: give one of them' unless [embd, tokens].one?(UNSET)

      native_eval_embeddings(values, n_past, n_tokens)
    end

    # The logits of the last decode.
    #
    # @param row [Integer, nil] nil: every token's, one row after the other, if the context was made with +logits_all+;
    #   else those of the last token that asked for logits. An Integer: those of one token; a negative one counts from
    #   the end.
    # @return [Array<Float>] +n_vocab+ values, or <tt>n_tokens × n_vocab</tt>
    # @raise [RuntimeError] before the first decode, or when no token asked for logits
    # @raise [IndexError] for a token whose logits were not asked for
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #   context.logits.size #=> 640
    def logits(row = nil)
      native_logits_of(row)
    end

    # As {#logits}, as a binary String of native floats: <tt>unpack('f*')</tt>, Numo and database columns take it as it
    # is.
    #
    # @param row (see #logits)
    # @return [String] four bytes for each value
    # @raise (see #logits)
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #   context.logits_packed.unpack('f*') == context.logits #=> true
    def logits_packed(row = nil)
      native_logits_packed_of(row)
    end

    # @!method embeddings
    #   The embedding of the last token of the last decode, as the model's last layer has it. Its length means nothing:
    #   divide by it before you compare.
    #   @return [Array<Float>] +n_embd+ values
    #   @raise [RuntimeError] when the context was made without +embedding+, or before the first decode
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     params = LLaMACpp::ContextParams.new(embedding: true)
    #     context = LLaMACpp::Context.new(model: model, params: params)
    #     context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #     context.embeddings.size #=> 256

    # @!method embeddings_packed
    #   As {#embeddings}, as a binary String of native floats.
    #   @return [String] four bytes for each value
    #   @raise (see #embeddings)
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     params = LLaMACpp::ContextParams.new(embedding: true)
    #     context = LLaMACpp::Context.new(model: model, params: params)
    #     context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #     context.embeddings_packed.unpack('f*') == context.embeddings #=> true

    # The whole vocabulary as candidates, with the logits of one token, in the order of the ids.
    #
    # @param index [Integer] the token in the last batch; a negative one counts from the end
    # @return [TokenDataArray]
    # @raise (see #logits)
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   tokens = model.tokenize(text: 'The capital of France is', add_bos: true)
    #   context.decode(LLaMACpp::Batch.get_one(tokens: tokens, n_tokens: tokens.size, pos_zero: 0, seq_id: 0))
    #   model.token_to_piece(context.sample_token_greedy(context.candidates)) #=> " P"
    def candidates(index = -1)
      native_candidates_of(index)
    end

    # Saves the state (random numbers, logits, embedding, KV cache) in a file, with the tokens that led to it.
    #
    # The file appears when it is complete. Positions that were moved must have been decoded since.
    #
    # @param session_path [String] the file
    # @param session_tokens [Array<Integer>] the tokens
    # @return [nil]
    # @raise [RuntimeError] when it cannot be written, or the cache is of a type that cannot be saved
    # @raise [ArgumentError] for a token outside of the vocabulary
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #   context.save_session_file(session_path: 'tmp/example.session', session_tokens: [1, 262])
    #   context.load_session_file(session_path: 'tmp/example.session') #=> [1, 262]
    def save_session_file(session_path:, session_tokens:)
      native_save_session(session_path, session_tokens)
    end

    # Takes over the state of a session file.
    #
    # @param session_path [String] a file that {#save_session_file} wrote, for the same model and +n_ctx+
    # @return [Array<Integer>] the tokens that were saved with it
    # @raise [RuntimeError] when it cannot be read, is damaged, or is one of another model or another size of context;
    #   the context is as it was then
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   context.save_session_file(session_path: 'tmp/example.session', session_tokens: [])
    #   context.load_session_file(session_path: 'tmp/example.session') #=> []
    def load_session_file(session_path:)
      native_load_session(session_path)
    end

    # @!method timings
    #   @return [Timings] where the time went since the context was made, or since {#reset_timings}
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #     context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #     context.timings.n_p_eval #=> 2

    # @!method reset_timings
    #   Starts the {#timings} anew.
    #   @return [nil]
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #     context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #     context.reset_timings #=> nil
    #     context.timings.t_p_eval_ms #=> 0.0

    # @!method set_rng_seed(seed)
    #   Starts the random numbers of {#sample_token} and the Mirostat samplers anew.
    #   @param seed [Integer] 0 to 4294967294; 4294967295 takes the time
    #   @return [nil]
    #   @raise [ArgumentError] for a seed outside of its limits
    #   @example
    #     model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #     context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #     context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
    #     draws = Array.new(2) do
    #       context.set_rng_seed(42)
    #       Array.new(5) { context.sample_token(context.candidates) }
    #     end
    #     draws[0] == draws[1] #=> true

    # Writes {#timings} to stderr, for people.
    #
    # @return [nil]
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   context.print_timings #=> nil
    def print_timings
      t = timings
      lines = [
        format('load:   %10.2f ms', t.t_load_ms),
        timing_line('sample', t.t_sample_ms, t.n_sample),
        timing_line('prompt', t.t_p_eval_ms, t.n_p_eval),
        timing_line('eval', t.t_eval_ms, t.n_eval),
        format('total:  %10.2f ms', t.t_end_ms - t.t_start_ms)
      ]
      lines.each { |line| $stderr.write("#{line}\n") }
      nil
    end

    # @return [String] its sizes, and how full it is
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   context.inspect.start_with?('#<LLaMACpp::Context n_ctx: 512, n_batch: 512, tokens: 0') #=> true
    def inspect
      format('#<%<class>s n_ctx: %<n_ctx>d, n_batch: %<n_batch>d, tokens: %<tokens>d, model: %<model>p>',
             class: self.class, n_ctx:, n_batch:, tokens: kv_cache_token_count, model:)
    rescue RuntimeError
      "#<#{self.class} in use or uninitialized>"
    end

    private

    def deprecated(name, instead)
      warn("#{self.class}##{name} is deprecated: use #{instead}", uplevel: 2)
    end

    def timing_line(name, milliseconds, count)
      rate = milliseconds.positive? ? count * 1000.0 / milliseconds : 0.0
      format('%<name>-7s %<milliseconds>10.2f ms / %<count>6d tokens (%<each>8.2f ms each, %<rate>9.2f per second)',
             name: "#{name}:", milliseconds:, count:, each: milliseconds / [count, 1].max, rate:)
    end
  end
end
