# frozen_string_literal: true

module LLaMACpp
  class CLI
    # The names of the types of weights that a file can have, from llama.cpp's constants.
    module FileTypes
      PREFIX = /\ALLAMA_FTYPE_(MOSTLY|ALL)_/
      private_constant :PREFIX

      module_function

      # @return [Hash{String => Integer}] like <tt>"Q4_K_M" => 15</tt>
      def all
        LLaMACpp.constants.grep(PREFIX).to_h { |name| [name.to_s.sub(PREFIX, ''), LLaMACpp.const_get(name)] }
      end

      # @param number [Integer] as +general.file_type+ has it
      # @return [String, nil]
      def name(number)
        all.key(number)
      end
    end
  end
end
