# frozen_string_literal: true

# A conversation that remembers what was said before.
#
#   ruby -Ilib examples/chat.rb [model.gguf] ["message" …]

require 'llama_cpp'

path, *messages = ARGV
path ||= File.expand_path('../models/tiny/tiny.gguf', __dir__)
messages = ['Hello, Bob.', 'What is the capital of Peru?', 'Thank you.'] if messages.empty?

LLaMACpp::Model.open(path) do |model|
  context = LLaMACpp::Context.new(
    model:, params: LLaMACpp::ContextParams.new(n_ctx: model.n_ctx_train, n_threads: 1, n_threads_batch: 1)
  )

  # The template comes from the model. One without gets plain `User:` and `Bob:`; `template: :chatml` names another.
  chat = LLaMACpp::Chat.new(context)

  messages.each do |message|
    puts "> #{message}"
    # With a block, it gets the answer as it comes, like that of `generate`.
    puts chat.say(message, temperature: 0)
  end

  puts "#{chat.messages.size} messages, #{context.kv_cache_token_count} tokens in the cache"
end
