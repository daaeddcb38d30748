# frozen_string_literal: true

RSpec.describe LLaMACpp::TokenDataArray do
  subject(:array) { candidates(1.0, 3.0, 2.0) }

  def token(id, logit = 0.0, prob = 0.0)
    LLaMACpp::TokenData.new(id:, logit:, p: prob)
  end

  it 'copies what it is made of' do
    original = token(5, 1.0)
    array = described_class.new([original])
    original.logit = 9.0
    array[0].logit = 8.0
    expect(array.logits).to eq([1.0])
  end

  it 'counts its candidates' do
    expect([array.size, array.length, array.count, array.sorted]).to eq([3, 3, 3, false])
  end

  it 'offers ids, logits and probabilities' do
    array = described_class.new([token(7, 1.5, 0.25), token(3, -1.0, 0.75)])
    expect([array.ids, array.logits, array.probabilities]).to eq([[7, 3], [1.5, -1.0], [0.25, 0.75]])
  end

  it 'is enumerable' do
    expect(array.map(&:id)).to eq([0, 1, 2])
    expect(array.max_by(&:logit).id).to eq(1)
    expect(array.each.size).to eq(3)
    expect(array.each(&:id)).to equal(array)
  end

  it 'is indexed from both ends' do
    expect([0, 2, -1, -3].map { |i| array[i].logit }).to eq([1.0, 2.0, 2.0, 1.0])
    expect([3, -4, 2**40, -2**40].map { |i| array[i] }).to eq([nil] * 4)
    expect { array[2**64] }.to raise_error(RangeError)
    expect { array['0'] }.to raise_error(TypeError)
  end

  it 'is collected in time, large as it is' do
    expect(<<~RUBY).to print_in_a_child('true')
      megabyte = TokenDataArray.new(Array.new(100_000) { |id| TokenData.new(id:, logit: 0.0, p: 0.0) })
      2000.times { megabyte.dup }
      puts ObjectSpace.each_object(TokenDataArray).count < 200
    RUBY
  end

  it 'adds a bias to every candidate of a token' do
    array = described_class.new([token(4, 1.0), token(9, 1.0), token(4, 2.0)], sorted: false)
    expect(array.add_bias(4, -0.5)).to be_nil
    expect(array.logits).to eq([0.5, 1.0, 1.5])
    array.add_bias(77, 1.0)
    expect(array.logits).to eq([0.5, 1.0, 1.5])
  end

  it 'believes that it is sorted only when it is' do
    expect(candidates(3.0, 2.0, 2.0, sorted: true).sorted).to be(true)
    expect(candidates(1.0, 2.0, sorted: true).sorted).to be(false)
    expect(candidates(3.0, 2.0, sorted: nil).sorted).to be(false)
  end

  {
    [] => 'there must be at least one candidate',
    nil => 'array must be an Array of TokenData, got nil',
    'x' => 'array must be an Array of TokenData, got an instance of String',
    [1] => 'array[0] must be a TokenData, got 1 (Integer)',
    [nil] => 'array[0] must be a TokenData, got nil'
  }.each do |wrong, message|
    it("refuses #{wrong.inspect}") { expect { described_class.new(wrong) }.to raise_error(ArgumentError, message) }
  end

  it 'names the element that is wrong' do
    expect { described_class.new([token(1), 'x']) }
      .to raise_error(ArgumentError, 'array[1] must be a TokenData, got an instance of String')
  end

  it 'is copied by dup and clone' do
    copies = [array.dup, array.clone]
    array.add_bias(0, 5.0)
    expect(copies.map(&:logits)).to eq([[1.0, 3.0, 2.0]] * 2)
    expect(array.logits).to eq([6.0, 3.0, 2.0])
  end

  it 'does not change when frozen' do
    array.freeze
    expect { array.add_bias(0, 1.0) }.to raise_error(FrozenError)
    expect { new_context.sample_softmax(array) }.to raise_error(FrozenError)
    expect { array.send(:initialize, [token(1)]) }.to raise_error(FrozenError)
    expect([array.logits, array.size]).to eq([[1.0, 3.0, 2.0], 3])
  end

  it 'can be subclassed' do
    subclass = Class.new(described_class)
    array = subclass.new([token(1)])
    expect([array.class, array.dup.class, array.size]).to eq([subclass, subclass, 1])
  end

  it 'takes instances of a subclass of TokenData' do
    subclass = Class.new(LLaMACpp::TokenData)
    expect(described_class.new([subclass.new(id: 8, logit: 1.0, p: 0.0)]).ids).to eq([8])
  end

  it 'is of no use when only allocated' do
    array = described_class.allocate
    message = 'the TokenDataArray was allocated, but not initialized: make it with new'
    %i[size sorted ids logits probabilities].each do |name|
      expect { array.public_send(name) }.to raise_error(RuntimeError, message)
    end
    expect { array[0] }.to raise_error(RuntimeError, message)
    expect { new_context.sample_token(array) }.to raise_error(RuntimeError, message)
    expect { array.dup.size }.to raise_error(RuntimeError, message)
    expect(array.inspect).to eq('#<LLaMACpp::TokenDataArray uninitialized>')
  end

  it 'shows its size' do
    expect(array.inspect).to eq('#<LLaMACpp::TokenDataArray size: 3, sorted: false>')
  end
end
