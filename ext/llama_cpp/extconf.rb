# frozen_string_literal: true

# Checks what a build needs, sees that the source of llama.cpp is there, and writes the Makefile.
#
#   ruby extconf.rb [--enable-portable] [--with-openblas | --with-blis]
#                   [--with-cuda | --with-metal | --with-clblast | --with-hipblas] [--with-debug]

require_relative 'support/makefile'
require_relative 'support/options'
require_relative 'support/toolchain'
require_relative 'support/vendored_source'

root = File.expand_path('../..', __dir__)

begin
  options = LlamaCppBuild::Options.parse(ARGV)

  rust_version = File.read(File.join(root, 'Cargo.toml'))[/^rust-version = "(.+)"/, 1]
  problems = LlamaCppBuild::Toolchain.new(rust_version:).problems
  raise LlamaCppBuild::Error, problems.join("\n") unless problems.empty?

  LlamaCppBuild::VendoredSource.new(File.join(root, 'vendor')).fill

  target_dir = ENV.fetch('CARGO_TARGET_DIR', '')
  makefile = LlamaCppBuild::Makefile.new(root:, options:, target_dir: target_dir.empty? ? nil : target_dir)
  File.write('Makefile', makefile.to_s)
rescue LlamaCppBuild::Error => e
  abort e.message
end
