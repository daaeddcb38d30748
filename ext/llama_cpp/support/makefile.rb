# frozen_string_literal: true

require 'rbconfig'
require 'shellwords'

module LlamaCppBuild
  # The Makefile that RubyGems and rake run: it hands over to Cargo, which knows what has to be compiled again.
  class Makefile
    PACKAGE = 'llama_cpp_ext'

    # @param root [String] the folder of the Cargo workspace
    # @param options [Options]
    # @param target_dir [String, nil] where Cargo builds; nil for a folder that goes once the extension is installed,
    #   since its hundreds of megabytes would stay inside the installed gem
    def initialize(root:, options:, target_dir: nil)
      @root = root
      @options = options
      @target_dir = target_dir
    end

    # @return [String]
    def to_s
      <<~MAKEFILE
        SHELL = /bin/sh
        DESTDIR =
        sitearchdir = #{RbConfig::CONFIG['sitearchdir']}

        all:
        \t+#{cargo_command}
        \t@mkdir -p llama_cpp && rm -f #{extension} && cp #{quoted(library)} #{extension}

        install: all
        \tmkdir -p "$(DESTDIR)$(sitearchdir)/llama_cpp"
        \tcp #{extension} "$(DESTDIR)$(sitearchdir)/#{extension}.new"
        \tmv -f "$(DESTDIR)$(sitearchdir)/#{extension}.new" "$(DESTDIR)$(sitearchdir)/#{extension}"
        #{"\trm -rf #{leftovers}\n" if @target_dir.nil?}
        clean:
        \trm -rf #{leftovers}

        distclean: clean
        \trm -f Makefile

        .PHONY: all install clean distclean
      MAKEFILE
    end

    private

    def cargo_command
      arguments = ['cargo', 'build', '--locked', '--profile', @options.profile,
                   '--manifest-path', File.join(@root, 'Cargo.toml'), '--package', PACKAGE,
                   '--target-dir', target_dir]
      arguments.push('--features', @options.features.join(',')) unless @options.features.empty?
      # rb-sys binds the Ruby that it finds here.
      "RUBY=#{quoted(RbConfig.ruby)} #{arguments.map { |argument| quoted(argument) }.join(' ')}"
    end

    def target_dir
      @target_dir || 'target'
    end

    # What Cargo calls the library.
    def library
      File.join(target_dir, @options.profile, "libllama_cpp.#{RbConfig::CONFIG['SOEXT']}")
    end

    # What `require "llama_cpp/llama_cpp"` looks for.
    def extension
      "llama_cpp/llama_cpp.#{RbConfig::CONFIG['DLEXT']}"
    end

    def leftovers
      @target_dir.nil? ? 'llama_cpp target' : 'llama_cpp'
    end

    def quoted(text)
      Shellwords.escape(text).gsub('$', '$$')
    end
  end
end
