# frozen_string_literal: true

require 'open3'
require 'rbconfig'
require_relative 'public_api'

# Runs the specs that are tagged :typed, which call everything as it is meant to be called, in a process of its own
# where RBS checks each call of a public method against its signature.
module TypedRun
  ROOT = File.expand_path('../..', __dir__)

  # What became of it.
  Result = Struct.new(:output, :status) do
    # @return [Array<String>] the methods whose signature was not tried, because nobody called them
    def never_called
      output[/^Never called: (.+)$/, 1].to_s.split(', ')
    end

    # @return [Array<String>] what RBS complained about
    def type_errors
      output.scan(/\[LLaMACpp\S+\] \w+Error: .+$/).uniq
    end
  end

  # @param signatures [String] the folder of the signatures
  # @param arguments [Array<String>] for rspec
  # @return [Result]
  def typed_run(signatures, *arguments)
    # RBS installs its checks while the classes are being defined.
    command = [RbConfig.ruby, '-W0', '-I', 'lib', '-r', 'rbs/test/setup', '-S', 'rspec', '--tag', 'typed', *arguments]
    environment = { 'RBS_TEST_TARGET' => 'LLaMACpp::*', 'RBS_TEST_OPT' => "-I #{signatures}",
                    'RBS_TEST_LOGLEVEL' => 'error', 'RBS_TEST_DOUBLE_SUITE' => 'rspec' }
    Result.new(*Open3.capture2e(environment, *command, chdir: ROOT))
  end

  # In that process: which methods were checked.
  module Recorder
    # @return [Array<String>] like `LLaMACpp::Model#size`
    def self.called
      @called ||= []
    end

    # @param key [String] like `InstanceChecker__::LLaMACpp::Model__0123456789abcdef`
    def notify(key, receiver, trace)
      kind, name = key.match(/\A(\w+?)Checker__::(.+)__\h+\z/).captures
      Recorder.called << "#{name}#{kind == 'Instance' ? '#' : '.'}#{trace.method_name}"
      super
    end
  end
end

if ENV.key?('RBS_TEST_TARGET')
  RBS::Test::Observer.singleton_class.prepend(TypedRun::Recorder)
  RSpec.configure do |config|
    config.after(:suite) do
      # RBS keeps the original methods, and its own, under names with this suffix.
      names = PublicApi.entries.map(&:to_s).reject { |name| name.include?(RBS::Test.suffix) }
      never = names - TypedRun::Recorder.called
      puts "\nNever called: #{never.join(', ')}" unless never.empty?
    end
  end
end
