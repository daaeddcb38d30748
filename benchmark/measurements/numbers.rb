# frozen_string_literal: true

module Bench
  # How long it takes to get at the numbers of a vocabulary of 32,000.
  module Numbers
    ROWS = 100

    module_function

    # @param bench [Workbench]
    # @return [Array<Figure>]
    def measure(bench)
      context = bench.context('20M', logits_all: true, embedding: true)
      BareLoop.new(context).prompt(ROWS)
      [*candidates(context), *logits(context), *embeddings(context)]
    end

    def candidates(context)
      logits = context.logits(-1)
      [
        Figure.within(0.0005, Clock.each(20) { context.candidates }, 'candidates, 32,000 tokens'),
        Figure.within(0.018, Clock.each(1) { old_candidates(logits) }, '32,000 TokenData and a TokenDataArray of them')
      ]
    end

    # As programs do it that know nothing of Context#candidates.
    def old_candidates(logits)
      id = -1
      LLaMACpp::TokenDataArray.new(logits.map { |logit| LLaMACpp::TokenData.new(id: id += 1, logit:, p: 0.0) })
    end

    def logits(context)
      all = Clock.each(1) { context.logits }
      row = Clock.each(5) { context.logits(-1) }
      packed = Clock.each(20) { context.logits_packed(-1) }
      [
        Figure.told("logits, #{ROWS} rows of 32,000", Figure.duration(all)),
        Figure.at_most(0.05, row / all, "logits(row) / logits of #{ROWS} rows", Figure.duration(row)),
        Figure.at_most(0.5, packed / row, 'logits_packed(row) / logits(row)', Figure.duration(packed))
      ]
    end

    def embeddings(context)
      boxed = Clock.each(100) { context.embeddings }
      packed = Clock.each(100) { context.embeddings_packed }
      [Figure.told("embeddings, #{context.model.n_embd} numbers", Figure.duration(boxed)),
       Figure.told('embeddings_packed', Figure.duration(packed))]
    end
  end
end
