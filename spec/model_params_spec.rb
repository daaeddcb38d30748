# frozen_string_literal: true

RSpec.describe LLaMACpp::ModelParams do
  subject(:params) { described_class.new }

  it 'has the defaults of llama.cpp' do
    values = %i[n_gpu_layers split_mode main_gpu tensor_split vocab_only use_mmap use_mlock].map { |n| params.send(n) }
    expect(values).to eq([0, LLaMACpp::LLAMA_SPLIT_LAYER, 0, [], false, true, false])
    expect(params.kv_overrides).to eq([])
  end

  { n_gpu_layers: 3, split_mode: LLaMACpp::LLAMA_SPLIT_ROW, main_gpu: 1 }.each do |name, value|
    it "changes #{name}, and refuses what is no Integer of 32 bits" do
      expect(params.public_send("#{name}=", value)).to eq(value)
      expect { params.public_send("#{name}=", 'x') }.to raise_error(TypeError)
      expect { params.public_send("#{name}=", nil) }.to raise_error(TypeError)
      expect { params.public_send("#{name}=", 2**31) }.to raise_error(RangeError)
      expect(params.public_send(name)).to eq(value)
    end
  end

  %i[vocab_only use_mmap use_mlock].each do |name|
    it "changes #{name} by the truth of any object" do
      values = ['yes', nil, 0, false].map do |value|
        params.public_send("#{name}=", value)
        params.public_send(name)
      end
      expect(values).to eq([true, false, true, false])
    end
  end

  describe '#tensor_split=' do
    it 'takes a share for each device' do
      expect(params.public_send(:tensor_split=, [1])).to eq([1])
      expect(params.tensor_split).to eql([1.0])
    end

    {
      [0.5, 0.5] => 'tensor_split has 2 values, 1 is the number of devices of this build',
      [-1.0] => 'tensor_split has a share of -1: shares are finite and not negative',
      [Float::NAN] => 'tensor_split has a share of NaN: shares are finite and not negative',
      [Float::INFINITY] => 'tensor_split has a share of inf: shares are finite and not negative',
      ['1'] => 'tensor_split[0] must be a Float, got an instance of String',
      nil => 'tensor_split must be an Array of Floats, got nil'
    }.each do |wrong, message|
      it "refuses #{wrong.inspect}" do
        expect { params.tensor_split = wrong }.to raise_error(ArgumentError, message)
        expect(params.tensor_split).to eq([])
      end
    end
  end

  describe '#kv_overrides=' do
    let(:override) { LLaMACpp::ModelKVOverride.new(key: 'llama.context_length', value: 128) }

    it 'takes an Array of overrides, and returns copies of them' do
      expect(params.public_send(:kv_overrides=, [override])).to eq([override])
      expect(params.kv_overrides.map { |o| [o.key, o.int_value] }).to eq([['llama.context_length', 128]])
    end

    it 'refuses anything else, and keeps what it had' do
      params.kv_overrides = [override]
      expect { params.kv_overrides = override }
        .to raise_error(ArgumentError, 'kv_overrides must be an Array of ModelKVOverride, ' \
                                       'got an instance of LLaMACpp::ModelKVOverride')
      expect { params.kv_overrides = [override, 1] }
        .to raise_error(ArgumentError, 'kv_overrides[1] must be a ModelKVOverride, got 1 (Integer)')
      expect { params.kv_overrides = [LLaMACpp::ModelKVOverride.new] }
        .to raise_error(ArgumentError, 'kv_overrides[0] has no key')
      expect(params.kv_overrides.size).to eq(1)
    end
  end

  it 'is equal to one with the same settings' do
    other = described_class.new
    expect(params).to eq(other)
    other.vocab_only = true
    expect(params).not_to eq(other)
    expect(params).not_to eq(LLaMACpp::ContextParams.new)
  end

  it 'is copied by dup and clone' do
    params.main_gpu = 2
    copies = [params.dup, params.clone]
    params.main_gpu = 3
    expect(copies.map(&:main_gpu)).to eq([2, 2])
  end

  it 'does not change when frozen' do
    params.freeze
    %i[n_gpu_layers split_mode main_gpu vocab_only use_mmap use_mlock].each do |name|
      expect { params.public_send("#{name}=", 1) }.to raise_error(FrozenError)
    end
    expect { params.tensor_split = [1.0] }.to raise_error(FrozenError)
    expect { params.kv_overrides = [] }.to raise_error(FrozenError)
    expect([params, params.clone.frozen?]).to eq([described_class.new, true])
  end

  it 'can be subclassed' do
    subclass = Class.new(described_class) { def initialize = self.vocab_only = true }
    params = subclass.new
    expect([params.class, params.dup.vocab_only]).to eq([subclass, true])
    model = LLaMACpp::Model.new(model_path: Models::TINY, params:)
    expect(model.params.class).to equal(subclass)
  end

  it 'takes no arguments' do
    expect { described_class.new(1) }.to raise_error(ArgumentError, /wrong number of arguments/)
  end
end
