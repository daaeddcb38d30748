# frozen_string_literal: true

require_relative '../fuzz/targets'

module Arguments
  # Objects to call and to pass. What a call may spoil is new each time.
  class Objects
    # How an object of a class is made with good arguments.
    FRESH = {
      'LLaMACpp::Model' => ->(klass) { klass.new(model_path: Fuzz::TINY, params: LLaMACpp::ModelParams.new) },
      'LLaMACpp::Context' => ->(klass) { klass.new(model:, params: context_params) },
      'LLaMACpp::Chat' => ->(klass) { klass.new(context) },
      'LLaMACpp::Batch' => ->(klass) { fill(klass.new(max_n_token: 4, n_embd: 0, max_n_seq: 2)) },
      'LLaMACpp::TokenData' => ->(klass) { klass.new(id: 100, logit: 1.0, p: 0.5) },
      'LLaMACpp::TokenDataArray' => ->(klass) { klass.new([token_data]) },
      'LLaMACpp::Grammar' => ->(klass) { klass.new(rules:, start_rule_index: 0) }
    }.freeze

    # @param owner [String] the name of a class
    # @param klass [Class] that class, or a subclass
    # @return [Object] a new one
    def fresh(owner, klass = Object.const_get(owner))
      instance_exec(klass, &FRESH.fetch(owner) { :new.to_proc })
    end

    # @return [Model] the one that most calls share
    def model
      @model = own_model if @model.nil? || @model.empty?
      @model
    end

    # @return [Context] the one that most calls share: with an empty cache and the logits of a token
    def context
      @context = own_context if @context.nil? || gone?(@context)
      @context.kv_cache_clear
      @context.decode(batch)
      @context.kv_cache_clear
      @context
    end

    def own_model = fresh('LLaMACpp::Model')

    def own_context = fresh('LLaMACpp::Context')

    def vocabulary
      params = LLaMACpp::ModelParams.new(vocab_only: true)
      @vocabulary ||= LLaMACpp::Model.new(model_path: Fuzz::TINY, params:)
    end

    def freed_model = own_model.tap(&:free)

    def freed_context = own_context.tap(&:free)

    def batch
      LLaMACpp::Batch.get_one(tokens: [1], n_tokens: 1, pos_zero: 0, seq_id: 0)
    end

    def empty_batch
      LLaMACpp::Batch.new(max_n_token: 0, n_embd: 0, max_n_seq: 0)
    end

    def embedding_batch
      LLaMACpp::Batch.new(max_n_token: 1, n_embd: 3, max_n_seq: 1).tap { |batch| batch.n_tokens = 1 }
    end

    def token_data(logit = 1.0)
      LLaMACpp::TokenData.new(id: 100, logit:, p: 0.5)
    end

    def candidates(*logits)
      logits = [1.0, 2.0, 0.5] if logits.empty?
      LLaMACpp::TokenDataArray.new(logits.map { |logit| token_data(logit) })
    end

    def emptied_candidates
      candidates.tap { |array| context.sample_top_p(array, prob: 0.0, min_keep: 0) }
    end

    def impossible_candidates
      candidates(-Float::INFINITY, Float::NAN)
    end

    def rules
      [[LLaMACpp::GrammarElement.new(type: 3, value: 97), LLaMACpp::GrammarElement.new]]
    end

    # One that accepts the token 100.
    def grammar
      LLaMACpp::Grammar.from_gbnf("root ::= #{model.token_to_piece(100).dump}+")
    end

    def ended_grammar
      LLaMACpp::Grammar.from_gbnf('root ::= ""')
    end

    def context_params
      LLaMACpp::ContextParams.new(n_ctx: 64, n_batch: 32, n_threads: 1, n_threads_batch: 1, seed: 1)
    end

    def quantize_params
      LLaMACpp::ModelQuantizeParams.new(ftype: 7, n_thread: 1)
    end

    def adapter
      'adapter'.tap { |path| File.binwrite(path, Fuzz::LoraTarget.adapter) unless File.exist?(path) }
    end

    def session
      'saved'.tap { |path| File.exist?(path) || context.save_session_file(session_path: path, session_tokens: [1]) }
    end

    def subclass_of(klass)
      Class.new(klass).new
    end

    private

    def fill(batch)
      batch.n_tokens = 2
      2.times do |i|
        batch.set_token(i, 1)
        batch.set_pos(i, i)
        batch.set_n_seq_id(i, 1)
      end
      batch
    end

    def gone?(context)
      context.n_ctx
      false
    rescue RuntimeError
      true
    end
  end
end
