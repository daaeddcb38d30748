# frozen_string_literal: true

RSpec.describe LLaMACpp::GrammarElement do
  it 'holds what it is made with' do
    element = described_class.new(type: LLaMACpp::LLAMA_GRETYPE_CHAR, value: 0x1F999)
    expect([element.type, element.value]).to eq([3, 0x1F999])
  end

  it 'is an END without arguments' do
    expect(described_class.new.then { |e| [e.type, e.value] }).to eq([LLaMACpp::LLAMA_GRETYPE_END, 0])
    expect(described_class.new(value: 4).type).to eq(0)
  end

  it 'changes by its setters, which return what they stored' do
    element = described_class.new
    expect([element.public_send(:type=, 2), element.public_send(:value=, (2**32) - 1)]).to eq([2, (2**32) - 1])
    expect([element.type, element.value]).to eq([2, (2**32) - 1])
  end

  it 'holds types that do not exist until a grammar is made of it' do
    element = described_class.new(type: 99, value: 1)
    expect(element.type).to eq(99)
    expect { LLaMACpp::Grammar.new(rules: [[element]], start_rule_index: 0) }
      .to raise_error(ArgumentError, /\Arules\[0\]\[0\]: .*99/)
  end

  {
    { type: 'CHAR' } => 'type must be an Integer, got an instance of String',
    { type: nil } => 'type must be an Integer, got nil',
    { type: 2**31 } => 'type is 2147483648, it must be between -2147483648 and 2147483647',
    { value: 'a' } => 'value must be an Integer, got an instance of String',
    { value: -1 } => 'value is -1, it must be between 0 and 4294967295',
    { value: 2**32 } => 'value is 4294967296, it must be between 0 and 4294967295'
  }.each do |wrong, message|
    it("refuses #{wrong}") { expect { described_class.new(**wrong) }.to raise_error(ArgumentError, message) }
  end

  it 'refuses unknown keywords and positional arguments' do
    expect { described_class.new(kind: 1) }.to raise_error(ArgumentError, 'unknown keyword: :kind')
    expect { described_class.new(1) }.to raise_error(ArgumentError, /wrong number of arguments/)
  end

  it 'refuses a wrong kind in a setter, and keeps what it had' do
    element = described_class.new(type: 3, value: 97)
    expect { element.type = 'x' }.to raise_error(TypeError)
    expect { element.type = 2**40 }.to raise_error(RangeError)
    expect { element.value = 2**40 }.to raise_error(RangeError)
    expect { element.value = -1 }.to raise_error(RangeError)
    expect([element.type, element.value]).to eq([3, 97])
  end

  it 'is copied by dup and clone, and does not change when frozen' do
    element = described_class.new(type: 3, value: 97).freeze
    expect([element.dup, element.clone].map { |e| [e.type, e.value, e.frozen?] }).to eq([[3, 97, false], [3, 97, true]])
    expect { element.type = 0 }.to raise_error(FrozenError)
    expect { element.value = 0 }.to raise_error(FrozenError)
  end

  it 'can be subclassed' do
    subclass = Class.new(described_class) { def initialize(char) = super(type: 3, value: char.ord) }
    grammar = LLaMACpp::Grammar.new(rules: [[subclass.new('a'), described_class.new]], start_rule_index: 0)
    expect(grammar.rules.first.map(&:value)).to eq([97, 0])
  end

  it 'shows what it holds' do
    expect(described_class.new(type: 3, value: 97).inspect).to eq('#<LLaMACpp::GrammarElement type: 3, value: 97>')
  end
end
