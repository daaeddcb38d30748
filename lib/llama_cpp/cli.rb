# frozen_string_literal: true

require_relative 'version'
require_relative 'cli/usage_error'
require_relative 'cli/terminal'

module LLaMACpp
  # The program +llama_cpp+: finds the command, runs it, and turns what happens into an exit code.
  #
  # <tt>require 'llama_cpp'</tt> does not load it. The extension is loaded when a command needs it, so that +--help+
  # is there at once.
  #
  # @api private
  class CLI
    # Commands with the files and classes that they are in, in the order in which --help lists them.
    COMMANDS = {
      'generate' => :Generate, 'chat' => :Chat, 'embed' => :Embed, 'tokenize' => :Tokenize, 'info' => :Info,
      'quantize' => :Quantize
    }.freeze

    # Exit codes.
    DONE = 0
    FAILED = 1
    MISUSED = 2
    INTERRUPTED = 130

    # @param arguments [Array<String>] the command line
    # @return [Integer] the exit code
    def self.run(arguments)
      new(Terminal.new).run(arguments)
    end

    # @param terminal [Terminal] where to read and write
    def initialize(terminal)
      @terminal = terminal
      @name = 'llama_cpp'
    end

    # @param arguments [Array<String>] the command line
    # @return [Integer] the exit code
    def run(arguments)
      catch(:done) { dispatch(*arguments) }
      @terminal.output.flush
      DONE
    rescue UsageError => e
      complain("#{e.message.chomp('.')} (see #{@name} --help)", MISUSED)
    rescue Interrupt
      INTERRUPTED
    rescue Errno::EPIPE
      # Whoever reads has seen enough.
      DONE
    rescue StandardError, LoadError, NoMemoryError => e
      raise if $DEBUG

      complain(e.message, FAILED)
    end

    private

    def dispatch(first = nil, *rest)
      case first
      when nil then raise UsageError, "give a command: #{COMMANDS.keys.join(', ')}"
      when '-h', '--help', 'help' then rest.empty? ? help : command(rest.first).new(@terminal).run(['--help'])
      when '-v', '--version', 'version' then version
      else command(first).new(@terminal).run(rest)
      end
    end

    def command(name)
      unless COMMANDS.key?(name)
        what = name.start_with?('-') ? 'option' : 'command'
        raise UsageError, "there is no #{what} #{name} here; the commands are #{COMMANDS.keys.join(', ')}"
      end

      @name = "llama_cpp #{name}"
      require_relative "cli/#{name}"
      CLI.const_get(COMMANDS.fetch(name))
    end

    def help
      summaries = COMMANDS.keys.map { |name| "  #{name.ljust(10)}#{command(name)::SUMMARY}\n" }
      @terminal.output.print <<~TEXT
        Usage: llama_cpp COMMAND -m FILE.gguf [options] [text]

        #{summaries.join.strip.prepend('  ')}

        llama_cpp COMMAND --help explains one. LLAMA_CPP_MODEL names the model when there is no -m.

        Example:
          llama_cpp generate -m models/tiny/tiny.gguf --temperature 0 "The capital of France is"
      TEXT
    end

    def version
      require_relative '../llama_cpp'
      @terminal.output.puts "llama_cpp #{VERSION} (llama.cpp #{LLAMA_CPP_VERSION})"
    end

    # @return [Integer] the exit code
    def complain(message, code)
      # Whatever happened, one line tells it.
      line = message.encode(Encoding::UTF_8, invalid: :replace, undef: :replace).scrub('?').strip.gsub(/\s*\n\s*/, ' ')
      @terminal.errors.puts "#{@terminal.paint("#{@name}:", :red, stream: @terminal.errors)} #{line}"
      code
    rescue Errno::EPIPE
      code
    end
  end
end
