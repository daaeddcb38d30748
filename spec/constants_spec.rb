# frozen_string_literal: true

require 'json'

RSpec.describe 'The constants' do
  recorded = JSON.parse(File.read(File.expand_path('fixtures/api.json', __dir__)))['constants']

  it 'are 56 at least' do
    expect(recorded.size).to eq(56)
  end

  recorded.each do |name, entry|
    it "#{name} is #{entry['value'].inspect}" do
      value = LLaMACpp.const_get(name)
      expect(value).to eq(entry['value'])
      expect(value.class.name).to eq(entry['class'])
    end
  end

  it 'that are Strings are frozen UTF-8' do
    strings = LLaMACpp.constants.map { |name| LLaMACpp.const_get(name) }.grep(String)
    expect(strings.size).to be >= 7
    expect(strings.reject(&:frozen?)).to eq([])
    expect(strings.map { |string| string.encoding.name }.uniq - %w[UTF-8 US-ASCII]).to eq([])
  end

  it 'include the seed as the type signatures spell it' do
    expect(LLaMACpp::LLAMA_DEFALUT_SEED).to eq(LLaMACpp::LLAMA_DEFAULT_SEED)
  end

  it 'keep what is not for others to themselves' do
    expect(LLaMACpp.constants).not_to include(:Native, :UNSET, :Generation, :SamplerChain, :TextStream, :GENERATE_KINDS)
  end
end
