# frozen_string_literal: true

# A chat that goes on for ever in a context of 64 tokens: the whole chain of samplers, a reverse prompt that gives the
# word back to the user, and the cache shifted whenever it is full.
#
#   ruby -Ilib spec/clients/chat.rb [model.gguf]

require 'llama_cpp'

REVERSE_PROMPT = 'User:'
INSTRUCTION = 'User: Hello, Bob.
Bob: Hello. How may I help you today?
User:'
REPEAT_LAST_N = 64

path = ARGV[0] || File.expand_path('../../models/tiny/tiny.gguf', __dir__)

params = LLaMACpp::ContextParams.new
params.seed = 42
params.n_ctx = 64
params.n_threads = 1
params.n_threads_batch = 1

model = LLaMACpp::Model.new(model_path: path, params: LLaMACpp::ModelParams.new)
context = LLaMACpp::Context.new(model:, params:)

instruction = model.tokenize(text: INSTRUCTION, add_bos: true)
n_keep = instruction.size
n_past = 0
n_shifts = 0
history = []

# Decodes tokens, one by one, for free cells need not lie side by side; when there are none, half of what may go goes.
feed = lambda do |tokens|
  tokens.each do |token|
    if n_past == context.n_ctx
      n_discard = (n_past - n_keep) / 2
      context.kv_cache_seq_rm(0, n_keep, n_keep + n_discard)
      context.kv_cache_seq_shift(0, n_keep + n_discard, n_past, -n_discard)
      n_past -= n_discard
      n_shifts += 1
    end
    context.decode(LLaMACpp::Batch.get_one(tokens: [token], n_tokens: 1, pos_zero: n_past, seq_id: 0))
    n_past += 1
    history << token
  end
end

draw = lambda do
  data = context.logits.each_with_index.map { |logit, id| LLaMACpp::TokenData.new(id:, logit:, p: 0.0) }
  candidates = LLaMACpp::TokenDataArray.new(data)
  context.sample_repetition_penalties(candidates, history.last(REPEAT_LAST_N),
                                      penalty_repeat: 1.02, penalty_freq: 0.0, penalty_present: 0.0)
  context.sample_top_k(candidates, k: 40)
  context.sample_tail_free(candidates, z: 0.99)
  context.sample_typical(candidates, prob: 0.99)
  context.sample_top_p(candidates, prob: 0.95)
  context.sample_temp(candidates, temp: 0.2)
  context.sample_token(candidates)
end

puts INSTRUCTION.lines.first(2)
feed.call(instruction)
while (line = $stdin.gets)
  puts "#{REVERSE_PROMPT} #{line}"
  feed.call(model.tokenize(text: line))
  answer = +''
  until answer.end_with?(REVERSE_PROMPT)
    id = draw.call
    # A model that has nothing more to say gives the word back, too.
    drawn = id == model.token_eos ? model.tokenize(text: REVERSE_PROMPT) : [id]
    drawn.each { |token| answer << model.token_to_piece(token) }
    feed.call(drawn)
  end
  puts answer.delete_suffix(REVERSE_PROMPT).strip
end
puts "#{history.size} tokens, #{n_shifts} shifts, #{context.kv_cache_token_count} tokens in the cache"
