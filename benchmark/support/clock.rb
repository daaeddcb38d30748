# frozen_string_literal: true

module Bench
  # Time, and what to make of several of it.
  module Clock
    module_function

    # @return [Float] seconds
    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    # @return [Float] the seconds that the block takes
    def time
      start = now
      yield
      now - start
    end

    # @return [Float] seconds for one call, as the quickest of several rounds has it: whatever else the machine does
    #   only adds to it
    def each(calls, rounds: 15, &block)
      Array.new(rounds) { time { calls.times(&block) } / calls }.min
    end

    # Takes turns, so that whatever disturbs one disturbs the others, too.
    #
    # @param rounds [Integer]
    # @param measures [Array<Proc>] each returns a number
    # @return [Array<Float>] the median of each
    def alternate(rounds, *measures)
      turns(rounds, measures).map { |numbers| median(numbers) }
    end

    # As {alternate}, of times. What else the machine does only adds to them, so the quicker rounds tell more.
    #
    # @return [Array<Float>] of each, the time that a quarter of the rounds did not exceed
    def compete(rounds, *measures)
      turns(rounds, measures).map { |seconds| seconds.sort[seconds.size / 4] }
    end

    def turns(rounds, measures)
      Array.new(rounds) { measures.map(&:call) }.transpose
    end

    def median(numbers)
      numbers.sort[numbers.size / 2]
    end
  end
end
