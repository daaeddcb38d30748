# frozen_string_literal: true

module LLaMACpp
  # An element of a grammar's rule.
  #
  # @!attribute [rw] type
  #   @return [Integer] one of +LLAMA_GRETYPE_…+
  # @!attribute [rw] value
  #   @return [Integer] a code point, or the index of a rule
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

    # @return [String]
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

    # @return [String]
    def inspect
      "#<#{self.class} rules: #{rules.size}, may_end: #{may_end?}>"
    rescue RuntimeError
      "#<#{self.class} uninitialized>"
    end
  end
end
