# frozen_string_literal: true

require_relative 'callable'
require_relative 'values'

module Arguments
  # A call with one thing wrong: an argument, or the receiver (then `slot` is nil).
  Trial = Struct.new(:callable, :slot, :code) do
    # @return [Boolean] whether it makes an object
    def construction?
      !slot.nil? && callable.constructor?
    end

    def to_s
      slot ? "#{callable}(#{slot.name || slot.key}: #{code})" : "#{callable} of one that is #{code}"
    end
  end

  # All calls that are tried, in an order that stays.
  module Trials
    # @return [Array<Trial>]
    def self.all
      @all ||= SignatureReader.read.flat_map { |callable| arguments(callable) + receivers(callable) }
    end

    # A share of them, in which each argument and each value has its turn.
    #
    # @param every [Integer] 1 for all, 7 for one of seven
    # @return [Array<Trial>]
    def self.some(every)
      all.each_slice(every).map(&:first)
    end

    def self.arguments(callable)
      callable.slots.product(Values::ALL).map { |slot, code| Trial.new(callable, slot, code) }
    end

    def self.receivers(callable)
      return [] if callable.kind == :singleton || callable.owner == 'LLaMACpp::Parameters'

      # A Chat is Ruby throughout: one without its variables is Ruby's own affair.
      codes = callable.owner == 'LLaMACpp::Chat' ? Values::RECEIVERS - ['allocated'] : Values::RECEIVERS
      codes.map { |code| Trial.new(callable, nil, code) }
    end
    private_class_method :arguments, :receivers
  end
end
