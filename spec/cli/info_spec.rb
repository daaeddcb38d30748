# frozen_string_literal: true

require 'json'
require 'tmpdir'

RSpec.describe 'llama_cpp info' do
  it 'prints what the model is' do
    outcome = with_tiny('info')
    expect(outcome.stdout).to start_with(<<~TEXT)
      file            #{Models::TINY} (3.0 MB, GGUF version 3)
      name            tiny
      architecture    llama
      parameters      1.5 M (1508608)
      weights         3.0 MB, F16 (16 of f16, 5 of f32)
      context         256 tokens
      embedding       256
      feed forward    512
      layers          2
      heads           4, 2 of keys and values
      vocabulary      640 tokens, llama
      special tokens  bos 1 "<s>", eos 2 "</s>", unknown 0 "<unk>"
      chat template   no

      metadata
        general.architecture = "llama"
    TEXT
    expect(outcome.stdout).to include('  tokenizer.ggml.tokens = 640 values: "<unk>", "<s>", "</s>", "<0x00>", …',
                                      '  llama.attention.layer_norm_rms_epsilon = 1e-05')
    expect([outcome.stderr, outcome.code]).to eq(['', 0])
  end

  it 'prints it as JSON, with the same figures that the loaded model gives' do
    facts = JSON.parse(with_tiny('info', '--json').stdout)
    expect(facts).to include('architecture' => 'llama', 'parameters' => tiny.n_params, 'size' => tiny.size,
                             'context_length' => tiny.n_ctx_train, 'embedding_length' => tiny.n_embd,
                             'quantization' => 'F16', 'chat_template' => nil, 'head_count_kv' => 2)
    expect(facts['vocabulary']).to eq(
      'type' => 'llama', 'size' => tiny.n_vocab,
      'special_tokens' => { 'bos' => { 'id' => 1, 'text' => '<s>' }, 'eos' => { 'id' => 2, 'text' => '</s>' },
                            'unknown' => { 'id' => 0, 'text' => '<unk>' } }
    )
    expect(facts['metadata']).to include('general.name' => 'tiny', 'llama.block_count' => 2)
    expect(facts['metadata']).not_to include('tokenizer.ggml.tokens')
    expect(facts).not_to include('tensors')
  end

  it 'prints all of it when it is asked to' do
    facts = JSON.parse(with_tiny('info', '--json', '--full').stdout)
    expect(facts['metadata']['tokenizer.ggml.tokens'].size).to eq(640)
    expect(facts['tensors'].size).to eq(21)
    expect(facts['tensors'].first)
      .to eq('name' => 'token_embd.weight', 'type' => 'f16', 'shape' => [256, 640], 'n_bytes' => 327_680)
    expect(with_tiny('info', '--full').stdout).to include("\ntensors\n  token_embd.weight f16 256 x 640\n")
  end

  it 'says what a quantized model is' do
    Dir.mktmpdir do |folder|
      path = File.join(folder, 'q8.gguf')
      with_tiny('quantize', path, 'Q8_0')
      expect(llama_cpp('info', '-m', path).stdout).to match(/^weights +1\.6 MB, Q8_0 \(16 of q8_0, 5 of f32\)$/)
    end
  end

  it 'knows a chat template, and lets no file control the terminal' do
    Dir.mktmpdir do |folder|
      path = File.join(folder, 'odd.gguf')
      GGUFWriter.write(path, { 'general.architecture' => 'odd', 'general.name' => "a\e[31mb",
                               'tokenizer.chat_template' => '{{ x }}' }, { 'a' => [:f32, [32]] }) { "\0" * 128 }
      outcome = llama_cpp('info', '-m', path)
      expect(outcome.stdout).to include("name           a\\e[31mb\n", "chat template  yes\n")
      expect(outcome.stdout).not_to include("\e")
    end
  end

  it 'takes no further arguments' do
    line = "llama_cpp info: what is more.gguf? The model goes with -m (see llama_cpp info --help)\n"
    expect(with_tiny('info', 'more.gguf').to_a).to eq(['', line, 2])
  end
end
