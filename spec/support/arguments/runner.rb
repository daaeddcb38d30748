# frozen_string_literal: true

require 'rbconfig'
require 'tmpdir'
require_relative '../fuzz/supervisor'
require_relative '../fuzz/worker'
require_relative 'samples'
require_relative 'trial'
require_relative 'uses'

module Arguments
  # Runs trials: what comes out must be a value, or an exception that a program can expect of a wrong argument.
  class Runner
    EXPECTED = [ArgumentError, TypeError, RangeError, IndexError, RuntimeError, SystemCallError].freeze

    # After so many trials the shared objects must work as on the first day.
    CHECK_EVERY = 20
    FRANCE = [1, 262, 299, 268, 410, 306, 316, 266].freeze

    # @param arguments [Array<String>] see {Trials.some}, and which of them: the first and the last
    def self.main(arguments)
      require 'llama_cpp'
      LLaMACpp.logger = Logger.new(nil)
      every, first, last = arguments.map { |text| Integer(text) }
      Dir.mktmpdir { |folder| Dir.chdir(folder) { new(Trials.some(every)).run(first..last) } }
    end

    # @param every [Integer] see {Trials.some}
    # @return [Fuzz::Supervisor] after all of them
    def self.supervise(every)
      supervisor = Fuzz::Supervisor.new do |first, last|
        [RbConfig.ruby, '-W0', '-I', File.join(Fuzz::ROOT, 'lib'), '-r', __FILE__, '-e', 'Arguments::Runner.main(ARGV)',
         every.to_s, first.to_s, last.to_s]
      end
      supervisor.run(0...Trials.some(every).size, slice: 2500)
    end

    # @param trials [Array<Trial>]
    def initialize(trials)
      @samples = Samples.new
      @uses = Uses.new(@samples)
      @trials = trials
    end

    # @param indices [Range<Integer>]
    def run(indices)
      Fuzz::Worker.new.run(indices) do |index|
        outcome = try(@trials.fetch(index))
        check if (index % CHECK_EVERY).zero? || index == indices.last
        outcome
      end
    end

    private

    def try(trial)
      call(trial)
      'returned'
    rescue *EXPECTED
      'raised'
    rescue IOError, NoMethodError => e
      raise unless theirs?(e)

      'raised'
    ensure
      LLaMACpp.logger = Logger.new(nil)
    end

    # What an object of the caller's has raised, or lacks.
    def theirs?(error)
      error.message == 'raised by a conversion' || (error.is_a?(NoMethodError) && error.message.match?(/BasicObject/))
    end

    def call(trial)
      positional, keywords = arguments(trial)
      return construct(trial, positional, keywords) if trial.construction?

      receiver = receiver(trial)
      @uses.use(receiver.send(trial.callable.name, *positional, **keywords))
      @uses.use(receiver) unless receiver.is_a?(Module)
    end

    # Freed at once, where it can be: the collector is not told of mapped files.
    def construct(trial, positional, keywords)
      object = Object.const_get(trial.callable.owner).new(*positional, **keywords)
      @uses.use(object)
      object.free if object.respond_to?(:free)
    end

    def receiver(trial)
      return @samples.receiver(trial.callable) if trial.slot

      @samples.special_receiver(trial.code, trial.callable.owner)
    end

    def arguments(trial)
      slots = @samples.plain_slots(trial.callable) | [trial.slot].compact
      named, positional = slots.partition(&:keyword?)
      [positional.sort_by(&:key).map { |slot| value(trial, slot) },
       named.to_h { |slot| [slot.key, value(trial, slot)] }]
    end

    def value(trial, slot)
      slot == trial.slot ? Values.make(trial.code, @samples) : @samples.argument(trial.callable, slot)
    end

    # The model and the context that most calls share are as they were.
    def check
      context = @samples.context
      tokens = @samples.model.tokenize(text: 'The capital of France is', add_bos: true)
      context.decode(LLaMACpp::Batch.get_one(tokens:, n_tokens: tokens.size, pos_zero: 0, seq_id: 0))
      best = context.logits.each_with_index.max_by(&:first).last
      raise ScriptError, "the context gives the token #{best}" unless [tokens, best] == [FRANCE, 442]
    end
  end
end
