# frozen_string_literal: true

# Continues several prompts at once: each is a sequence of its own in the KV cache, and each step decodes one token of
# every sequence in a single batch, which costs less than decoding them one by one.
#
#   ruby -Ilib examples/parallel_batch.rb [model.gguf] ["prompt" …]

require 'llama_cpp'

# A prompt, its number, how many of its tokens the cache has, what has come of it, and the token that comes next.
Sequence = Struct.new(:id, :prompt, :n_past, :text, :next_token)

path, *prompts = ARGV
path ||= File.expand_path('../models/tiny/tiny.gguf', __dir__)
prompts = ['The capital of Italy is', 'The opposite of wet is', 'The colour of the snow is'] if prompts.empty?

model = LLaMACpp::Model.open(path)
# With logits_all there is a row of logits for every token of a batch, not only for the last.
params = LLaMACpp::ContextParams.new(n_ctx: 256, n_batch: 256, logits_all: true, n_threads: 1, n_threads_batch: 1)
context = LLaMACpp::Context.new(model:, params:)

# Decodes tokens of several sequences, and takes the likeliest token after the last one of each.
def decode(context, additions)
  batch = LLaMACpp::Batch.new(max_n_token: additions.sum { |_, tokens| tokens.size }, n_embd: 0, max_n_seq: 1)
  last = additions.to_h do |sequence, tokens|
    tokens.each { |token| append(batch, sequence, token) }
    [sequence, batch.n_tokens - 1]
  end
  context.decode(batch)

  rows = context.logits.each_slice(context.model.n_vocab).to_a
  last.each { |sequence, index| sequence.next_token = rows[index].index(rows[index].max) }
end

def append(batch, sequence, token)
  index = batch.n_tokens
  batch.n_tokens = index + 1
  batch.set_token(index, token)
  batch.set_pos(index, sequence.n_past)
  batch.set_n_seq_id(index, 1)
  batch.set_seq_id(index, 0, sequence.id)
  batch.set_logits(index, true)
  sequence.n_past += 1
end

# All prompts in one batch, then one token of each until all have ended.
sequences = prompts.map.with_index { |prompt, id| Sequence.new(id, prompt, 0, +'') }
decode(context, sequences.map { |sequence| [sequence, model.tokenize(text: sequence.prompt, add_bos: true)] })
steps = 1

running = sequences
32.times do
  running = running.reject { |sequence| sequence.next_token == model.token_eos }
  break if running.empty?

  running.each { |sequence| sequence.text << model.token_to_piece(sequence.next_token) }
  decode(context, running.map { |sequence| [sequence, [sequence.next_token]] })
  steps += 1
end

sequences.each { |sequence| puts "#{sequence.prompt}#{sequence.text}" }
puts "#{sequences.sum(&:n_past)} tokens in #{steps} decodes"
