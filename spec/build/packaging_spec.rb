# frozen_string_literal: true

require_relative '../../ext/llama_cpp/support/vendored_source'

RSpec.describe 'llama_cpp.gemspec' do
  let(:root) { File.expand_path('../..', __dir__) }
  let(:gem) { Gem::Specification.load(File.join(root, 'llama_cpp.gemspec')) }

  it 'packages every source file that is in git' do
    folders = %w[lib sig exe examples crates ext vendor Cargo.toml Cargo.lock]
    tracked = IO.popen(['git', 'ls-files', *folders], chdir: root, &:readlines)
    skip 'not a git checkout' if tracked.empty?
    expect(tracked.map(&:chomp) - gem.files).to eq([])
  end

  it 'packages the source of llama.cpp with its licence, and no model' do
    source = LlamaCppBuild::VendoredSource::SOURCES.map { |name| "vendor/llama.cpp/#{name}" }
    expect(gem.files).to include(*source, 'vendor/llama.cpp/LICENSE', 'LICENSE')
    expect(gem.files.grep(/\.gguf\z/)).to eq([])
  end

  it 'packages what the README points to' do
    expect(gem.files).to include(*Page.new('README.md').links)
  end

  it 'packages what its documentation is built with' do
    settings = File.read(File.join(root, '.yardopts'))
    expect(gem.files).to include('.yardopts', settings[%r{^--load \./(\S+)$}, 1], settings[/^--readme (\S+)$/, 1])
  end

  it 'brings the program, and needs no other gem' do
    expect(gem.executables).to eq(['llama_cpp'])
    expect(gem.runtime_dependencies).to eq([])
  end

  it 'packages nothing that a build leaves behind' do
    expect(gem.files.grep(%r{\.(so|bundle|o|a)\z|/target/|Makefile})).to eq([])
  end

  it 'has one version, in Ruby and in Rust' do
    expect(File.read(File.join(root, 'Cargo.toml'))[/^version = "(.+)"/, 1]).to eq(gem.version.to_s)
  end
end
