# frozen_string_literal: true

# A session saved halfway and loaded into a new context goes on as it would have gone on without.
#
#   ruby -Ilib spec/clients/session.rb [model.gguf] ["prompt"]

require 'llama_cpp'
require 'tmpdir'

path = ARGV[0] || File.expand_path('../../models/tiny/tiny.gguf', __dir__)
prompt = ARGV[1] || 'User: How are you?'

params = LLaMACpp::ContextParams.new
params.seed = 42
params.n_ctx = 256
params.n_threads = 1
params.n_threads_batch = 1

model = LLaMACpp::Model.new(model_path: path, params: LLaMACpp::ModelParams.new)
new_context = -> { LLaMACpp::Context.new(model:, params:) }

feed = lambda do |context, tokens, n_past|
  context.decode(LLaMACpp::Batch.get_one(tokens:, n_tokens: tokens.size, pos_zero: n_past, seq_id: 0))
end

# Draws tokens, which needs the random numbers of the session as much as its cache and its logits.
go_on = lambda do |context, tokens, count|
  count.times do
    data = context.logits.each_with_index.map { |logit, id| LLaMACpp::TokenData.new(id:, logit:, p: 0.0) }
    id = context.sample_token(LLaMACpp::TokenDataArray.new(data))
    tokens += [id]
    feed.call(context, [id], tokens.size - 1)
  end
  tokens
end

tokens = model.tokenize(text: prompt, add_bos: true)
without = new_context.call
feed.call(without, tokens, 0)
whole = go_on.call(without, tokens, 25)

Dir.mktmpdir do |folder|
  file = File.join(folder, 'session')
  first = new_context.call
  feed.call(first, tokens, 0)
  half = go_on.call(first, tokens, 12)
  first.save_session_file(session_path: file, session_tokens: half)

  second = new_context.call
  loaded = second.load_session_file(session_path: file)
  puts "#{loaded.size} tokens loaded, #{second.kv_cache_token_count} in the cache"
  resumed = go_on.call(second, loaded, 13)

  puts "without a session: #{whole.drop(tokens.size).join(' ')}"
  puts "with a session:    #{resumed.drop(tokens.size).join(' ')}"
  exit(1) unless resumed == whole && second.logits == without.logits
end
