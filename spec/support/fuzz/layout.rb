# frozen_string_literal: true

module Fuzz
  # A place in a file that means something, of `width` bytes. `kind` is `:integer`, `:float`, `:length` (of the bytes
  # that follow), `:type` or `:bytes`; `group` is `:structure`, or `:element` for one of many values of an array.
  Field = Struct.new(:name, :offset, :width, :kind, :group) do
    # @return [Integer] the first byte behind it
    def finish
      offset + width
    end
  end

  # Walks over a file and notes its fields.
  class Layout
    INTEGERS = { 1 => 'C', 2 => 'S<', 4 => 'L<', 8 => 'Q<' }.freeze

    # @return [Array<Field>]
    attr_reader :fields

    # @return [Integer] where it has arrived
    attr_reader :offset

    # @param bytes [String] a sound file
    def initialize(bytes)
      @bytes = bytes
      @fields = []
      @offset = 0
      @group = :structure
      walk
    end

    # @return [Integer] bytes up to the data, about which nothing is known
    def header_size
      @header_size || @offset
    end

    private

    def note(name, width, kind)
      @fields << Field.new(name, @offset, width, kind, @group)
      @offset += width
      @bytes[@offset - width, width]
    end

    def integer(name, width, kind = :integer)
      note(name, width, kind).unpack1(INTEGERS.fetch(width))
    end

    def bytes(name, width)
      width.zero? ? '' : note(name, width, :bytes)
    end

    def string(name, length_width)
      bytes(name, integer("length of #{name}", length_width, :length))
    end

    def align(multiple)
      @offset = @offset.fdiv(multiple).ceil * multiple
    end
  end

  # Models: metadata and tensors are the header.
  class GGUFLayout < Layout
    WIDTHS = { 0 => 1, 1 => 1, 2 => 2, 3 => 2, 4 => 4, 5 => 4, 6 => 4, 7 => 1, 10 => 8, 11 => 8, 12 => 8 }.freeze
    FLOATS = [6, 12].freeze
    STRING = 8
    ARRAY = 9

    # Of a vocabulary's many thousand texts the first ones stand for all.
    NOTED_ELEMENTS = 700

    private

    def walk
      bytes('magic', 4)
      integer('version', 4)
      n_tensors = integer('count of tensors', 8)
      integer('count of metadata', 8).times { value(string('key', 8)) }
      n_tensors.times { tensor(string('name of a tensor', 8)) }
      @header_size = @offset
    end

    def value(key)
      type = integer("type of #{key}", 4, :type)
      return element(key, type) unless type == ARRAY

      element_type = integer("type of the elements of #{key}", 4, :type)
      count = integer("count of #{key}", 8, :length)
      @group = :element
      count.times { |i| i < NOTED_ELEMENTS ? element("#{key}[#{i}]", element_type) : skip(element_type) }
      @group = :structure
    end

    def skip(type)
      @offset += type == STRING ? 8 + @bytes.unpack1('Q<', offset: @offset) : WIDTHS.fetch(type)
    end

    def element(name, type)
      return string(name, 8) if type == STRING

      note(name, WIDTHS.fetch(type), FLOATS.include?(type) ? :float : :integer)
    end

    def tensor(name)
      n_dims = integer("count of dimensions of #{name}", 4)
      n_dims.times { |i| integer("dimension #{i} of #{name}", 8) }
      integer("type of #{name}", 4, :type)
      integer("offset of #{name}", 8)
    end
  end

  # LoRA adapters: tensor after tensor, each with its data.
  class LoraLayout < Layout
    private

    def walk
      %w[magic version r alpha].each { |name| integer(name, 4) }
      tensor until @offset >= @bytes.bytesize
    end

    def tensor
      n_dims = integer('count of dimensions', 4)
      length = integer('length of a name', 4, :length)
      type = integer('type', 4, :type)
      dims = Array.new(n_dims) { |i| integer("dimension #{i}", 4) }
      name = bytes('name', length)
      align(32)
      bytes("data of #{name}", dims.inject(:*) * (type == 1 ? 2 : 4))
    end
  end

  # Sessions: tokens and the state of a context.
  class SessionLayout < Layout
    # @param bytes [String]
    # @param tokens [Array<Integer>] those that were saved with it: behind the model's parameters, whose size is
    #   llama.cpp's own business
    def initialize(bytes, tokens)
      @tokens = [tokens.size, *tokens].pack('L<*')
      super(bytes)
    end

    private

    def walk
      integer('magic', 4)
      integer('version', 4)
      parameters
      integer('count of tokens', 4, :length).times { |i| integer("token #{i}", 4) }
      string('the random numbers', 8)
      outputs
      cache
    end

    def parameters
      finish = @bytes.index(@tokens, @offset)
      integer('a word of the parameters', 4) while @offset < finish
    end

    def outputs
      bytes('the logits', integer('count of the logits', 8, :length) * 4)
      bytes('the embedding', integer('count of the embedding', 8, :length) * 4)
    end

    def cache
      integer('bytes of the cache', 8, :length)
      integer('head', 4)
      n_cells = integer('count of cells', 4)
      integer('count of used cells', 4)
      # What is left when each cell has a position and a count, and each used one a sequence: see #cells.
      bytes('keys and values', @bytes.bytesize - @offset - cells_size(n_cells))
      cells(n_cells)
    end

    def cells_size(n_cells)
      used = @fields.last
      (n_cells * 12) + (@bytes[used.offset, 4].unpack1('L<') * 4)
    end

    def cells(n_cells)
      n_cells.times do |i|
        integer("position of cell #{i}", 4)
        integer("count of sequences of cell #{i}", 8, :length).times { |j| integer("sequence #{j} of cell #{i}", 4) }
      end
    end
  end
end
