# frozen_string_literal: true

RSpec.describe LLaMACpp::TokenData do
  subject(:token) { described_class.new(id: 42, logit: 1.5, p: 0.25) }

  it 'holds what it is made with' do
    expect([token.id, token.logit, token.p]).to eq([42, 1.5, 0.25])
  end

  it 'holds floats in single precision' do
    expect(described_class.new(id: 0, logit: 0.1, p: 0.0).logit).to eq([0.1].pack('f').unpack1('f'))
  end

  it 'takes Integers for Floats' do
    token = described_class.new(id: 1, logit: 2, p: 1)
    expect([token.logit, token.p]).to eql([2.0, 1.0])
    token.logit = -3
    expect(token.logit).to eql(-3.0)
  end

  it 'changes by its setters, which return what they stored' do
    expect([token.public_send(:id=, 7), token.public_send(:logit=, -0.5), token.public_send(:p=, 1.0)])
      .to eq([7, -0.5, 1.0])
    expect([token.id, token.logit, token.p]).to eq([7, -0.5, 1.0])
  end

  it 'holds what is no number of probability theory, too' do
    token.logit = Float::NAN
    token.p = -Float::INFINITY
    expect([token.logit.nan?, token.p]).to eq([true, -Float::INFINITY])
  end

  it 'leaves a subclass its own way of being made' do
    whole = Class.new(described_class) { def initialize(id) = super(id:, logit: 0.5, p: 0.0) }
    heir = Class.new(whole)
    expect([whole.new(3), heir.new(4)].map { |made| [made.class, made.id, made.logit] })
      .to eq([[whole, 3, 0.5], [heir, 4, 0.5]])
    plain = Class.new(described_class).new(id: 5, logit: 1.0, p: 0.0)
    expect([plain.id, plain.class.superclass]).to eq([5, described_class])
  end

  it 'wants all three keywords, and no others' do
    expect { described_class.new(id: 1, logit: 0.0) }.to raise_error(ArgumentError, 'missing keyword: :p')
    expect { described_class.new(id: 1, logit: 0.0, p: 0.0, q: 1) }.to raise_error(ArgumentError, 'unknown keyword: :q')
    expect { described_class.new(1, 0.0, 0.0) }.to raise_error(ArgumentError, /wrong number of arguments/)
  end

  {
    { id: '1' } => 'id must be an Integer, got an instance of String',
    { id: 1.5 } => 'id must be an Integer, got 1.5 (Float)',
    { id: nil } => 'id must be an Integer, got nil',
    { id: 2**31 } => 'id is 2147483648, it must be between -2147483648 and 2147483647',
    { id: 2**64 } => 'id is 18446744073709551616, it must be between -2147483648 and 2147483647',
    { logit: '1.0' } => 'logit must be a Float, got an instance of String',
    { p: nil } => 'p must be a Float, got nil'
  }.each do |wrong, message|
    it "refuses #{wrong}" do
      expect { described_class.new(**{ id: 1, logit: 0.0, p: 0.0 }, **wrong) }.to raise_error(ArgumentError, message)
    end
  end

  it 'refuses a wrong kind in a setter, and keeps what it had' do
    expect { token.id = 'x' }.to raise_error(TypeError)
    expect { token.id = 2**31 }.to raise_error(RangeError)
    expect { token.logit = 'x' }.to raise_error(ArgumentError, 'logit must be a Float, got an instance of String')
    expect([token.id, token.logit, token.p]).to eq([42, 1.5, 0.25])
  end

  it 'is copied by dup and clone' do
    copies = [token.dup, token.clone]
    token.id = 1
    expect(copies.map(&:id)).to eq([42, 42])
  end

  it 'does not change when frozen' do
    token.freeze
    expect { token.id = 1 }.to raise_error(FrozenError)
    expect { token.logit = 1.0 }.to raise_error(FrozenError)
    expect { token.p = 1.0 }.to raise_error(FrozenError)
    expect { token.send(:initialize, id: 1, logit: 1.0, p: 1.0) }.to raise_error(FrozenError)
    expect([token.id, token.clone.frozen?, token.dup.frozen?]).to eq([42, true, false])
  end

  it 'can be subclassed' do
    subclass = Class.new(described_class) { def initialize(id) = super(id:, logit: 0.5, p: 0.0) }
    expect(subclass.new(9).then { |t| [t.class, t.id, t.logit, t.dup.class] }).to eq([subclass, 9, 0.5, subclass])
  end

  it 'is all zeros when only allocated' do
    expect(described_class.allocate.then { |t| [t.id, t.logit, t.p] }).to eq([0, 0.0, 0.0])
  end

  it 'shows what it holds' do
    expect(token.inspect).to eq('#<LLaMACpp::TokenData id: 42, logit: 1.5, p: 0.25>')
  end
end
