# frozen_string_literal: true

require_relative 'command'
require_relative 'sampling_options'
require_relative 'trimmed_output'

module LLaMACpp
  class CLI
    # llama_cpp generate: continues a text.
    class Generate < Command
      include SamplingOptions

      SUMMARY = 'continue a text'
      USAGE = 'llama_cpp generate -m FILE.gguf [options] [PROMPT]'
      DESCRIPTION = <<~TEXT
        Prints how the model continues the prompt, as it is generated. Without a prompt, or with -, standard input is
        the prompt.
      TEXT
      EXAMPLE = 'llama_cpp generate -m models/tiny/tiny.gguf --temperature 0 "The capital of France is"'

      private

      def options(parser)
        sampling_options(parser)
        parser.on('--echo', 'print the prompt, too')
      end

      def call
        model = load_model
        keywords = { **sampling, echo: @settings[:echo] == true }
        prompt = text
        raise UsageError, 'the prompt is empty: give the text that the model shall continue' if empty?(prompt)

        output = TrimmedOutput.new(@terminal.output)
        LLaMACpp.generate(make_context(model), prompt, **keywords) { |piece| output << piece }
        output.finish
      end

      # Also of a prompt whose bytes are no text.
      def empty?(prompt)
        prompt.scrub.strip.empty?
      end
    end
  end
end
