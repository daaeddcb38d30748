# frozen_string_literal: true

RSpec.describe 'llama_cpp tokenize' do
  it 'prints the tokens with what they stand for' do
    expect(with_tiny('tokenize', 'The capital of France is').to_a).to eq([<<~TEXT, '', 0])
      1\t<s>
      262\t" The"
      299\t" capital"
      268\t" of"
      410\t" Fr"
      306\t"an"
      316\t"ce"
      266\t" is"
    TEXT
  end

  it 'takes standard input, without the newline at its end' do
    expected = with_tiny('tokenize', "a\nb")
    expect(with_tiny('tokenize', stdin: "a\nb\n")).to eq(expected)
    expect(with_tiny('tokenize', '-', stdin: "a\nb")).to eq(expected)
  end

  it 'shows the bytes of a character that is not in the vocabulary' do
    expect(with_tiny('tokenize', '--no-bos', '😀').stdout.lines(chomp: true).last(4))
      .to eq(["243\t\"\\xF0\"", "162\t\"\\x9F\"", "155\t\"\\x98\"", "131\t\"\\x80\""])
  end

  it 'counts them' do
    expect(with_tiny('tokenize', '--count', 'The capital of France is').stdout).to eq("8\n")
  end

  it 'prints them as JSON' do
    expect(with_tiny('tokenize', '--json', Models::FRANCE).stdout).to eq("[1,262,299,268,410,306,316,266]\n")
  end

  it 'takes special tokens for what they are when it is asked to' do
    expect(with_tiny('tokenize', '--json', '--no-bos', '--special', 'a</s>').stdout).to end_with(",2]\n")
    expect(with_tiny('tokenize', '--json', '--no-bos', 'a</s>').stdout).not_to end_with(",2]\n")
  end
end
