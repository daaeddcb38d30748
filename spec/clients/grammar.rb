# frozen_string_literal: true

# A JSON object, generated under a grammar that is built element by element:
#
#   root   ::= "{\"name\": " string ", \"pet\": " string ", \"age\": " number "}"
#   string ::= "\"" word "\""
#   word   ::= [a-zA-Z] word | [a-zA-Z]
#   number ::= [1-9] [0-9] | [0-9]
#
#   ruby -Ilib spec/clients/grammar.rb [model.gguf] ["prompt"]

require 'json'
require 'llama_cpp'

path = ARGV[0] || File.expand_path('../../models/tiny/tiny.gguf', __dir__)
prompt = ARGV[1] || ''

element = ->(type, value = 0) { LLaMACpp::GrammarElement.new(type:, value:) }
char = ->(character) { element[LLaMACpp::LLAMA_GRETYPE_CHAR, character.ord] }
range = ->(from, to) { [char[from], element[LLaMACpp::LLAMA_GRETYPE_CHAR_RNG_UPPER, to.ord]] }
rule = ->(index) { element[LLaMACpp::LLAMA_GRETYPE_RULE_REF, index] }
alt = element[LLaMACpp::LLAMA_GRETYPE_ALT]
stop = element[LLaMACpp::LLAMA_GRETYPE_END]
literal = ->(text) { text.each_char.map(&char) }

# Letters of both cases: a range, and a second one as its alternative.
letter = range['a', 'z'] + [element[LLaMACpp::LLAMA_GRETYPE_CHAR_ALT, 'A'.ord],
                            element[LLaMACpp::LLAMA_GRETYPE_CHAR_RNG_UPPER, 'Z'.ord]]

root, string, word, number = 0.upto(3).to_a
rules = []
rules[root] = [*literal['{"name": '], rule[string], *literal[', "pet": '], rule[string],
               *literal[', "age": '], rule[number], char['}'], stop]
rules[string] = [char['"'], rule[word], char['"'], stop]
rules[word] = [*letter, rule[word], alt, *letter, stop]
rules[number] = [*range['1', '9'], *range['0', '9'], alt, *range['0', '9'], stop]
grammar = LLaMACpp::Grammar.new(rules:, start_rule_index: root)

params = LLaMACpp::ContextParams.new
params.seed = 42
params.n_ctx = 256
params.n_threads = 1
params.n_threads_batch = 1

model = LLaMACpp::Model.new(model_path: path, params: LLaMACpp::ModelParams.new)
context = LLaMACpp::Context.new(model:, params:)

tokens = model.tokenize(text: prompt, add_bos: true)
context.decode(LLaMACpp::Batch.get_one(tokens:, n_tokens: tokens.size, pos_zero: 0, seq_id: 0))
n_past = tokens.size
text = +''
while n_past < context.n_ctx
  data = context.logits.each_with_index.map { |logit, id| LLaMACpp::TokenData.new(id:, logit:, p: 0.0) }
  candidates = LLaMACpp::TokenDataArray.new(data)
  context.sample_grammar(candidates, grammar:)
  id = context.sample_token_greedy(candidates)
  context.grammar_accept_token(grammar:, token: id)
  break if id == model.token_eos

  text << model.token_to_piece(id)
  context.decode(LLaMACpp::Batch.get_one(tokens: [id], n_tokens: 1, pos_zero: n_past, seq_id: 0))
  n_past += 1
end
puts text
JSON.parse(text).each { |name, value| puts "#{name} is #{value}" }
