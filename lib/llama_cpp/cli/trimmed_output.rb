# frozen_string_literal: true

module LLaMACpp
  class CLI
    # Writes a text as it comes, without the white space around it: what {LLaMACpp.generate} returns, piece by piece.
    class TrimmedOutput
      # @param output [IO]
      def initialize(output)
        @output = output
        @pending = +''
        @begun = false
      end

      # @param text [String] the next piece
      def <<(text)
        @pending << text
        @pending.lstrip! unless @begun
        shown = @pending.rstrip
        return self if shown.empty?

        @begun = true
        @output.print(shown)
        @output.flush
        @pending = @pending[shown.size..]
        self
      end

      # Ends the line.
      def finish
        @output.puts
        @output.flush
      end
    end
  end
end
