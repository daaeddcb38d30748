# frozen_string_literal: true

require 'open3'

module LlamaCppBuild
  # Something that the person at the keyboard can put right. The message is one sentence: what is wrong, what to do.
  class Error < StandardError; end

  # Runs the cargo that is found in PATH.
  class Cargo
    MISSING = 'cargo was not found: install Rust, for instance from https://rustup.rs, and see that cargo is in PATH.'

    # What a command gave: did it succeed, what did it answer, what did it say on stderr.
    Result = Struct.new(:success, :stdout, :stderr) do
      alias_method :success?, :success
    end

    # @param log [IO] where cargo's own words (stderr) go while it runs
    def initialize(log: $stderr)
      @log = log
    end

    # @return [Boolean] whether there is a cargo that starts
    def present?
      !details.empty?
    end

    # @return [String, nil] the triple of this machine, "x86_64-unknown-linux-gnu"
    def host
      details[/^host: (\S+)/, 1]
    end

    # @return [Gem::Version, nil] the release, 1.85.0
    def version
      text = details[/^release: (\d+\.\d+\.\d+)/, 1]
      text && Gem::Version.new(text)
    end

    # @return [Result] stderr is shown as it comes, and kept as well
    # @raise [Error] if there is no cargo
    def run(*arguments)
      raise Error, MISSING unless present?

      Open3.popen3('cargo', *arguments) do |stdin, stdout, stderr, process|
        stdin.close
        answer = Thread.new { stdout.read }
        said = stderr.each_line.map { |line| line.tap { @log.print(line) } }.join
        Result.new(process.value.success?, answer.value, said)
      end
    end

    private

    def details
      @details ||= begin
        output, status = Open3.capture2e('cargo', '-vV')
        status.success? ? output : ''
      rescue SystemCallError
        ''
      end
    end
  end
end
