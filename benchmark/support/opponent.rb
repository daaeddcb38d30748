# frozen_string_literal: true

module Bench
  # A program in a process of its own that does what {BareLoop} does: driver.cpp or worker.rb.
  class Opponent
    # @param command [Array<String>] the program, with its arguments
    def initialize(command)
      @io = IO.popen(command, 'r+')
    end

    # @return [Float] seconds for that many tokens, one at a time
    def decode(count)
      ask("decode #{count}")
    end

    # @return [Float] seconds for a prompt of that many tokens
    def prompt(count)
      ask("prompt #{count}")
    end

    def close
      @io.close
    end

    private

    def ask(command)
      @io.puts(command)
      Float(@io.gets || raise('the program that is measured against has ended'))
    end
  end
end
