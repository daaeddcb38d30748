# frozen_string_literal: true

module Bench
  # A row of the table: what was measured, and whether it is what is wanted.
  #
  # @!attribute name
  #   @return [String] what was measured
  # @!attribute measured
  #   @return [String] the numbers, with their units
  # @!attribute ratio
  #   @return [Float, nil] the number that is compared with the bound
  # @!attribute wanted
  #   @return [String, nil] the bound; nil for what is only told
  # @!attribute passed
  #   @return [Boolean]
  Figure = Struct.new(:name, :measured, :ratio, :wanted, :passed, keyword_init: true) do
    # @return [Figure] a share that must not be smaller
    def self.at_least(bound, ratio, name, measured)
      new(name:, measured:, ratio:, wanted: "at least #{percent(bound)}", passed: ratio >= bound)
    end

    # @return [Figure] a share that must not be larger
    def self.at_most(bound, ratio, name, measured)
      new(name:, measured:, ratio:, wanted: "at most #{percent(bound)}", passed: ratio <= bound)
    end

    # @param seconds [Float]
    # @param bound [Float] seconds
    # @return [Figure] a time that must not be longer
    def self.within(bound, seconds, name)
      new(name:, measured: duration(seconds), ratio: seconds / bound, wanted: "at most #{duration(bound)}",
          passed: seconds <= bound)
    end

    # @return [Figure] something that is either so or not
    def self.check(name, measured, wanted, passed)
      new(name:, measured:, wanted:, passed:)
    end

    # @return [Figure] something worth knowing, with no bound
    def self.told(name, measured, ratio = nil)
      new(name:, measured:, ratio:, passed: true)
    end

    def self.percent(number)
      "#{(number * 100).round} %"
    end

    # @param tokens [Integer]
    # @param seconds [Array<Float>] the times that they took
    # @return [String]
    def self.rates(tokens, *seconds)
      "#{seconds.map { |time| number(tokens / time) }.join(' / ')} tokens/s"
    end

    # @return [String] three digits, or all before the point
    def self.number(value)
      digits = value.zero? ? 0 : [2 - Math.log10(value.abs).floor, 0].max
      digits.zero? ? value.round.to_s : format("%.#{digits}f", value)
    end

    # @param seconds [Float]
    # @return [String] in the unit that fits
    def self.duration(seconds)
      return "#{number(seconds * 1e6)} µs" if seconds < 1e-3

      seconds < 1 ? "#{number(seconds * 1e3)} ms" : "#{number(seconds)} s"
    end

    # @return [Array<String>]
    def cells
      [name, measured, ratio ? "#{(ratio * 100).round(1)} %" : '', wanted.to_s, verdict]
    end

    def verdict
      return '' unless wanted

      passed ? 'pass' : 'FAIL'
    end
  end

  # Lines up cells, as Markdown has it.
  module Table
    module_function

    # @param head [Array<String>]
    # @param rows [Array<Array<String>>]
    # @return [String]
    def format(head, rows)
      widths = [head, *rows].transpose.map { |column| column.map(&:size).max }
      line = ->(cells) { "| #{cells.zip(widths).map { |cell, width| cell.ljust(width) }.join(' | ')} |" }
      [line.call(head), "|#{widths.map { |width| '-' * (width + 2) }.join('|')}|", *rows.map(&line)].join("\n")
    end
  end
end
