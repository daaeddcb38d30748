# frozen_string_literal: true

require 'fileutils'
require 'json'
require 'stringio'
require 'tmpdir'
require_relative '../../ext/llama_cpp/support/vendored_source'

RSpec.describe LlamaCppBuild::VendoredSource do
  # A machine with Cargo and the package; `files` is what the package holds.
  def cargo_with(files)
    FileUtils.rm_rf(package)
    files.each do |name|
      path = File.join(package, 'llama.cpp', name)
      FileUtils.mkdir_p(File.dirname(path))
      File.write(path, "text of #{name}")
    end
    answer = { packages: [{ name: described_class::PACKAGE, manifest_path: File.join(package, 'Cargo.toml') }] }
    cargo(success: true, stdout: JSON.generate(answer), stderr: '')
  end

  def cargo(success:, stdout:, stderr:)
    result = LlamaCppBuild::Cargo::Result.new(success, stdout, stderr)
    instance_double(LlamaCppBuild::Cargo, host: 'x86_64-unknown-linux-gnu', run: result)
  end

  def source(cargo)
    described_class.new(vendor, cargo:)
  end

  def vendored
    Dir.glob('llama.cpp*/**/*', File::FNM_DOTMATCH, base: vendor).select { |name| File.file?(File.join(vendor, name)) }
  end

  def change_pin(old, new)
    lock = File.join(vendor, 'Cargo.lock')
    text = File.read(lock)
    raise "#{old} is not in the lock file" unless text.include?(old)

    File.write(lock, text.sub(old, new))
  end

  around do |example|
    Dir.mktmpdir do |folder|
      @folder = folder
      FileUtils.mkdir_p(vendor)
      FileUtils.cp(Dir[File.expand_path('../../vendor/{Cargo.toml,Cargo.lock,lib.rs}', __dir__)], vendor)
      example.run
    end
  end

  let(:vendor) { File.join(@folder, 'vendor') }
  let(:package) { File.join(@folder, 'package') }
  let(:specs_files) { %w[Makefile grammars/json.gbnf models/ggml-vocab-llama.gguf] }
  let(:all_files) { described_class::SOURCES + specs_files }
  let(:expected) { (all_files + ['.package']).map { |name| "llama.cpp/#{name}" }.sort }

  it 'lays out what the build and the specs need, and nothing else' do
    expect(source(cargo_with(all_files + %w[convert.py examples/main/main.cpp])).fill).to be(true)
    expect(vendored.sort).to eq(expected)
    expect(File.read(File.join(vendor, 'llama.cpp/ggml.c'))).to eq('text of ggml.c')
  end

  it 'asks Cargo to keep to the lock file' do
    fake = cargo_with(all_files)
    source(fake).fill
    expect(fake).to have_received(:run).with('metadata', '--locked', any_args)
  end

  it 'does nothing the second time' do
    source(cargo_with(all_files)).fill
    fake = cargo_with(all_files)
    expect(source(fake).fill).to be(false)
    expect(fake).not_to have_received(:run)
  end

  it 'fills anew when the pin has changed, and when a file is gone' do
    source(cargo_with(all_files)).fill
    change_pin('c95c87fd', 'c95c87fe')
    expect(source(cargo_with(all_files)).fill).to be(true)

    FileUtils.rm(File.join(vendor, 'llama.cpp/unicode.h'))
    expect(source(cargo_with(all_files)).fill).to be(true)
    expect(vendored.sort).to eq(expected)
  end

  it 'leaves no half-filled folder when the package lacks a file' do
    expect { source(cargo_with(all_files - ['llama.h'])).fill }
      .to raise_error(LlamaCppBuild::Error, %r{llama-cpp-sys-2 0\.1\.10 .* lacks llama\.cpp/llama\.h: remove})
    expect(Dir.children(vendor)).to contain_exactly('Cargo.toml', 'Cargo.lock', 'lib.rs')
  end

  it 'removes what a run that was killed has left' do
    FileUtils.mkdir_p(File.join(vendor, 'llama.cpp.20240117-1-abc'))
    source(cargo_with(all_files)).fill
    expect(vendored.sort).to eq(expected)
    expect(Dir.children(vendor)).to contain_exactly('Cargo.toml', 'Cargo.lock', 'lib.rs', 'llama.cpp')
  end

  it 'keeps the folder that is there when Cargo cannot get the package' do
    source(cargo_with(all_files)).fill
    change_pin('version = "0.1.10"', 'version = "0.1.11"')
    offline = cargo(success: false, stdout: '', stderr: 'error: failed to download from `https://index.crates.io`')
    expect { source(offline).fill }
      .to raise_error(LlamaCppBuild::Error, /could not get the package llama-cpp-sys-2 0\.1\.11.*check the connection/)
    expect(vendored.sort).to eq(expected)
    expect(Dir.children(vendor)).to contain_exactly('Cargo.toml', 'Cargo.lock', 'lib.rs', 'llama.cpp')
  end

  it 'refuses a package with another checksum, and shows what Cargo says' do
    change_pin('checksum = "c95c87fd', 'checksum = "c95c87fe')
    log = StringIO.new
    expect { source(LlamaCppBuild::Cargo.new(log:)).fill }
      .to raise_error(LlamaCppBuild::Error, /llama-cpp-sys-2 0\.1\.10 is not the one that vendor.Cargo\.lock asks for/)
    expect(log.string).to include('checksum for `llama-cpp-sys-2 v0.1.10` changed')
    expect(vendored).to be_empty
  end

  it 'refuses a lock file that does not go with the manifest' do
    refusing = cargo(success: false, stdout: '', stderr: 'error: cannot update the lock file: --locked was passed')
    expect { source(refusing).fill }
      .to raise_error(LlamaCppBuild::Error, /Cargo\.lock does not go with vendor.Cargo\.toml.*restore both/)
  end

  it 'says that cargo is missing' do
    allow(Open3).to receive(:capture2e).with('cargo', '-vV').and_raise(Errno::ENOENT)
    expect { source(LlamaCppBuild::Cargo.new).fill }
      .to raise_error(LlamaCppBuild::Error, /\Acargo was not found: install Rust/)
  end
end
