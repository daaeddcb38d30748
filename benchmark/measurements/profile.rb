# frozen_string_literal: true

module Bench
  # Where the time of `generate` goes, stage by stage.
  module Profile
    STAGES = {
      native_decode_tokens: 'decode', candidates: 'candidates', native_refill_candidates: 'candidates',
      native_repetition_penalties: 'penalties', native_top_k: 'top-k', native_top_p: 'top-p',
      native_temp: 'temperature', sample_token: 'draw'
    }.freeze

    # Adds up the time of each stage.
    class Stopwatch < Module
      # @return [Hash{String => Float}] seconds
      attr_reader :seconds

      def initialize
        super
        @seconds = Hash.new(0.0)
        watch = self
        STAGES.each do |name, stage|
          define_method(name) do |*arguments, **settings|
            start = Clock.now
            super(*arguments, **settings)
          ensure
            watch.seconds[stage] += Clock.now - start
          end
        end
      end
    end

    module_function

    # @param bench [Workbench]
    # @return [String] a table of microseconds per token
    def table(bench)
      columns = [['tiny', 1, 300], ['1.1B', bench.cores, 40]].map do |size, n_threads, count|
        profile(bench.context(size, n_threads:), count)
      end
      stages = columns.flat_map(&:keys).uniq
      rows = stages.map { |stage| [stage, *columns.map { |column| cell(column, stage) }] }
      Table.format(['µs per token', 'tiny', '1.1B'], rows)
    end

    def cell(column, stage)
      "#{Figure.number(column[stage] * 1e6)} (#{(column[stage] * 100 / column['all']).round(2)} %)"
    end

    # @return [Hash{String => Float}] seconds per token
    def profile(context, count)
      watch = Stopwatch.new
      context.extend(watch)
      all = Generation.generate_run(context, count) { watch.seconds.clear }.call
      stages = watch.seconds.merge('pieces, text and the rest of Ruby' => all - watch.seconds.values.sum, 'all' => all)
      stages.transform_values { |seconds| seconds / count }
    end
  end
end
