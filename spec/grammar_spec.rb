# frozen_string_literal: true

RSpec.describe LLaMACpp::Grammar do
  end_ = [LLaMACpp::LLAMA_GRETYPE_END, 0]
  alt = [LLaMACpp::LLAMA_GRETYPE_ALT, 0]

  # A rule of `[type, value]`, or of the characters of a String.
  def rule(*elements)
    elements.flat_map { |element| element.is_a?(String) ? element.chars.map { |c| [3, c.ord] } : [element] }
            .map { |type, value| LLaMACpp::GrammarElement.new(type:, value:) }
  end

  def grammar(*rules, start: 0)
    described_class.new(rules:, start_rule_index: start)
  end

  def self.ref(index)
    [LLaMACpp::LLAMA_GRETYPE_RULE_REF, index]
  end

  # Whether the text may be said, and may end there. A byte is a token of the tiny model.
  def accepts?(grammar, text)
    context = (@context ||= new_context)
    matcher = grammar.dup
    text.each_byte { |byte| context.grammar_accept_token(grammar: matcher, token: byte + 3) }
    matcher.may_end?
  rescue RuntimeError
    nil
  end

  describe '.new' do
    it 'takes the rules that it shows again' do
      made = grammar(rule('ab', alt, ref_to(1), end_of_rule), rule('c', end_of_rule), start: 0)
      expect(made.rules.map { |r| r.map { |e| [e.type, e.value] } })
        .to eq([[[3, 97], [3, 98], [1, 0], [2, 1], [0, 0]], [[3, 99], [0, 0]]])
      expect([made.start_rule_index, made.inspect]).to eq([0, '#<LLaMACpp::Grammar rules: 2, may_end: false>'])
    end

    def ref_to(index) = self.class.ref(index)
    def end_of_rule = [LLaMACpp::LLAMA_GRETYPE_END, 0]

    it 'starts with the rule that is asked for' do
      made = grammar(rule('a', end_of_rule), rule('b', end_of_rule), start: 1)
      expect([accepts?(made, 'b'), accepts?(made, 'a')]).to eq([true, nil])
    end

    it 'follows sequences, alternatives, references and repetition by recursion' do
      # root ::= "a" root | "b"
      made = grammar(rule('a', ref_to(0), [1, 0], 'b', end_of_rule))
      expect(%w[b ab aaab a aa ba].map { |text| accepts?(made, text) }).to eq([true, true, true, false, false, nil])
    end

    it 'follows classes, ranges and their negation' do
      # [a-cx] [^0-9]
      made = grammar(rule([3, 97], [5, 99], [6, 120], [4, 48], [5, 57], end_of_rule))
      expect(%w[bz x! d! a5].map { |text| accepts?(made, text) }).to eq([true, true, nil, nil])
    end

    it 'lets an empty rule end at once' do
      expect(accepts?(grammar(rule(end_of_rule)), '')).to be(true)
    end

    it 'does not look at its elements again' do
      elements = rule('a', end_of_rule)
      made = grammar(elements)
      elements.first.value = 'b'.ord
      elements.clear
      GC.start
      expect([accepts?(made, 'a'), made.rules.first.size]).to eq([true, 2])
    end
  end

  describe 'a wrong grammar' do
    {
      'no rules' => [[], 0, 'a grammar needs at least one rule'],
      'a start outside' => [[[end_]], 1, 'the start rule is 1, but there are 1 rules: expected 0 to 0'],
      'a rule without elements' => [[[]], 0, 'rule 0, the rule has no elements: expected at least END'],
      'a rule without END' => [[['a']], 0, 'rule 0, the rule ends with CHAR: expected END as the last element'],
      'an END in the middle' => [[[end_, end_]], 0, 'rule 0, element 0, END before the last of 2 elements: expected ' \
                                                    'it only there'],
      'a reference outside' => [[[ref(5), end_]], 0, 'rule 0, element 0, RULE_REF to rule 5, but there are 1 rules: ' \
                                                     'expected 0 to 0'],
      'an upper end of nothing' => [[[[5, 97], end_]], 0, /\Arule 0, element 0, CHAR_RNG_UPPER continues nothing/],
      'an alternative of nothing' => [[[[6, 97], end_]], 0, /\Arule 0, element 0, CHAR_ALT continues nothing/],
      'a reversed range' => [[[[3, 122], [5, 97], end_]], 0, /\Arule 0, element 1, the range from U\+007A to U\+0061/],
      'no code point' => [[[[3, 0x110000], end_]], 0, /\Arule 0, element 0, 0x110000 is no code point/],
      'a rule that is itself' => [[[ref(0), end_]], 0, 'rule 0, element 0, the rule refers to itself before any ' \
                                                       'character (0 → 0): put a character before the reference'],
      'left recursion by way of others' => [[[ref(1), end_], [alt, ref(2), end_], [ref(0), end_]], 0,
                                            /\Arule 0, element 0, .* \(0 → 1 → 2 → 0\)/],
      'left recursion after an empty rule' => [[[ref(1), ref(0), end_], [end_]], 0, /the rule refers to itself/]
    }.each do |what, (rules, start, message)|
      it "is #{what}" do
        expect { grammar(*rules.map { |elements| rule(*elements) }, start:) }.to raise_error(ArgumentError, message)
      end
    end

    it 'is one with an unknown type' do
      [7, -1, 99].each do |type|
        expect { grammar(rule([type, 0], [0, 0])) }.to raise_error(ArgumentError, /\Arules\[0\]\[0\]: .*#{type}/)
      end
    end

    {
      { rules: nil } => 'rules must be an Array of Arrays of GrammarElement, got nil',
      { rules: [nil] } => 'rules[0] must be an Array of GrammarElement, got nil',
      { rules: [['x']] } => 'rules[0][0] must be a GrammarElement, got an instance of String',
      { start_rule_index: -1 } => 'start_rule_index is -1, it must be between 0 and 2147483647',
      { start_rule_index: nil } => 'start_rule_index must be an Integer, got nil'
    }.each do |wrong, message|
      it "is one with #{wrong}" do
        arguments = { rules: [rule([0, 0])], start_rule_index: 0, **wrong }
        expect { described_class.new(**arguments) }.to raise_error(ArgumentError, message)
      end
    end

    it 'is one without its keywords' do
      expect { described_class.new }.to raise_error(ArgumentError, 'missing keywords: :rules, :start_rule_index')
    end
  end

  describe '.from_gbnf' do
    {
      'root ::= "yes" | "no"' => [%w[yes no], %w[ye y], %w[maybe yess]],
      'root ::= [a-c]+ "!"?' => [%w[a abc! ccc], [''], %w[d ! a!!]],
      "root ::= pair*\npair ::= [0-9] \",\"" => [['', '1,2,'], ['1'], [',']],
      'root ::= ("ab" | "c")* "é"' => [%w[é abé cabé], %w[ab], %w[b]],
      'root ::= [^"\\\\]* "\\n"' => [%W[x\n \n], ['x'], ['"']],
      "# note\nroot ::= a b # more\na ::= \"1\"\nb ::= a a" => [%w[111], %w[11], %w[2]]
    }.each do |text, (whole, begun, forbidden)|
      it "reads #{text.inspect}" do
        made = described_class.from_gbnf(text)
        expect(whole.map { |t| accepts?(made, t) }).to eq([true] * whole.size)
        expect(begun.map { |t| accepts?(made, t) }).to eq([false] * begun.size)
        expect(forbidden.map { |t| accepts?(made, t) }).to eq([nil] * forbidden.size)
      end
    end

    it 'starts with another rule if asked to' do
      made = described_class.from_gbnf("root ::= \"a\"\nother ::= \"b\"", root: 'other')
      expect([accepts?(made, 'b'), accepts?(made, 'a')]).to eq([true, nil])
    end

    {
      'root ::= ("a"' => /\Aline 1, column 10: expected \) to close this group/,
      "root ::= \"a\"\nx ::= [b" => /\Aline 2, column /,
      "root ::= missing\n" => /\Aline 1, column 10: .*missing/,
      'root ::= root' => /\Aline 1, column 10: the rule refers to itself before any character \(root → root\)/,
      'root = "a"' => /\Aline 1, column /,
      '' => /root/,
      'other ::= "a"' => /root/
    }.each do |text, message|
      it "refuses #{text.inspect}, saying where" do
        expect { described_class.from_gbnf(text) }.to raise_error(ArgumentError, message)
      end
    end

    it 'refuses what is no text' do
      expect { described_class.from_gbnf(nil) }.to raise_error(ArgumentError, 'text must be a String, got nil')
      expect { described_class.from_gbnf('root ::= "a"', root: 1) }
        .to raise_error(ArgumentError, 'root must be a String, got 1 (Integer)')
      expect { described_class.from_gbnf("root ::= \"\xFF\"") }
        .to raise_error(ArgumentError, 'text is not valid UTF-8 at byte 10')
    end

    Dir[File.join(Models::ROOT, 'vendor/llama.cpp/grammars/*.gbnf')].each do |path|
      it "reads llama.cpp's #{File.basename(path)}" do
        made = described_class.from_gbnf(File.read(path))
        expect(made.rules.map { |r| r.last.type }.uniq).to eq([LLaMACpp::LLAMA_GRETYPE_END])
        # What it shows makes the same grammar.
        expect(described_class.new(rules: made.rules, start_rule_index: made.start_rule_index).rules.size)
          .to eq(made.rules.size)
      end
    end

    it 'makes an instance of a subclass' do
      subclass = Class.new(described_class)
      expect(subclass.from_gbnf('root ::= "a"').class).to equal(subclass)
    end
  end

  it 'is copied with the place where it stands' do
    made = described_class.from_gbnf('root ::= "ab"')
    context = new_context
    context.grammar_accept_token(grammar: made, token: 'a'.ord + 3)
    copies = [made.dup, made.clone]
    context.grammar_accept_token(grammar: made, token: 'b'.ord + 3)
    expect([made.may_end?, *copies.map(&:may_end?)]).to eq([true, false, false])
    expect(copies.map { |copy| accepts?(copy, 'b') }).to eq([true, true])
  end

  it 'does not go on when frozen' do
    made = described_class.from_gbnf('root ::= "ab"').freeze
    expect { new_context.grammar_accept_token(grammar: made, token: 'a'.ord + 3) }.to raise_error(FrozenError)
    expect([made.may_end?, accepts?(made, 'ab')]).to eq([false, true])
  end

  it 'is of no use when only allocated, and is initialized once' do
    raw = described_class.allocate
    message = 'the grammar was allocated, but not initialized: make it with new'
    %i[rules start_rule_index may_end?].each do |name|
      expect { raw.public_send(name) }.to raise_error(RuntimeError, message)
    end
    expect { new_context.grammar_accept_token(grammar: raw, token: 3) }.to raise_error(RuntimeError, message)
    expect(raw.inspect).to eq('#<LLaMACpp::Grammar uninitialized>')
    raw.send(:initialize, rules: [rule('a', [0, 0])], start_rule_index: 0)
    expect { raw.send(:initialize, rules: [rule('b', [0, 0])], start_rule_index: 0) }
      .to raise_error(RuntimeError, 'the grammar is initialized already')
    expect(accepts?(raw, 'a')).to be(true)
  end

  it 'can be subclassed' do
    subclass = Class.new(described_class) { def initialize(rule) = super(rules: [rule], start_rule_index: 0) }
    made = subclass.new(rule('a', [0, 0]))
    expect([made.class, made.dup.class, accepts?(made, 'a')]).to eq([subclass, subclass, true])
  end

  it 'takes 20,000 nested rules' do
    rules = Array.new(20_000) { |i| rule([2, i + 1], [0, 0]) } << rule('a', [0, 0])
    expect(accepts?(grammar(*rules), 'a')).to be(true)
  end

  it 'refuses what grows without end, in time' do
    # Every text has more ways to be read than there are atoms.
    text = "root ::= a a a a a a\na ::= \"x\"? a? a? a? \"x\""
    start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    begin
      accepts?(described_class.from_gbnf(text), 'x' * 200)
    rescue ArgumentError, RuntimeError => e
      expect(e.message).to match(/ambiguous|itself/)
    end
    expect(Process.clock_gettime(Process::CLOCK_MONOTONIC) - start).to be < 20
  end
end
