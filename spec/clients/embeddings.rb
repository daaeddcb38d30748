# frozen_string_literal: true

# Embeddings of several texts, one after the other on one context, and how much alike they are.
#
#   ruby -Ilib spec/clients/embeddings.rb [model.gguf] ["text" …]

require 'llama_cpp'

path, *texts = ARGV
path ||= File.expand_path('../../models/tiny/tiny.gguf', __dir__)
texts = ['The capital of France is', 'The capital of Italy is', 'User: How are you?'] if texts.empty?

params = LLaMACpp::ContextParams.new
params.n_ctx = 256
params.n_threads = 1
params.n_threads_batch = 1
params.embedding = true

model = LLaMACpp::Model.new(model_path: path, params: LLaMACpp::ModelParams.new)
context = LLaMACpp::Context.new(model:, params:)

embeddings = texts.map do |text|
  tokens = model.tokenize(text:, add_bos: true)
  context.kv_cache_clear
  context.decode(LLaMACpp::Batch.get_one(tokens:, n_tokens: tokens.size, pos_zero: 0, seq_id: 0))
  context.embeddings
end

dot = ->(a, b) { a.zip(b).sum { |x, y| x * y } }
texts.zip(embeddings).each do |text, embedding|
  alike = embeddings.map { |other| dot[embedding, other] / Math.sqrt(dot[embedding, embedding] * dot[other, other]) }
  puts "#{alike.map { |value| format('%5.2f', value) }.join(' ')}  #{text}"
end
embeddings.each { |embedding| puts embedding.map { |value| format('%.4f', value) }.join(' ') }
