# frozen_string_literal: true

require 'open3'
require 'rbconfig'

# Runs a script in a process of its own, for what may end the process, hang, or change it.
module Child
  LIB = File.expand_path('../../lib', __dir__)

  # What became of it. `status` is nil when it was stopped at the time limit.
  Result = Struct.new(:status, :stdout, :stderr, :seconds, keyword_init: true) do
    # @return [Boolean] whether it ended by itself, with the exit code 0
    def fine?
      !status.nil? && status.success?
    end

    # @return [Integer, nil] the signal that ended it
    def signal
      status&.termsig
    end

    def inspect
      ending = status ? status.to_s.sub(/pid \d+ /, '') : "stopped after #{seconds.round} s"
      "#<child #{ending}, stdout: #{stdout.inspect}, stderr: #{stderr[-2000..] || stderr}>"
    end
    alias_method :to_s, :inspect
  end

  # Every script has the gem, its constants and the helpers of Models.
  PRELUDE = <<~RUBY.freeze
    require 'llama_cpp'
    module RSpec; def self.configure; end; end
    require '#{File.expand_path('models', __dir__)}'
    include LLaMACpp
    include Models
  RUBY

  # @param script [String] Ruby
  # @param timeout [Numeric] seconds
  # @param environment [Hash{String => String}]
  # @yield [pid] while it runs
  # @return [Result]
  def child(script, timeout: 30, environment: {})
    start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    Open3.popen3(environment, RbConfig.ruby, '-W0', "-I#{LIB}", '-e', PRELUDE + script) do |stdin, out, err, thread|
      stdin.close
      readers = [out, err].map { |io| Thread.new { io.read } }
      yield thread.pid if block_given?
      ended = thread.join(timeout)
      Process.kill(:KILL, thread.pid) unless ended
      stdout, stderr = readers.map(&:value)
      seconds = Process.clock_gettime(Process::CLOCK_MONOTONIC) - start
      Result.new(status: ended&.value, stdout:, stderr:, seconds:)
    end
  end
end

# `expect(script).to print_in_a_child('result')`: it ends well, having printed that line.
RSpec::Matchers.define :print_in_a_child do |expected|
  include Child

  match do |script|
    @result = child(script, timeout: @timeout || 30, environment: @environment || {})
    @result.fine? && values_match?(expected, @result.stdout.chomp)
  end

  chain(:within) { |seconds| @timeout = seconds }
  chain(:with_environment) { |environment| @environment = environment }

  failure_message { "expected the script to end well and print #{expected.inspect}, got #{@result}" }
end

RSpec.configure { |config| config.include(Child) }
