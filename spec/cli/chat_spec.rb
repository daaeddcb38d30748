# frozen_string_literal: true

require 'tempfile'

RSpec.describe 'llama_cpp chat' do
  def chat(*arguments, **settings)
    with_tiny('chat', '--temperature', '0', *arguments, **settings)
  end

  it 'answers one message' do
    expect(chat('What is the capital of Peru?').to_a).to eq(["The capital of Peru is Lima.\n", '', 0])
  end

  it 'answers each line' do
    expect(chat(stdin: "What is the capital of Peru?\n\nHow are you?\n").to_a)
      .to eq(["The capital of Peru is Lima.\nI am fine, thank you.\n", '', 0])
    expect(chat('-', stdin: 'How are you?').stdout).to eq("I am fine, thank you.\n")
  end

  it 'answers what LLaMACpp::Chat answers' do
    lines = ['Hello, Bob.', 'What does the cow say?', 'Thank you.']
    chat = LLaMACpp::Chat.new(new_context(n_ctx: 256))
    expected = lines.map { |line| chat.say(line, temperature: 0) }
    expect(chat(stdin: lines.join("\n")).stdout.lines(chomp: true)).to eq(expected)
  end

  it 'begins again and ends when it is told to' do
    expect(chat(stdin: "How are you?\n/reset\nHow are you?\n/exit\nHow are you?\n").stdout)
      .to eq("I am fine, thank you.\n" * 2)
  end

  it 'takes bytes that are no text' do
    outcome = chat('-n', '4', stdin: "\xFF\xFE\n/exit\n")
    expect([outcome.stderr, outcome.code]).to eq(['', 0])
  end

  it 'takes a template by name or from a file' do
    Tempfile.create('template') do |file|
      file.write("{% for message in messages %}User: {{ message.content }}\n{% endfor %}Bob:")
      file.close
      expect(chat('--template', file.path, '--stop', 'User:', 'How are you?').stdout)
        .to eq("I am fine, thank you.\n")
    end
    expect(chat('--template', 'plain', 'How are you?').stdout).to eq("I am fine, thank you.\n")
  end

  it 'refuses a template that it does not have' do
    outcome = chat('--template', 'frob', 'a')
    expect(outcome.stderr).to start_with('llama_cpp chat: there is no chat template frob: give one of alpaca, chatml')
    expect([outcome.stdout, outcome.code]).to eq(['', 2])
  end

  it 'says in one line that a message is too long' do
    outcome = chat('--n-ctx', '32', 'one two three ' * 20)
    expect(outcome.stderr).to match(/\Allama_cpp chat: .*tokens.*\n\z/)
    expect(outcome.code).to eq(1)
  end

  describe 'on a terminal' do
    it 'asks, answers, and ends on Ctrl-D' do
      outcome = on_a_terminal('chat', '-m', Models::TINY, '--temperature', '0',
                              typed: [[/> /, "How are you?\n"], [/thank you\..*> /m, "\x04"]])
      expect(outcome.stdout).to start_with("\e[2m/reset begins again, /exit or Ctrl-D ends.\e[0m")
      expect(outcome.stdout).to include('I am fine, thank you.')
      expect(outcome.code).to eq(0)
    end

    it 'goes on after a message that is too long' do
      typed = [[/> /, "#{'one two three ' * 10}\n"], [/\e\[31m.*\e\[0m.*> /m, "How are you?\n"],
               [/thank you\..*> /m, "/exit\n"]]
      outcome = on_a_terminal('chat', '-m', Models::TINY, '--temperature', '0', '--n-ctx', '48', typed:)
      expect(outcome.stdout).to match(/\e\[31m.*tokens.*\e\[0m/).and include('I am fine, thank you.')
      expect(outcome.code).to eq(0)
    end

    it 'ends with 130 and without a backtrace on Ctrl-C' do
      outcome = on_a_terminal('chat', '-m', Models::TINY, typed: [[/> /, "\x03"]])
      expect(outcome.stdout).not_to match(/Interrupt|\.rb:/)
      expect(outcome.code).to eq(130)
    end
  end
end
