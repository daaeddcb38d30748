# frozen_string_literal: true

require 'fileutils'

module Bench
  # Compiles benchmark/driver.cpp over the vendored llama.cpp as llama.cpp's Makefile does it when it gets no options.
  module Driver
    SOURCE = File.expand_path('../driver.cpp', __dir__)
    LLAMA_CPP = File.expand_path('../../vendor/llama.cpp', __dir__)
    C_FILES = %w[ggml.c ggml-alloc.c ggml-backend.c ggml-quants.c].map { |name| File.join(LLAMA_CPP, name) }.freeze
    CPP_FILES = [File.join(LLAMA_CPP, 'llama.cpp'), SOURCE].freeze

    module_function

    # @return [Hash{Symbol => Array<String>}] the flags for C (+:c+) and for C++ (+:cpp+) of the Makefile, which prints
    #   them before it looks for the parts of llama.cpp that are not vendored
    def makefile_flags
      @makefile_flags ||= begin
        text = IO.popen(['make', '-C', LLAMA_CPP, '--dry-run', 'llama.o'], err: File::NULL, &:read)
        { c: 'I CFLAGS:', cpp: 'I CXXFLAGS:' }.transform_values do |label|
          line = text.lines.find { |candidate| candidate.start_with?(label) }
          raise "make does not tell the flags of #{LLAMA_CPP}/Makefile" unless line

          line.delete_prefix(label).split
        end
      end
    end

    # @param folder [String] where to build
    # @return [String] the path of the program
    def build(folder)
      program = File.join(folder, 'driver')
      return program if FileUtils.uptodate?(program, [*C_FILES, *CPP_FILES])

      FileUtils.mkdir_p(folder)
      objects = C_FILES.map { |path| compile(ENV.fetch('CC', 'cc'), :c, path, folder) } +
                CPP_FILES.map { |path| compile(ENV.fetch('CXX', 'c++'), :cpp, path, folder) }
      call(ENV.fetch('CXX', 'c++'), '-pthread', *objects, '-o', program)
      program
    end

    def compile(compiler, language, path, folder)
      object = File.join(folder, "#{File.basename(path)}.o")
      call(compiler, *makefile_flags.fetch(language), '-w', "-I#{LLAMA_CPP}", '-c', path, '-o', object)
      object
    end

    def call(*command)
      system(*command) || raise("#{command.first} failed")
    end
  end
end
