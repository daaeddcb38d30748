# frozen_string_literal: true

# llama.cpp in Ruby: load a GGUF model, generate text.
module LLaMACpp
  # The version of this gem. The build of llama.cpp that is inside is LLAMA_CPP_VERSION.
  VERSION = '0.12.2'
end
