# frozen_string_literal: true

require_relative 'cargo'

module LlamaCppBuild
  # What the person who builds asked for, as features of the crate.
  #
  #   Options.parse(%w[--with-openblas --enable-portable]).features # => ["openblas", "portable"]
  class Options
    FEATURES = {
      '--enable-portable' => 'portable',
      '--with-openblas' => 'openblas',
      '--with-blis' => 'blis',
      '--with-cublas' => 'cublas',
      '--with-cuda' => 'cublas',
      '--with-metal' => 'metal',
      '--with-clblast' => 'clblast',
      '--with-hipblas' => 'hipblas'
    }.freeze

    DEBUG = '--with-debug'

    KNOWN = [*FEATURES.keys, DEBUG].freeze

    # llama.cpp holds one back end of each kind.
    EXCLUSIVE = {
      'GPU back ends' => %w[cublas metal clblast hipblas],
      'BLAS libraries' => %w[openblas blis]
    }.freeze

    # @return [Array<String>] names of Cargo features, each once, sorted
    attr_reader :features

    # @param arguments [Array<String>] the command line of extconf.rb
    # @param environment [Hash] LLAMA_CPP_PORTABLE=1 is the same as --enable-portable
    # @param platform [String]
    # @raise [Error] for an option that does not exist, or two that exclude each other
    def self.parse(arguments, environment: ENV, platform: RUBY_PLATFORM)
      unknown = arguments - KNOWN
      raise Error, "Unknown option #{unknown.first}; there are #{KNOWN.join(', ')}." unless unknown.empty?

      features = arguments.filter_map { |argument| FEATURES[argument] }
      features << 'portable' if environment['LLAMA_CPP_PORTABLE'] == '1'
      new(features.uniq.sort, debug: arguments.include?(DEBUG), platform:)
    end

    def initialize(features, debug:, platform:)
      @features = features
      @debug = debug
      refuse_two_of_a_kind
      return unless features.include?('metal') && !platform.include?('darwin')

      raise Error, "--with-metal needs macOS, and this is #{platform}: leave it out."
    end

    # @return [Boolean] whether to keep debug information
    def debug?
      @debug
    end

    # @return [String] the Cargo profile, which is also the name of its folder below target
    def profile
      debug? ? 'debugging' : 'release'
    end

    private

    def refuse_two_of_a_kind
      EXCLUSIVE.each do |kind, names|
        asked = features & names
        next if asked.size < 2

        raise Error, "#{asked.map { |name| "--with-#{name}" }.join(' and ')} exclude each other: llama.cpp can use " \
                     "only one of the #{kind}."
      end
    end
  end
end
