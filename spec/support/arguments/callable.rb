# frozen_string_literal: true

module Arguments
  # One argument: `key` is its position or its keyword.
  Slot = Struct.new(:key, :name, :type, :required) do
    # @return [Boolean]
    def keyword?
      key.is_a?(Symbol)
    end
  end

  # A method as a signature has it, one for each overload.
  Callable = Struct.new(:owner, :kind, :name, :slots) do
    # @return [String] like `LLaMACpp::Model#size`
    def to_s
      "#{owner}#{kind == :instance ? '#' : '.'}#{name}"
    end

    # @return [Boolean]
    def constructor?
      kind == :instance && name == :initialize
    end
  end

  # Reads signatures. Plain declarations are enough here: no type is looked up.
  class SignatureReader
    FILE = File.expand_path('../../../sig/llama_cpp.rbs', __dir__)

    # @return [Array<Callable>] every method of every class
    def self.read(file = FILE)
      require 'rbs'
      buffer = RBS::Buffer.new(name: file, content: File.read(file))
      declarations = Array(RBS::Parser.parse_signature(buffer)).flatten.grep(RBS::AST::Declarations::Module)
      declarations.flat_map { |declaration| new.module_callables(declaration, '') }
    end

    # @param declaration [RBS::AST::Declarations::Base] of a module or class
    # @param prefix [String] the names around it
    # @return [Array<Callable>]
    def module_callables(declaration, prefix)
      owner = "#{prefix}#{declaration.name}"
      declaration.members.flat_map do |member|
        case member
        when RBS::AST::Members::MethodDefinition then callables(owner, member)
        when RBS::AST::Members::Alias then alias_of(owner, declaration, member)
        when RBS::AST::Declarations::Class, RBS::AST::Declarations::Module then module_callables(member, "#{owner}::")
        else []
        end
      end
    end

    private

    def callables(owner, member, name = member.name)
      kind = member.kind == :instance ? :instance : :singleton
      functions(member).map { |function| Callable.new(owner, kind, name, slots(function)) }
    end

    def alias_of(owner, declaration, member)
      original = declaration.members.find do |other|
        other.is_a?(RBS::AST::Members::MethodDefinition) && other.name == member.old_name
      end
      callables(owner, original, member.new_name)
    end

    # The versions of RBS call them by different names.
    def functions(member)
      types = member.respond_to?(:overloads) ? member.overloads.map(&:method_type) : member.types
      types.map(&:type)
    end

    def slots(function)
      positional = [[function.required_positionals, true], [function.optional_positionals, false]]
                   .flat_map { |params, required| params.map { |param| [param, required] } }
      named = [[function.required_keywords, true], [function.optional_keywords, false]]
              .flat_map { |params, required| params.map { |name, param| [name, param, required] } }
      positional.each_with_index.map { |(param, required), i| Slot.new(i, param.name, param.type.to_s, required) } +
        named.map { |name, param, required| Slot.new(name, name, param.type.to_s, required) }
    end
  end
end
