# frozen_string_literal: true

module LLaMACpp
  # Turns pieces of tokens, which may end within a character, into text that can be shown: whole characters only, and
  # nothing that may turn out to be the beginning of a stop text.
  #
  # @api private
  class TextStream
    # Characters that are held back for a Regexp, which does not tell whether it has begun to match.
    REGEXP_WINDOW = 128

    # @param stops [Array<String, Regexp>]
    def initialize(stops)
      @stops = stops
      @bytes = String.new(encoding: Encoding::BINARY)
      @text = +''
      @stopped = false
    end

    # @return [Boolean] whether a stop text has come
    def stopped?
      @stopped
    end

    # @param piece [String] the next bytes
    # @return [String] what can be shown now, perhaps nothing
    def push(piece)
      return piece if @stops.empty? && @bytes.empty? && whole?(piece)

      @bytes << piece.b
      @text << take_characters
      return take_all if (index = stop_index) && cut(index)

      @text.slice!(0, @text.size - held_back)
    end

    # @return [String] what was held back, at the end
    def finish
      return '' if @stopped

      @text << @bytes.force_encoding(Encoding::UTF_8).scrub('?')
      @bytes = String.new(encoding: Encoding::BINARY)
      (index = stop_index) && cut(index)
      take_all
    end

    private

    # Most pieces are whole characters: they can be shown as they are.
    def whole?(piece)
      piece.encoding == Encoding::UTF_8 && piece.valid_encoding?
    end

    def take_all
      @text.slice!(0, @text.size)
    end

    def cut(index)
      @text = @text[0, index]
      @stopped = true
    end

    # The characters that are complete; invalid bytes become question marks.
    def take_characters
      complete = @bytes.bytesize - incomplete_bytes
      @bytes.slice!(0, complete).force_encoding(Encoding::UTF_8).scrub('?')
    end

    # Bytes at the end that begin a character and lack its rest.
    def incomplete_bytes
      (1..[3, @bytes.bytesize].min).each do |count|
        byte = @bytes.getbyte(-count)
        next if byte & 0b1100_0000 == 0b1000_0000

        length = case byte
                 when 0xC2..0xDF then 2
                 when 0xE0..0xEF then 3
                 when 0xF0..0xF4 then 4
                 else 1
                 end
        return length > count ? count : 0
      end
      0
    end

    def stop_index
      @stops.filter_map { |stop| @text.index(stop) }.min
    end

    # Characters at the end that may belong to a stop text.
    def held_back
      @stops.map { |stop| stop.is_a?(Regexp) ? [REGEXP_WINDOW, @text.size].min : beginning_of(stop) }.max || 0
    end

    # The longest end of the text that is a beginning of +stop+.
    def beginning_of(stop)
      [stop.size - 1, @text.size].min.downto(1).find { |count| @text.end_with?(stop[0, count]) } || 0
    end
  end
  private_constant :TextStream
end
