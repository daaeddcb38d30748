# frozen_string_literal: true

# Quantizes a model to several types, and asks each the same question.
#
#   ruby -Ilib spec/clients/quantize.rb [model.gguf] ["prompt"]

require 'llama_cpp'
require 'tmpdir'

path = ARGV[0] || File.expand_path('../../models/tiny/tiny.gguf', __dir__)
prompt = ARGV[1] || 'The capital of France is'

Dir.mktmpdir do |folder|
  %w[Q8_0 Q4_0 Q4_K_M Q5_K_M Q6_K].each do |type|
    output = File.join(folder, "#{type}.gguf")
    params = LLaMACpp::ModelQuantizeParams.new
    params.n_thread = 1
    params.ftype = LLaMACpp.const_get("LLAMA_FTYPE_MOSTLY_#{type}")
    LLaMACpp.model_quantize(input_path: path, output_path: output, params:)

    params = LLaMACpp::ContextParams.new
    params.seed = 42
    params.n_threads = 1
    params.n_threads_batch = 1
    model = LLaMACpp::Model.new(model_path: output, params: LLaMACpp::ModelParams.new)
    context = LLaMACpp::Context.new(model:, params:)
    text = LLaMACpp.generate(context, prompt, n_predict: 8, temperature: 0.01)
    puts "#{type.ljust(6)} #{File.size(output)} bytes: #{prompt} #{text}"
  end
end
