# frozen_string_literal: true

# Makes a model write JSON that a program can read.
#
#   ruby -Ilib examples/json_grammar.rb [model.gguf] ["prompt"]

require 'json'
require 'llama_cpp'

# GBNF: the rule `root` is the whole text. After the grammar's end only the end of the text can come.
GRAMMAR = <<~'GBNF'
  root   ::= "{\"name\": " string ", \"pet\": " string ", \"age\": " number "}"
  string ::= "\"" [a-zA-Z ]+ "\""
  number ::= [1-9] [0-9]?
GBNF

path, prompt = ARGV
path ||= File.expand_path('../models/tiny/tiny.gguf', __dir__)
prompt ||= ''

LLaMACpp::Model.open(path) do |model|
  params = LLaMACpp::ContextParams.new(n_ctx: 256, n_threads: 1, n_threads_batch: 1)
  context = LLaMACpp::Context.new(model:, params:)

  text = LLaMACpp.generate(context, prompt, grammar: GRAMMAR, n_predict: 64, temperature: 0)
  puts text

  data = JSON.parse(text)
  puts "#{data.fetch('name')} is #{data.fetch('age')} and has a #{data.fetch('pet')}."
end
