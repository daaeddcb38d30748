# frozen_string_literal: true

module LLaMACpp
  # An element of a grammar's rule.
  class GrammarElement
    # @param type [Integer] one of +LLAMA_GRETYPE_…+
    # @param value [Integer] a code point, or the index of a rule
    # @raise [ArgumentError] for a wrong kind of value
    # @example
    #   element = LLaMACpp::GrammarElement.new(type: LLaMACpp::LLAMA_GRETYPE_CHAR, value: 'a'.ord)
    #   element.value #=> 97
    def initialize(type: 0, value: 0)
      native_init(type, value)
    end

    # @!attribute [rw] type
    #   @return [Integer] one of +LLAMA_GRETYPE_…+; another number is refused when a grammar is made of it
    #   @example
    #     element = LLaMACpp::GrammarElement.new
    #     element.type = LLaMACpp::LLAMA_GRETYPE_ALT
    #     element.type #=> 1

    # @!attribute [rw] value
    #   @return [Integer] a code point, or the index of a rule
    #   @example
    #     element = LLaMACpp::GrammarElement.new
    #     element.value = 'z'.ord
    #     element.value #=> 122

    # @return [String] type and value
    # @example
    #   LLaMACpp::GrammarElement.new(type: 3, value: 97).inspect #=> "#<LLaMACpp::GrammarElement type: 3, value: 97>"
    def inspect
      "#<#{self.class} type: #{type}, value: #{value}>"
    end
  end

  # Which texts are allowed. {Context#sample_grammar} makes the tokens impossible that cannot come next,
  # {Context#grammar_accept_token} goes on by one.
  #
  # A grammar remembers where it stands: use a new one, or a +dup+ of one that has accepted nothing, for each text.
  class Grammar
    # @param rules [Array<Array<GrammarElement>>] the rules, each with an END at its end
    # @param start_rule_index [Integer] the rule to begin with
    # @raise [ArgumentError] when the rules are malformed, or can never come to an end
    # @example
    #   include LLaMACpp
    #   digit = [GrammarElement.new(type: LLAMA_GRETYPE_CHAR, value: '0'.ord),
    #            GrammarElement.new(type: LLAMA_GRETYPE_CHAR_RNG_UPPER, value: '9'.ord),
    #            GrammarElement.new(type: LLAMA_GRETYPE_END)]
    #   Grammar.new(rules: [digit], start_rule_index: 0).may_end? #=> false
    def initialize(rules:, start_rule_index:)
      native_init(rules, start_rule_index)
    end

    # Reads llama.cpp's notation for grammars (GBNF).
    #
    # @param text [String] rules like <tt>root ::= "yes" | "no"</tt>
    # @param root [String] the rule to begin with
    # @return [Grammar]
    # @raise [ArgumentError] naming line and column of what is wrong
    # @example
    #   LLaMACpp::Grammar.from_gbnf('root ::= "yes" | "no"').may_end? #=> false
    def self.from_gbnf(text, root: 'root')
      native_from_gbnf(text, root)
    end
    private_class_method :native_from_gbnf

    # @!method rules
    #   @return [Array<Array<GrammarElement>>] copies of the rules, each with an END at its end
    #   @example
    #     rules = LLaMACpp::Grammar.from_gbnf('root ::= "yes"').rules
    #     rules.first.map(&:value) #=> [121, 101, 115, 0]

    # @!method start_rule_index
    #   @return [Integer] the rule that it begins with
    #   @example
    #     LLaMACpp::Grammar.from_gbnf('root ::= "yes"').start_rule_index #=> 0

    # @!method may_end?
    #   @return [Boolean] whether what was accepted so far is a whole text
    #   @example
    #     LLaMACpp::Grammar.from_gbnf('root ::= "yes"').may_end? #=> false
    #     LLaMACpp::Grammar.from_gbnf('root ::= "yes"?').may_end? #=> true

    # @return [String] how many rules it has, and whether the text may end
    # @example
    #   LLaMACpp::Grammar.from_gbnf('root ::= "yes"').inspect #=> "#<LLaMACpp::Grammar rules: 1, may_end: false>"
    def inspect
      "#<#{self.class} rules: #{rules.size}, may_end: #{may_end?}>"
    rescue RuntimeError
      "#<#{self.class} uninitialized>"
    end
  end
end
