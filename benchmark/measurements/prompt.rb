# frozen_string_literal: true

module Bench
  # Tokens per second of a prompt.
  module Prompt
    # Lengths, and how many rounds of each.
    LENGTHS = { 8 => 61, 32 => 31, 128 => 11, 512 => 7 }.freeze
    CHUNKS = [32, 128, 512].freeze

    module_function

    # @param bench [Workbench]
    # @param images [String] the folder for the plot
    # @return [Array<Figure>]
    def measure(bench, images)
      context = bench.context('100M')
      loop = BareLoop.new(context)
      times = bench.driver('100M') { |driver| by_length(loop, driver) }
      draw(times, File.join(images, 'prompt.svg'))
      [*compare(times), *chunks(loop), last_only(context)]
    end

    # @return [Hash{Integer => Array<Float>}] seconds in Ruby and in C++ for each length
    def by_length(loop, driver)
      LENGTHS.to_h do |length, rounds|
        [length, Clock.compete(rounds, -> { loop.prompt(length) }, -> { driver.prompt(length) })]
      end
    end

    def draw(times, path)
      rates = [0, 1].map { |program| times.to_h { |length, seconds| [length, length / seconds[program]] } }
      Chart.new('Tokens per second of a prompt by its length, 100M, Q4_0',
                across: 'tokens of the prompt', upward: 'tokens per second',
                series: { 'the gem' => rates[0], 'C++ program' => rates[1] }).write(path)
    end

    def compare(times)
      times.map do |length, (ruby, cpp)|
        Figure.at_least(0.97, cpp / ruby, "prompt of #{length} tokens in Ruby / in C++, 100M",
                        Figure.rates(length, ruby, cpp))
      end
    end

    def chunks(loop)
      times = Clock.compete(3, *CHUNKS.map { |chunk| -> { loop.prompt(512, chunk) } })
      CHUNKS.zip(times).map do |chunk, time|
        Figure.told("512 tokens, #{chunk} at a time / at once", Figure.rates(512, time), times.last / time)
      end
    end

    # 512 rows of 32,000 would be 65 MB.
    def last_only(context)
      rows = context.logits.size / context.model.n_vocab
      Figure.check('rows of logits that a prompt leaves', "#{rows} of 512", 'the last one', rows == 1)
    end
  end
end
