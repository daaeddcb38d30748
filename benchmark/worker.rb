# frozen_string_literal: true

# What driver.cpp is, in Ruby: for a build of the gem other than the one that measures.
#
# usage: worker.rb MODEL N_CTX N_BATCH N_THREADS, with the gem's lib on the load path

require 'llama_cpp'
require_relative 'support/bare_loop'
require_relative 'support/clock'

model_path, *numbers = ARGV
n_ctx, n_batch, n_threads = numbers.map { |number| Integer(number) }
params = LLaMACpp::ContextParams.new
params.n_ctx = n_ctx
params.n_batch = n_batch
params.n_threads = params.n_threads_batch = n_threads
model = LLaMACpp::Model.new(model_path:, params: LLaMACpp::ModelParams.new)
bare_loop = Bench::BareLoop.new(LLaMACpp::Context.new(model:, params:))

$stdout.sync = true
$stdin.each_line do |line|
  command, count = line.split
  puts bare_loop.public_send({ 'decode' => :decode, 'prompt' => :prompt }.fetch(command), Integer(count))
end
