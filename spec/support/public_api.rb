# frozen_string_literal: true

# What a user of the gem can call, as the loaded classes have it.
module PublicApi
  # A method: `kind` is `:instance` or `:singleton`.
  Entry = Struct.new(:owner, :kind, :name) do
    # @return [Method, UnboundMethod]
    def method
      kind == :instance ? owner.instance_method(name) : owner.method(name)
    end

    # As people and YARD write it: `LLaMACpp::Model#size`.
    def to_s
      "#{owner}#{kind == :instance ? '#' : '.'}#{name}"
    end
  end

  module_function

  # The program llama_cpp: `require 'llama_cpp'` does not load it, but its own specs do.
  PROGRAM = %i[CLI].freeze

  # @return [Array<Module>] `root` and the modules that can be reached from it
  def modules(root = LLaMACpp)
    nested = (root.constants(false) - PROGRAM).map { |name| root.const_get(name) }.grep(Module)
    [root, *nested.select { |mod| mod.name.start_with?("#{root.name}::") }.flat_map { |mod| modules(mod) }].uniq
  end

  # @return [Array<Entry>] the public methods; `new` is described by `initialize`
  def methods_of(mod)
    instance = mod.public_instance_methods(false) | (mod.private_instance_methods(false) & [:initialize])
    instance.map { |name| Entry.new(mod, :instance, name) } +
      (mod.singleton_methods(false) - [:new]).map { |name| Entry.new(mod, :singleton, name) }
  end

  # @return [Array<Entry>] of all modules, in the order of their names
  def entries
    modules.flat_map { |mod| methods_of(mod) }.sort_by(&:to_s)
  end
end
