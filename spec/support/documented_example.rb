# frozen_string_literal: true

require 'fileutils'
require 'ripper'
require 'stringio'

# The code of an example, and what it says about itself: `expression #=> value`, or `#=> value` in the next line.
class DocumentedExample
  ROOT = File.expand_path('../..', __dir__)
  STATEMENT = /\A(?<code>.*?)\s*#=> (?<value>.+)\z/

  # A value that is not the stated one.
  Difference = Struct.new(:code, :stated, :actual) do
    def to_s
      "#{code}: says #{stated}, is #{actual}"
    end
  end

  # @return [String] its code
  attr_reader :text

  # @return [String] where it is from
  attr_reader :location

  # @param text [String] Ruby
  # @param location [String]
  def initialize(text, location)
    @text = text
    @location = location
  end

  # @return [Boolean] whether it says what comes out
  def states_something?
    @text.match?(/#=> /)
  end

  # Runs it where a reader would: at the root of the repository, with tmp/ for what it writes.
  #
  # @return [Array<Difference>] none when all is as it says
  def differences
    @differences = []
    FileUtils.mkdir_p(File.join(ROOT, 'tmp'))
    silently { Dir.chdir(ROOT) { fresh_binding.eval(instrumented, @location) } }
    @differences
  end

  # Called by the instrumented code.
  def note(code, stated, actual)
    @differences << Difference.new(code, stated, actual.inspect) unless stated?(stated, actual)
    actual
  end

  private

  # Ruby has more than one way to write a value: what counts is that it looks the same once it is read.
  def stated?(text, actual)
    return text == actual.inspect if text.start_with?('#<')

    Object.new.instance_eval(text).inspect == actual.inspect
  end

  # In a module of its own: `include LLaMACpp` and local variables stay there.
  def fresh_binding
    example = self
    Module.new { define_singleton_method(:__example__) { example } }.module_eval('binding', __FILE__, __LINE__)
  end

  # The code with each statement about a value turned into a call of `note`.
  def instrumented
    @text.lines(chomp: true).each_with_object([]) do |line, lines|
      match = STATEMENT.match(line)
      next lines << line unless match

      lines << match[:code] unless match[:code].strip.empty?
      code = take_expression(lines)
      lines << "__example__.note(#{code.dump}, #{match[:value].dump}, (#{code}))"
    end.join("\n")
  end

  # The last lines that are Ruby by themselves.
  def take_expression(lines)
    count = (1..lines.size).find { |n| Ripper.sexp(lines.last(n).join("\n")) }
    raise SyntaxError, "#{@location}: no expression before #=>" unless count

    lines.pop(count).join("\n").strip
  end

  def silently
    stdout, stderr = $stdout, $stderr # rubocop:disable Style/ParallelAssignment
    $stdout = $stderr = StringIO.new
    yield
  ensure
    $stdout = stdout
    $stderr = stderr
  end
end
