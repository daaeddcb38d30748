# frozen_string_literal: true

require 'fileutils'
require 'tmpdir'

RSpec.describe LLaMACpp::Model, '#apply_lora_from_file' do
  let(:path) { File.join(@folder, 'adapter.bin') }
  # What the adapter adds to a row of the output matrix, before it is scaled.
  let(:direction) { Array.new(256) { |i| Math.sin(i) / 10 } }
  let(:state) do
    context = new_context(embedding: true)
    decode(context, Models::FRANCE_TOKENS)
    context.embeddings
  end

  around do |example|
    Dir.mktmpdir('llama_cpp') do |folder|
      @folder = folder
      example.run
    end
  end

  # An adapter of rank 1 for the output matrix: alpha times the direction is added to the rows of some tokens.
  def write_adapter(rows, alpha: 1, name: 'output.weight', rank: 1)
    column = Array.new(640, 0.0).tap { |values| rows.each { |token, factor| values[token] = factor } }
    File.open(path, 'wb') do |file|
      file << [0x67676c61, 1, rank, alpha].pack('L<L<l<l<')
      [["#{name}.loraA", direction], ["#{name}.loraB", column]].each do |tensor, values|
        file << [2, tensor.bytesize, 0, 1, values.size].pack('l<l<l<l<l<') << tensor
        file << ("\0" * (-file.pos % 32)) << values.pack('e*')
      end
    end
  end

  def logits_of(model)
    context = new_context(model)
    decode(context, Models::FRANCE_TOKENS)
    context.logits
  end

  def product
    direction.zip(state).sum { |a, b| a * b }
  end

  [true, false].each do |use_mmap|
    it "adds the adapter, as calculated, to a model with use_mmap = #{use_mmap}" do
      write_adapter({ 5 => 1.0, 442 => -2.0 }, alpha: 3)
      model = load_model(use_mmap:)
      expect(model.apply_lora_from_file(lora_path: path, scale: 0.5)).to be_nil
      expected = logits_of(tiny)
      expected[5] += 0.5 * 3 * product
      expected[442] += 0.5 * 3 * -2.0 * product
      expect(product.abs).to be > 0.05
      expect(distance(logits_of(model), expected)).to be < 0.02
    end
  end

  it 'leaves the file and other models as they are' do
    copy = File.join(@folder, 'model.gguf')
    FileUtils.cp(Models::TINY, copy)
    model, other = Array.new(2) { load_model(copy) }
    write_adapter({ 5 => 30.0 })
    model.apply_lora_from_file(lora_path: path)
    expect([logits_of(other) == logits_of(tiny), FileUtils.identical?(copy, Models::TINY)]).to eq([true, true])
    expect(distance(logits_of(model), logits_of(tiny))).to be > 1
  end

  it 'counts for contexts that are there already, and may be added twice' do
    write_adapter({ 5 => 1.0 })
    model = load_model
    context = new_context(model)
    decode(context, Models::FRANCE_TOKENS)
    before = context.logits[5]
    2.times { model.apply_lora_from_file(lora_path: path) }
    context.kv_cache_clear
    decode(context, Models::FRANCE_TOKENS)
    expect(context.logits[5] - before).to be_within(0.02).of(2 * product)
  end

  it 'can take the weights of a base model' do
    quantized = File.join(@folder, 'q4.gguf')
    LLaMACpp.model_quantize(input_path: Models::TINY, output_path: quantized,
                            params: params(LLaMACpp::ModelQuantizeParams, ftype: 2, n_thread: 1))
    write_adapter({ 5 => 20.0 })
    model = load_model(quantized)
    before = logits_of(model)
    model.apply_lora_from_file(lora_path: path, base_model_path: Models::TINY)
    expect((logits_of(model)[5] - before[5] - (20 * product)).abs).to be < 0.1 * (20 * product).abs
  end

  describe 'what does not fit' do
    def expect_refusal(error, message, **arguments)
      model = load_model
      expect { model.apply_lora_from_file(lora_path: path, **arguments) }.to raise_error(error, message)
      expect(logits_of(model)).to eq(logits_of(tiny))
    end

    it 'is a file that is missing, foreign or cut short' do
      expect_refusal(RuntimeError, /\Acannot apply the LoRA adapter .*No such file/)
      File.write(path, 'x' * 100)
      expect_refusal(RuntimeError, /\Acannot apply the LoRA adapter #{Regexp.escape(path)}: /)
      write_adapter({ 5 => 1.0 })
      File.truncate(path, File.size(path) - 1)
      expect_refusal(RuntimeError, /\Acannot apply the LoRA adapter #{Regexp.escape(path)}: /)
    end

    it 'is a tensor of another shape, or of no model' do
      write_adapter({ 5 => 1.0 }, name: 'blk.0.attn_k.weight')
      expect_refusal(RuntimeError, /\Acannot apply the LoRA adapter .*blk\.0\.attn_k\.weight/)
      write_adapter({ 5 => 1.0 }, name: 'nobody.weight')
      expect_refusal(RuntimeError, /\Acannot apply the LoRA adapter .*nobody\.weight/)
    end

    it 'is a wrong argument' do
      write_adapter({ 5 => 1.0 })
      expect_refusal(ArgumentError, 'scale is NaN, it must be a finite number', scale: Float::NAN)
      expect_refusal(ArgumentError, 'scale must be a Float, got an instance of String', scale: 'x')
      expect_refusal(ArgumentError, /\An_threads is 0, it must be /, n_threads: 0)
      expect_refusal(ArgumentError, 'lora_path must be a String, got 5 (Integer)', lora_path: 5)
      expect_refusal(RuntimeError, /No such file/, base_model_path: '/nonexistent')
      expect { load_model.apply_lora_from_file }.to raise_error(ArgumentError, 'missing keyword: :lora_path')
    end

    it 'is a model without weights' do
      write_adapter({ 5 => 1.0 })
      expect { load_model(vocab_only: true).apply_lora_from_file(lora_path: path) }
        .to raise_error(RuntimeError, /the model was loaded with vocab_only, it has no weights/)
      expect { described_class.new.apply_lora_from_file(lora_path: path) }
        .to raise_error(RuntimeError, /\Athe model is empty/)
    end
  end
end
