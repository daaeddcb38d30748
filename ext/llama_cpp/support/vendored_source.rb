# frozen_string_literal: true

require 'fileutils'
require 'json'
require 'tmpdir'
require_relative 'cargo'

module LlamaCppBuild
  # The source of llama.cpp in vendor/llama.cpp, laid out from the Cargo package that vendor/Cargo.toml pins.
  #
  # Cargo downloads the package (or takes it from its cache) and compares it with the checksum in vendor/Cargo.lock.
  # The folder appears by one rename, after everything is in it.
  class VendoredSource
    PACKAGE = 'llama-cpp-sys-2'

    # What the build compiles and includes, with and without a GPU.
    SOURCES = %w[
      LICENSE
      ggml-alloc.c ggml-alloc.h ggml-backend-impl.h ggml-backend.c ggml-backend.h
      ggml-cuda.cu ggml-cuda.h ggml-impl.h
      ggml-metal.h ggml-metal.m ggml-metal.metal
      ggml-opencl.cpp ggml-opencl.h
      ggml-quants.c ggml-quants.h ggml.c ggml.h
      llama.cpp llama.h unicode.h
    ].freeze

    # What the specs use beside: vocabulary-only models, example grammars, and the flags of the original build.
    FOR_SPECS = %w[Makefile grammars/*.gbnf models/*.gguf].freeze

    # Says which package a folder was filled from, so that a changed pin fills it anew.
    STAMP = '.package'

    # @return [String] vendor/llama.cpp
    attr_reader :folder

    # @param vendor [String] the folder of the pin: Cargo.toml and Cargo.lock
    # @param cargo [Cargo]
    def initialize(vendor, cargo: Cargo.new)
      @vendor = vendor
      @cargo = cargo
      @folder = File.join(vendor, 'llama.cpp')
    end

    # @return [Boolean] whether the folder is there, complete, and from the package that is pinned now
    def current?
      stamp = File.join(@folder, STAMP)
      File.file?(stamp) && File.read(stamp) == pin && SOURCES.all? { |name| File.file?(File.join(@folder, name)) }
    end

    # Fills the folder unless it is current.
    #
    # @return [Boolean] whether there was anything to do
    # @raise [Error] if Cargo has no such package, or the package is not what it should be
    def fill
      File.open(manifest) do |file|
        # Two builds at once must not lay out the same folder.
        file.flock(File::LOCK_EX)
        return false if current?

        replace_with_copy_of(package_folder)
      end
      true
    end

    private

    def manifest
      File.join(@vendor, 'Cargo.toml')
    end

    # Name, version and checksum as Cargo.lock has them.
    def pin
      lock = File.read(File.join(@vendor, 'Cargo.lock'))
      entry = lock.split('[[package]]').find { |text| text.include?(%(name = "#{PACKAGE}"\n)) }
      raise Error, "vendor/Cargo.lock does not name #{PACKAGE}: restore the file." unless entry

      values = %w[name version checksum].map { |key| entry[/^#{key} = "(.+)"$/, 1] }
      "#{values.join(' ')}\n"
    end

    def label
      pin.split.first(2).join(' ')
    end

    def package_folder
      arguments = ['metadata', '--locked', '--format-version', '1', '--manifest-path', manifest]
      # Without it, Cargo would download what other systems need as well.
      arguments.push('--filter-platform', @cargo.host) if @cargo.host
      result = @cargo.run(*arguments)
      raise Error, refusal(result.stderr) unless result.success?

      package = JSON.parse(result.stdout)['packages'].find { |entry| entry['name'] == PACKAGE }
      File.join(File.dirname(package['manifest_path']), 'llama.cpp')
    end

    def refusal(said)
      case said
      when /checksum/
        "The package #{label} is not the one that vendor/Cargo.lock asks for (Cargo's words are above): restore " \
        'vendor/Cargo.lock, and if it is unchanged, look at what the download came from.'
      when /--locked was passed/
        "vendor/Cargo.lock does not go with vendor/Cargo.toml (Cargo's words are above): restore both, or after a " \
        'change of the pin run `cargo generate-lockfile --manifest-path vendor/Cargo.toml`.'
      else
        "Cargo could not get the package #{label}, which holds the source of llama.cpp (Cargo's words are above): " \
        'check the connection to the package registry and try again.'
      end
    end

    def replace_with_copy_of(source)
      # What a run that was killed has left; no other run is at it, for it would hold the lock.
      FileUtils.rm_rf(Dir.glob(File.join(@vendor, 'llama.cpp.*')))
      staging = Dir.mktmpdir('llama.cpp.', @vendor)
      copy(source, staging)
      File.write(File.join(staging, STAMP), pin)
      File.chmod(0o755, staging)
      FileUtils.rm_rf(@folder)
      File.rename(staging, @folder)
    ensure
      FileUtils.rm_rf(staging) if staging
    end

    def copy(source, target)
      names = SOURCES + FOR_SPECS.flat_map { |pattern| Dir.glob(pattern, base: source).sort }
      names.each do |name|
        from = File.join(source, name)
        raise Error, incomplete(name) unless File.file?(from)

        to = File.join(target, name)
        FileUtils.mkdir_p(File.dirname(to))
        FileUtils.cp(from, to)
        File.chmod(0o644, to)
      end
    end

    def incomplete(name)
      "The package #{label} that Cargo unpacked lacks llama.cpp/#{name}: remove its folder from Cargo's registry " \
        '(usually ~/.cargo/registry/src) and try again.'
    end
  end
end
