# frozen_string_literal: true

require_relative 'layout'

module Fuzz
  # The changes of a {Mutator} that move what follows, or do not care for fields at all.
  module LargeChanges
    TEXTS = ['', "\0", 'a', "\xFF\xFE".b, 'a' * 63, 'a' * 64, 'a' * 70_000, "\n", '%s%n', "\u2581", 'llama', 'gpt2',
             'falcon', 'mpt', 'bloom', 'spm', 'bpe'].freeze

    private

    def fill_data
      return flip_bytes if @header_size >= @result.bytesize

      offset = @header_size + @random.rand(@result.bytesize - @header_size)
      size = [[1, 64, 4096, 100_000][@random.rand(4)], @result.bytesize - offset].min
      @changes << "#{size} bytes of data at #{offset} are filled"
      @result[offset, size] = pick([proc { "\xFF".b * size }, proc { "\0" * size }, proc { @random.bytes(size) }]).call
    end

    # Another text with its true length.
    def replace_text
      index = 1 + @random.rand(@structure.size - 1)
      index = (index..(@structure.size - 1)).find { |i| text?(i) } || (1...@structure.size).find { |i| text?(i) }
      return set_field unless index

      length, text = @structure.values_at(index - 1, index)
      new = pick(TEXTS).b
      @changes << "#{text.name} at #{text.offset}: the text becomes #{new[0, 20].inspect} of #{new.bytesize} bytes"
      @result[length.offset...text.finish] = [new.bytesize].pack(Layout::INTEGERS.fetch(length.width)) + new
    end

    def text?(index)
      field = @structure[index]
      before = @structure[index - 1]
      field.kind == :bytes && before.kind == :length && before.finish == field.offset
    end

    def insert
      offset = field.offset
      new = @random.bytes(1 + @random.rand(32))
      @changes << "#{new.bytesize} bytes are inserted at #{offset}: #{new.inspect}"
      @result.insert(offset, new)
    end

    def delete
      offset = field.offset
      size = 1 + @random.rand(32)
      @changes << "#{size} bytes at #{offset} are gone"
      @result[offset, size] = ''.b
    end

    def truncate
      size = pick([proc { field.offset }, proc { @random.rand(@header_size) }, proc { @random.rand(@result.bytesize) },
                   proc { @result.bytesize - 1 }]).call
      @changes << "the file ends after #{size} bytes"
      @result = @result[0, size]
    end
  end
end
