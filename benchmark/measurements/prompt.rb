# frozen_string_literal: true

module Bench
  # Tokens per second of a prompt.
  module Prompt
    LENGTHS = [8, 32, 128, 512].freeze
    CHUNKS = [32, 128, 512].freeze

    module_function

    # @param bench [Workbench]
    # @param images [String] the folder for the plot
    # @return [Array<Figure>]
    def measure(bench, images)
      context = bench.context('100M')
      loop = BareLoop.new(context)
      [*lengths(loop, images), *chunks(loop), compare(bench, loop), last_only(context)]
    end

    def lengths(loop, images)
      times = LENGTHS.to_h { |length| [length, Clock.median(Array.new(3) { loop.prompt(length) })] }
      rates = times.to_h { |length, time| [length, length / time] }
      chart = Chart.new('Tokens per second of a prompt by its length', across: 'tokens of the prompt',
                                                                       upward: 'tokens per second',
                                                                       series: { '100M, Q4_0' => rates })
      chart.write(File.join(images, 'prompt.svg'))
      times.map { |length, time| Figure.told("prompt of #{length} tokens, 100M", Figure.rates(length, time)) }
    end

    def chunks(loop)
      times = Clock.alternate(3, *CHUNKS.map { |chunk| -> { loop.prompt(512, chunk) } })
      CHUNKS.zip(times).map do |chunk, time|
        Figure.told("512 tokens, #{chunk} at a time / at once", Figure.rates(512, time), times.last / time)
      end
    end

    def compare(bench, loop)
      bench.driver('100M') do |driver|
        ruby, cpp = Clock.alternate(3, -> { loop.prompt(512) }, -> { driver.prompt(512) })
        Figure.at_least(0.97, cpp / ruby, 'prompt of 512 tokens in Ruby / in C++',
                        Figure.rates(512, ruby, cpp))
      end
    end

    # 512 rows of 32,000 would be 65 MB.
    def last_only(context)
      rows = context.logits.size / context.model.n_vocab
      Figure.check('rows of logits that a prompt leaves', "#{rows} of 512", 'the last one', rows == 1)
    end
  end
end
