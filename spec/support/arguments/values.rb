# frozen_string_literal: true

require_relative 'maker'

module Arguments
  # What no argument should be, or hardly: each by the code that makes it. Code that mentions `samples` has the objects
  # of {Samples}.
  module Values # rubocop:disable Metrics/ModuleLength -- a list
    OBJECTS = %w[
      nil true false Object.new BasicObject.new :symbol String proc{} 0..1 Time.at(0) 1r Complex(0,1) ObjectSpace
      Maker.raising Maker.converting(:to_int,3) Maker.converting(:to_int,nil) Maker.converting(:to_str,"a")
      Maker.converting(:to_str,1) Maker.converting(:to_path,"a") Maker.converting(:to_path,nil)
      Maker.converting(:to_ary,[1]) Maker.converting(:to_ary,1) Maker.converting(:to_hash,{1=>1})
      Maker.converting(:call,nil) Maker.converting(:add,nil)
    ].freeze

    INTEGERS = %w[
      -1 0 1 2 3 4 65 512 513 640 641 1000 2**31-1 2**31 -2**31 -2**31-1 2**32-1 2**32 2**62 2**63-1 2**63 -2**63
      -2**63-1 2**64-1 2**64 10**100 -10**100
    ].freeze

    FLOATS = %w[Float::NAN Float::INFINITY -Float::INFINITY -0.0 1e-45 1e308 -1e308 3.5e38 0.5 -0.5 1.0 1.5e9].freeze

    # One in each line, as Ruby.
    TEXTS = <<~'RUBY'.lines(chomp: true).freeze
      ''
      "\0"
      "a\0b"
      "\xFF\xFE"
      "\xE2\x96"
      "\xFF".b
      "ü".encode("ISO-8859-1")
      "ü".encode("UTF-16LE")
      "ü".encode("UTF-32BE")
      "\xD8".dup.force_encoding("UTF-16LE")
      "a".dup.force_encoding("UTF-7")
      "あ".encode("EUC-JP")
      "あ".encode("ISO-2022-JP")
      (0..255).to_a.pack("C*")
      "a" * 100_000
      "(" * 20_000
      "a".freeze
      Maker.subclass("a")
      "root ::= root"
      "1"
      "."
      "/"
      "/nonexistent/a"
      "{% for i in x %}"
      "{{ messages }}"
      "%s%n"
      Maker.pipe
      /(a+)+$/
      /a/n
      /a/
    RUBY

    COLLECTIONS = <<~'RUBY'.lines(chomp: true).freeze
      []
      [nil]
      [[]]
      ["a"]
      [1]
      [-1]
      [640]
      [2**31]
      [2**64]
      [0.5]
      [Float::NAN]
      [Float::INFINITY]
      [1] * 100_000
      [0.1] * 256
      [1, 2, 3].freeze
      Maker.subclass([1, 2])
      Maker.recursive
      [BasicObject.new]
      [Object.new]
      ["\xFF"]
      [Maker.raising]
      [""]
      [LLaMACpp::TokenData.allocate]
      [LLaMACpp::ModelKVOverride.allocate]
      [[LLaMACpp::GrammarElement.allocate]]
      [[LLaMACpp::GrammarElement.new]]
      {}
      { nil => nil }
      { 1 => 0.5 }
      { 1 => Float::NAN }
      { 1 => -Float::INFINITY }
      { 2**40 => 1 }
      { -1 => 1.0 }
      { "a" => 1 }
      { 1 => 1 }.freeze
      (0...1000).to_h { |i| [i, 1.0] }
    RUBY

    CLASSES = %w[TokenData TokenDataArray Timings ModelKVOverride ModelParams ModelQuantizeParams Model Batch
                 GrammarElement Grammar ContextParams Context Chat].freeze

    NATIVES = (CLASSES.map { |name| "LLaMACpp::#{name}.allocate" } + <<~RUBY.lines(chomp: true)).freeze
      LLaMACpp::Model.new
      samples.freed_model
      samples.freed_context
      samples.context
      samples.context.model
      samples.vocabulary
      samples.candidates
      samples.candidates.freeze
      samples.emptied_candidates
      samples.impossible_candidates
      samples.batch
      samples.batch.dup
      samples.batch.freeze
      samples.empty_batch
      samples.embedding_batch
      samples.grammar
      samples.grammar.dup
      samples.grammar.freeze
      samples.ended_grammar
      samples.subclass_of(LLaMACpp::ModelParams)
      samples.subclass_of(LLaMACpp::ContextParams)
      samples.subclass_of(LLaMACpp::ModelQuantizeParams)
    RUBY

    # @return [Array<String>]
    ALL = (OBJECTS + INTEGERS + FLOATS + TEXTS + COLLECTIONS + NATIVES).freeze

    # What the receiver may be.
    RECEIVERS = ['allocated', 'frozen', 'dup', 'subclass', 'initialized twice', 'freed'].freeze

    # @param code [String] one of ALL
    # @param samples [Samples]
    # @return [Object] a new one
    def self.make(code, samples)
      MAKERS[code].call(samples)
    end

    MAKERS = Hash.new do |makers, code|
      makers[code] = module_eval(<<~RUBY, __FILE__, __LINE__ + 1)
        ->(samples) { #{code} } # ->(samples) { [nil] }
      RUBY
    end
    private_constant :MAKERS
  end
end
