# frozen_string_literal: true

require_relative 'large_changes'
require_relative 'layout'

module Fuzz
  # A damaged file, and how it was damaged.
  Mutant = Struct.new(:bytes, :changes)

  # Damages a file: always the same way for the same random numbers.
  class Mutator
    include LargeChanges

    POWERS = [7, 8, 15, 16, 31, 32, 63, 64].freeze
    INTEGERS = ([0, 1, 2, 3, 5, 12, 100, 1000] + POWERS.flat_map { |n| [(2**n) - 1, 2**n] }).freeze
    FLOATS = [0.0, -0.0, 1.0, -1.0, 1e-30, 3.4e38, Float::NAN, Float::INFINITY, -Float::INFINITY].freeze

    # How often which change is made. Those that move what follows come last.
    CHANGES = { flip_bytes: 4, set_field: 8, swap_fields: 2, copy_field: 1, set_type: 2, set_length: 2, fill_data: 2,
                replace_text: 2, insert: 1, delete: 1, truncate: 2 }.freeze
    ORDER = CHANGES.keys.freeze
    CHOICES = CHANGES.flat_map { |name, weight| [name] * weight }.freeze

    # @param bytes [String] a sound file
    # @param layout [Layout] of it
    def initialize(bytes, layout)
      @bytes = bytes.b.freeze
      @header_size = layout.header_size
      @structure, @elements = layout.fields.partition { |field| field.group == :structure }
      @fields = layout.fields.group_by(&:kind)
      @widths = layout.fields.reject { |field| field.kind == :bytes }.group_by(&:width)
    end

    # @param random [Random]
    # @return [Mutant]
    def mutate(random)
      @random = random
      @result = @bytes.dup
      @changes = []
      count = random.rand(10) < 7 ? 1 : 2 + random.rand(3)
      names = Array.new(count) { pick(CHOICES) }.sort_by { |name| ORDER.index(name) }
      # After one that moves things, fields are no longer where they were.
      moving = names.index { |name| ORDER.index(name) > ORDER.index(:fill_data) }
      (moving ? names.first(moving + 1) : names).each { |name| send(name) }
      Mutant.new(@result, @changes)
    end

    private

    def pick(list)
      list[@random.rand(list.size)]
    end

    # Most of a vocabulary's file are its texts: the rest is more interesting.
    def field
      @elements.empty? || @random.rand(3).positive? ? pick(@structure) : pick(@elements)
    end

    def put(offset, new, what)
      @changes << "#{what} at #{offset}: #{@result[offset, new.bytesize].inspect} becomes #{new.inspect}"
      @result[offset, new.bytesize] = new
    end

    def flip_bytes
      (1 + @random.rand(4)).times do
        offset = @random.rand(@header_size)
        byte = @random.rand(2).zero? ? @result.getbyte(offset) ^ (1 << @random.rand(8)) : @random.rand(256)
        put(offset, byte.chr, 'a byte')
      end
    end

    def set_field
      set(field)
    end

    def set_type
      put_integer(pick(@fields.fetch(:type, @structure)), pick([*0..20, 2**31, (2**32) - 1]))
    end

    def set_length
      target = pick(@fields.fetch(:length, @structure))
      put_integer(target, [value_of(target) + @random.rand(-4..4), pick(INTEGERS)][@random.rand(2)])
    end

    def set(field)
      case field.kind
      when :float then put(field.offset, [pick(FLOATS)].pack(field.width == 4 ? 'e' : 'E'), field.name)
      when :bytes then put(field.offset + @random.rand(field.width), @random.rand(256).chr, field.name)
      else put_integer(field, integer_for(value_of(field)))
      end
    end

    def integer_for(value)
      pick([pick(INTEGERS), pick(INTEGERS), pick(INTEGERS), value + 1, value - 1, value * 2, value / 2, -value,
            @random.rand(2**64)])
    end

    def put_integer(field, value)
      code = Layout::INTEGERS[field.width]
      return scramble(field) unless code

      put(field.offset, [value & ((1 << (8 * field.width)) - 1)].pack(code), field.name)
    end

    def scramble(field)
      put(field.offset, @random.bytes(field.width), field.name)
    end

    def value_of(field)
      code = Layout::INTEGERS[field.width]
      code ? @result[field.offset, field.width].unpack1(code) : 0
    end

    def swap_fields
      one, other = Array.new(2) { field }
      other = pick(@widths.fetch(one.width, [one])) unless one.width == other.width
      texts = [one, other].map { |place| @result[place.offset, place.width] }
      put(one.offset, texts.last, one.name)
      put(other.offset, texts.first, other.name)
    end

    # The bytes of a text over those of another, such as a key's.
    def copy_field
      texts = @fields.fetch(:bytes)
      one, other = Array.new(2) { pick(texts) }
      put(other.offset, @result[one.offset, [one.width, other.width].min], other.name)
    end
  end
end
