# frozen_string_literal: true

require 'llama_cpp'
require_relative 'support/chart'
require_relative 'support/clock'
require_relative 'support/figure'
require_relative 'support/workbench'
%w[engine generation lock memory numbers openblas profile prompt threads].each do |name|
  require_relative "measurements/#{name}"
end

# Measures the gem against llama.cpp itself.
module Bench
  # All measurements, one after the other.
  class Suite
    IMAGES = File.join(Workbench::ROOT, 'docs', 'images')
    HEAD = ['What', 'Measured', 'Ratio', 'Wanted', ''].freeze

    MEASUREMENTS = {
      'memory' => ->(bench) { Memory.measure(bench) },
      'generation' => ->(bench) { Generation.measure(bench) },
      'engine' => ->(bench) { Engine.measure(bench) },
      'numbers' => ->(bench) { Numbers.measure(bench) },
      'lock' => ->(bench) { Lock.measure(bench) },
      'prompt' => ->(bench) { Prompt.measure(bench, IMAGES) },
      'threads' => ->(bench) { Threads.measure(bench, IMAGES) }
    }.freeze
    # What is measured only when it is asked for.
    OPTIONAL = { 'openblas' => ->(bench) { OpenBlas.measure(bench) } }.freeze
    NAMES = [*MEASUREMENTS.keys, 'profile', *OPTIONAL.keys].freeze

    # @param names [Array<String>] of measurements; none for all but the optional ones
    # @param openblas [Boolean] whether to measure a build with OpenBLAS, too
    def initialize(names, openblas: false)
      @names = names.empty? ? NAMES - OPTIONAL.keys : names
      @names += ['openblas'] if openblas
      @bench = Workbench.new
    end

    # @return [Boolean] whether all bounds are kept
    def run
      figures = (NAMES & (@names - ['profile'])).flat_map { |name| measure(name) }
      puts machine, '', Table.format(HEAD, figures.map(&:cells))
      puts '', Profile.table(@bench) if @names.include?('profile')
      figures.all?(&:passed)
    end

    private

    def measure(name)
      figures = nil
      seconds = Clock.time { figures = MEASUREMENTS.merge(OPTIONAL).fetch(name).call(@bench) }
      warn format('%<name>s: %<seconds>.0f s', name:, seconds:)
      figures
    end

    def machine
      cpu = File.read('/proc/cpuinfo')[/^model name\s*:\s*(.*)/, 1]
      "#{cpu}, #{@bench.cores} cores, Ruby #{RUBY_VERSION}, llama.cpp #{LLaMACpp.build_info[:llama_cpp]}, " \
        "#{LLaMACpp.build_info[:flags].join(' ')}"
    end
  end
end
