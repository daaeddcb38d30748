# frozen_string_literal: true

require 'json'

RSpec.describe 'llama_cpp embed' do
  def vectors(outcome)
    outcome.stdout.lines.map { |line| JSON.parse(line) }
  end

  let(:texts) { ['The cat says meow.', 'The dog says woof.'] }

  it 'prints the vector of each text' do
    outcome = with_tiny('embed', *texts)
    expect(vectors(outcome)).to eq(LLaMACpp.embed(tiny, texts))
    expect(vectors(outcome).map { |vector| Math.sqrt(vector.sum { |x| x * x }) }).to all(be_within(1e-6).of(1))
    expect([outcome.stderr, outcome.code]).to eq(['', 0])
  end

  it 'takes each line of standard input' do
    expected = with_tiny('embed', *texts)
    expect(with_tiny('embed', stdin: texts.join("\n"))).to eq(expected)
    expect(with_tiny('embed', '-', stdin: "#{texts.join("\n")}\n")).to eq(expected)
  end

  it 'takes more lines than share a context' do
    outcome = with_tiny('embed', stdin: "The cat says meow.\n" * 40)
    expect(outcome.stdout.lines.size).to eq(40)
    expect(outcome.stdout.lines.uniq.size).to eq(1)
  end

  it 'leaves the vectors as long as they are' do
    outcome = with_tiny('embed', '--no-normalize', texts.first)
    expect(vectors(outcome).first).to eq(LLaMACpp.embed(tiny, texts.first, normalize: false))
  end

  it 'says in one line that a text is too long' do
    outcome = with_tiny('embed', 'one two three ' * 100)
    expect(outcome.stderr).to match(/\Allama_cpp embed: a text has \d+ tokens, the model was trained with 256.*\n\z/)
    expect([outcome.stdout, outcome.code]).to eq(['', 1])
  end
end
