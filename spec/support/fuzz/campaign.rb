# frozen_string_literal: true

require 'fileutils'
require 'rbconfig'
require 'tmpdir'
require_relative 'supervisor'
require_relative 'targets'

module Fuzz
  # Many damaged files of one kind. Those that end a process, take too long or too much memory are kept in tmp/fuzz.
  class Campaign
    FOLDER = File.join(ROOT, 'tmp', 'fuzz')
    PROGRAM = 'Fuzz::FileWorker.main(ARGV)'

    # @param name [String] one of TARGETS
    # @param seed [Integer]
    # @param jobs [Integer] processes at a time
    # @param timeout [Numeric] seconds for one file
    # @param folder [String] where to keep what was too much
    def initialize(name, seed:, jobs: 2, timeout: 10, folder: FOLDER)
      @name = name
      @seed = seed
      @folder = folder
      @target = TARGETS.fetch(name).new(seed)
      @supervisor = Supervisor.new(timeout:, jobs:) { |first, last| command(first, last) }
    end

    # @param indices [Range<Integer>] numbers of the files
    # @param slice [Integer] how many one process does
    # @yield after each
    # @return [self]
    def run(indices, slice: 500, &progress)
      start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      Dir.mktmpdir do |folder|
        @files = folder
        @supervisor.run(indices, slice:, &progress)
      end
      @seconds = Process.clock_gettime(Process::CLOCK_MONOTONIC) - start
      failures.each { |failure| keep(failure.index, failure.reason) }
      self
    end

    # @return [Array<Failure>]
    def failures
      @supervisor.failures
    end

    # @return [Hash{String => Integer}]
    def outcomes
      @supervisor.outcomes
    end

    # @return [Integer] the largest resident size of a process, in KiB
    def peak
      @supervisor.peak
    end

    # Writes the file with that number, and what was changed in it.
    def keep(index, reason = nil)
      FileUtils.mkdir_p(@folder)
      mutant = @target.mutant(index)
      path = File.join(@folder, "#{@name}-#{@seed}-#{index}")
      File.binwrite("#{path}.#{@target.class::EXTENSION}", mutant.bytes)
      File.write("#{path}.txt", [reason, *mutant.changes, "bin/fuzz #{@name} --seed #{@seed} --only #{index}"]
                                  .compact.join("\n") << "\n")
    end

    # @return [String]
    def summary
      counts = outcomes.sort.map { |outcome, count| "#{count} #{outcome}" }.join(', ')
      [*failures.map { |failure| "#{failure}; see tmp/fuzz/#{@name}-#{@seed}-#{failure.index}.txt" },
       format('%<total>d %<name>s with the seed %<seed>d: %<counts>s; peak %<peak>d MiB, %<seconds>.0f s',
              total: outcomes.values.sum, name: @name, seed: @seed, counts:, peak: peak / 1024, seconds: @seconds)]
        .join("\n")
    end

    private

    def command(first, last)
      [RbConfig.ruby, '-W0', '-I', File.join(ROOT, 'lib'), '-r', File.join(__dir__, 'worker'), '-e', PROGRAM,
       @name, @seed.to_s, first.to_s, last.to_s, @files]
    end
  end
end
