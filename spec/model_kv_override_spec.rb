# frozen_string_literal: true

RSpec.describe LLaMACpp::ModelKVOverride do
  def fields(override)
    [override.key, override.tag, override.int_value, override.float_value, override.bool_value]
  end

  it 'has the tag of its value' do
    made = [3, 0.5, true, false].map { |value| fields(described_class.new(key: 'k', value:)) }
    expect(made).to eq([['k', LLaMACpp::LLAMA_KV_OVERRIDE_INT, 3, 0.0, false],
                        ['k', LLaMACpp::LLAMA_KV_OVERRIDE_FLOAT, 0, 0.5, false],
                        ['k', LLaMACpp::LLAMA_KV_OVERRIDE_BOOL, 0, 0.0, true],
                        ['k', LLaMACpp::LLAMA_KV_OVERRIDE_BOOL, 0, 0.0, false]])
  end

  it 'holds 64 bits' do
    expect(described_class.new(key: 'k', value: -2**63).int_value).to eq(-2**63)
    expect(described_class.new(key: 'k', value: 0.1).float_value).to eql(0.1)
    expect { described_class.new(key: 'k', value: 2**63) }
      .to raise_error(ArgumentError, "value is 9223372036854775808, it must be between #{-2**63} and #{(2**63) - 1}")
  end

  it 'takes a tag that the value fits' do
    expect(fields(described_class.new(key: 'k', value: 2, tag: LLaMACpp::LLAMA_KV_OVERRIDE_FLOAT)))
      .to eq(['k', 1, 0, 2.0, false])
    expect { described_class.new(key: 'k', value: 2.5, tag: LLaMACpp::LLAMA_KV_OVERRIDE_INT) }
      .to raise_error(ArgumentError, 'value must be an Integer, got 2.5 (Float)')
    expect { described_class.new(key: 'k', value: 1, tag: LLaMACpp::LLAMA_KV_OVERRIDE_BOOL) }
      .to raise_error(ArgumentError, 'value must be true or false, got 1 (Integer)')
    expect { described_class.new(key: 'k', value: 1, tag: 3) }
      .to raise_error(ArgumentError, 'tag is 3, it must be between 0 and 2')
  end

  it 'is empty without arguments' do
    expect(fields(described_class.new)).to eq(['', 0, 0, 0.0, false])
  end

  it 'has a key of at most 127 bytes' do
    expect(described_class.new(key: 'k' * 127, value: 1).key.bytesize).to eq(127)
    expect { described_class.new(key: 'k' * 128, value: 1) }
      .to raise_error(ArgumentError, 'key has 128 bytes, 127 is the limit')
    expect { described_class.new(key: 'é' * 64, value: 1) }
      .to raise_error(ArgumentError, 'key has 128 bytes, 127 is the limit')
  end

  {
    { key: '' } => 'key must not be empty or contain a NUL byte',
    { key: "a\0b" } => 'key must not be empty or contain a NUL byte',
    { key: :k } => 'key must be a String, got an instance of Symbol',
    { key: "\xFF" } => 'key is not valid UTF-8 at byte 0',
    { value: nil } => 'value must be an Integer, a Float, true or false, got nil',
    { value: 'x' } => 'value must be an Integer, a Float, true or false, got an instance of String'
  }.each do |wrong, message|
    it "refuses #{wrong}" do
      expect { described_class.new(**{ key: 'k', value: 1 }, **wrong) }.to raise_error(ArgumentError, message)
    end
  end

  it 'wants both keywords, or none' do
    expect { described_class.new(key: 'k') }.to raise_error(ArgumentError, 'missing keyword: :value')
    expect { described_class.new(value: 1) }.to raise_error(ArgumentError, 'missing keyword: :key')
    expect { described_class.new(tag: 1) }.to raise_error(ArgumentError, 'missing keyword: :key, :value')
  end

  it 'is copied by dup and clone, and can be subclassed' do
    subclass = Class.new(described_class) { def initialize(context) = super(key: 'c', value: context) }
    override = subclass.new(5).freeze
    expect([override.dup, override.clone].map { |copy| [copy.class, copy.key, copy.int_value] })
      .to eq([[subclass, 'c', 5]] * 2)
    expect { override.send(:initialize, 6) }.to raise_error(FrozenError)
  end

  describe 'in Model.new' do
    def model_with(key, value)
      load_model(kv_overrides: [described_class.new(key:, value:)])
    end

    it 'an Integer shows its effect' do
      expect([tiny.n_ctx_train, model_with('llama.context_length', 128).n_ctx_train]).to eq([256, 128])
    end

    it 'a Float shows its effect' do
      rows = [tiny, model_with('llama.rope.freq_base', 500_000.0)].map do |model|
        context = new_context(model)
        decode(context, Models::FRANCE_TOKENS)
        context.logits
      end
      expect(distance(*rows)).to be > 0.1
    end

    it 'a Boolean shows its effect' do
      expect([true, false].map { |value| model_with('tokenizer.ggml.add_bos_token', value).add_bos_token? })
        .to eq([true, false])
    end

    it 'is kept by the params of the model' do
      expect(model_with('llama.context_length', 128).params.kv_overrides.map(&:int_value)).to eq([128])
    end

    it 'of a wrong kind for its key is of no effect, and llama.cpp warns of it' do
      lines = StringIO.new
      LLaMACpp.logger = Logger.new(lines)
      expect(model_with('llama.context_length', 0.5).n_ctx_train).to eq(256)
      expect(lines.string)
        .to match(/WARN.*Bad metadata override type for key 'llama.context_length', expected int but got float/)
    ensure
      LLaMACpp.logger = nil
    end

    it 'that makes the model impossible is refused' do
      expect { model_with('llama.attention.head_count', 0) }
        .to raise_error(RuntimeError, /llama\.attention\.head_count/)
    end

    it 'of another key changes nothing' do
      expect(model_with('nobody.knows', 1).n_ctx_train).to eq(256)
    end
  end
end
