# frozen_string_literal: true

require_relative 'ext/llama_cpp/support/vendored_source'
require_relative 'lib/llama_cpp/version'

Gem::Specification.new do |spec|
  spec.name = 'llama_cpp'
  spec.version = LLaMACpp::VERSION
  spec.authors = ['The llama_cpp authors']
  spec.summary = 'llama.cpp in Ruby: load a GGUF model, generate text'
  spec.description = 'llama.cpp as a native extension: models in GGUF format, tokenizing, decoding, sampling, ' \
                     'grammars, sessions and quantization from Ruby. The source of llama.cpp is inside and is ' \
                     'compiled for the machine that installs the gem.'
  spec.license = 'MIT'
  spec.required_ruby_version = '>= 3.1'
  spec.metadata['rubygems_mfa_required'] = 'true'

  # llama.cpp is not in git, so the list comes from the folders. Only what the build reads: no models, no leftovers.
  source = LlamaCppBuild::VendoredSource
  spec.files = Dir.chdir(__dir__) do
    Dir['lib/**/*.{rb,jinja}', 'sig/**/*.rbs', 'exe/*', 'examples/*', 'docs/**/*.{md,svg,png}',
        '{README,CHANGELOG}.md', 'LICENSE', '.yardopts', 'rakelib/yard_pages.rb',
        'Cargo.{toml,lock}', 'crates/**/*.{rs,toml,h,hpp,c,cpp}', 'ext/llama_cpp/{extconf.rb,Cargo.toml,build.rs}',
        'ext/llama_cpp/{src,support}/**/*', 'vendor/{Cargo.toml,Cargo.lock,lib.rs}',
        *[source::STAMP, *source::SOURCES].map { |name| "vendor/llama.cpp/#{name}" }].select { |name| File.file?(name) }
  end
  spec.bindir = 'exe'
  spec.executables = spec.files.grep(%r{\Aexe/}).map { |name| File.basename(name) }
  spec.extensions = ['ext/llama_cpp/extconf.rb']
  spec.require_paths = ['lib']
end
