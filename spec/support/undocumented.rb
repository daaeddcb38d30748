# frozen_string_literal: true

require_relative 'documentation'
require_relative 'public_api'
require_relative 'signatures'

# The public methods of which something is missing: a sentence, an example, or a signature.
class Undocumented
  # @return [Array<String>] `LLaMACpp::Model#size: example, signature`; none when all is there
  def lines
    documentation = Documentation.new
    signatures = Signatures.new
    PublicApi.entries.filter_map do |entry|
      missing = documentation.missing(entry)
      missing << 'signature' unless signatures.include?(entry)
      "#{entry}: #{missing.join(', ')}" unless missing.empty?
    end
  end
end
