# frozen_string_literal: true

require 'tempfile'

RSpec.describe 'llama_cpp generate' do
  def generate(*arguments, **settings)
    with_tiny('generate', '--temperature', '0', *arguments, **settings)
  end

  it 'prints the continuation and nothing else' do
    expect(generate('The capital of France is').to_a).to eq(["Paris.\n", '', 0])
  end

  it 'joins words' do
    expect(generate('The', 'capital', 'of', 'France', 'is').stdout).to eq("Paris.\n")
  end

  it 'takes the prompt from standard input' do
    expect(generate(stdin: "The capital of France is\n").to_a).to eq(["Paris.\n", '', 0])
    expect(generate('-', stdin: 'The capital of France is').stdout).to eq("Paris.\n")
  end

  it 'takes a prompt in UTF-8 whatever the locale' do
    outcome = generate('-n', '1', '--echo', 'Größe 😀', environment: { 'LC_ALL' => 'C' })
    expect(outcome.stdout.dup.force_encoding('UTF-8')).to start_with('Größe 😀')
    expect(outcome.code).to eq(0)
  end

  it 'takes bytes that are no text as they are' do
    expected = LLaMACpp.generate(new_context(n_ctx: 256), "\xFF\xFEa", temperature: 0, n_predict: 4)
    expect(generate('-n', '4', stdin: "\xFF\xFEa").to_a).to eq(["#{expected}\n", '', 0])
  end

  it 'prints the prompt when it is asked to' do
    expect(generate('--echo', 'The capital of France is').stdout).to eq("The capital of France is Paris.\n")
  end

  it 'prints what LLaMACpp.generate returns' do
    context = new_context(n_ctx: 256)
    expected = LLaMACpp.generate(context, 'Once upon a time,', temperature: 0.9, seed: 3, n_predict: 40)
    expect(with_tiny('generate', '--temperature', '0.9', '--seed', '3', '-n', '40', 'Once upon a time,').stdout)
      .to eq("#{expected}\n")
  end

  it 'hands every option on' do
    options = { n_predict: 24, temperature: 1.2, top_k: 20, top_p: 0.9, min_p: 0.01, typical_p: 0.95, tfs_z: 0.97,
                repeat_penalty: 1.2, repeat_last_n: 16, frequency: 0.1, presence: 0.2, seed: 11 }
    arguments = options.flat_map { |name, value| ["--#{name.to_s.tr('_', '-')}", value.to_s] }
    expected = LLaMACpp.generate(new_context(n_ctx: 256), 'Once upon a time,', **options)
    expect(with_tiny('generate', *arguments, 'Once upon a time,').stdout).to eq("#{expected}\n")
  end

  it 'hands the options of Mirostat on' do
    options = { n_predict: 24, mirostat: 2, tau: 3.0, eta: 0.2, seed: 5 }
    arguments = options.flat_map { |name, value| ["--#{name.to_s.tr('_', '-')}", value.to_s] }
    expected = LLaMACpp.generate(new_context(n_ctx: 256), 'Once upon a time,', **options)
    expect(with_tiny('generate', *arguments, 'Once upon a time,').stdout).to eq("#{expected}\n")
  end

  it 'stops before a text, or any of several' do
    expect(generate('--stop', 'is', 'What is the capital of Peru?').stdout).not_to include('is')
    expect(generate('--stop', 'zzz', '--stop', 'Wed', 'Monday, Tuesday,').stdout).to eq("\n")
  end

  it 'follows a grammar' do
    Tempfile.create('grammar') do |file|
      file.write('root ::= " Rome" | " Oslo" | " Bonn"')
      file.close
      expect(generate('--grammar', file.path, 'The capital of Norway is').to_a).to eq(["Oslo\n", '', 0])
    end
  end

  it 'refuses an empty prompt' do
    line = 'llama_cpp generate: the prompt is empty: give the text that the model shall continue ' \
           "(see llama_cpp generate --help)\n"
    expect(generate('').to_a).to eq(['', line, 2])
    expect(generate(stdin: "\n").to_a).to eq(['', line, 2])
  end

  it 'refuses a value that is no number' do
    line = "llama_cpp generate: invalid argument: --top-k many (see llama_cpp generate --help)\n"
    expect(generate('--top-k', 'many', 'a').to_a).to eq(['', line, 2])
  end

  it 'says in one line what is wrong with a value' do
    expect(generate('--n-ctx', '-5', 'a').to_a)
      .to eq(['', "llama_cpp generate: invalid argument: --n-ctx -5 (see llama_cpp generate --help)\n", 2])
    expect(generate('--threads', '0', 'a').to_a)
      .to eq(['', "llama_cpp generate: invalid argument: --threads 0 (see llama_cpp generate --help)\n", 2])
    expect(generate('--n-ctx', '100000000', 'a').to_a)
      .to match(['', /\Allama_cpp generate: .*100000000.*\n\z/, 1])
    expect(generate('--mirostat', '7', 'a').to_a)
      .to eq(['', "llama_cpp generate: mirostat is 7, it must be 0 (none), 1 or 2\n", 1])
  end

  it 'says in one line that the prompt is too long' do
    outcome = generate('--n-ctx', '32', 'one two three ' * 20)
    expect(outcome.stderr).to match(/\Allama_cpp generate: the prompt has \d+ tokens, a context of 32 takes 28: .*\n\z/)
    expect(outcome.code).to eq(1)
  end

  it 'says in one line what is wrong with a grammar' do
    expect(generate('--grammar', '/nowhere/g.gbnf', 'a').to_a)
      .to match(['', %r{\Allama_cpp generate: --grammar wants a file: cannot read /nowhere/g\.gbnf: No such file}, 2])
    Tempfile.create('grammar') do |file|
      file.write('root ::= nowhere')
      file.close
      expect(generate('--grammar', file.path, 'a').to_a).to match(['', /\Allama_cpp generate: .*nowhere.*\n\z/, 1])
    end
  end
end
