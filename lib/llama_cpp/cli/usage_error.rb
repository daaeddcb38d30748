# frozen_string_literal: true

module LLaMACpp
  class CLI
    # The command line is wrong.
    class UsageError < StandardError
    end
  end
end
