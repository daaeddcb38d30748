# frozen_string_literal: true

require 'json'

# What the gem llama_cpp 0.12.2 returned for a list of inputs, and the same inputs given to this one.
#
# A case is a name with what came back: <tt>{ "ok" => value }</tt>, <tt>{ "error" => class }</tt> or
# <tt>{ "died" => signal }</tt>.
module Recorded
  FILE = File.expand_path('../fixtures/recorded.json', __dir__)
  CASES = JSON.parse(File.read(FILE)).freeze

  # Floats are written with four decimals, and other processors add in another order.
  TOLERANCE = 0.01

  # The folder with the models that are not in the repository; empty when nobody named one.
  MODELS = ENV.fetch('LLAMA_CPP_TEST_MODELS', '')

  # Where a case belongs, by its name; what follows is what its group calls it.
  GROUPS = {
    %r{\A(?<model>ggml-vocab-[^/]+)/(?<rest>.*)\z}m => :Vocabulary,
    %r{\A(?<model>)err/(?<rest>.*)\z} => :Misuse,
    %r{\A(?<model>)defaults/(?<rest>.*)\z} => :Defaults,
    /\A(?<model>)(?<rest>free)\z/ => :Defaults,
    %r{\A(?<model>tiny/)?model/(?<rest>.*)\z} => :Facts,
    %r{\A(?<model>tiny/)?quantize/(?<rest>.*)\z} => :Quantization,
    %r{\A(?<model>tiny/)?(?<prompt>[^/]+)/(?<rest>[^/]+)\z} => :Continuation
  }.freeze

  module_function

  # @return [Object] what this gem returns for the case of that name
  def result(name)
    case_of(name) do |group, match|
      path = model_path(match)
      subject = group == Continuation ? group.new(path, match[:prompt]) : group.new(path)
      subject.result(match[:rest])
    end
  end

  # @return [String] the text of tokens, of the model that the case of that name is about
  def text(name, tokens)
    model = case_of(name) { |_, match| model(model_path(match)) }
    tokens.map { |id| model.token_to_piece(id) }.join
  end

  # @return [Boolean] whether the case of that name needs no model from outside of the repository, or that one is there
  def possible?(name)
    case_of(name) { |_, match| match[:model] || File.file?(model_path(match)) }
  end

  def case_of(name)
    pattern, group = GROUPS.find { |pattern, _| pattern.match?(name) } || raise("no group knows the case #{name}")
    yield const_get(group), pattern.match(name)
  end

  def model_path(match)
    case match[:model]
    when nil then File.join(MODELS, 'stories260K.gguf')
    when '', 'tiny/' then Models::TINY
    else File.join(Models::ROOT, 'vendor', 'llama.cpp', 'models', "#{match[:model]}.gguf")
    end
  end

  # @return [LLaMACpp::Model] loaded once
  def model(path, **settings)
    @models ||= {}
    @models[path] ||= Models.load_model(path, **settings)
  end

  # @return [Boolean] whether a value is the recorded one
  def same?(value, recorded)
    case recorded
    when Float then value.is_a?(Numeric) && (value - recorded).abs <= TOLERANCE
    when Array then value.is_a?(Array) && same_elements?(value, recorded)
    when Hash then same?(value.sort.flatten(1), recorded.sort.flatten(1))
    else value == recorded
    end
  end

  def same_elements?(values, recorded)
    values.size == recorded.size && values.zip(recorded).all? { |value, element| same?(value, element) }
  end
end
