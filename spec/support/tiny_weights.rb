# frozen_string_literal: true

# Rows of the tiny model's own matrices, read from its file, to calculate with.
module TinyWeights
  module_function

  # @return [Array<Float>] what the model makes of a token to begin with
  def embedding(token)
    row('token_embd.weight', token)
  end

  # @return [Array<Float>] what the last state is multiplied with for a token's logit
  def output(token)
    row('output.weight', token)
  end

  def row(name, index)
    tensor = tensors.fetch(name)
    width = tensor[:shape].first
    bytes = File.binread(Models::TINY, width * 2, tensor[:offset] + (index * width * 2))
    bytes.unpack('S<*').map { |bits| half_to_float(bits) }
  end

  # Tensors lie one after the other at the end of the file, and each is a multiple of the alignment.
  def tensors
    @tensors ||= begin
      list = LLaMACpp::Model.metadata(Models::TINY)['gguf.tensors']
      offset = File.size(Models::TINY) - list.sum { |tensor| tensor[:n_bytes] }
      list.to_h do |tensor|
        entry = tensor.merge(offset:)
        offset += tensor[:n_bytes]
        [tensor[:name], entry]
      end
    end
  end

  def half_to_float(bits)
    sign = bits[15].zero? ? 1.0 : -1.0
    exponent = bits[10, 5]
    fraction = bits[0, 10] / 1024.0
    return sign * fraction * (2.0**-14) if exponent.zero?

    sign * (1 + fraction) * (2.0**(exponent - 15))
  end
end
