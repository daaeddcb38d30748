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

    # As {alternate}, of times. What else the machine does comes and goes in seconds, so the first is compared with
    # each other one within a round: the quicker rounds say how long the first takes, and the median of the ratios how
    # long the others do.
    #
    # @return [Array<Float>]
    def compete(rounds, *measures)
      first, *others = turns(rounds, measures)
      quick = first.sort[rounds / 4]
      [quick, *others.map { |other| quick * median(other.zip(first).map { |seconds, base| seconds / base }) }]
    end

    # Every other round goes backwards, so that none always follows the same one.
    def turns(rounds, measures)
      Array.new(rounds) do |round|
        order = measures.each_index.to_a
        order.reverse! if round.odd?
        order.to_h { |i| [i, measures[i].call] }.sort.map(&:last)
      end.transpose
    end

    def median(numbers)
      numbers.sort[numbers.size / 2]
    end
  end
end
