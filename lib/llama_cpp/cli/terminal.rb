# frozen_string_literal: true

module LLaMACpp
  # What the program reads and writes.
  class CLI
    # The three streams of the program, and what is different when a person sits there.
    class Terminal
      STYLES = { bold: '1', faint: '2', red: '31', green: '32' }.freeze
      private_constant :STYLES

      # @return [IO]
      attr_reader :input, :output, :errors

      def initialize(input: $stdin, output: $stdout, errors: $stderr, environment: ENV)
        @input = input
        @output = output
        @errors = errors
        @environment = environment
      end

      # @return [Boolean] whether one can ask, and be answered
      def interactive?
        input.tty? && output.tty?
      end

      # @param text [String]
      # @param style [Symbol] one of bold, faint, red, green
      # @param stream [IO] where it will be written
      # @return [String] the text, in that style if it goes to a terminal
      def paint(text, style, stream: output)
        colours?(stream) ? "\e[#{STYLES.fetch(style)}m#{text}\e[0m" : text
      end

      # @return [String] what the input has, as UTF-8, without the newline that ends it
      def read_all
        errors.puts 'Reading the text from the terminal; Ctrl-D ends it.' if input.tty?
        CLI.utf8(input.read).chomp
      end

      # @return [Enumerator<String>] the lines of the input, as UTF-8
      def each_line
        return to_enum(:each_line) unless block_given?

        input.each_line(chomp: true) { |line| yield CLI.utf8(line) }
      end

      private

      # https://no-color.org: any value but the empty one.
      def colours?(stream)
        stream.tty? && @environment['NO_COLOR'].to_s.empty? && @environment['TERM'] != 'dumb'
      end
    end

    # Text from the command line or a stream, whose encoding depends on the locale.
    #
    # @param text [String]
    # @return [String] in UTF-8; bytes that are none stay as they are
    def self.utf8(text)
      raw = [Encoding::UTF_8, Encoding::US_ASCII, Encoding::BINARY].include?(text.encoding)
      raw ? text.dup.force_encoding(Encoding::UTF_8) : text.encode(Encoding::UTF_8)
    rescue EncodingError
      text.dup.force_encoding(Encoding::UTF_8)
    end
  end
end
