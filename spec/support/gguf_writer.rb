# frozen_string_literal: true

require 'fileutils'
require 'tmpdir'

# Writes GGUF files: models of any size with random weights, for what takes longer than the tiny model does.
class GGUFWriter
  ALIGNMENT = 32
  TYPES = { f32: 0, f16: 1, q4: 2 }.freeze
  # Of each type, the numbers in a block and the bytes of a block.
  BLOCKS = { f32: [1, 4], f16: [1, 2], q4: [32, 18] }.freeze

  # @param path [String] the file
  # @param metadata [Hash{String => Object}] keys and values
  # @param tensors [Hash{String => Array(Symbol, Array<Integer>)}] type and shape, the contiguous dimension first
  # @yieldparam type [Symbol]
  # @yieldparam count [Integer]
  # @yieldparam name [String]
  # @yieldreturn [String] that many numbers of that type, as bytes
  def self.write(path, metadata, tensors, &)
    File.open(path, 'wb') { |file| new(file).write(metadata, tensors, &) }
    path
  end

  # @return [Integer] the bytes of that many numbers of a type
  def self.bytes(type, count)
    numbers, bytes = BLOCKS.fetch(type)
    count / numbers * bytes
  end

  # A llama with random weights and the tiny model's vocabulary. Its text means nothing.
  #
  # @return [String] the path
  def self.write_random_llama(path, n_embd:, n_layer:, n_ff:)
    vocabulary = LLaMACpp::Model.metadata(Models::TINY).select { |key, _| key.start_with?('tokenizer.') }
    random = Random.new(1)
    # Numbers of about one over the square root of the width, of both signs.
    block = Array.new(1 << 15) { (random.rand(2) << 15) | (9 << 10) | random.rand(1 << 10) }.pack('S<*')
    write(path, llama_metadata(n_embd, n_layer, n_ff).merge(vocabulary),
          llama_tensors(n_embd, n_layer, n_ff)) do |kind, count|
      kind == :f32 ? [1.0].pack('e') * count : random_halves(block, count, random)
    end
  end

  def self.random_halves(block, count, random)
    offset = random.rand(block.bytesize / 2) * 2
    bytes = block[offset..] + (block * (count * 2 / block.bytesize))
    bytes << block if bytes.bytesize < count * 2
    bytes[0, count * 2]
  end

  def self.llama_metadata(n_embd, n_layer, n_ff)
    n_head = n_embd / 64
    {
      'general.architecture' => 'llama', 'llama.context_length' => 2048, 'llama.embedding_length' => n_embd,
      'llama.block_count' => n_layer, 'llama.feed_forward_length' => n_ff, 'llama.attention.head_count' => n_head,
      'llama.attention.head_count_kv' => n_head, 'llama.attention.layer_norm_rms_epsilon' => 1e-5,
      'llama.rope.dimension_count' => 64
    }
  end

  def self.llama_tensors(n_embd, n_layer, n_ff)
    tensors = { 'token_embd' => [:f16, [n_embd, 640]], 'output_norm' => [:f32, [n_embd]],
                'output' => [:f16, [n_embd, 640]] }
    n_layer.times do |i|
      %w[attn_q attn_k attn_v attn_output].each { |name| tensors["blk.#{i}.#{name}"] = [:f16, [n_embd, n_embd]] }
      %w[attn_norm ffn_norm].each { |name| tensors["blk.#{i}.#{name}"] = [:f32, [n_embd]] }
      %w[ffn_gate ffn_up].each { |name| tensors["blk.#{i}.#{name}"] = [:f16, [n_embd, n_ff]] }
      tensors["blk.#{i}.ffn_down"] = [:f16, [n_ff, n_embd]]
    end
    tensors.transform_keys { |name| "#{name}.weight" }
  end

  def initialize(file)
    @file = file
  end

  def write(metadata, tensors)
    @file << ['GGUF', 3, tensors.size, metadata.size].pack('a4L<Q<Q<')
    metadata.each { |key, value| @file << string(key) << typed(value) }
    offset = 0
    tensors.each do |name, (type, shape)|
      @file << string(name) << [shape.size, *shape, TYPES.fetch(type), offset].pack("L<Q<#{shape.size}L<Q<")
      offset += padded(self.class.bytes(type, shape.inject(:*)))
    end
    tensors.each_pair do |name, (type, shape)|
      pad
      @file << yield(type, shape.inject(:*), name)
    end
    pad
  end

  private

  def string(text)
    [text.bytesize].pack('Q<') + text.b
  end

  def typed(value)
    [type_of(value)].pack('L<') + (value.is_a?(Array) ? array(value) : plain(value))
  end

  def array(values)
    [type_of(values.first, integer: 5), values.size].pack('L<Q<') + values.map { |value| plain(value) }.join
  end

  def plain(value)
    case value
    when Integer then [value].pack('l<')
    when Float then [value].pack('e')
    when String then string(value)
    else [value ? 1 : 0].pack('C')
    end
  end

  def type_of(value, integer: 4)
    case value
    when Integer then integer
    when Float then 6
    when String then 8
    when Array then 9
    else 7
    end
  end

  def padded(size)
    size.fdiv(ALIGNMENT).ceil * ALIGNMENT
  end

  def pad
    @file << ("\0" * (padded(@file.pos) - @file.pos))
  end
end

# A model that takes a second or so for a full batch: 41 million parameters, 82 MB, gone with the process.
module LargeModel
  def self.path
    @path ||= begin
      folder = Dir.mktmpdir('llama_cpp')
      owner = Process.pid
      at_exit { FileUtils.remove_entry(folder) if Process.pid == owner }
      GGUFWriter.write_random_llama(File.join(folder, 'large.gguf'), n_embd: 512, n_layer: 12, n_ff: 1536)
    end
  end
end
