# frozen_string_literal: true

# Finds the sentences that are closest to a question.
#
#   ruby -Ilib examples/embeddings_search.rb [model.gguf] ["question"]
#
# The tiny model knows how its sentences go, not what they mean. For real searches take a model that was trained for
# embeddings.

require 'llama_cpp'

SENTENCES = [
  'The capital of France is Paris.',
  'The capital of Japan is Tokyo.',
  'The opposite of hot is cold.',
  'The colour of the grass is green.',
  'The dog says woof.',
  '7 + 8 = 15.'
].freeze

path, question = ARGV
path ||= File.expand_path('../models/tiny/tiny.gguf', __dir__)
question ||= 'The cat says meow.'

# The vectors have the length 1: their dot product is the cosine of the angle between them.
def similarity(one, other)
  one.zip(other).sum { |x, y| x * y }
end

LLaMACpp::Model.open(path) do |model|
  vectors = LLaMACpp.embed(model, SENTENCES)
  wanted = LLaMACpp.embed(model, question)

  ranking = SENTENCES.zip(vectors).map { |sentence, vector| [similarity(wanted, vector), sentence] }
  ranking.sort.reverse_each { |value, sentence| puts format('%<value>.3f  %<sentence>s', value:, sentence:) }
end
