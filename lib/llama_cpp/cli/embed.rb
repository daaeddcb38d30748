# frozen_string_literal: true

require 'json'
require_relative 'command'
require_relative 'sampling_options'

module LLaMACpp
  class CLI
    # llama_cpp embed: texts as vectors.
    class Embed < Command
      include SamplingOptions

      SUMMARY = 'turn texts into vectors'
      USAGE = 'llama_cpp embed -m FILE.gguf [options] [TEXT …]'
      DESCRIPTION = <<~TEXT
        Prints the embedding of each text as a JSON array on a line of its own. Without a text, or with -, each line of
        standard input is one.
      TEXT
      EXAMPLE = 'llama_cpp embed -m models/tiny/tiny.gguf "The cat says meow." "The dog says woof."'

      # Texts that share a context; a pipe gets its results so many at a time.
      AT_ONCE = 32
      private_constant :AT_ONCE

      private

      def options(parser)
        parser.on('--[no-]normalize', 'make the length of each vector 1 (yes)')
        thread_options(parser)
      end

      def call
        # Its number of threads is what counts.
        context = make_context(load_model, n_ctx: 8)
        texts.each_slice(AT_ONCE) do |part|
          vectors = LLaMACpp.embed(context, part, normalize: @settings.fetch(:normalize, true))
          vectors.each { |vector| @terminal.output.puts JSON.generate(vector) }
          @terminal.output.flush
        end
      end

      def texts
        @arguments.empty? || @arguments == ['-'] ? @terminal.each_line : @arguments
      end
    end
  end
end
