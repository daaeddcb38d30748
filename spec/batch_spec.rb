# frozen_string_literal: true

RSpec.describe LLaMACpp::Batch do
  subject(:batch) { described_class.new(max_n_token: 3, n_embd: 0, max_n_seq: 2) }

  let(:single) { described_class.get_one(tokens: [5, 6, 7], n_tokens: 3, pos_zero: 10, seq_id: 4) }

  it 'starts empty and zero' do
    expect([batch.n_tokens, batch.all_pos_zero, batch.all_pos_one, batch.all_seq_id]).to eq([0, 0, 0, 0])
    entry = [batch.get_token(2), batch.get_pos(2), batch.get_n_seq_id(2), batch.get_seq_id(2, 1), batch.get_logits(2)]
    expect(entry).to eq([0, 0, 0, 0, false])
  end

  it 'holds what is set, and its setters return it' do
    results = [batch.set_token(1, 42), batch.set_pos(1, 7), batch.set_n_seq_id(1, 2), batch.set_seq_id(1, 1, 9),
               batch.set_logits(1, true), batch.public_send(:n_tokens=, 2)]
    expect(results).to eq([42, 7, 2, 9, true, 2])
    entry = [batch.get_token(1), batch.get_pos(1), batch.get_n_seq_id(1), batch.get_seq_id(1, 1), batch.get_logits(1)]
    expect(entry).to eq([42, 7, 2, 9, true])
    expect([batch.get_token(0), batch.get_seq_id(1, 0), batch.n_tokens]).to eq([0, 0, 2])
  end

  it 'keeps each token to itself' do
    3.times { |i| 2.times { |j| batch.set_seq_id(i, j, (10 * i) + j) } }
    expect(Array.new(3) { |i| Array.new(2) { |j| batch.get_seq_id(i, j) } }).to eq([[0, 1], [10, 11], [20, 21]])
  end

  it 'takes any object for the truth of logits' do
    expect([0, 'x', nil, false].map { |value| batch.set_logits(0, value) }).to eq([true, true, false, false])
    batch.set_logit(2, :yes)
    expect([batch.get_logit(2), batch.get_logits(0)]).to eq([true, false])
  end

  it 'has the fields of a single sequence' do
    expect([batch.public_send(:all_pos_zero=, 3), batch.public_send(:all_pos_one=, -1),
            batch.public_send(:all_seq_id=, 2)]).to eq([3, -1, 2])
    expect([batch.all_pos_zero, batch.all_pos_one, batch.all_seq_id]).to eq([3, -1, 2])
  end

  describe 'indices' do
    {
      get_token: [], set_token: [1], get_pos: [], set_pos: [1], get_n_seq_id: [], set_n_seq_id: [1],
      get_seq_id: [0], set_seq_id: [0, 1], get_logits: [], set_logits: [true]
    }.each do |name, rest|
      it "of #{name} are within the batch" do
        expect { batch.public_send(name, 3, *rest) }
          .to raise_error(IndexError, 'index 3 is outside of the batch, which was made for 3 tokens')
        expect { batch.public_send(name, -1, *rest) }
          .to raise_error(ArgumentError, 'index is -1, it must not be negative')
        expect { batch.public_send(name, 2**62, *rest) }.to raise_error(IndexError, /index 4611686018427387904/)
        expect { batch.public_send(name, 2**64, *rest) }.to raise_error(RangeError)
        expect { batch.public_send(name, nil, *rest) }.to raise_error(TypeError)
        expect { batch.public_send(name, '1', *rest) }.to raise_error(TypeError)
      end
    end

    it 'of sequences are within the batch' do
      message = 'sequence index 2 is outside of the batch, which was made for 2 per token'
      expect { batch.get_seq_id(0, 2) }.to raise_error(IndexError, message)
      expect { batch.set_seq_id(0, 2, 1) }.to raise_error(IndexError, message)
      expect { batch.set_seq_id(0, -1, 1) }
        .to raise_error(ArgumentError, 'sequence index is -1, it must not be negative')
    end

    it 'of the counts are within the batch' do
      expect { batch.n_tokens = 4 }
        .to raise_error(IndexError, 'n_tokens is 4, but the batch was made for 3 tokens')
      expect { batch.n_tokens = -1 }.to raise_error(ArgumentError, 'n_tokens is -1, it must not be negative')
      expect { batch.set_n_seq_id(0, 3) }
        .to raise_error(IndexError, 'n_seq_id is 3, but the batch was made for 2 sequences per token')
      expect { batch.set_n_seq_id(0, -1) }.to raise_error(ArgumentError, 'n_seq_id is -1, it must not be negative')
    end
  end

  it 'refuses values of more than 32 bits, and keeps what it had' do
    batch.set_token(0, 5)
    expect { batch.set_token(0, 2**31) }.to raise_error(RangeError)
    expect { batch.set_pos(0, -2**31 - 1) }.to raise_error(RangeError)
    expect { batch.set_seq_id(0, 0, 2**63) }.to raise_error(RangeError)
    expect { batch.all_seq_id = 2**31 }.to raise_error(RangeError)
    expect { batch.set_token(0, 'a') }.to raise_error(TypeError)
    expect([batch.get_token(0), batch.get_pos(0), batch.get_seq_id(0, 0), batch.all_seq_id]).to eq([5, 0, 0, 0])
  end

  describe '.new' do
    {
      { max_n_token: -1 } => 'max_n_token is -1, it must be between 0 and 2147483647',
      { max_n_token: 2**31 } => 'max_n_token is 2147483648, it must be between 0 and 2147483647',
      { max_n_token: (2**31) - 1 } => 'max_n_token is 2147483647, 16777216 is the limit',
      { max_n_seq: (2**31) - 1 } => 'max_n_seq is 2147483647, 65536 is the limit',
      { max_n_token: 2**20, max_n_seq: 2**16 } => 'max_n_token times max_n_seq is 68719476736, 67108864 is the limit',
      { max_n_token: 2**20, n_embd: 2**30 } => 'max_n_token times n_embd is 1125899906842624, 67108864 is the limit',
      { n_embd: 1.0 } => 'n_embd must be an Integer, got 1.0 (Float)',
      { max_n_seq: nil } => 'max_n_seq must be an Integer, got nil'
    }.each do |wrong, message|
      it "refuses #{wrong}" do
        expect { described_class.new(**{ max_n_token: 1, n_embd: 0, max_n_seq: 1 }, **wrong) }
          .to raise_error(ArgumentError, message)
      end
    end

    it 'wants its three keywords' do
      expect { described_class.new(max_n_token: 1) }
        .to raise_error(ArgumentError, 'missing keywords: :n_embd, :max_n_seq')
    end

    it 'makes a batch without room, in which nothing can be set' do
      empty = described_class.new(max_n_token: 0, n_embd: 0, max_n_seq: 0)
      expect { empty.set_token(0, 1) }.to raise_error(IndexError, /made for 0 tokens/)
      expect { new_context.decode(empty) }.to raise_error(ArgumentError, /the batch is empty/)
    end

    it 'makes a batch for embeddings, which has no token ids' do
      batch = described_class.new(max_n_token: 2, n_embd: 256, max_n_seq: 1)
      message = 'the batch was made with n_embd > 0: it holds embeddings, no token ids'
      expect { batch.get_token(0) }.to raise_error(RuntimeError, message)
      expect { batch.set_token(0, 1) }.to raise_error(RuntimeError, message)
    end
  end

  describe '.get_one' do
    it 'answers with what it stands for' do
      expect([single.n_tokens, single.all_pos_zero, single.all_pos_one, single.all_seq_id]).to eq([3, 10, 1, 4])
      entries = Array.new(3) do |i|
        [single.get_token(i), single.get_pos(i), single.get_n_seq_id(i), single.get_seq_id(i, 0), single.get_logits(i)]
      end
      expect(entries).to eq([[5, 10, 1, 4, false], [6, 11, 1, 4, false], [7, 12, 1, 4, true]])
    end

    it 'follows its own fields' do
      single.all_pos_zero = 100
      single.all_pos_one = 2
      single.all_seq_id = 1
      expect(Array.new(3) { |i| [single.get_pos(i), single.get_seq_id(i, 0)] }).to eq([[100, 1], [102, 1], [104, 1]])
    end

    it 'can be changed token by token' do
      single.set_pos(1, 99)
      single.set_logits(0, true)
      single.set_seq_id(2, 0, 8)
      expect(Array.new(3) { |i| [single.get_pos(i), single.get_seq_id(i, 0), single.get_logits(i)] })
        .to eq([[10, 4, true], [99, 4, false], [12, 8, true]])
    end

    it 'takes a part of the tokens' do
      part = described_class.get_one(tokens: [5, 6, 7], n_tokens: 2, pos_zero: 0, seq_id: 0)
      expect([part.n_tokens, part.get_logits(1)]).to eq([2, true])
      expect { part.get_token(2) }.to raise_error(IndexError, /index 2 .* made for 2 tokens/)
    end

    {
      { n_tokens: 4 } => 'n_tokens is 4, but tokens has 3',
      { n_tokens: -1 } => 'n_tokens is -1, it must be between 0 and 2147483647',
      { tokens: nil } => 'tokens must be an Array of Integers, got nil',
      { tokens: [1, 'a', 3] } => 'tokens[1] must be an Integer, got an instance of String',
      { tokens: [1, 2, 2**31] } => 'tokens[2] is 2147483648, it must be between -2147483648 and 2147483647',
      { pos_zero: 1.5 } => 'pos_zero must be an Integer, got 1.5 (Float)',
      { seq_id: nil } => 'seq_id must be an Integer, got nil'
    }.each do |wrong, message|
      it "refuses #{wrong}" do
        arguments = { tokens: [5, 6, 7], n_tokens: 3, pos_zero: 0, seq_id: 0, **wrong }
        expect { described_class.get_one(**arguments) }.to raise_error(ArgumentError, message)
      end
    end

    it 'has a copy of the tokens' do
      tokens = [5, 6]
      batch = described_class.get_one(tokens:, n_tokens: 2, pos_zero: 0, seq_id: 0)
      tokens[0] = 9
      expect(batch.get_token(0)).to eq(5)
    end

    it 'makes an instance of a subclass' do
      subclass = Class.new(described_class)
      expect(subclass.get_one(tokens: [1], n_tokens: 1, pos_zero: 0, seq_id: 0).class).to equal(subclass)
    end
  end

  it 'is copied by dup and clone' do
    batch.set_token(0, 5)
    copies = [batch.dup, batch.clone]
    batch.set_token(0, 6)
    expect(copies.map { |copy| copy.get_token(0) }).to eq([5, 5])
    expect(copies.first.set_token(0, 7)).to eq(7)
    expect(batch.get_token(0)).to eq(6)
  end

  it 'does not change when frozen, but can be decoded' do
    single.freeze
    expect { single.set_token(0, 1) }.to raise_error(FrozenError)
    expect { single.n_tokens = 1 }.to raise_error(FrozenError)
    expect { single.all_seq_id = 1 }.to raise_error(FrozenError)
    context = new_context
    context.decode(single)
    expect([context.kv_cache_token_count, single.clone.frozen?, single.dup.frozen?]).to eq([3, true, false])
  end

  it 'can be subclassed' do
    subclass = Class.new(described_class) { def initialize(size) = super(max_n_token: size, n_embd: 0, max_n_seq: 1) }
    batch = subclass.new(2)
    expect([batch.class, batch.dup.class, batch.set_pos(1, 5)]).to eq([subclass, subclass, 5])
  end

  it 'is of no use when only allocated' do
    raw = described_class.allocate
    message = 'the batch was allocated, but not initialized: make it with new'
    expect { raw.n_tokens }.to raise_error(RuntimeError, message)
    expect { raw.n_tokens = 0 }.to raise_error(RuntimeError, message)
    expect { raw.all_seq_id }.to raise_error(RuntimeError, message)
    expect { raw.get_pos(0) }.to raise_error(RuntimeError, message)
    expect { raw.dup.n_tokens }.to raise_error(RuntimeError, message)
    expect { new_context.decode(raw) }.to raise_error(RuntimeError, message)
  end

  it 'is initialized once' do
    batch.set_token(0, 5)
    expect { batch.send(:initialize, max_n_token: 9, n_embd: 0, max_n_seq: 1) }
      .to raise_error(RuntimeError, 'the batch is initialized already')
    expect(batch.get_token(0)).to eq(5)
  end

  it 'is not initialized by a constructor that fails, and can be afterwards' do
    raw = described_class.allocate
    expect { raw.send(:initialize, max_n_token: -1, n_embd: 0, max_n_seq: 1) }.to raise_error(ArgumentError)
    raw.send(:initialize, max_n_token: 1, n_embd: 0, max_n_seq: 1)
    expect(raw.set_token(0, 3)).to eq(3)
  end
end
