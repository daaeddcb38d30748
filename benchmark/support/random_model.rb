# frozen_string_literal: true

require 'fileutils'
require_relative '../../spec/support/gguf_writer'
require_relative 'random_vocabulary'

module Bench
  # LLaMA-shaped models with random weights: as large and as slow as real ones, and at hand without a download.
  class RandomModel
    HEAD_WIDTH = 64

    # The types of weights, by llama.cpp's number for a file of them.
    TYPES = { 1 => :f16, 2 => :q4 }.freeze

    # The shape of each size.
    SIZES = {
      '20M' => { file_type: 1, n_embd: 256, n_ff: 688, n_layer: 4, n_head_kv: 4 },
      '100M' => { file_type: 2, n_embd: 768, n_ff: 2048, n_layer: 7, n_head_kv: 12 },
      '1.1B' => { file_type: 2, n_embd: 2048, n_ff: 5632, n_layer: 22, n_head_kv: 4 }
    }.freeze

    # @param size [String] a key of {SIZES}
    # @param folder [String] where the models are kept
    # @return [String] the path of the model, which is made if it is not there yet
    def self.path(size, folder)
      path = File.join(folder, "random-#{size}.gguf")
      return path if File.exist?(path)

      FileUtils.mkdir_p(folder)
      new(**SIZES.fetch(size)).write("#{path}.part")
      File.rename("#{path}.part", path)
      path
    end

    def initialize(file_type:, n_embd:, n_ff:, n_layer:, n_head_kv:)
      @file_type = file_type
      @type = TYPES.fetch(file_type)
      @n_embd = n_embd
      @n_ff = n_ff
      @n_layer = n_layer
      @n_head_kv = n_head_kv
      @random = Random.new(1)
      @pools = {}
    end

    def write(path)
      tensors = self.tensors
      GGUFWriter.write(path, hyperparameters.merge(RandomVocabulary.metadata), tensors) do |_, _, name|
        name.end_with?('norm.weight') ? ones(*tensors.fetch(name)) : matrix(name, *tensors.fetch(name))
      end
    end

    private

    def hyperparameters
      {
        'general.architecture' => 'llama', 'general.name' => 'random weights', 'general.file_type' => @file_type,
        'general.quantization_version' => 2, 'llama.context_length' => 2048, 'llama.embedding_length' => @n_embd,
        'llama.block_count' => @n_layer, 'llama.feed_forward_length' => @n_ff,
        'llama.attention.head_count' => @n_embd / HEAD_WIDTH, 'llama.attention.head_count_kv' => @n_head_kv,
        'llama.attention.layer_norm_rms_epsilon' => 1e-5, 'llama.rope.dimension_count' => HEAD_WIDTH
      }
    end

    def tensors
      kv_width = @n_head_kv * HEAD_WIDTH
      matrices = {
        'attn_q' => [@n_embd, @n_embd], 'attn_k' => [@n_embd, kv_width], 'attn_v' => [@n_embd, kv_width],
        'attn_output' => [@n_embd, @n_embd], 'ffn_gate' => [@n_embd, @n_ff], 'ffn_up' => [@n_embd, @n_ff],
        'ffn_down' => [@n_ff, @n_embd]
      }
      all = { 'token_embd' => [@type, [@n_embd, RandomVocabulary::SIZE]], 'output_norm' => [:f32, [@n_embd]],
              'output' => [@type, [@n_embd, RandomVocabulary::SIZE]] }
      @n_layer.times do |layer|
        %w[attn_norm ffn_norm].each { |name| all["blk.#{layer}.#{name}"] = [:f32, [@n_embd]] }
        matrices.each { |name, shape| all["blk.#{layer}.#{name}"] = [@type, shape] }
      end
      all.transform_keys { |name| "#{name}.weight" }
    end

    def ones(_type, shape)
      [1.0].pack('e') * shape.inject(:*)
    end

    # A matrix keeps the size of what it is multiplied with.
    def matrix(name, type, shape)
      size = GGUFWriter.bytes(type, shape.inject(:*))
      return weights(size, 1 / Math.sqrt(shape.first)) unless name == 'output.weight'

      # Some tokens are far more probable than others; control tokens and bytes have the logit 0, which is never drawn:
      # no text ends early.
      silent = GGUFWriter.bytes(type, shape.first * RandomVocabulary::FIRST_PIECE)
      ("\0" * silent) + weights(size - silent, 3 / Math.sqrt(shape.first))
    end

    # Random numbers are slow to make: each matrix is cut out of the same ones, from another place on.
    def weights(size, deviation)
      pool = @pools[deviation] ||= @type == :f16 ? halves(deviation) : blocks(deviation)
      unit = GGUFWriter::BLOCKS.fetch(@type).last
      start = @random.rand(pool.bytesize / unit) * unit
      (pool.byteslice(start..) + (pool * size.fdiv(pool.bytesize).ceil)).byteslice(0, size)
    end

    # Halves of either sign from half to one and a half of the deviation or so.
    def halves(deviation)
      exponent = Math.log2(deviation).floor + 15
      Array.new(1 << 18) { (@random.rand(2) << 15) | (exponent << 10) | @random.rand(1 << 10) }.pack('S<*')
    end

    # Blocks of Q4_0: a scale, then 32 numbers from -7 to 7, whose deviation is 4.3.
    def blocks(deviation)
      scale = half(deviation / 4.3)
      pair = -> { @random.rand(1..15) | (@random.rand(1..15) << 4) }
      Array.new(1 << 15) { [scale, *Array.new(16) { pair.call }].pack('a2C16') }.join
    end

    # A number from 2**-14 to 2**15 in half precision.
    def half(number)
      fraction, exponent = Math.frexp(number)
      [((exponent + 14) << 10) | ((fraction * 2048).to_i & 0x3ff)].pack('S<')
    end
  end
end
