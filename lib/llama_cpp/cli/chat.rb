# frozen_string_literal: true

require_relative 'command'
require_relative 'sampling_options'
require_relative 'trimmed_output'

module LLaMACpp
  class CLI
    # llama_cpp chat: a conversation on the terminal, or over pipes.
    class Chat < Command
      include SamplingOptions

      SUMMARY = 'talk with a model'
      USAGE = 'llama_cpp chat -m FILE.gguf [options] [MESSAGE]'
      DESCRIPTION = <<~TEXT
        Answers what you say. With a message on the command line: that one only. Otherwise each line of standard input
        is a message; /reset begins again, /exit ends.
      TEXT
      EXAMPLE = 'llama_cpp chat -m models/tiny/tiny.gguf --temperature 0 "What is the capital of Peru?"'

      private

      def options(parser)
        parser.on('--system TEXT', 'what the model is told before the conversation')
        parser.on('--template NAME', "chatml, llama3, …, or a file of Jinja (the model's own)")
        sampling_options(parser)
      end

      def call
        model = load_model
        @keywords = sampling
        @chat = LLaMACpp::Chat.new(make_context(model), system: @settings[:system] && CLI.utf8(@settings[:system]),
                                                        template:)
        return answer(@arguments.join(' ')) unless @arguments.empty? || @arguments == ['-']

        @terminal.interactive? ? talk : @terminal.each_line { |line| break if obey(line) == :exit }
      end

      # A name, or the text of a file.
      def template
        name = @settings[:template]
        return name if name.nil? || LLaMACpp::Chat::TEMPLATES.include?(name.to_sym)
        return CLI.utf8(File.read(name)) if File.file?(name)

        raise UsageError, "there is no chat template #{name}: give one of #{LLaMACpp::Chat::TEMPLATES.join(', ')}, " \
                          'or a file'
      end

      # With a person, who may edit a line, and try again after an error.
      def talk
        require 'reline'
        remark('/reset begins again, /exit or Ctrl-D ends.', :faint)
        prompt = @terminal.paint('> ', :green)
        while (line = Reline.readline(prompt, true))
          begin
            break if obey(CLI.utf8(line)) == :exit
          rescue ArgumentError => e
            remark(e.message, :red)
          end
        end
      end

      def remark(text, style)
        @terminal.errors.puts @terminal.paint(text, style, stream: @terminal.errors)
      end

      # @return [Symbol, nil] :exit when that was the last line
      def obey(line)
        case line.scrub.strip
        when '' then nil
        when '/exit' then :exit
        when '/reset' then @chat.reset && nil
        else answer(line)
        end
      end

      def answer(message)
        output = TrimmedOutput.new(@terminal.output)
        @chat.say(message, **@keywords) { |piece| output << piece }
        output.finish
      end
    end
  end
end
