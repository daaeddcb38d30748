# frozen_string_literal: true

require 'open3'
require 'rbconfig'
require_relative 'cargo'

module LlamaCppBuild
  # What must be on the machine before a build can start: cargo, libclang, a C++ compiler, Ruby's headers.
  class Toolchain
    # The folders that clang-sys, which loads libclang for bindgen, looks into.
    LIBCLANG_FOLDERS = %w[
      /usr/local/llvm*/lib* /usr/local/lib*/*/* /usr/local/lib*/* /usr/local/lib*
      /usr/lib*/*/* /usr/lib*/* /usr/lib*
      /usr/local/opt/llvm*/lib /usr/local/opt/llvm*/lib/llvm*/lib
      /Library/Developer/CommandLineTools/usr/lib
      /Applications/Xcode.app/Contents/Developer/Toolchains/XcodeDefault.xctoolchain/usr/lib
    ].freeze

    LIBCLANG_NAMES = '{libclang.so,libclang-*.so,libclang.so.*,libclang-*.so.*,libclang.dylib}'

    # @param rust_version [String] the oldest Rust that will do
    # @param environment [Hash] looked at for CXX, CC, LIBCLANG_PATH and the like
    def initialize(rust_version:, cargo: Cargo.new, environment: ENV)
      @rust_version = rust_version
      @cargo = cargo
      @environment = environment
    end

    # @return [Array<String>] one sentence for each thing that is missing, and how to get it
    def problems
      [cargo_problem, libclang_problem, compiler_problem, headers_problem].compact
    end

    private

    def cargo_problem
      return Cargo::MISSING unless @cargo.present?
      return if @cargo.version.nil? || @cargo.version >= Gem::Version.new(@rust_version)

      "Rust #{@cargo.version} is too old: install Rust #{@rust_version} or later, for instance by `rustup update`."
    end

    def libclang_problem
      return if libclang_folders.any? { |folder| libclang_in?(folder) }

      'libclang was not found: install it (Debian, Ubuntu: libclang-dev; Fedora: clang-devel; ' \
        'macOS: xcode-select --install), or name its folder in LIBCLANG_PATH.'
    end

    def libclang_folders
      # clang-sys looks nowhere else when this is set.
      return [path('LIBCLANG_PATH')] if path('LIBCLANG_PATH')

      [llvm_config_folder, *paths('LD_LIBRARY_PATH'), *paths('LIBRARY_PATH'), *LIBCLANG_FOLDERS].compact
    end

    def libclang_in?(folder)
      return true if File.file?(folder) && File.basename(folder).start_with?('libclang')

      # libclang-cpp is another library.
      Dir.glob(File.join(folder, LIBCLANG_NAMES)).any? { |file| !file.include?('-cpp.') }
    end

    def llvm_config_folder
      output, status = Open3.capture2(path('LLVM_CONFIG_PATH') || 'llvm-config', '--libdir', err: File::NULL)
      output.strip if status.success?
    rescue SystemCallError
      nil
    end

    # The names that the crate `cc` would take.
    def compiler_problem
      return if compiles?(path('CXX') || 'c++', 'c++', "#include <thread>\nint main() { return 0; }\n") &&
                compiles?(path('CC') || 'cc', 'c', "#include <pthread.h>\nint main(void) { return 0; }\n")

      'A C and C++ compiler was not found: install one (Debian, Ubuntu: g++; Fedora: gcc-c++; ' \
        'macOS: xcode-select --install), or name one that works in CC and CXX.'
    end

    def compiles?(compiler, language, program)
      _, status = Open3.capture2e(*compiler.split, '-fsyntax-only', '-x', language, '-', stdin_data: program)
      status.success?
    rescue SystemCallError
      false
    end

    def headers_problem
      return if File.file?(File.join(RbConfig::CONFIG['rubyhdrdir'], 'ruby.h'))

      "The headers of Ruby #{RUBY_VERSION} were not found: install them (Debian, Ubuntu: ruby-dev; Fedora: ruby-devel)."
    end

    def path(name)
      value = @environment[name]
      value unless value.nil? || value.empty?
    end

    def paths(name)
      (path(name) || '').split(File::PATH_SEPARATOR)
    end
  end
end
