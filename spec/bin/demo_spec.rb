# frozen_string_literal: true

require 'open3'
require 'rbconfig'
require 'tmpdir'

RSpec.describe 'bin/demo' do
  # @return [Array(String, String, Integer)] stdout, stderr, exit code
  def demo(*arguments)
    root = File.expand_path('../..', __dir__)
    # What bin/demo hands over to after bin/setup.
    stdout, stderr, status = Open3.capture3(RbConfig.ruby, '-I', File.join(root, 'lib'),
                                            File.join(root, 'bin/support/demo.rb'), *arguments)
    [stdout, stderr, status.exitstatus]
  end

  def in_a_file(text)
    Dir.mktmpdir do |folder|
      path = File.join(folder, 'model.gguf')
      File.binwrite(path, text)
      yield path
    end
  end

  it 'prints the sentence, and nothing else on stdout' do
    stdout, _, code = demo('The capital of France is')
    expect(stdout).to eq("The capital of France is Paris.\n")
    expect(code).to eq(0)
  end

  it 'has a prompt of its own' do
    expect(demo.first).to eq("The capital of France is Paris.\n")
  end

  it 'takes another model and the settings of generate' do
    model = File.expand_path('../../models/tiny/tiny.gguf', __dir__)
    arguments = ['--model', model, '--threads', '1', '--seed', '7', '7 + 8 =']
    # The first token is the space, then come the digits.
    sentences = %w[1 2 3].map { |n| demo('--n-predict', n, *arguments).first }
    expect(sentences).to eq(["7 + 8 =\n", "7 + 8 = 1\n", "7 + 8 = 15\n"])
  end

  it 'explains itself' do
    stdout, stderr, code = demo('--help')
    expect(stdout).to start_with("Usage: bin/demo [options] [\"prompt\"]\n").and include('--model FILE', '--threads N')
    expect([stderr, code]).to eq(['', 0])
  end

  it 'says in one line that the prompt is empty' do
    sentence = "bin/demo: the prompt is empty: give the text that the model shall go on with.\n"
    expect(demo('')).to eq(['', sentence, 1])
    expect(demo(" \n")).to eq(['', sentence, 1])
  end

  it 'says in one line that a file is missing' do
    sentence = "bin/demo: there is no file /nowhere/model.gguf.\n"
    expect(demo('--model', '/nowhere/model.gguf', 'Hello')).to eq(['', sentence, 1])
  end

  it 'says in one line that a file is not a model' do
    in_a_file('not a model at all') do |path|
      sentence = "bin/demo: #{path} is not a model in GGUF format: it does not begin with GGUF.\n"
      expect(demo('--model', path, 'Hello')).to eq(['', sentence, 1])
    end
  end

  it 'says in one line that a model is damaged' do
    in_a_file("GGUF\x03\0\0\0broken") do |path|
      stdout, stderr, code = demo('--model', path, 'Hello')
      expect(stdout).to eq('')
      expect(stderr.lines.grep(%r{\Abin/demo: .*model\.gguf}).size).to eq(1)
      expect(code).to eq(1)
    end
  end

  it 'says in one line that an option does not exist' do
    expect(demo('--bogus', 'Hello')).to eq(['', "bin/demo: invalid option: --bogus\n", 1])
  end
end
