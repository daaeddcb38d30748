# frozen_string_literal: true

module Arguments
  # Makes the stranger ones of {Values}.
  module Maker
    # Answers a conversion with something else.
    def self.converting(name, answer)
      Object.new.tap { |object| object.define_singleton_method(name) { answer } }
    end

    # Raises when it is converted, compared or shown.
    def self.raising
      Object.new.tap do |object|
        %i[to_int to_str to_path to_ary to_hash to_f inspect to_s].each do |name|
          object.define_singleton_method(name) { raise IOError, 'raised by a conversion' }
        end
      end
    end

    # An Array that is its own element.
    def self.recursive
      [].tap { |array| array << array }
    end

    def self.subclass(value)
      Class.new(value.class).new(value)
    end

    # A named pipe that nobody writes to.
    def self.pipe
      'pipe'.tap { |path| File.mkfifo(path) unless File.exist?(path) }
    end
  end
end
