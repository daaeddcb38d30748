# frozen_string_literal: true

require_relative 'public_api'

# Compares type signatures with the module that they are about, both ways.
class Signatures
  FOLDER = File.expand_path('../../sig', __dir__)

  # @param root [Module] what the signatures are about
  # @param folder [String] where they are
  # @param core [Boolean] whether they build on those of Ruby itself
  def initialize(root = LLaMACpp, folder = FOLDER, core: true)
    require 'rbs'
    require 'rbs/test'
    @root = root
    loader = core ? RBS::EnvironmentLoader.new : RBS::EnvironmentLoader.new(core_root: nil)
    loader.add(path: Pathname(folder))
    @environment = RBS::Environment.from_loader(loader).resolve_type_names
    @builder = RBS::DefinitionBuilder.new(env: @environment)
  end

  # @return [Array<String>] what does not agree, one sentence each
  def differences
    modules = PublicApi.modules(@root)
    compare_names('module', modules.map(&:name), declared(@environment.class_decls)) +
      constant_differences(modules) + modules.select { |mod| declared?(mod) }.flat_map { |mod| method_differences(mod) }
  end

  # @param entry [PublicApi::Entry]
  # @return [Boolean] whether the method has a signature
  def include?(entry)
    declared?(entry.owner) && signatures(entry.owner, entry.kind).key?(entry.name)
  end

  private

  def type_name(mod)
    RBS::TypeName.new(name: mod.name.split('::').last.to_sym,
                      namespace: RBS::Namespace.parse("::#{mod.name.rpartition('::').first}").absolute!)
  end

  def declared?(mod)
    @environment.class_decls.key?(type_name(mod))
  end

  # The names under the root that a table of declarations has.
  def declared(declarations)
    names = declarations.keys.map { |name| name.to_s.delete_prefix('::') }
    names.select { |name| name == @root.name || name.start_with?("#{@root.name}::") }
  end

  def compare_names(kind, live, signed)
    (live - signed).map { |name| "#{kind} #{name} has no signature" } +
      (signed - live).map { |name| "#{kind} #{name} has a signature, but does not exist" }
  end

  def constant_differences(modules)
    live = modules.flat_map { |mod| plain_constants(mod) }
    table = @environment.constant_decls.transform_keys { |name| name.to_s.delete_prefix('::') }
    compare_names('constant', live, declared(@environment.constant_decls)) + (live & table.keys).filter_map do |name|
      type = table.fetch(name).decl.type
      "constant #{name} is no #{type}" unless type_check.value(Object.const_get(name), type)
    end
  end

  # Those that are no modules by these names.
  def plain_constants(mod)
    names = mod.constants(false).map { |name| "#{mod.name}::#{name}" }
    names.reject { |name| (value = Object.const_get(name)).is_a?(Module) && value.name == name }
  end

  def type_check
    RBS::Test::TypeCheck.new(self_class: Object, builder: @builder, sample_size: nil, unchecked_classes: [])
  end

  def method_differences(mod)
    entries = PublicApi.methods_of(mod)
    module_function_differences(mod) + %i[instance singleton].flat_map do |kind|
      live = entries.select { |entry| entry.kind == kind }
      signed = signatures(mod, kind)
      names = signed.keys.map { |name| PublicApi::Entry.new(mod, kind, name) }
      compare_names('method', live.map(&:to_s), names.map(&:to_s)) + (live & names).flat_map do |entry|
        MethodSignature.new(entry.method, signed.fetch(entry.name)).differences(entry)
      end
    end
  end

  # What `module_function` makes, which `def self?.name` declares.
  def module_function_differences(mod)
    live = mod.singleton_methods(false) & mod.private_instance_methods(false)
    signed = own_methods(mod, :instance).select { |_, method| module_function?(method) }.keys
    compare_names('module function', live.map { |name| "#{mod}.#{name}" }, signed.map { |name| "#{mod}.#{name}" })
  end

  # The methods that are declared in the module itself, without the private halves of module functions.
  def signatures(mod, kind)
    own_methods(mod, kind).reject { |name, method| name == :new || (kind == :instance && module_function?(method)) }
  end

  def own_methods(mod, kind)
    definition = kind == :instance ? @builder.build_instance(type_name(mod)) : @builder.build_singleton(type_name(mod))
    definition.methods.select { |_, method| method.implemented_in == type_name(mod) }
  end

  def module_function?(method)
    members = method.defs.map(&:member)
    members.any? { |member| member.respond_to?(:kind) && member.kind == :singleton_instance }
  end

  # One method with its signature, which may have several overloads.
  class MethodSignature
    # @param method [Method, UnboundMethod]
    # @param signature [RBS::Definition::Method]
    def initialize(method, signature)
      @parameters = method.parameters.group_by(&:first).transform_values { |list| list.map { |_, name| name } }
      @native = method.source_location.nil?
      @functions = signature.method_types.map(&:type)
      @blocks = signature.method_types.map(&:block)
    end

    # @return [Array<String>]
    def differences(name)
      [positional_difference, *name_differences, keyword_difference('required', :keyreq, required_keywords),
       keyword_difference('optional', :key, all_keywords - required_keywords), rest_difference,
       ('takes a block, the signature does not' if @parameters.key?(:block) && @blocks.none?)]
        .compact.map { |text| "#{name} #{text}" }
    end

    private

    def live(kind)
      @parameters.fetch(kind, [])
    end

    # The fewest and the most arguments; no most when there is a rest.
    def positional_difference
      fewest = live(:req).size
      most = fewest + live(:opt).size unless @parameters.key?(:rest)
      signed_fewest = @functions.map { |function| required_positionals(function).size }.min
      signed_most = @functions.map { |function| all_positionals(function).size }.max
      signed_most = nil if @functions.any?(&:rest_positionals)
      return if [fewest, most] == [signed_fewest, signed_most]

      "takes #{fewest..most} arguments, by its signature #{signed_fewest..signed_most}"
    end

    # Names are optional in signatures, and natives have none.
    def name_differences
      return [] if @native

      actual = live(:req) + live(:opt)
      pairs = @functions.flat_map { |function| actual.zip(all_positionals(function).map(&:name)) }
      pairs.select { |pair| pair.all? && pair.uniq.size == 2 }
           .map { |real, signed| "has the argument #{real}, by its signature #{signed}" }
    end

    def keyword_difference(description, kind, signed)
      return if live(kind).sort == signed.sort

      "has the #{description} keywords #{live(kind).sort}, by its signature #{signed.sort}"
    end

    # What every overload asks for.
    def required_keywords
      @functions.map { |function| function.required_keywords.keys }.reduce(:&)
    end

    def all_keywords
      @functions.flat_map { |function| function.required_keywords.keys | function.optional_keywords.keys }.uniq
    end

    def rest_difference
      return if @parameters.key?(:keyrest) == @functions.any?(&:rest_keywords)

      'takes any keyword, or its signature does'
    end

    def required_positionals(function)
      function.required_positionals + function.trailing_positionals
    end

    def all_positionals(function)
      function.required_positionals + function.optional_positionals + function.trailing_positionals
    end
  end
  private_constant :MethodSignature
end
