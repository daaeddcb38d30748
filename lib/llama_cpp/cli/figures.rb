# frozen_string_literal: true

module LLaMACpp
  class CLI
    # Large numbers as people say them.
    module Figures
      module_function

      # @param count [Integer]
      # @return [String] like <tt>1.5 M</tt>
      def count(count)
        scaled(count, ['', ' k', ' M', ' G', ' T'])
      end

      # @param count [Integer]
      # @return [String] like <tt>3.0 MB</tt>
      def bytes(count)
        scaled(count, [' B', ' kB', ' MB', ' GB', ' TB'])
      end

      def scaled(number, units)
        power = 0
        power += 1 while power < units.size - 1 && number >= 1000**(power + 1)
        value = number.to_f / (1000**power)
        "#{power.positive? && value < 10 ? value.round(1) : value.round}#{units[power]}"
      end
      private_class_method :scaled
    end
  end
end
