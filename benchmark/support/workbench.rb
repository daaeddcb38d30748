# frozen_string_literal: true

require 'English'
require_relative 'bare_loop'
require_relative 'driver'
require_relative 'opponent'
require_relative 'random_model'

module Bench
  # What the measurements work with: models, contexts, the C++ program, processes.
  class Workbench
    ROOT = File.expand_path('../..', __dir__)
    TINY = File.join(ROOT, 'models/tiny/tiny.gguf')

    # @return [Integer] cores that this process may use
    attr_reader :cores

    def initialize
      @folder = File.join(ROOT, 'tmp', 'benchmark')
      @cores = LLaMACpp.build_info[:usable_cores]
      @models = {}
    end

    # @param size [String] +tiny+ or one of {RandomModel::SIZES}
    # @return [String] the path
    def path(size)
      size == 'tiny' ? TINY : RandomModel.path(size, @folder)
    end

    # @return [LLaMACpp::Model]
    def model(size)
      @models[size] ||= LLaMACpp::Model.new(model_path: path(size), params: LLaMACpp::ModelParams.new)
    end

    # @param n_threads [Integer, nil] nil for the default
    # @return [LLaMACpp::Context]
    def context(size, n_threads: cores, **settings)
      params = LLaMACpp::ContextParams.new
      settings = { seed: 1, n_ctx: 512, n_threads:, n_threads_batch: n_threads }.compact.merge(settings)
      settings.each { |name, value| params.public_send("#{name}=", value) }
      LLaMACpp::Context.new(model: model(size), params:)
    end

    # @yieldparam driver [Opponent] the program in C++
    def driver(size, n_threads: cores, n_ctx: 512, n_batch: 512, &block)
      against([Driver.build(@folder), path(size), n_ctx.to_s, n_batch.to_s, n_threads.to_s], &block)
    end

    # @param command [Array<String>]
    # @yieldparam opponent [Opponent]
    def against(command)
      opponent = Opponent.new(command)
      yield opponent
    ensure
      opponent&.close
    end

    # Runs the block in a process of its own.
    #
    # @return [Object] what the block returned
    def apart
      reader, writer = IO.pipe(binmode: true)
      child = fork do
        reader.close
        writer.write(Marshal.dump(yield))
        writer.close
        exit!(true)
      end
      writer.close
      answer = reader.read
      Process.wait(child)
      raise 'a process of the benchmark has failed' unless $CHILD_STATUS.success?

      Marshal.load(answer) # rubocop:disable Security/MarshalLoad
    end
  end
end
