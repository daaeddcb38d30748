# frozen_string_literal: true

module Bench
  # Tokens per second by threads of llama.cpp.
  module Threads
    COUNTS = [1, 2, 4, 8].freeze
    SECONDS = 1.5

    module_function

    # @param bench [Workbench]
    # @param images [String] the folder for the plot
    # @return [Array<Figure>]
    def measure(bench, images)
      series = %w[100M 1.1B].to_h { |size| ["#{size}, Q4_0", rates(bench, size)] }
      chart = Chart.new("Tokens per second by threads, on #{bench.cores} cores",
                        across: 'threads of llama.cpp (n_threads)', upward: 'tokens per second', series:, log: true)
      chart.write(File.join(images, 'threads.svg'))
      [*series.flat_map { |name, rates| told(name, rates) }, default(bench)]
    end

    def rates(bench, size)
      COUNTS.to_h { |n_threads| [n_threads, BareLoop.new(bench.context(size, n_threads:)).rate(SECONDS)] }
    end

    def told(name, rates)
      best = rates.values.max
      rates.map do |n_threads, rate|
        Figure.told("#{name}, #{n_threads} thread(s) / the best", "#{Figure.number(rate)} tokens/s", rate / best)
      end
    end

    # More threads than cores is what must not happen by itself.
    def default(bench)
      n_threads = bench.context('tiny', n_threads: nil).n_threads
      Figure.check('threads of a context that was told none', "#{n_threads} on #{bench.cores} cores",
                   'at most the cores, at most 4', n_threads == [4, bench.cores].min)
    end
  end
end
