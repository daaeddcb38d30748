# frozen_string_literal: true

module Recorded
  # What follows a prompt: what the model says, what the samplers draw and leave, the KV cache, generated texts.
  #
  # Contexts have the seed 42, candidates are in the order of the ids.
  class Continuation
    %w[drawing filtering cache texts].each { |part| require_relative "continuation/#{part}" }

    # The size of the contexts.
    N_CTX = 256

    include Drawing
    include Filtering
    include Cache
    include Texts

    def initialize(path, prompt)
      @model = Recorded.model(path)
      @prompt = prompt
      @tokens = tokens
    end

    def result(rest)
      public_send(rest)
    end

    def tokens
      @model.tokenize(text: @prompt, add_bos: true)
    end

    def logits
      prompted.logits
    end

    def logits_all
      rows = prompted(logits_all: true).logits
      [rows.size, rows.first(8), rows.last(8)]
    end

    def embeddings
      prompted(embedding: true).embeddings
    end

    private

    # A context that has decoded the prompt.
    def prompted(**settings)
      Models.new_context(@model, n_ctx: N_CTX, **settings).tap { |context| Models.decode(context, @tokens) }
    end

    def candidates(context)
      tokens = context.logits.each_with_index.map { |logit, id| LLaMACpp::TokenData.new(id:, logit:, p: 0.0) }
      LLaMACpp::TokenDataArray.new(tokens)
    end
  end
end
