# frozen_string_literal: true

require 'digest'
require 'tmpdir'

module Recorded
  # The size and the digest of a model that was quantized with one thread.
  class Quantization
    def initialize(path)
      @path = path
    end

    def result(type)
      params = Models.params(LLaMACpp::ModelQuantizeParams,
                             n_thread: 1, ftype: LLaMACpp.const_get("LLAMA_FTYPE_MOSTLY_#{type}"))
      Dir.mktmpdir do |dir|
        output = File.join(dir, 'quantized.gguf')
        LLaMACpp.model_quantize(input_path: @path, output_path: output, params:)
        [File.size(output), Digest::SHA256.file(output).hexdigest]
      end
    end
  end
end
