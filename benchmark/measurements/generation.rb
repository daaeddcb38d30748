# frozen_string_literal: true

module Bench
  # What `generate` adds to the bare decode loop.
  module Generation
    PROMPT = 'the quick brown fox jumps over the lazy dog'

    module_function

    # @param bench [Workbench]
    # @return [Array<Figure>]
    def measure(bench)
      [['1.1B', bench.cores, 12, 15, 0.97], ['tiny', 1, 200, 31, 0.80]].map do |size, n_threads, count, rounds, bound|
        context = bench.context(size, n_threads:)
        bare, generate = Clock.compete(rounds, bare_run(context, count), generate_run(context, count))
        Figure.at_least(bound, bare / generate, "generate / bare loop, #{size}, #{n_threads} thread(s)",
                        "#{Figure.rates(count, generate, bare)}, a step takes #{Figure.duration(bare / count)}")
      end
    end

    # The first of the tokens comes from the prompt, so there is one step less than tokens.
    def bare_run(context, count)
      loop = BareLoop.new(context)
      prompt = context.model.tokenize(text: " #{PROMPT}", add_bos: true)
      -> { loop.run(prompt, count - 1) }
    end

    def generate_run(context, count)
      settings = { n_predict: count, logit_bias: { context.model.token_eos => -1e9 } }
      lambda do
        pieces = 0
        Clock.time { LLaMACpp.generate(context, PROMPT, **settings) { pieces += 1 } }
      end
    end
  end
end
