# frozen_string_literal: true

module Bench
  # The decode loop in Ruby and the one in C++, over llama.cpp as the Makefile compiles it.
  module Engine
    module_function

    # @param bench [Workbench]
    # @return [Array<Figure>]
    def measure(bench)
      [
        flags, compare(bench, '1.1B', n_threads: bench.cores, count: 6, rounds: 51, bound: 0.97),
        compare(bench, '100M', n_threads: 1, count: 20, rounds: 61, bound: 0.97),
        # A call from Ruby and the way back take some microseconds of a step that has 200.
        compare(bench, 'tiny', n_threads: 1, count: 200, rounds: 61, bound: 0.9)
      ]
    end

    def compare(bench, size, n_threads:, count:, rounds:, bound:)
      loop = BareLoop.new(bench.context(size, n_threads:))
      bench.driver(size, n_threads:) do |driver|
        ruby, cpp = Clock.compete(rounds, -> { loop.decode(count) }, -> { driver.decode(count) })
        Figure.at_least(bound, cpp / ruby, "bare loop in Ruby / in C++, #{size}, #{n_threads} thread(s)",
                        Figure.rates(count, ruby, cpp))
      end
    end

    # What the compiler is told of the machine makes the difference; the rest is the same: -O3, NDEBUG.
    def flags
      makefile = Driver.makefile_flags[:c].grep(/\A-m/)
      ours = LLaMACpp.build_info[:flags].grep(/\A-m/)
      Figure.check("machine's flags, ours / the Makefile's", "#{ours.join(' ')} / #{makefile.join(' ')}", 'the same',
                   ours.sort == makefile.sort)
    end
  end
end
