# frozen_string_literal: true

RSpec.describe LLaMACpp::ModelQuantizeParams do
  subject(:params) { described_class.new }

  defaults = { n_thread: 0, ftype: 9, allow_requantize: false, quantize_output_tensor: true, only_copy: false,
               pure: false }

  it 'has the defaults of llama.cpp' do
    expect(defaults.keys.to_h { |name| [name, params.public_send(name)] }).to eq(defaults)
  end

  %i[n_thread ftype].each do |name|
    it "changes #{name}, and refuses what is no Integer of 32 bits" do
      expect(params.public_send("#{name}=", 7)).to eq(7)
      expect { params.public_send("#{name}=", 2**31) }.to raise_error(RangeError)
      expect { params.public_send("#{name}=", 'x') }.to raise_error(TypeError)
      expect(params.public_send(name)).to eq(7)
    end
  end

  %i[allow_requantize quantize_output_tensor only_copy pure].each do |name|
    it "changes #{name} by the truth of any object" do
      values = [1, nil].map do |value|
        params.public_send("#{name}=", value)
        params.public_send(name)
      end
      expect(values).to eq([true, false])
    end
  end

  it 'has allow_requantize under the name of the type signatures, too' do
    params.allow_quantization = true
    expect([params.allow_requantize, params.allow_quantization]).to eq([true, true])
  end

  it 'is equal to one with the same settings, and copied by dup and clone' do
    params.ftype = 2
    copy = params.dup
    expect([copy, params.clone]).to eq([params, params])
    params.ftype = 3
    expect([copy.ftype, copy == params]).to eq([2, false])
  end

  it 'does not change when frozen, and can be subclassed' do
    subclass = Class.new(described_class) { def initialize = self.ftype = 7 }
    params = subclass.new.freeze
    defaults.each { |name, value| expect { params.public_send("#{name}=", value) }.to raise_error(FrozenError) }
    expect([params.clone.class, params.ftype]).to eq([subclass, 7])
  end
end
