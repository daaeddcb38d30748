# frozen_string_literal: true

require_relative 'objects'

module Arguments
  # What a program does next with what it got.
  class Uses
    BY_CLASS = {
      'Enumerator::Lazy' => ->(texts) { texts.first(2) },
      'LLaMACpp::Parameters' => ->(params) { with_parameters(params) },
      'LLaMACpp::Batch' => ->(batch) { @objects.context.decode(batch) },
      'LLaMACpp::Grammar' => ->(grammar) { @objects.context.sample_grammar(@objects.candidates, grammar:) },
      'LLaMACpp::GrammarElement' => ->(element) { grammar_of(element) },
      'LLaMACpp::TokenData' => ->(token) { sample(LLaMACpp::TokenDataArray.new([token])) },
      'LLaMACpp::TokenDataArray' => ->(array) { sample(array) },
      'LLaMACpp::Chat' => ->(chat) { chat.say('a', n_predict: 1) },
      'LLaMACpp::ModelKVOverride' => ->(override) { load_with(override) },
      'LLaMACpp::Model' => ->(model) { model.tokenize(text: 'a') }
    }.freeze

    # @param objects [Objects]
    def initialize(objects)
      @objects = objects
      @known = {}
    end

    # @param object [Object] anything that came out of a call, or was called
    def use(object)
      return unless Object === object # rubocop:disable Style/CaseEquality -- a BasicObject cannot be asked

      _, use = BY_CLASS.find { |name, _| object.is_a?(Object.const_get(name)) }
      use ? instance_exec(object, &use) : object.inspect
    end

    private

    # Once for each combination of settings.
    def with_parameters(params)
      key = [params.class, params.to_h.inspect]
      return if @known[key]

      @known[key] = true
      case params
      when LLaMACpp::ModelParams then load_and_free(params)
      when LLaMACpp::ContextParams then decode(LLaMACpp::Context.new(model: @objects.model, params:))
      when LLaMACpp::ModelQuantizeParams
        LLaMACpp.model_quantize(input_path: Fuzz::TINY, output_path: 'quantized', params:)
      end
    end

    def load_and_free(params)
      model = LLaMACpp::Model.new(model_path: Fuzz::TINY, params:)
      model.tokenize(text: 'a')
      model.free
    end

    def decode(context)
      context.decode(@objects.batch)
      context.logits
    end

    def sample(array)
      @objects.context.sample_softmax(array)
      @objects.context.sample_token(array)
    end

    def grammar_of(element)
      use(LLaMACpp::Grammar.new(rules: [[element, LLaMACpp::GrammarElement.new]], start_rule_index: 0))
    end

    def load_with(override)
      use(LLaMACpp::ModelParams.new(vocab_only: true, kv_overrides: [override]))
    end
  end
end
