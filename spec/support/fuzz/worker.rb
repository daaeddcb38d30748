# frozen_string_literal: true

require 'fileutils'

# Programs that do one dangerous thing after the other, and say before each what it is.
module Fuzz
  # Runs in a process of its own, under a {Supervisor}.
  class Worker
    GIBIBYTE = 1 << 30

    # @param limit [Integer, nil] bytes of address space
    # @param out [IO]
    def initialize(limit: GIBIBYTE, out: $stdout)
      @out = out
      out.sync = true
      Process.setrlimit(Process::RLIMIT_AS, limit) if limit && !ENV.key?('LLAMA_CPP_UNLIMITED')
      Process.setrlimit(Process::RLIMIT_CORE, 0)
    end

    # @param indices [Enumerable<Integer>]
    # @param prepare [#call] makes what a case needs, from its index, before its time begins
    # @yield [index, prepared] does it
    # @yieldreturn [String] what became of it; an exception that comes through is a failure
    def run(indices, prepare: proc {})
      indices.each do |index|
        prepared = prepare.call(index)
        @out.puts("> #{index}")
        @out.puts("= #{index} #{yield(index, prepared)}")
      rescue Exception => e # rubocop:disable Lint/RescueException
        @out.puts("! #{index} #{e.class}: #{e.message[0, 300].inspect} at #{e.backtrace&.first}")
        # Nothing is sure after such a thing.
        exit!(3)
      end
      @out.puts("peak #{peak}")
    end

    private

    # The largest resident size so far, in KiB; none where the system does not tell.
    def peak
      status = '/proc/self/status'
      File.exist?(status) ? File.read(status)[/^VmHWM:\s*(\d+)/, 1].to_i : 0
    end
  end

  # Damages files and uses them.
  class FileWorker
    # @param arguments [Array<String>] target, seed, first and last index, folder for the files
    def self.main(arguments)
      require 'llama_cpp'
      require_relative 'targets'
      name, seed, first, last, folder = arguments
      LLaMACpp.logger = Logger.new(nil)
      new(TARGETS.fetch(name).new(Integer(seed)), folder).run(Integer(first)..Integer(last))
    end

    def initialize(target, folder)
      @target = target
      @folder = folder
    end

    def run(indices)
      Worker.new.run(indices, prepare: method(:write)) { |index, path| use(index, path) }
    end

    private

    def write(index)
      File.join(@folder, "#{Process.pid}-#{index}").tap { |path| File.binwrite(path, @target.mutant(index).bytes) }
    end

    def use(index, path)
      @target.use(path, index)
    ensure
      FileUtils.rm_f(path)
    end
  end
end
