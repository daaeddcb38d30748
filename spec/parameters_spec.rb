# frozen_string_literal: true

RSpec.describe LLaMACpp::Parameters do
  defaults = {
    LLaMACpp::ModelParams => { n_gpu_layers: 0, split_mode: 1, main_gpu: 0, tensor_split: [], vocab_only: false,
                               use_mmap: true, use_mlock: false, kv_overrides: [] },
    LLaMACpp::ContextParams => { seed: -1, n_ctx: 512, n_batch: 512, n_threads: 4, n_threads_batch: 4,
                                 rope_scaling_type: -1, rope_freq_base: 0.0, rope_freq_scale: 0.0,
                                 yarn_ext_factor: -1.0, yarn_attn_factor: 1.0, yarn_beta_fast: 32.0,
                                 yarn_beta_slow: 1.0, yarn_orig_ctx: 0, type_k: 1, type_v: 1, mul_mat_q: true,
                                 logits_all: false, embedding: false, offload_kqv: true },
    LLaMACpp::ModelQuantizeParams => { n_thread: 0, ftype: 9, allow_requantize: false, quantize_output_tensor: true,
                                       only_copy: false, pure: false }
  }
  changed = {
    LLaMACpp::ModelParams => { n_gpu_layers: 3, split_mode: 2, main_gpu: 1, tensor_split: [0.5], vocab_only: true,
                               use_mmap: false, use_mlock: true,
                               kv_overrides: [LLaMACpp::ModelKVOverride.new(key: 'a.b', value: 1.5)] },
    LLaMACpp::ContextParams => { seed: 7, n_ctx: 64, n_batch: 32, n_threads: 2, n_threads_batch: 3,
                                 rope_scaling_type: 2, rope_freq_base: 10_000.0, rope_freq_scale: 0.5,
                                 yarn_ext_factor: 0.25, yarn_attn_factor: 2.0, yarn_beta_fast: 16.0,
                                 yarn_beta_slow: 0.5, yarn_orig_ctx: 128, type_k: 8, type_v: 0, mul_mat_q: false,
                                 logits_all: true, embedding: true, offload_kqv: false },
    LLaMACpp::ModelQuantizeParams => { n_thread: 2, ftype: 7, allow_requantize: true, quantize_output_tensor: false,
                                       only_copy: true, pure: true }
  }

  defaults.each do |class_, values|
    describe class_ do
      it 'has the defaults of llama.cpp, in a fixed order' do
        expect(class_.new.to_h).to eq(values)
        expect(class_.new.to_h.keys).to eq(values.keys)
      end

      it 'takes every accessor as a keyword' do
        expect(class_.new(**changed[class_]).to_h).to eq(changed[class_])
        changed[class_].each do |name, value|
          expect(class_.new(name => value).to_h).to eq(values.merge(name => value))
        end
      end

      it 'refuses other keywords as Ruby does' do
        expect { class_.new(bogus: 1) }.to raise_error(ArgumentError, 'unknown keyword: :bogus')
        expect { class_.new(1) }.to raise_error(ArgumentError, /wrong number of arguments \(given 1, expected 0\)/)
      end

      it 'is equal to another with the same values, and to no one else' do
        expect(class_.new(**changed[class_])).to eq(class_.new(**changed[class_]))
        changed[class_].each { |name, value| expect(class_.new(name => value)).not_to eq(class_.new) }
        expect(class_.new).not_to eq(class_.new.to_h)
      end

      it 'is a key of a Hash' do
        hash = { class_.new(**changed[class_]) => 1, class_.new => 2 }
        expect([hash[class_.new(**changed[class_])], hash[class_.new], hash[Class.new(class_).new]]).to eq([1, 2, nil])
      end

      it 'survives copies' do
        expect(class_.new(**changed[class_]).dup.to_h).to eq(changed[class_])
        expect(class_.new(**changed[class_]).clone(freeze: true).inspect).to eq(class_.new(**changed[class_]).inspect)
      end

      it 'can be a superclass' do
        subclass = Class.new(class_) do
          attr_reader :label

          def initialize(label, **rest)
            @label = label
            super(**rest)
          end
        end
        name, value = changed[class_].first
        object = subclass.new('mine', name => value)
        expect([object.label, object.to_h]).to eq(['mine', values.merge(name => value)])
        expect(object.inspect).to match(/\A#<#<Class:0x\h+> #{name}: #{value}>\z/)
      end

      it 'refuses a wrong value as the accessor does' do
        name = values.keys.first
        expect { class_.new(name => 'x') }.to raise_error(TypeError)
        expect { class_.new(name => 2**64) }.to raise_error(RangeError)
      end
    end
  end

  it 'shows what differs from the defaults' do
    expect(LLaMACpp::ModelParams.new.inspect).to eq('#<LLaMACpp::ModelParams>')
    override = LLaMACpp::ModelKVOverride.new(key: 'a.b', value: false)
    params = LLaMACpp::ModelParams.new(tensor_split: [0.5], use_mmap: false, kv_overrides: [override])
    text = '#<LLaMACpp::ModelParams tensor_split: [0.5], use_mmap: false, ' \
           'kv_overrides: [#<LLaMACpp::ModelKVOverride a.b: false>]>'
    expect([params.inspect, params.to_s]).to eq([text] * 2)
  end

  describe LLaMACpp::ModelKVOverride do
    def override(value, **rest)
      described_class.new(key: 'k', value:, **rest)
    end

    it 'is equal by key, kind and value' do
      expect(override(1)).to eq(override(1))
      expect([override(1.0), override(true), override(2), described_class.new(key: 'l', value: 1)])
        .not_to include(override(1))
      expect([override(1), override(1), override(1.0)].uniq.map(&:value)).to eq([1, 1.0])
    end

    it 'has the value of its kind' do
      overrides = [override(3), override(0.5), override(false), override(2, tag: 1)]
      expect(overrides.map(&:value)).to eq([3, 0.5, false, 2.0])
      expect(described_class.new.value).to eq(0)
    end
  end
end
