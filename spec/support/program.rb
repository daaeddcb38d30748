# frozen_string_literal: true

require 'English'
require 'io/wait'
require 'open3'
require 'pty'
require 'rbconfig'
require 'timeout'

# Runs the program llama_cpp as its users do.
module Program
  ROOT = File.expand_path('../..', __dir__)
  COMMAND = [RbConfig.ruby, File.join(ROOT, 'exe', 'llama_cpp')].freeze
  # What may be set where the suite runs, and would change what the program does.
  NEUTRAL = { 'LLAMA_CPP_MODEL' => nil, 'LLAMA_LOG' => nil, 'NO_COLOR' => nil, 'TERM' => 'xterm' }.freeze

  # What came of it.
  Outcome = Struct.new(:stdout, :stderr, :code)

  # @param arguments [Array<String>]
  # @param stdin [String]
  # @param environment [Hash{String => String, nil}]
  # @return [Outcome]
  def llama_cpp(*arguments, stdin: '', environment: {})
    stdout, stderr, status = Open3.capture3(NEUTRAL.merge(environment), *COMMAND, *arguments,
                                            stdin_data: stdin, chdir: ROOT)
    Outcome.new(stdout, stderr, status.exitstatus)
  end

  # As {#llama_cpp}, with the tiny model.
  def with_tiny(command, *arguments, **settings)
    llama_cpp(command, '-m', Models::TINY, *arguments, **settings)
  end

  # Runs it while the block reads and signals.
  #
  # @yield [stdout, pid]
  # @return [Outcome] its stdout is what the block has left
  def while_it_runs(*arguments)
    Open3.popen3(NEUTRAL, *COMMAND, *arguments, chdir: ROOT) do |stdin, stdout, stderr, thread|
      stdin.close
      Timeout.timeout(30) do
        yield stdout, thread.pid
        rest = stdout.closed? ? '' : stdout.read
        Outcome.new(rest, stderr.read, thread.value.exitstatus)
      end
    ensure
      Process.kill(:KILL, thread.pid) if thread.alive?
    end
  end

  # Runs it on a terminal.
  #
  # @param typed [Array<(Regexp, String)>] what is typed, each after something new on the screen
  # @return [Outcome] its stdout is all that the terminal shows
  def on_a_terminal(*arguments, typed: [], environment: {})
    PTY.spawn(NEUTRAL.merge(environment), *COMMAND, *arguments, chdir: ROOT) do |screen, keyboard, pid|
      shown = +''
      Timeout.timeout(30) do
        typed.each do |pattern, text|
          seen = shown.size
          read_more(screen, keyboard, shown) until shown[seen..].match?(pattern)
          keyboard.write(text)
        end
        read_to_the_end(screen, keyboard, shown, typed.last&.last)
        Process.wait(pid)
      end
      return Outcome.new(shown, nil, $CHILD_STATUS.exitstatus)
    end
  end

  private

  def read_more(screen, keyboard, shown)
    part = screen.readpartial(4096)
    # Reline asks where the cursor is. It is at the left.
    keyboard.write("\e[1;1R" * part.scan("\e[6n").size)
    shown << part
  end

  # A key that comes while the line editor sets up the terminal can be lost. People press it again.
  def read_to_the_end(screen, keyboard, shown, last_key)
    loop do
      keyboard.write(last_key) until screen.wait_readable(last_key && 2)
      read_more(screen, keyboard, shown)
    end
  rescue EOFError, Errno::EIO
    # Linux says EIO when the other side of a terminal is gone.
  end
end

RSpec.configure { |config| config.include(Program) }
