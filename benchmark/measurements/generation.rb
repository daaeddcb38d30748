# frozen_string_literal: true

module Bench
  # What `generate` adds to the bare decode loop.
  module Generation
    PROMPT = 'the quick brown fox jumps over the lazy dog'

    module_function

    # @param bench [Workbench]
    # @return [Array<Figure>]
    def measure(bench)
      [['1.1B', bench.cores, 6, 61, 0.97], ['tiny', 1, 200, 61, 0.80]].map do |size, n_threads, steps, rounds, bound|
        context = bench.context(size, n_threads:)
        bare, generate = Clock.compete(rounds, bare_run(context, steps), generate_run(context, steps))
        Figure.at_least(bound, bare / generate, "generate / bare loop, #{size}, #{n_threads} thread(s)",
                        "#{Figure.rates(steps, generate, bare)}, a step takes #{Figure.duration(bare / steps)}")
      end
    end

    # @return [Proc] gives the seconds of that many steps behind the prompt
    def bare_run(context, steps)
      loop = BareLoop.new(context)
      prompt = context.model.tokenize(text: " #{PROMPT}", add_bos: true)
      -> { loop.run(prompt, steps) }
    end

    # The first token comes from the prompt: the clock starts with it.
    #
    # @yield when the clock starts
    # @return [Proc] gives the seconds of that many steps behind the prompt
    def generate_run(context, steps, &started)
      settings = { n_predict: steps + 1, logit_bias: { context.model.token_eos => -1e9 } }
      lambda do
        start = nil
        LLaMACpp.generate(context, PROMPT, **settings) { start ||= Clock.now.tap { started&.call } }
        Clock.now - start
      end
    end
  end
end
