# frozen_string_literal: true

# Plain completion: a batch filled by hand, logits of all tokens, the likeliest token each time.
#
#   ruby -Ilib spec/clients/completion.rb [model.gguf] ["prompt"] [number of tokens]

require 'llama_cpp'

path = ARGV[0] || File.expand_path('../../models/tiny/tiny.gguf', __dir__)
prompt = ARGV[1] || 'The capital of France is'
n_predict = (ARGV[2] || 40).to_i

params = LLaMACpp::ContextParams.new
params.n_ctx = 256
params.n_threads = 1
params.n_threads_batch = 1
params.logits_all = true

model = LLaMACpp::Model.new(model_path: path, params: LLaMACpp::ModelParams.new)
context = LLaMACpp::Context.new(model:, params:)
batch = LLaMACpp::Batch.new(max_n_token: context.n_batch, n_embd: 0, max_n_seq: 1)

fill = lambda do |tokens, n_past|
  batch.n_tokens = tokens.size
  tokens.each_with_index do |token, i|
    batch.set_token(i, token)
    batch.set_pos(i, n_past + i)
    batch.set_n_seq_id(i, 1)
    batch.set_seq_id(i, 0, 0)
    batch.set_logits(i, true)
  end
end

tokens = model.tokenize(text: prompt, add_bos: true)
n_prompt = tokens.size
fill.call(tokens, 0)

while tokens.size < n_prompt + n_predict
  context.decode(batch)
  row = context.logits.last(model.n_vocab)
  candidates = row.each_with_index.map { |logit, id| LLaMACpp::TokenData.new(id:, logit:, p: 0.0) }
  chosen = context.sample_token_greedy(LLaMACpp::TokenDataArray.new(candidates))
  tokens << chosen
  fill.call([chosen], tokens.size - 1)
end

drawn = tokens.drop(n_prompt)
text = drawn.take_while { |id| id != model.token_eos }.map { |id| model.token_to_piece(id) }.join
puts "#{prompt}#{text}"
puts drawn.join(' ')
