# frozen_string_literal: true

RSpec.describe LLaMACpp::ContextParams do
  subject(:params) { described_class.new }

  defaults = {
    seed: -1, n_ctx: 512, n_batch: 512, n_threads: 4, n_threads_batch: 4, rope_scaling_type: -1, rope_freq_base: 0.0,
    rope_freq_scale: 0.0, yarn_ext_factor: -1.0, yarn_attn_factor: 1.0, yarn_beta_fast: 32.0, yarn_beta_slow: 1.0,
    yarn_orig_ctx: 0, type_k: 1, type_v: 1, mul_mat_q: true, logits_all: false, embedding: false, offload_kqv: true
  }

  it 'has the defaults of llama.cpp' do
    expect(defaults.keys.to_h { |name| [name, params.public_send(name)] }).to eq(defaults)
  end

  it 'is also called Params' do
    expect(LLaMACpp::Params.new).to eq(params)
  end

  describe '#seed=' do
    it 'takes -1 for a random one, and any number of 32 bits' do
      values = [0, 42, (2**32) - 2, -1].map { |seed| params.public_send(:seed=, seed) }
      expect(values).to eq([0, 42, (2**32) - 2, -1])
      params.seed = 7
      expect(params.seed).to eq(7)
    end

    it 'reads 2**32 - 1 as random, which it stands for in llama.cpp' do
      params.seed = (2**32) - 1
      expect(params.seed).to eq(-1)
    end

    it 'refuses other negative numbers and larger ones, and keeps what it had' do
      params.seed = 7
      expect { params.seed = -2 }
        .to raise_error(ArgumentError, 'seed is -2, it must be -1 (random) or 0 to 4294967295')
      expect { params.seed = 2**32 }.to raise_error(RangeError)
      expect { params.seed = 2**64 }.to raise_error(RangeError)
      expect { params.seed = '1' }.to raise_error(TypeError)
      expect(params.seed).to eq(7)
    end
  end

  %i[n_ctx n_batch n_threads n_threads_batch yarn_orig_ctx].each do |name|
    it "changes #{name}, and refuses what is no Integer of 32 bits without a sign" do
      expect(params.public_send("#{name}=", 5)).to eq(5)
      expect { params.public_send("#{name}=", -1) }.to raise_error(RangeError)
      expect { params.public_send("#{name}=", 2**32) }.to raise_error(RangeError)
      expect { params.public_send("#{name}=", nil) }.to raise_error(TypeError)
      expect(params.public_send(name)).to eq(5)
    end
  end

  %i[type_k type_v].each do |name|
    it "changes #{name}" do
      expect(params.public_send("#{name}=", 0)).to eq(0)
      expect { params.public_send("#{name}=", 2**31) }.to raise_error(RangeError)
      expect(params.public_send(name)).to eq(0)
    end
  end

  it 'changes rope_scaling_type' do
    params.rope_scaling_type = LLaMACpp::LLAMA_ROPE_SCALING_YARN
    expect { params.rope_scaling_type = 300 }
      .to raise_error(ArgumentError, 'rope_scaling_type is 300, it must be -1 to 2')
    expect(params.rope_scaling_type).to eq(2)
  end

  %i[rope_freq_base rope_freq_scale yarn_ext_factor yarn_attn_factor yarn_beta_fast yarn_beta_slow].each do |name|
    it "changes #{name} by a Float or an Integer" do
      expect(params.public_send("#{name}=", 0.5)).to eq(0.5)
      expect(params.public_send("#{name}=", 2)).to eq(2)
      expect(params.public_send(name)).to eql(2.0)
      expect { params.public_send("#{name}=", '1') }
        .to raise_error(ArgumentError, "#{name} must be a Float, got an instance of String")
      expect { params.public_send("#{name}=", nil) }.to raise_error(ArgumentError, "#{name} must be a Float, got nil")
    end
  end

  %i[mul_mat_q logits_all embedding offload_kqv].each do |name|
    it "changes #{name} by the truth of any object" do
      values = ['yes', nil].map do |value|
        params.public_send("#{name}=", value)
        params.public_send(name)
      end
      expect(values).to eq([true, false])
    end
  end

  it 'is equal to one with the same settings, and copied by dup and clone' do
    params.n_ctx = 64
    copy = params.dup
    expect([copy, params.clone]).to eq([params, params])
    params.n_ctx = 32
    expect([copy.n_ctx, copy == params]).to eq([64, false])
  end

  it 'does not change when frozen' do
    params.freeze
    defaults.each { |name, value| expect { params.public_send("#{name}=", value) }.to raise_error(FrozenError) }
  end

  it 'does not change with the context that was made of it' do
    params.n_ctx = 64
    params.n_threads = 1
    context = LLaMACpp::Context.new(model: tiny, params:)
    params.n_ctx = 128
    expect(context.n_ctx).to eq(64)
  end

  it 'can be subclassed' do
    subclass = Class.new(described_class) { def initialize = self.n_ctx = 32 }
    expect(LLaMACpp::Context.new(model: tiny, params: subclass.new).n_ctx).to eq(32)
  end

  describe 'in Context.new' do
    def context_of(**settings)
      LLaMACpp::Context.new(model: tiny, params: params(described_class, n_ctx: 64, n_threads: 1, **settings))
    end

    # The helper of Models, which `subject` hides.
    def params(class_, **settings)
      Models.params(class_, **settings)
    end

    most = [LLaMACpp.build_info[:usable_cores] * 4, 64].max
    types = '0 (F32), 1 (F16), 2 (Q4_0), 3 (Q4_1), 6 (Q5_0), 7 (Q5_1), 8 (Q8_0)'
    {
      { n_threads: 0 } => "n_threads is 0, it must be 1 to #{most} here",
      { n_threads: most + 1 } => "n_threads is #{most + 1}, it must be 1 to #{most} here",
      { n_threads_batch: 0 } => "n_threads_batch is 0, it must be 1 to #{most} here",
      { n_batch: 0 } => 'n_batch is 0, it must be 1 or more',
      { rope_scaling_type: 3 } => 'rope_scaling_type is 3, it must be -1 to 2',
      { rope_freq_base: Float::NAN } => 'rope_freq_base is NaN, it must be a finite number',
      { rope_freq_base: -1.0 } => 'rope_freq_base is -1, it must be 0 (as the model says) or more',
      { yarn_ext_factor: Float::INFINITY } => 'yarn_ext_factor is inf, it must be a finite number',
      { type_k: 99 } => "type_k is 99, the KV cache can have one of #{types}",
      { type_k: -1 } => "type_k is -1, the KV cache can have one of #{types}",
      { type_v: 8 } => 'type_v is 8, the KV cache can have one of 0 (F32), 1 (F16)',
      { n_ctx: 2**31 } => 'n_ctx is 2147483648, 33554431 is the limit for this model',
      { n_ctx: (2**32) - 1 } => 'n_ctx is 4294967295, 33554431 is the limit for this model'
    }.each do |settings, message|
      it("#{settings} is refused") { expect { context_of(**settings) }.to raise_error(ArgumentError, message) }
    end

    it 'a cache beyond the memory is refused, with the numbers' do
      expect { context_of(n_ctx: 16_000_000) }
        .to raise_error(RuntimeError, /\Aa context of 16000000 tokens needs \d+ MiB for its KV cache and \d+ MiB/)
    end

    it 'n_ctx 0 takes what the model was trained with' do
      expect(context_of(n_ctx: 0).n_ctx).to eq(tiny.n_ctx_train)
    end

    it 'n_batch reads as it was set, and no batch is larger than the cache' do
      expect([context_of(n_batch: 512).n_batch, context_of(n_batch: 5).n_batch]).to eq([512, 5])
      expect { decode(context_of(n_batch: 512), [1] * 65) }
        .to raise_error(RuntimeError, 'the batch has 65 tokens, the context holds 64')
    end

    it 'a chosen number of threads is taken as it is' do
      context = context_of(n_threads: 3, n_threads_batch: 2)
      expect([context.n_threads, context.n_threads_batch]).to eq([3, 2])
    end

    it 'a cache of F32 gives nearly what one of F16 gives, one of Q8_0 roughly' do
      rows = [{ type_k: 0, type_v: 0 }, {}, { type_k: 8 }].map do |settings|
        context = context_of(**settings)
        decode(context, Models::FRANCE_TOKENS)
        context.logits
      end
      expect(distance(rows[0], rows[1])).to be_between(1e-7, 0.02)
      expect(distance(rows[0], rows[2])).to be_between(1e-5, 0.5)
      expect(rows.map { |row| best(row) }).to eq([442] * 3)
    end

    it 'a scaled rotation gives other logits' do
      rows = [{}, { rope_freq_scale: 0.5 }, { rope_freq_base: 20_000.0 }].map do |settings|
        context = context_of(**settings)
        decode(context, Models::FRANCE_TOKENS)
        context.logits
      end
      expect([distance(rows[0], rows[1]), distance(rows[0], rows[2])].min).to be > 0.05
    end
  end
end
