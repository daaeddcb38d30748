# frozen_string_literal: true

# Removing and moving leaves holes: the free cells of the cache do not lie side by side any more.
RSpec.describe 'A KV cache with holes' do
  let(:answers) do
    { 'How are you?' => 'I am fine, thank you.', 'What is the capital of Peru?' => 'The capital of Peru is Lima.',
      'Thank you.' => 'You are welcome.', 'What does the dog say?' => 'The dog says woof.',
      'What is the opposite of hot?' => 'The opposite of hot is cold.' }
  end

  # 62 of 64 cells are in use; the other two lie apart.
  def riddle(context)
    decode(context, [5] * 64)
    context.kv_cache_seq_rm(0, 62, -1)
    context.kv_cache_seq_rm(0, 10, 11)
    context.kv_cache_seq_rm(0, 20, 21)
    decode(context, [6, 6], pos: 62)
    context.kv_cache_seq_shift(0, 21, -1, -1)
    context.kv_cache_seq_shift(0, 11, -1, -1)
  end

  it 'takes as many tokens at once as free cells lie side by side' do
    context = new_context
    riddle(context)
    expect(context.kv_cache_token_count).to eq(62)
    expect do
      decode(context, [7, 8], pos: 62)
    end.to raise_error(RuntimeError, /no room for 2 more tokens in a row: 62 of/)
    decode(context, [7], pos: 62)
    decode(context, [8], pos: 63)
    expect(context.kv_cache_token_count).to eq(64)
  end

  it 'lets chats go on for ever' do
    (48..56).each do |n_ctx|
      chat = LLaMACpp::Chat.new(new_context(n_ctx:))
      random = Random.new(n_ctx)
      40.times do
        question = answers.keys.sample(random:)
        expect(chat.say(question, temperature: 0, n_predict: 16)).to eq(answers[question]),
                                                                     "n_ctx #{n_ctx}: #{question}"
      end
    end
  end
end
