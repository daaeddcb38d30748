# frozen_string_literal: true

module Recorded
  # Calls that raise.
  class Misuse
    def initialize(path)
      @path = path
      @model = Recorded.model(path)
    end

    def result(rest)
      public_send(rest)
    end

    def missing_model
      Models.load_model("#{@path}.missing")
    end

    def model_path_type
      Models.load_model(1)
    end

    def model_missing_kw
      LLaMACpp::Model.new(model_path: @path)
    end

    def params_type
      LLaMACpp::Model.new(model_path: @path, params: 1)
    end

    def ctx_empty_model
      Models.new_context(LLaMACpp::Model.new)
    end

    def ctx_model_type
      Models.new_context('model')
    end

    def logits_before_decode
      Models.new_context.logits
    end

    def embeddings_off
      Models.new_context.tap { |context| Models.decode(context, Models::FRANCE_TOKENS) }.embeddings
    end

    def double_load
      @model.load(model_path: @path, params: LLaMACpp::ModelParams.new)
    end

    def tokenize_max
      @model.tokenize(text: 'The capital of France is', n_max_tokens: 1)
    end

    def tokenize_type
      @model.tokenize(text: 1)
    end

    def tda_empty
      LLaMACpp::TokenDataArray.new([])
    end

    def tda_elem
      LLaMACpp::TokenDataArray.new([1])
    end

    def td_types
      token = LLaMACpp::TokenData.new(id: 1, logit: 2, p: 0)
      [token.id, token.logit, token.p]
    end

    def batch_neg
      LLaMACpp::Batch.new(max_n_token: 4, n_embd: 0, max_n_seq: 1).get_token(-1)
    end

    def quantize_missing
      LLaMACpp.model_quantize(input_path: "#{@path}.missing", output_path: "#{@path}.out",
                              params: LLaMACpp::ModelQuantizeParams.new)
    end

    def generate_ctx
      LLaMACpp.generate(1, 'The capital of France is')
    end

    def generate_prompt
      LLaMACpp.generate(Models.new_context, 1)
    end

    def generate_long
      LLaMACpp.generate(Models.new_context, 'The capital of France is ' * 20)
    end

    def rng_seed_negative
      Models.new_context.set_rng_seed(-1)
    end

    def lora_missing
      @model.apply_lora_from_file(lora_path: "#{@path}.missing")
    end
  end
end
