# frozen_string_literal: true

require_relative 'llama_cpp/version'
require_relative 'llama_cpp/log'
require_relative 'llama_cpp/llama_cpp'
require_relative 'llama_cpp/constants'
require_relative 'llama_cpp/module_functions'
require_relative 'llama_cpp/token_data'
require_relative 'llama_cpp/token_data_array'
require_relative 'llama_cpp/timings'
require_relative 'llama_cpp/model_kv_override'
require_relative 'llama_cpp/model_params'
require_relative 'llama_cpp/model'
require_relative 'llama_cpp/vocabulary'
require_relative 'llama_cpp/model_quantize_params'
require_relative 'llama_cpp/batch'
require_relative 'llama_cpp/grammar'
require_relative 'llama_cpp/context_params'
require_relative 'llama_cpp/context'
require_relative 'llama_cpp/kv_cache'
require_relative 'llama_cpp/sampling'
require_relative 'llama_cpp/generate'
require_relative 'llama_cpp/chat'
require_relative 'llama_cpp/embedding'

# A build for Metal reads the source of its kernels at run time.
if LLaMACpp.build_info[:flags].include?('METAL')
  ENV['GGML_METAL_PATH_RESOURCES'] ||= File.expand_path('../vendor/llama.cpp', __dir__)
end

LLaMACpp.backend_init
at_exit { LLaMACpp.backend_free }
