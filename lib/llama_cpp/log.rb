# frozen_string_literal: true

require 'logger'

# llama.cpp in Ruby: load a GGUF model, generate text.
module LLaMACpp
  # Where llama.cpp's log goes.
  #
  # Without a logger, warnings and errors go to stderr and the rest is dropped. The environment variable +LLAMA_LOG+
  # (+debug+, +info+, +warn+, +error+ or +off+) shows more, or nothing.
  class << self
    # @return [Logger, nil] what gets llama.cpp's log; nil for stderr
    # @example
    #   LLaMACpp.logger #=> nil
    attr_reader :logger

    # Hands the log of llama.cpp to a logger.
    #
    # Lines come whole, after the call in which they arose. What a logger raises is dropped.
    #
    # @param logger [Logger, nil] anything with +add(severity, message, progname)+; nil goes back to stderr
    # @return [Logger, nil]
    # @raise [ArgumentError] for an object without +add+
    # @example
    #   require 'logger'
    #   require 'stringio'
    #   lines = StringIO.new
    #   LLaMACpp.logger = Logger.new(lines, level: :info)
    #   LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   lines.string.include?('llama_model_loader') #=> true
    #   LLaMACpp.logger = nil
    def logger=(logger)
      unless logger.nil? || logger.respond_to?(:add)
        raise ArgumentError, "logger must be a Logger or nil, got an instance of #{logger.class}"
      end

      update_log_threshold(logger)
      @logger = logger
    end

    private

    # What the environment asks for; 4 is beyond the errors.
    def stderr_level
      { 'debug' => 0, 'info' => 1, 'warn' => 2, 'error' => 3, 'off' => 4 }.fetch(ENV['LLAMA_LOG'].to_s.downcase, 2)
    end

    # A logger gets everything: its level may change at any time, and it is for the logger to look at it.
    def update_log_threshold(logger)
      Native.log_threshold = logger ? 0 : stderr_level
    end

    # Called by the extension for each line.
    def write_log(level, text)
      if logger
        logger.add(level, text, 'llama.cpp')
      elsif level >= stderr_level
        $stderr.write("#{text}\n")
      end
    rescue StandardError
      # A log that cannot be written is no reason for a call to fail.
    end
  end
end
