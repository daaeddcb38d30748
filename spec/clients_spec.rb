# frozen_string_literal: true

require 'json'
require 'open3'
require 'rbconfig'

# The programs in spec/clients, written as for the gem 0.12.2, each run by itself.
RSpec.describe 'Clients' do
  def client(name, *arguments, stdin: '')
    command = [RbConfig.ruby, '-w', '-Ilib', "spec/clients/#{name}.rb", *arguments]
    stdout, stderr, status = Open3.capture3(*command, stdin_data: stdin, chdir: Models::ROOT)
    expect(status).to be_success, stderr
    [stdout, stderr]
  end

  def recorded(name)
    Recorded::CASES.fetch("tiny/#{name}").fetch('ok')
  end

  def numbers(line)
    line.split.map(&:to_f)
  end

  it 'are all run here' do
    names = Dir.children(File.join(Models::ROOT, 'spec', 'clients')).sort
    expect(names).to eq(%w[chat.rb completion.rb embeddings.rb grammar.rb quantize.rb session.rb shared_prefix.rb
                           two_contexts.rb])
  end

  ['The capital of France is', 'User: How are you?'].each do |prompt|
    it "completion goes on from #{prompt.inspect} token by token, as recorded" do
      stdout, stderr = client('completion', Models::TINY, prompt)
      expect(stdout.lines.last.split.map(&:to_i)).to eq(recorded("#{prompt}/greedy"))
      expect(stdout).to start_with("#{prompt} Paris.\n").or start_with("#{prompt}\nBob: I am fine, thank you.\nUser: ")
      expect(stderr).to eq('')
    end
  end

  it 'chat answers, however often its context of 64 tokens is full' do
    answers = {
      'How are you?' => 'I am fine, thank you.', 'What is the capital of Peru?' => 'The capital of Peru is Lima.',
      'Thank you.' => 'You are welcome.', 'What does the dog say?' => 'The dog says woof.',
      'What is the opposite of hot?' => 'The opposite of hot is cold.',
      'What is the capital of Italy?' => 'The capital of Italy is Rome.', 'What is 3 + 4?' => '3 + 4 = 7.',
      'What is the capital of Spain?' => 'The capital of Spain is Madrid.',
      'Good bye.' => 'Good bye. Have a nice day.'
    }
    stdout, stderr = client('chat', stdin: answers.keys.map { |question| "#{question}\n" }.join)
    turns = { 'Hello, Bob.' => 'Hello. How may I help you today?' }.merge(answers)
    expect(stdout.lines[0..-2].join).to eq(turns.map { |user, bob| "User: #{user}\nBob: #{bob}\n" }.join)

    tokens, shifts, cached = stdout.lines.last.scan(/\d+/).map(&:to_i)
    expect(tokens).to be > 3 * 64
    expect(shifts).to be > 3
    expect(cached).to be_between(32, 64)
    expect(stderr).to eq('')
  end

  it 'embeddings are the recorded ones, on one context as on a fresh one' do
    texts = ['The capital of France is', 'User: How are you?', 'The capital of France is']
    stdout, stderr = client('embeddings', Models::TINY, *texts)
    table, vectors = stdout.lines.each_slice(3).to_a
    texts.zip(vectors).each do |text, vector|
      expect(Recorded.same?(numbers(vector), recorded("#{text}/embeddings"))).to be(true), text
    end
    expect(vectors.first).to eq(vectors.last)
    expect(table.map { |line| numbers(line).first(3) }).to match([[1.0, be < 0.5, 1.0], [be < 0.5, 1.0, be < 0.5],
                                                                  [1.0, be < 0.5, 1.0]])
    expect(stderr).to eq('')
  end

  it 'two_contexts of one model do not disturb each other' do
    stdout, stderr = client('two_contexts')
    france = ["The capital of France is Paris.\n", 'The capital of France is']
    bob = ["User: How are you? Bob: I am fine, thank you.\n", 'User: How are you?']
    [france, bob, france].zip(stdout.lines.each_slice(2)).each do |(text, prompt), (line, vector)|
      expect(line).to eq(text)
      expect(Recorded.same?(numbers(vector), recorded("#{prompt}/embeddings"))).to be(true), prompt
    end
    expect(stderr.lines).to match([/two_contexts\.rb:\d+: warning: LLaMACpp::Context#eval is deprecated/] * 3)
  end

  it 'grammar makes any text go on as a JSON object' do
    ['The capital of France is', 'User: How are you?'].each do |prompt|
      stdout, stderr = client('grammar', Models::TINY, prompt)
      expect(JSON.parse(stdout.lines.first)).to match('name' => /\A[A-Za-z]+\z/, 'pet' => /\A[A-Za-z]+\z/,
                                                      'age' => be_between(0, 99))
      expect(stdout.lines[1..].map { |line| line[/\A\w+ is /] }).to eq(['name is ', 'pet is ', 'age is '])
      expect(stderr).to eq('')
    end
  end

  ['The capital of France is', 'User: How are you?'].each do |prompt|
    it "session goes on from #{prompt.inspect} as without one, and as recorded" do
      stdout, stderr = client('session', Models::TINY, prompt)
      n_tokens = Recorded::CASES.fetch("tiny/#{prompt}/tokens").fetch('ok').size + 12
      drawn = recorded("#{prompt}/sample_token").join(' ')
      expect(stdout).to eq("#{n_tokens} tokens loaded, #{n_tokens} in the cache\n" \
                           "without a session: #{drawn}\nwith a session:    #{drawn}\n")
      expect(stderr).to eq('')
    end
  end

  it 'shared_prefix gives each sequence what it gives alone' do
    # Prompts of 8 and of 9 tokens, the shared ones in both; of the 8 drawn for each the last was not decoded.
    expect(client('shared_prefix')).to eq([<<~TEXT, ''])
      4 tokens shared, 31 tokens of sequences in the cache
      The capital of France is Paris.  (as alone)
      The capital of Italy is Rome.  (as alone)
    TEXT
  end

  it 'quantize keeps the answer, with the recorded sizes' do
    stdout, stderr = client('quantize')
    lines = stdout.lines.map { |line| line.match(/\A(?<type>\w+) +(?<size>\d+) bytes: (?<text>.*)\n\z/) }
    expect(lines.map { |line| line[:type] }).to eq(%w[Q8_0 Q4_0 Q4_K_M Q5_K_M Q6_K])
    expect(lines.map { |line| line[:text] }.uniq).to eq(['The capital of France is Paris.'])
    sizes = lines.to_h { |line| [line[:type], line[:size].to_i] }
    recorded_sizes = %w[Q8_0 Q4_0 Q4_K_M Q6_K].to_h { |type| [type, recorded("quantize/#{type}").first] }
    expect(sizes).to match('Q5_K_M' => be_between(sizes['Q4_K_M'], sizes['Q6_K']), **recorded_sizes)
    expect(stderr).to eq('')
  end
end
