# frozen_string_literal: true

require 'optparse'
require_relative 'progress'

module LLaMACpp
  class CLI
    # What the commands have in common: options, help, and a model that is loaded as they say.
    #
    # A command has the constants SUMMARY, USAGE, DESCRIPTION and EXAMPLE, adds its options in #options, and does its
    # work in #call.
    class Command
      # llama.cpp's threads spin while they wait: with a small model they cost more than they give.
      SMALL_MODEL = 100_000_000
      # What a context is made for when the model was trained with more: its memory grows with it.
      LARGEST_CONTEXT = 2048

      # @param terminal [Terminal] where to read and write
      def initialize(terminal)
        @terminal = terminal
        @settings = {}
      end

      # @param arguments [Array<String>] what follows the command's name
      def run(arguments)
        @arguments = parse(arguments).map { |argument| CLI.utf8(argument) }
        # A program says in its own words what went wrong; llama.cpp's are for those who ask for them.
        ENV['LLAMA_LOG'] = @settings[:verbose] ? 'info' : ENV.fetch('LLAMA_LOG', 'off')
        require_relative '../../llama_cpp'
        call
      end

      private

      def parse(arguments)
        words = parser.parse(arguments, into: @settings)
        @settings.transform_keys! { |name| name.to_s.tr('-', '_').to_sym }
        words
      rescue OptionParser::ParseError => e
        raise UsageError, e.message
      end

      def parser
        OptionParser.new do |parser|
          parser.program_name = 'llama_cpp'
          parser.version = VERSION
          parser.summary_width = 28
          parser.banner = "Usage: #{self.class::USAGE}\n\n#{self.class::DESCRIPTION}\nOptions:"
          parser.on('-m', '--model FILE', 'a model in GGUF format (or LLAMA_CPP_MODEL)')
          options(parser)
          parser.on('--verbose', "show llama.cpp's log (or LLAMA_LOG=info)")
          parser.on('-h', '--help', 'show this') { help(parser) }
          parser.separator("\nExample:\n  #{self.class::EXAMPLE}")
        end
      end

      def help(parser)
        @terminal.output.puts parser.help
        throw :done
      end

      # The value of an option.
      def positive(number)
        number.positive? ? number : raise(OptionParser::InvalidArgument, number.to_s)
      end

      def model_path
        given = [@settings[:model], ENV.fetch('LLAMA_CPP_MODEL', nil)].find { |path| !path.to_s.empty? }
        given || raise(UsageError, 'give a model: -m FILE.gguf, or its path in LLAMA_CPP_MODEL')
      end

      # @param params [Hash] the keywords of ModelParams
      # @return [LLaMACpp::Model]
      def load_model(**params)
        path = model_path
        params[:n_gpu_layers] = @settings[:gpu_layers] if @settings[:gpu_layers]
        Progress.loading(path, output: @terminal.errors) do |report|
          Model.new(model_path: path, params: ModelParams.new(**params), &report)
        end
      end

      # @param n_ctx [Integer] its size, if the user has not asked for another
      # @return [LLaMACpp::Context]
      def make_context(model, n_ctx: [model.n_ctx_train, LARGEST_CONTEXT].min)
        params = ContextParams.new(n_ctx: @settings[:n_ctx] || n_ctx, n_threads:, n_threads_batch: n_threads)
        Context.new(model:, params:)
      end

      def n_threads
        @settings[:threads] ||
          (File.size(model_path) < SMALL_MODEL ? 1 : LLaMACpp.build_info[:usable_cores])
      end

      # The words of the command line; standard input when there are none, or a dash.
      def text
        @arguments.empty? || @arguments == ['-'] ? @terminal.read_all : @arguments.join(' ')
      end
    end
  end
end
