# frozen_string_literal: true

require 'set'
require_relative 'public_api'

# Ways to run the suite that show objects which the collector frees too early, or which are looked for where they no
# longer are. The environment variable LLAMA_CPP_GC chooses:
#
# - +stress+: a collection at every allocation inside a method of the extension
# - +compact+: objects move at every major collection, and all of them behind every group of examples, with a check of
#   everything that refers to one
module GCModes
  # GC.stress for the methods of the extension; with it on all the time the suite would take days.
  # Collections of young objects only: what a method has just made is among them.
  STRESS = 1

  # So many calls of a method in each example: what a loop does a thousand times is soon the same.
  CALLS = 20

  module_function

  # Switches it on and off while the block runs.
  def stress(&)
    modules = PublicApi.modules << LLaMACpp.const_get(:Native, false)
    owners = modules.flat_map { |mod| [mod, mod.singleton_class] }.to_set
    counts = Hash.new(0)
    TracePoint.new(:c_call, :c_return) do |trace|
      next unless owners.include?(trace.defined_class)

      called = trace.event == :c_call && (counts[trace.method_id] += 1) <= CALLS
      GC.stress = called ? STRESS : false
    end.enable(&)
  end

  # @param config [RSpec::Core::Configuration]
  # @param mode [String, nil]
  def install(config, mode)
    case mode
    when nil then nil
    when 'stress' then config.around { |example| GCModes.stress { example.run } }
    when 'compact'
      GC.auto_compact = true
      config.after(:context) { GC.verify_compaction_references(toward: :empty, double_heap: false) }
    else abort "LLAMA_CPP_GC is #{mode}, it must be stress or compact"
    end
  end
end

RSpec.configure { |config| GCModes.install(config, ENV.fetch('LLAMA_CPP_GC', nil)) }
