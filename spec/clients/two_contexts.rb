# frozen_string_literal: true

# One model with two contexts, used in turns: one completes by generate, the other embeds by eval.
#
#   ruby -Ilib spec/clients/two_contexts.rb [model.gguf] ["prompt" …]

require 'llama_cpp'

path, *prompts = ARGV
path ||= File.expand_path('../../models/tiny/tiny.gguf', __dir__)
prompts = ['The capital of France is', 'User: How are you?', 'The capital of France is'] if prompts.empty?

model = LLaMACpp::Model.new(model_path: path, params: LLaMACpp::ModelParams.new)
completion, embedding = [false, true].map do |embed|
  params = LLaMACpp::ContextParams.new
  params.seed = 42
  params.n_ctx = 256
  params.n_threads = 1
  params.n_threads_batch = 1
  params.embedding = embed
  LLaMACpp::Context.new(model:, params:)
end

prompts.each do |prompt|
  tokens = model.tokenize(text: prompt, add_bos: true)
  embedding.eval(tokens:, n_past: 0)
  text = LLaMACpp.generate(completion, prompt, n_predict: 12, temperature: 0.01)
  puts "#{prompt} #{text}"
  puts embedding.embeddings.map { |value| format('%.4f', value) }.join(' ')
end
