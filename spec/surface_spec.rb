# frozen_string_literal: true

require 'json'

# Names and arities of version 0.12.2 of the C++ gem, as that reported them.
RSpec.describe 'The public surface' do
  recorded = JSON.parse(File.read(File.expand_path('fixtures/api.json', __dir__)))

  # Its keyword methods took whatever came and had the arity -1; ours say what they take.
  def expect_arity(method, arity)
    if arity == -1
      expect(method.parameters.map(&:first)).not_to include(:rest, :keyrest)
    else
      expect(method.parameters.count { |kind, _| kind == :req }).to eq(arity)
      expect(method.parameters.map(&:first) - %i[req opt]).to eq([])
    end
  end

  recorded['module_functions'].each do |name, entry|
    it "has LLaMACpp.#{name}" do
      method = LLaMACpp.method(name)
      keywords = entry['parameters'].select { |kind, _| kind == 'key' }.map { |_, keyword| keyword.to_sym }
      expect(method.parameters.filter_map { |kind, keyword| keyword if kind == :key }).to include(*keywords)
      expect_arity(method, entry['arity']) unless name == 'generate'
    end
  end

  it 'has LLaMACpp.generate with two arguments and keywords only' do
    kinds = LLaMACpp.method(:generate).parameters.map(&:first)
    expect(kinds.tally.slice(:req, :opt, :rest, :keyreq, :keyrest)).to eq(req: 2)
  end

  recorded['classes'].each do |class_name, entry|
    describe class_name do
      let(:described) { LLaMACpp.const_get(class_name) }

      it 'is the same kind of class' do
        original = entry['alias_of']
        expect(described).to equal(LLaMACpp.const_get(original)) if original
        expect(described.superclass.name).to eq(entry['superclass'])
      end

      entry['instance_methods'].each do |name, arity|
        it("has ##{name}") { expect_arity(described.public_instance_method(name), arity) }
      end

      entry['singleton_methods'].each do |name, arity|
        it("has .#{name}") { expect_arity(described.method(name), arity) }
      end
    end
  end

  it 'has the names that only the type signatures had' do
    expect(LLaMACpp::Params).to equal(LLaMACpp::ContextParams)
    aliases = { LLaMACpp::Batch => { set_logit: :set_logits, get_logit: :get_logits },
                LLaMACpp::ModelQuantizeParams => { allow_quantization: :allow_requantize,
                                                   'allow_quantization=': :allow_requantize= } }
    aliases.each do |class_, names|
      names.each { |name, original| expect(class_.instance_method(name)).to eq(class_.instance_method(original)) }
    end
  end
end
