# frozen_string_literal: true

# Writes smaller copies of a model, and shows what that does to its answer.
#
#   ruby -Ilib examples/quantize.rb [model.gguf] ["prompt"]

require 'tmpdir'
require 'llama_cpp'
require 'llama_cpp/cli/progress'

TYPES = {
  'Q8_0' => LLaMACpp::LLAMA_FTYPE_MOSTLY_Q8_0,
  'Q4_K_M' => LLaMACpp::LLAMA_FTYPE_MOSTLY_Q4_K_M,
  'Q2_K' => LLaMACpp::LLAMA_FTYPE_MOSTLY_Q2_K
}.freeze

def answer(path, prompt)
  LLaMACpp::Model.open(path) do |model|
    params = LLaMACpp::ContextParams.new(n_ctx: 256, n_threads: 1, n_threads_batch: 1)
    context = LLaMACpp::Context.new(model:, params:)
    context.generate(prompt, n_predict: 16, temperature: 0)
  end
end

def report(name, path, prompt)
  puts format('%<name>-8s %<size>9d bytes  %<prompt>s %<answer>s',
              name:, size: File.size(path), prompt:, answer: answer(path, prompt))
end

path, prompt = ARGV
path ||= File.expand_path('../models/tiny/tiny.gguf', __dir__)
prompt ||= 'The capital of France is'

report('original', path, prompt)

Dir.mktmpdir do |folder|
  TYPES.each do |name, ftype|
    output = File.join(folder, "#{name}.gguf")
    params = LLaMACpp::ModelQuantizeParams.new(ftype:)
    # The block gets the tensor's name and how much is done; on a terminal it is a progress bar.
    LLaMACpp::CLI::Progress.during(name) do |progress|
      LLaMACpp.model_quantize(input_path: path, output_path: output, params:) { |_tensor, done| progress.call(done) }
    end
    report(name, output, prompt)
  end
end
