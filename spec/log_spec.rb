# frozen_string_literal: true

require 'logger'
require 'stringio'

RSpec.describe LLaMACpp, 'log' do
  let(:sink) { StringIO.new }

  after { described_class.logger = nil }

  def lines
    sink.string.lines
  end

  it 'is dropped without a logger, but for warnings and errors' do
    expect(described_class.logger).to be_nil
    expect { load_model }.not_to output.to_stderr
  end

  it 'goes to stderr as far as the environment asks for it' do
    script = <<~RUBY
      load_model
      load_model(kv_overrides: [ModelKVOverride.new(key: 'llama.context_length', value: 0.5)])
    RUBY
    sizes = { 'off' => 0, 'error' => 0, 'warn' => 1, nil => 1 }.to_h do |level, _|
      [level, child(script, environment: level ? { 'LLAMA_LOG' => level } : {}).stderr.lines.size]
    end
    expect(sizes).to eq('off' => 0, 'error' => 0, 'warn' => 1, nil => 1)
    expect(child(script,
                 environment: { 'LLAMA_LOG' => 'info' }).stderr).to include('llama_model_loader: loaded meta data')
  end

  it 'goes to a logger in whole lines, with its severity' do
    described_class.logger = Logger.new(sink, level: :info)
    load_model
    expect(lines.size).to be > 30
    expect(lines.grep_v(/\A[IWE], .* (INFO|WARN|ERROR) -- llama\.cpp: \S/)).to eq([])
    expect(lines.grep(/llama_model_loader: loaded meta data with 19 key-value pairs and 21 tensors/).size).to eq(1)
  end

  it 'obeys the level of the logger' do
    sizes = %i[debug info warn error].map do |level|
      sink.truncate(0)
      described_class.logger = Logger.new(sink, level:)
      load_model(kv_overrides: [LLaMACpp::ModelKVOverride.new(key: 'llama.context_length', value: 0.5)])
      lines.size
    end
    expect([sizes[0] >= sizes[1], sizes[1] > 30, sizes[2], sizes[3]]).to eq([true, true, 1, 0])
  end

  it 'follows the level of the logger when that changes' do
    logger = described_class.logger = Logger.new(sink, level: :error)
    load_model
    before = lines.size
    logger.level = :info
    load_model
    expect([before, lines.size > 30]).to eq([0, true])
  end

  it 'takes the warnings away from stderr' do
    described_class.logger = Logger.new(sink, level: :warn)
    override = LLaMACpp::ModelKVOverride.new(key: 'llama.context_length', value: 0.5)
    expect { load_model(kv_overrides: [override]) }.not_to output.to_stderr
    expect(lines.size).to eq(1)
  end

  it 'does not disturb a call when the logger raises' do
    broken = Class.new { def add(*) = raise('broken') }.new
    described_class.logger = broken
    expect(load_model.n_vocab).to eq(640)
  end

  it 'can be written by a logger that uses the gem' do
    model = tiny
    counter = Class.new do
      define_method(:add) { |_, text, _| (@sizes ||= []) << model.tokenize(text:).size }
      attr_reader :sizes
    end.new
    described_class.logger = counter
    load_model
    expect(counter.sizes.size).to be > 30
    expect(counter.sizes.min).to be > 0
  end

  it 'takes anything with add, and nil' do
    expect { described_class.logger = 5 }
      .to raise_error(ArgumentError, 'logger must be a Logger or nil, got an instance of Integer')
    expect { described_class.logger = StringIO.new }.to raise_error(ArgumentError)
    logger = Logger.new(sink)
    expect([described_class.public_send(:logger=, logger), described_class.logger]).to eq([logger, logger])
    described_class.logger = nil
    expect(described_class.logger).to be_nil
  end

  it 'of a failure stands in the exception, and nowhere else' do
    described_class.logger = Logger.new(sink, level: :warn)
    expect { load_model('/nonexistent') }.to raise_error(RuntimeError, /No such file/)
    expect(lines).to eq([])
  end

  it 'of quantizing goes to the logger, too' do
    described_class.logger = Logger.new(sink, level: :info)
    Dir.mktmpdir do |folder|
      described_class.model_quantize(input_path: Models::TINY, output_path: File.join(folder, 'out'),
                                     params: params(LLaMACpp::ModelQuantizeParams, ftype: 7, n_thread: 1))
    end
    expect(lines.grep(/blk\.1\.ffn_down\.weight/).size).to eq(1)
  end
end
