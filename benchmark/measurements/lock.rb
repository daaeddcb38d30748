# frozen_string_literal: true

module Bench
  # What the threads of a Ruby program keep of each other while llama.cpp works.
  module Lock
    SECONDS = 1.0
    ROUNDS = 5

    module_function

    # @param bench [Workbench]
    # @return [Array<Figure>]
    def measure(bench)
      [counting(bench), decoding(bench)]
    end

    # @return [Figure] one thread counts, alone and while another decodes
    def counting(bench)
      loop = BareLoop.new(bench.context('100M', n_threads: 1))
      alone, beside = Clock.alternate(ROUNDS, -> { count }, lambda {
        decoder = Thread.new { loop.rate(SECONDS * 1.5) }
        count.tap { decoder.join }
      })
      Figure.at_least(0.9, beside / alone, 'a thread that counts while another decodes / alone',
                      "#{Figure.number(beside / 1e6)} / #{Figure.number(alone / 1e6)} million a second")
    end

    # @return [Float] how far it comes in a second
    def count
      start = Clock.now
      counted = 0
      1000.times { counted += 1 } until Clock.now - start >= SECONDS
      counted / (Clock.now - start)
    end

    # @return [Figure] two threads decode, or two processes
    def decoding(bench)
      loops = Array.new(2) { BareLoop.new(bench.context('100M', n_threads: 1)) }
      threads, processes = Clock.alternate(
        ROUNDS,
        -> { loops.map { |loop| Thread.new { loop.rate(SECONDS) } }.sum(&:value) },
        -> { Array.new(2) { |i| Thread.new { bench.apart { loops[i].rate(SECONDS) } } }.sum(&:value) }
      )
      Figure.at_least(0.9, threads / processes, 'two threads decode, a context each / two processes',
                      "#{Figure.number(threads)} / #{Figure.number(processes)} tokens/s")
    end
  end
end
