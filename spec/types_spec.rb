# frozen_string_literal: true

require 'fileutils'
require 'tmpdir'

# Only the process that checks the types runs the typed specs with such checks.
RSpec.describe 'The types in the signatures' do
  include TypedRun

  it 'are those of the values, for every public method' do
    result = typed_run(Signatures::FOLDER)
    expect(result.type_errors).to eq([])
    expect(result.never_called).to eq([])
    expect(result.status).to be_success, result.output
  end

  # A run with a signature that is wrong, of the examples that touch it.
  def run_with(right, wrong, example)
    Dir.mktmpdir do |folder|
      FileUtils.cp_r("#{Signatures::FOLDER}/.", folder)
      path = File.join(folder, 'llama_cpp.rbs')
      text = File.read(path)
      expect(text).to include(right)
      File.write(path, text.sub(right, wrong))
      typed_run(folder, '--example', example, 'spec/documentation_spec.rb')
    end
  end

  {
    'result' => ['def n_vocab: () -> Integer', 'def n_vocab: () -> String', 'LLaMACpp::Model#n_vocab',
                 '[LLaMACpp::Model#n_vocab] ReturnTypeError: expected `::String` but returns `640`'],
    'argument' => ['def score: (Integer token)', 'def score: (String token)', 'LLaMACpp::Model#score',
                   '[LLaMACpp::Model#score] ArgumentTypeError: expected `::String` (token) but given `266`'],
    'keyword' => ['candidates, k: Integer', 'candidates, k: Float', 'LLaMACpp::Context#sample_top_k',
                  /#sample_top_k\] ArgumentTypeError: expected `::Float` but given/],
    'element' => ['def ids: () -> Array[Integer]', 'def ids: () -> Array[Float]', 'LLaMACpp::TokenDataArray#ids',
                  /#ids\] ReturnTypeError: expected `::Array\[::Float\]` but returns `\[7, 3\]`/],
    'block' => ['?{ (Float fraction) -> boolish } -> nil', '?{ (String fraction) -> boolish } -> nil',
                'LLaMACpp::Model#load', /#load\] BlockArgumentTypeError: expected `::String` \(fraction\) but given `0/]
  }.each do |part, (right, wrong, example, complaint)|
    it "would show a wrong #{part}" do
      result = run_with(right, wrong, example)
      expect(result.type_errors).to include(complaint)
      expect(result.status).not_to be_success
    end
  end
end
