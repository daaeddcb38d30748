# frozen_string_literal: true

require 'fileutils'
require 'open3'
require 'rbconfig'
require 'tmpdir'

RSpec.describe 'ext/llama_cpp/extconf.rb' do
  # Runs it in an empty folder with nothing but `programs` in PATH.
  #
  # @return [Array(String, Integer)] what it said on stderr, and its exit code
  def extconf(*arguments, programs: %w[cargo cc c++], **environment)
    bin = File.join(@folder, 'bin')
    FileUtils.mkdir_p(bin)
    programs.each { |name| FileUtils.ln_sf(path_of(name), bin) }
    _, said, status = Open3.capture3({ 'PATH' => bin, **environment.transform_keys(&:to_s) },
                                     RbConfig.ruby, File.expand_path('../../ext/llama_cpp/extconf.rb', __dir__),
                                     *arguments, chdir: @folder)
    [said, status.exitstatus]
  end

  def path_of(name)
    folders = ENV.fetch('PATH').split(File::PATH_SEPARATOR)
    folders.map { |folder| File.join(folder, name) }.find { |file| File.executable?(file) }
  end

  around do |example|
    Dir.mktmpdir do |folder|
      @folder = folder
      example.run
    end
  end

  let(:makefile) { File.join(@folder, 'Makefile') }

  it 'writes a Makefile when all is there' do
    expect(extconf('--enable-portable')).to eq(['', 0])
    expect(File.read(makefile)).to include('cargo build --locked --profile release', '--features portable')
  end

  it 'builds where CARGO_TARGET_DIR says, if that says anything' do
    ['/there', ''].zip(%w[/there target]) do |folder, used|
      expect(extconf(CARGO_TARGET_DIR: folder)).to eq(['', 0])
      expect(File.read(makefile)).to include("--target-dir #{used}\n")
    end
  end

  {
    'cargo' => [{ programs: %w[cc c++] }, /\Acargo was not found: install Rust.*\n\z/],
    'a C++ compiler' => [{ programs: %w[cargo cc] }, /\AA C and C\+\+ compiler was not found: install one.*\n\z/],
    'libclang' => [{ LIBCLANG_PATH: '/nowhere' }, /\Alibclang was not found: install it.*libclang-dev.*\n\z/]
  }.each do |name, (circumstances, sentence)|
    it "says in one sentence that #{name} is missing" do
      said, code = extconf(**circumstances)
      expect(said).to match(sentence)
      expect(code).to eq(1)
      expect(File).not_to exist(makefile)
    end
  end

  it 'names all that is missing at once' do
    said, = extconf(programs: [], LIBCLANG_PATH: '/nowhere')
    expect(said.lines.map { |line| line[/\A.*? was not found/] })
      .to eq(['cargo was not found', 'libclang was not found', 'A C and C++ compiler was not found'])
  end

  it 'refuses a Rust that is too old' do
    FileUtils.mkdir_p(File.join(@folder, 'bin'))
    old = File.join(@folder, 'bin', 'cargo')
    File.write(old, "#!/bin/sh\necho 'cargo 1.63.0'\necho 'release: 1.63.0'\necho 'host: x86_64-unknown-linux-gnu'\n")
    File.chmod(0o755, old)
    expect(extconf(programs: %w[cc c++]))
      .to eq(["Rust 1.63.0 is too old: install Rust 1.85 or later, for instance by `rustup update`.\n", 1])
  end

  it 'refuses an option that it does not know' do
    said, code = extconf('--with-opneblas')
    expect(said).to start_with('Unknown option --with-opneblas; there are ')
    expect(code).to eq(1)
  end
end
