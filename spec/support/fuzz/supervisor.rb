# frozen_string_literal: true

require 'English'
require 'etc'
require 'io/wait'
require 'rbconfig'
require 'tempfile'

module Fuzz
  # What went wrong with one case.
  Failure = Struct.new(:index, :reason) do
    def to_s
      "#{index}: #{reason}"
    end
  end

  # One worker, see {Worker}: listens to what it says until it has done all, or has come to an end.
  class WorkerProcess
    # Seconds in which it must begin, and get from one case to the next.
    PATIENCE = 120

    # On a machine that has much else to do, a case may take so many times as long, as long as it does not compute.
    WAITS = 6

    # @param command [Array<String>]
    # @param timeout [Numeric] seconds of computing for one case
    # @param environment [Hash{String => String}]
    def initialize(command, timeout:, environment: {})
      @command = command
      @timeout = timeout
      @environment = environment
    end

    # @yield [kind, value] `:case` and its index, `:outcome` and its name, `:peak` and KiB
    # @return [String, nil] why the last case was not got through; nil when all were
    def run(&)
      Tempfile.create('stderr') do |stderr|
        pipe = IO.popen(@environment, @command, err: stderr.path)
        reason = listen(pipe, &)
        # One that has ended by itself tells why.
        Process.kill(:KILL, pipe.pid) if reason
        pipe.close
        reason ||= "the process ended: #{ending(stderr)}"
        reason unless reason == :complete
      end
    end

    private

    # @return [String, Symbol, nil] a reason; nil when it has ended by itself, `:complete` when all is done
    def listen(pipe)
      allowed = PATIENCE
      loop do
        return "took longer than #{allowed} s" if silent?(pipe, allowed)

        allowed = PATIENCE
        case pipe.gets
        when nil then return nil
        when /\A> (\d+)/
          yield(:case, Integer(Regexp.last_match(1)))
          allowed = @timeout
        when /\A= \d+ (.*)/ then yield(:outcome, Regexp.last_match(1))
        when /\A! \d+ (.*)/ then return Regexp.last_match(1)
        when /\Apeak (\d+)/
          yield(:peak, Integer(Regexp.last_match(1)))
          return :complete
        end
      end
    end

    def silent?(pipe, allowed)
      begun = computed(pipe.pid)
      WAITS.times do
        return false if pipe.wait_readable(allowed)
        return true if computed(pipe.pid) - begun >= allowed
      end
      true
    end

    # @return [Float] seconds that the process has computed; the time, where the system does not tell
    def computed(pid)
      ticks = File.read("/proc/#{pid}/stat")[/\) (.*)/, 1].split.values_at(11, 12).sum(&:to_i)
      ticks.fdiv(Etc.sysconf(Etc::SC_CLK_TCK))
    rescue SystemCallError
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    def ending(stderr)
      text = File.read(stderr.path).strip
      "#{$CHILD_STATUS.to_s.sub(/pid \d+ /, '')}#{": #{text[0, 1000]}" unless text.empty?}"
    end
  end

  # Has workers do many cases: notes what became of each, and starts another worker behind a case that ended one.
  class Supervisor
    # @return [Hash{String => Integer}] how often what came out
    attr_reader :outcomes

    # @return [Array<Failure>] in the order of their cases
    attr_reader :failures

    # @return [Integer] the largest resident size of a worker, in KiB
    attr_reader :peak

    # @param timeout [Numeric] seconds of computing for one case
    # @param jobs [Integer] workers at a time
    # @param environment [Hash{String => String}]
    # @yield [first, last]
    # @yieldreturn [Array<String>] the command of a worker for the cases first..last
    def initialize(timeout: 10, jobs: 2, environment: {}, &command)
      @settings = { timeout:, environment: }
      @jobs = jobs
      @command = command
      @outcomes = Hash.new(0)
      @failures = []
      @peak = 0
      @lock = Mutex.new
    end

    # @param indices [Range<Integer>]
    # @param slice [Integer] cases of one worker
    # @yield [outcome] after each case
    # @return [self]
    def run(indices, slice: 500, &progress)
      @progress = progress
      queue = Queue.new
      indices.each_slice(slice) { |part| queue << [part.first, part.last] }
      queue.close
      threads = Array.new(@jobs) { Thread.new { work(queue) } }
      threads.each(&:join)
      failures.sort_by!(&:index)
      self
    end

    private

    def work(queue)
      while (first, last = queue.pop)
        first = supervise(first, last) + 1 while first <= last
      end
    end

    # @return [Integer] the last case that is done with
    def supervise(first, last)
      current = first
      reason = WorkerProcess.new(@command.call(first, last), **@settings).run do |kind, value|
        kind == :case ? current = value : note(kind, value)
      end
      return last unless reason

      note(:failure, Failure.new(current, reason))
      current
    end

    def note(kind, value)
      @lock.synchronize do
        case kind
        when :peak then @peak = [@peak, value].max
        when :outcome then @outcomes[value] += 1
        when :failure
          @outcomes['failed'] += 1
          @failures << value
        end
        @progress&.call(kind == :failure ? 'failed' : value) unless kind == :peak
      end
    end
  end
end
