# frozen_string_literal: true

require 'rbconfig'

# Checks that take too long for every day: they run when they are asked for by name. docs/safety.md tells about them.
module SafetyChecks
  SUPPRESSIONS = 'spec/support/valgrind.supp'

  # What runs in one process, without programs of its own. Under valgrind and AddressSanitizer it takes minutes.
  NATIVE_SPECS = %w[batch context grammar lora model sampling session token_data token_data_array]
                 .map { |name| "spec/#{name}_spec.rb" }.freeze

  # Nothing is learnt from the collector's modes where the work is done in other processes.
  COLLECTOR_SPECS = "spec/{#{%w[batch chat constants context context_params defects embedding fragmented_cache generate
                                grammar grammar_element lifetime log lora model model_kv_override model_params
                                model_quantize_params module_functions parameters recorded sampling session stream
                                surface text_stream timings token_data token_data_array].join(',')}}_spec.rb".freeze

  def self.valgrind
    ['valgrind', '--quiet', '--error-limit=no', '--error-exitcode=9', "--suppressions=#{SUPPRESSIONS}",
     RbConfig.ruby, '-S', 'rspec', *NATIVE_SPECS]
  end

  ALL = {
    'arguments' => %w[env LLAMA_CPP_ARGUMENTS=all rspec spec/arguments_spec.rb],
    'gc-stress' => ['env', 'LLAMA_CPP_GC=stress', 'rspec', '--pattern', COLLECTOR_SPECS],
    'gc-compact' => ['env', 'LLAMA_CPP_GC=compact', 'rspec', '--pattern', COLLECTOR_SPECS],
    'valgrind' => valgrind,
    'asan' => [RbConfig.ruby, 'bin/support/asan.rb', *NATIVE_SPECS],
    'fuzz' => %w[bin/fuzz models --count 20000]
  }.freeze
end
