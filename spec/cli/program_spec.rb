# frozen_string_literal: true

require 'shellwords'
require 'tmpdir'

# What holds for all commands of the program llama_cpp.
RSpec.describe 'exe/llama_cpp' do
  commands = %w[generate chat embed tokenize info quantize]

  it 'explains itself' do
    outcome = llama_cpp('--help')
    expect(outcome.stdout).to start_with("Usage: llama_cpp COMMAND -m FILE.gguf [options] [text]\n")
    expect(outcome.stdout.scan(/^  (\w+)  +\w/).flatten).to eq(commands)
    expect([outcome.stderr, outcome.code]).to eq(['', 0])
    expect(llama_cpp('help')).to eq(outcome)
  end

  it 'says which version it is' do
    expect(llama_cpp('--version').to_a).to eq(["llama_cpp 0.12.2 (llama.cpp b1892)\n", '', 0])
    expect(llama_cpp('-v').stdout).to eq("llama_cpp 0.12.2 (llama.cpp b1892)\n")
  end

  it 'runs the example of its help' do
    command = Shellwords.split(llama_cpp('--help').stdout[/^Example:\n  llama_cpp (.*)$/, 1])
    expect(llama_cpp(*command).to_a).to eq(["Paris.\n", '', 0])
  end

  it 'asks for a command' do
    line = "llama_cpp: give a command: #{commands.join(', ')} (see llama_cpp --help)\n"
    expect(llama_cpp.to_a).to eq(['', line, 2])
  end

  it 'knows no other commands and options' do
    line = "llama_cpp: there is no command frob here; the commands are #{commands.join(', ')} (see llama_cpp --help)\n"
    expect(llama_cpp('frob').to_a).to eq(['', line, 2])
    expect(llama_cpp('--frob').to_a).to eq(['', line.sub('command', 'option').sub('frob', '--frob'), 2])
  end

  commands.each do |command|
    describe command do
      it 'explains itself' do
        outcome = llama_cpp(command, '--help')
        expect(outcome.stdout).to start_with("Usage: llama_cpp #{command} -m FILE.gguf [options]")
        expect(outcome.stdout).to include('-m, --model FILE', "\nExample:\n  llama_cpp #{command} ")
        expect([outcome.stderr, outcome.code]).to eq(['', 0])
        expect(llama_cpp('help', command)).to eq(outcome)
      end

      it 'has an example that works' do
        FileUtils.mkdir_p(File.join(Program::ROOT, 'tmp'))
        outcome = llama_cpp(*Shellwords.split(llama_cpp(command, '--help').stdout[/^Example:\n  llama_cpp (.*)$/, 1]))
        expect(outcome.stdout).not_to be_empty
        expect([outcome.stderr, outcome.code]).to eq(['', 0])
      end

      it 'refuses an option that it does not have' do
        line = "llama_cpp #{command}: invalid option: --frob (see llama_cpp #{command} --help)\n"
        expect(with_tiny(command, '--frob').to_a).to eq(['', line, 2])
      end

      it 'needs a model' do
        arguments = command == 'quantize' ? %w[out.gguf Q8_0] : []
        line = "llama_cpp #{command}: give a model: -m FILE.gguf, or its path in LLAMA_CPP_MODEL " \
               "(see llama_cpp #{command} --help)\n"
        expect(llama_cpp(command, *arguments, stdin: 'text').to_a).to eq(['', line, 2])
      end

      it 'says in one line that the model is missing' do
        arguments = command == 'quantize' ? ['/nowhere/out.gguf', 'Q8_0'] : []
        outcome = llama_cpp(command, '-m', '/nowhere/model.gguf', *arguments, stdin: 'text')
        expect(outcome.stderr).to match(%r{\Allama_cpp #{command}: .*/nowhere/model\.gguf.*No such file.*\n\z})
        expect([outcome.stdout, outcome.code]).to eq(['', 1])
      end

      it 'says in one line that a file is no model' do
        arguments = command == 'quantize' ? ['/nowhere/out.gguf', 'Q8_0'] : []
        outcome = llama_cpp(command, '-m', 'Rakefile', *arguments, stdin: 'text')
        expect(outcome.stderr).to match(/\Allama_cpp #{command}: .*not a GGUF model: it starts with.*\n\z/)
        expect([outcome.stdout, outcome.code]).to eq(['', 1])
      end
    end
  end

  it 'takes the model from the environment, and -m before that' do
    arguments = ['generate', '--temperature', '0', 'The capital of Japan is']
    expect(llama_cpp(*arguments, environment: { 'LLAMA_CPP_MODEL' => Models::TINY }).to_a).to eq(["Tokyo.\n", '', 0])
    expect(with_tiny(*arguments, environment: { 'LLAMA_CPP_MODEL' => '/nowhere' }).stdout).to eq("Tokyo.\n")
  end

  it "keeps llama.cpp's log to itself until it is asked" do
    expect(with_tiny('tokenize', '--count', 'a').stderr).to eq('')
    expect(with_tiny('tokenize', '--count', 'a', '--verbose').stderr).to match(/^llama_model_loader: loaded meta data/)
    expect(with_tiny('tokenize', '--count', 'a', environment: { 'LLAMA_LOG' => 'info' }).stderr)
      .to match(/^llama_model_loader: loaded meta data/)
  end

  describe 'colours' do
    it 'shows none without a terminal' do
      expect(llama_cpp('frob').stderr).not_to include("\e")
      expect(with_tiny('info').stdout).not_to include("\e")
    end

    it 'shows them on a terminal' do
      expect(on_a_terminal('frob').stdout).to start_with("\e[31mllama_cpp:\e[0m there is no command")
      expect(on_a_terminal('info', '-m', Models::TINY).stdout).to start_with("\e[1mfile")
    end

    it 'shows none where they are not wanted' do
      [{ 'NO_COLOR' => '1' }, { 'TERM' => 'dumb' }].each do |environment|
        expect(on_a_terminal('frob', environment:).stdout).to start_with('llama_cpp: there is no command')
      end
    end

    it 'takes an empty NO_COLOR for none' do
      expect(on_a_terminal('frob', environment: { 'NO_COLOR' => '' }).stdout).to start_with("\e[31m")
    end
  end

  describe 'a text without an end' do
    around do |example|
      Dir.mktmpdir do |folder|
        @grammar = File.join(folder, 'endless.gbnf')
        File.write(@grammar, "root ::= [a-z ] root\n")
        example.run
      end
    end

    let(:arguments) { ['generate', '-m', Models::TINY, '-n', '-1', '--grammar', @grammar, 'Once'] }

    it 'comes as it is generated' do
      while_it_runs(*arguments) do |stdout, pid|
        expect(stdout.readpartial(100)).to match(/\A[a-z ]+\z/)
        expect(Process.wait(pid, Process::WNOHANG)).to be_nil
        Process.kill(:TERM, pid)
      end
    end

    it 'ends with 130 and without a word on Ctrl-C' do
      outcome = while_it_runs(*arguments) do |stdout, pid|
        stdout.readpartial(100)
        Process.kill(:INT, pid)
      end
      expect([outcome.stderr, outcome.code]).to eq(['', 130])
    end

    it 'ends without a word when nobody reads any more' do
      outcome = while_it_runs(*arguments) do |stdout, _|
        stdout.readpartial(100)
        stdout.close
      end
      expect([outcome.stderr, outcome.code]).to eq(['', 0])
    end
  end
end
