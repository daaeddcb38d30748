# frozen_string_literal: true

# Two sequences in one batch that share the cells of a common prefix; each goes on as it does alone.
#
#   ruby -Ilib spec/clients/shared_prefix.rb [model.gguf]

require 'llama_cpp'

PREFIX = 'The capital of'
ENDINGS = [' France is', ' Italy is'].freeze
N_PREDICT = 8

path = ARGV[0] || File.expand_path('../../models/tiny/tiny.gguf', __dir__)

params = LLaMACpp::ContextParams.new
params.n_ctx = 256
params.n_threads = 1
params.n_threads_batch = 1
params.logits_all = true

model = LLaMACpp::Model.new(model_path: path, params: LLaMACpp::ModelParams.new)

# Decodes `[token, position, sequence]` each, and returns the likeliest token after each of them.
decode = lambda do |context, entries|
  batch = LLaMACpp::Batch.new(max_n_token: entries.size, n_embd: 0, max_n_seq: 1)
  batch.n_tokens = entries.size
  entries.each_with_index do |(token, pos, seq), i|
    batch.set_token(i, token)
    batch.set_pos(i, pos)
    batch.set_n_seq_id(i, 1)
    batch.set_seq_id(i, 0, seq)
    batch.set_logits(i, true)
  end
  context.decode(batch)
  context.logits.each_slice(model.n_vocab).map { |row| row.index(row.max) }
end

prompts = ENDINGS.map { |ending| model.tokenize(text: PREFIX + ending, add_bos: true) }
n_shared = prompts.first.zip(prompts.last).take_while { |a, b| a == b }.size

alone = prompts.map do |prompt|
  context = LLaMACpp::Context.new(model:, params:)
  drawn = [decode.call(context, prompt.each_with_index.map { |token, pos| [token, pos, 0] }).last]
  drawn << decode.call(context, [[drawn.last, prompt.size + drawn.size - 1, 0]]).last while drawn.size < N_PREDICT
  drawn
end

context = LLaMACpp::Context.new(model:, params:)
decode.call(context, prompts.first.first(n_shared).each_with_index.map { |token, pos| [token, pos, 0] })
context.kv_cache_seq_cp(0, 1, 0, n_shared)

entries = prompts.each_with_index.map do |prompt, seq|
  prompt.drop(n_shared).each_with_index.map { |token, i| [token, n_shared + i, seq] }
end
rows = decode.call(context, entries.flatten(1))
together = [[rows[entries.first.size - 1]], [rows.last]]
while together.first.size < N_PREDICT
  step = together.each_with_index.map { |drawn, seq| [drawn.last, prompts[seq].size + drawn.size - 1, seq] }
  decode.call(context, step).each_with_index { |id, seq| together[seq] << id }
end

puts "#{n_shared} tokens shared, #{context.kv_cache_token_count} tokens of sequences in the cache"
ENDINGS.each_with_index do |ending, seq|
  text = together[seq].take_while { |id| id != model.token_eos }.map { |id| model.token_to_piece(id) }.join
  puts "#{PREFIX}#{ending}#{text}  (#{together[seq] == alone[seq] ? 'as alone' : "alone: #{alone[seq].join(' ')}"})"
end
