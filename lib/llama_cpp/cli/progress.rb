# frozen_string_literal: true

module LLaMACpp
  class CLI
    # A progress bar for people: on a terminal, where the gem ruby-progressbar is installed, for what takes a while.
    #
    #   LLaMACpp::CLI::Progress.loading('model.gguf') do |report|
    #     LLaMACpp::Model.new(model_path: 'model.gguf', params: LLaMACpp::ModelParams.new, &report)
    #   end
    class Progress
      # A model of fewer bytes is there at once.
      LARGE_MODEL = 100_000_000

      STEPS = 1000
      private_constant :STEPS

      # @param path [String] a model; for a small one there is no bar
      # @param output [IO]
      # @yieldparam report [Proc] a block for {Model#initialize}
      # @return [Object] what the block returns
      def self.loading(path, output: $stderr, &block)
        during('Loading', shown: File.size?(path).to_i > LARGE_MODEL, output:, &block)
      end

      # @param title [String]
      # @param shown [Boolean]
      # @param output [IO]
      # @yieldparam report [Proc] to be called with a fraction, 0.0 to 1.0; it returns true
      # @return [Object] what the block returns
      def self.during(title, shown: true, output: $stderr)
        bar = new(title, output) if shown && output.tty? && available?
        report = lambda do |fraction|
          bar&.update(fraction)
          true
        end
        yield report
      ensure
        bar&.clear
      end

      # @return [Boolean] whether the gem ruby-progressbar is there
      def self.available?
        require 'ruby-progressbar'
        true
      rescue LoadError
        false
      end

      # @param title [String]
      # @param output [IO] a terminal
      def initialize(title, output)
        @bar = ProgressBar.create(title:, output:, total: STEPS, format: '%t %p%% %B', autofinish: false)
      end

      # @param fraction [Float] 0.0 to 1.0
      def update(fraction)
        @bar.progress = (fraction.clamp(0.0, 1.0) * STEPS).floor
      end

      # Takes the bar away: what follows begins at the left.
      def clear
        @bar.clear
      end
    end
  end
end
