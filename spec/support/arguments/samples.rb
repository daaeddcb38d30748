# frozen_string_literal: true

require 'logger'
require_relative 'objects'

module Arguments
  # Arguments and receivers, as they should be and as they hardly should.
  class Samples < Objects
    # Good arguments, by the type in the signature.
    TYPES = {
      'Integer' => -> { 1 }, 'number' => -> { 0.5 }, 'String' => -> { +'a' }, 'boolish' => -> { true },
      'path' => -> { Fuzz::TINY }, 'Model' => -> { model }, 'Context' => -> { context }, 'Batch' => -> { batch },
      'Grammar' => -> { grammar }, 'TokenDataArray' => -> { candidates }, 'untyped' => -> {},
      'ModelParams' => -> { LLaMACpp::ModelParams.new }, 'ContextParams' => -> { context_params },
      'ModelQuantizeParams' => -> { quantize_params }, '(Context | Model)' => -> { model },
      'Array[Integer]' => -> { [1, 2] }, 'Array[number]' => -> { [0.1] * 256 },
      'Array[TokenData]' => -> { [token_data] }, 'Array[Array[GrammarElement]]' => -> { rules },
      'Array[ModelKVOverride]' => -> { [LLaMACpp::ModelKVOverride.new(key: 'a', value: 1)] },
      'Hash[Integer, number]' => -> { { 1 => 0.5 } }, '_Log' => -> { Logger.new(nil) }
    }.freeze

    # Where the type does not tell enough.
    NAMED = {
      'LLaMACpp.model_quantize' => { output_path: -> { 'output' } },
      'LLaMACpp.generate' => { prompt: -> { 'The capital of France is' }, n_predict: -> { 2 }, temperature: -> { 0 } },
      'LLaMACpp::Context#generate' => { prompt: -> { 'The capital of France is' } },
      'LLaMACpp::Context#save_session_file' => { session_path: -> { 'session' } },
      'LLaMACpp::Context#load_session_file' => { session_path: -> { session } },
      'LLaMACpp::Context#eval' => { n_past: -> { 0 } },
      'LLaMACpp::Context#eval_embd' => { n_past: -> { 0 } },
      'LLaMACpp::Context#sample_token_mirostat' => { m: -> { 100 } },
      'LLaMACpp::Context#grammar_accept_token' => { token: -> { 100 } },
      'LLaMACpp::Model#apply_lora_from_file' => { lora_path: -> { adapter } },
      'LLaMACpp::Grammar.from_gbnf' => { text: -> { 'root ::= "a"' } },
      'LLaMACpp::Grammar#initialize' => { start_rule_index: -> { 0 } },
      'LLaMACpp::Batch#initialize' => { max_n_token: -> { 4 }, n_embd: -> { 0 }, max_n_seq: -> { 2 } },
      'LLaMACpp::Batch.get_one' => { pos_zero: -> { 0 }, seq_id: -> { 0 } },
      'LLaMACpp::Chat#say' => { n_predict: -> { 2 } }
    }.freeze

    # Optional arguments that a plain call has, so that it ends soon.
    WANTED = { 'LLaMACpp.generate' => %i[n_predict temperature], 'LLaMACpp::Chat#say' => %i[n_predict] }.freeze

    # Good receivers, where it is no new object.
    RECEIVERS = {
      'LLaMACpp::Model#load' => -> { LLaMACpp::Model.new }, 'LLaMACpp::Model#apply_lora_from_file' => -> { own_model },
      'LLaMACpp::Model' => -> { model }, 'LLaMACpp::Context' => -> { context },
      'LLaMACpp::Parameters' => -> { context_params }
    }.freeze

    # Receivers of another kind.
    SPECIAL = {
      'allocated' => ->(owner) { Object.const_get(owner).allocate },
      'frozen' => ->(owner) { fresh(owner).freeze },
      'dup' => ->(owner) { fresh(owner).dup },
      'subclass' => ->(owner) { fresh(owner, Class.new(Object.const_get(owner))) },
      'initialized twice' => ->(owner) { initialize_again(fresh(owner)) },
      'freed' => ->(owner) { fresh(owner).tap { |object| object.free if object.respond_to?(:free) } }
    }.freeze

    # @param callable [Callable]
    # @param slot [Slot]
    # @return [Object] a good argument
    def argument(callable, slot)
      maker = NAMED.dig(callable.to_s, slot.name) || TYPES[slot.type.delete_suffix('?')]
      # The first of several types.
      maker ||= TYPES.fetch(slot.type.delete_prefix('(')[/\A[^|)]+/].strip)
      instance_exec(&maker)
    end

    # @param callable [Callable]
    # @return [Array<Slot>] those that belong to a plain call
    def plain_slots(callable)
      callable.slots.select { |slot| slot.required || WANTED.fetch(callable.to_s, []).include?(slot.name) }
    end

    # @param callable [Callable]
    # @return [Object] a good receiver
    def receiver(callable)
      return Object.const_get(callable.owner) if callable.kind == :singleton

      maker = RECEIVERS[callable.to_s] || RECEIVERS[callable.owner]
      maker ? instance_exec(&maker) : fresh(callable.owner)
    end

    # @param kind [String] a key of SPECIAL
    # @param owner [String] the name of a class
    # @return [Object] a receiver of that kind
    def special_receiver(kind, owner)
      instance_exec(owner, &SPECIAL.fetch(kind))
    end

    private

    def initialize_again(object)
      object.tap { object.send(:initialize) }
    rescue ArgumentError, RuntimeError
      object
    end
  end
end
