# frozen_string_literal: true

require_relative 'documented_example'
require_relative 'public_api'

# What the comments in lib/ say, as YARD reads them.
class Documentation
  ROOT = File.expand_path('../..', __dir__)

  # @param files [Array<String>] Ruby files
  def initialize(files = Dir[File.join(ROOT, 'lib', '**', '*.rb')])
    require 'yard'
    YARD::Registry.clear
    YARD.parse(files, [], YARD::Logger::ERROR)
  end

  # @return [Array<DocumentedExample>] of everything that is documented; an accessor has its example but once
  def examples
    YARD::Registry.all.flat_map { |object| examples_of(object) }.uniq(&:text)
  end

  # @return [Hash{Symbol => Object}] the constants of LLaMACpp that are documented, with the values that are stated
  def constants
    objects = YARD::Registry.all(:constant).select { |object| public_constant?(object) }
    objects.to_h { |object| [object.name, Object.new.instance_eval(object.value)] }
  end

  # @param entry [PublicApi::Entry]
  # @return [Array<String>] what is missing: documentation, an example, or both
  def missing(entry)
    object = YARD::Registry.at(entry.to_s)
    return %w[documentation example] unless object

    [('documentation' if blank?(object)), ('example' if object.tags(:example).empty?)].compact
  end

  private

  def public_constant?(object)
    object.namespace.path == 'LLaMACpp' && object.visibility == :public && !object.docstring.empty?
  end

  def examples_of(object)
    object.tags(:example).each_with_index.map do |tag, index|
      DocumentedExample.new(tag.text, "#{object.file}:#{object.line}, #{object.path} (#{index + 1})")
    end
  end

  # A sentence about what comes back is as good as one about what is done.
  def blank?(object)
    object.docstring.empty? && object.tags(:return).all? { |tag| tag.text.to_s.empty? }
  end
end
