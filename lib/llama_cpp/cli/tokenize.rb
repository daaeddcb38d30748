# frozen_string_literal: true

require 'json'
require_relative 'command'

module LLaMACpp
  class CLI
    # llama_cpp tokenize: a text as tokens.
    class Tokenize < Command
      SUMMARY = 'show the tokens of a text'
      USAGE = 'llama_cpp tokenize -m FILE.gguf [options] [TEXT]'
      DESCRIPTION = <<~TEXT
        Prints the tokens of a text, one a line: its number in the vocabulary, a tab, and what it stands for. Without a
        text, or with -, standard input is the text. Only the vocabulary of the model is loaded.
      TEXT
      EXAMPLE = 'llama_cpp tokenize -m models/tiny/tiny.gguf "The capital of France is"'

      private

      def options(parser)
        parser.on('--[no-]bos', "begin with the token for the beginning (the model's way)")
        parser.on('--special', 'take the text of special tokens, like </s>, for them')
        parser.on('--count', 'print only how many there are')
        parser.on('--json', 'print a JSON array of numbers')
      end

      def call
        model = load_model(vocab_only: true)
        ids = model.tokenize(text:, add_bos: @settings.fetch(:bos, model.add_bos_token?),
                             special: @settings[:special] == true)
        return @terminal.output.puts(ids.size) if @settings[:count]
        return @terminal.output.puts(JSON.generate(ids)) if @settings[:json]

        ids.each { |id| @terminal.output.puts "#{id}\t#{describe(model, id)}" }
      end

      # Control tokens stand for no text, but have one in the vocabulary.
      def describe(model, id)
        piece = model.token_to_piece(id)
        piece.empty? ? @terminal.paint(model.text(id).inspect[1..-2], :faint) : piece.inspect
      end
    end
  end
end
