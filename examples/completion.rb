# frozen_string_literal: true

# Continues a text, and shows it as it comes.
#
#   ruby -Ilib examples/completion.rb [model.gguf] ["prompt"]

require 'llama_cpp'
require 'llama_cpp/cli/progress'

path, prompt = ARGV
path ||= File.expand_path('../models/tiny/tiny.gguf', __dir__)
prompt ||= 'Once upon a time,'

# A block gets the progress of the load. With ruby-progressbar, a large model and a terminal, it is a bar.
model = LLaMACpp::CLI::Progress.loading(path) do |report|
  LLaMACpp::Model.new(model_path: path, params: LLaMACpp::ModelParams.new, &report)
end

# Memory grows with n_ctx. One thread is best for the tiny model; leave it out for a large one.
params = LLaMACpp::ContextParams.new(n_ctx: [model.n_ctx_train, 2048].min, n_threads: 1, n_threads_batch: 1)
context = LLaMACpp::Context.new(model:, params:)

# Each piece is whole characters. `break` in the block would end the generation.
LLaMACpp.generate(context, prompt, n_predict: 64, temperature: 0.8, seed: 7, echo: true) do |piece|
  print piece
  $stdout.flush
end
puts

timings = context.timings
warn format('%<count>d tokens, %<speed>.0f a second', count: timings.n_eval, speed: timings.tokens_per_second)
