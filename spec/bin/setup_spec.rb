# frozen_string_literal: true

require 'fileutils'
require 'open3'
require 'tmpdir'

RSpec.describe 'bin/setup' do
  # Runs it on a machine that has nothing but `programs`; `stubs` are scripts by name.
  #
  # @return [Array(String, String, Integer)] stdout, stderr, exit code
  def setup(*arguments, programs:, stubs: {})
    bin = File.join(@folder, 'bin')
    FileUtils.mkdir_p(bin)
    # The shell's own helpers, which are on any machine.
    [*programs, 'sh', 'dirname', 'id', 'ls', 'env'].each { |name| FileUtils.ln_sf(path_of(name), bin) }
    stubs.each do |name, text|
      File.write(File.join(bin, name), "#!/bin/sh\n#{text}\n")
      File.chmod(0o755, File.join(bin, name))
    end
    script = File.expand_path('../../bin/setup', __dir__)
    # That libclang is there does not show in PATH.
    environment = { 'PATH' => bin, 'LOG' => log, 'LIBCLANG_PATH' => '/usr/lib' }
    stdout, stderr, status = Open3.capture3(environment, script, *arguments)
    [stdout, stderr, status.exitstatus]
  end

  def path_of(name)
    folders = ENV.fetch('PATH').split(File::PATH_SEPARATOR)
    folders.map { |folder| File.join(folder, name) }.find { |file| File.executable?(file) } || raise("no #{name} here")
  end

  around do |example|
    Dir.mktmpdir do |folder|
      @folder = folder
      example.run
    end
  end

  let(:log) { File.join(@folder, 'log') }
  # Notes what it was asked for and ends there, so that nothing is built.
  let(:apt_get) { 'echo "$*" >> "$LOG"; case $1 in install) exit 7 ;; esac' }

  it 'says how to get Rust, before it installs anything' do
    stdout, stderr, code = setup(programs: %w[c++ make], stubs: { 'apt-get' => apt_get })
    expect(stderr).to match(%r{\Abin/setup: cargo is missing\. Get Rust from https://rustup\.rs})
    expect(code).to eq(1)
    expect(stdout).to eq('')
    expect(File).not_to exist(log)
  end

  it 'installs with apt-get only what is missing' do
    _, stderr, code = setup(programs: %w[cargo c++ make], stubs: { 'apt-get' => apt_get, 'id' => 'echo 0' })
    expect(stderr).to eq("bin/setup: installing ruby ruby-dev rake ruby-rspec rubocop yard\n")
    expect(File.readlines(log, chomp: true)).to eq(
      ['update -qq', 'install -y -qq --no-install-recommends ruby ruby-dev rake ruby-rspec rubocop yard']
    )
    expect(code).to eq(7)
  end

  it 'installs no tools for checking when they are not asked for' do
    setup('--runtime', programs: %w[cargo make], stubs: { 'apt-get' => apt_get, 'id' => 'echo 0' })
    expect(File.readlines(log).last).to end_with("ruby ruby-dev rake g++\n")
  end

  it 'uses sudo when it is not root' do
    setup(programs: %w[cargo c++ make], stubs: { 'apt-get' => apt_get, 'id' => 'echo 1000',
                                                 'sudo' => 'echo "as root:" >> "$LOG"; exec "$@"' })
    expect(File.readlines(log, chomp: true).values_at(0, 2)).to eq(['as root:', 'as root:'])
  end

  it 'lists what to install and how where there is no apt-get' do
    stdout, stderr, code = setup(programs: %w[cargo make])
    expect(stderr).to eq(<<~TEXT)
      bin/setup: please install these, then run this again:
        - Ruby 3.1 or later: https://www.ruby-lang.org/en/documentation/installation
        - Ruby's headers: package ruby-dev or ruby-devel
        - rake: gem install rake
        - a C++ compiler: package g++ or gcc-c++; macOS: xcode-select --install
        - rspec: gem install rspec
        - rubocop: gem install rubocop
        - yard: gem install yard
    TEXT
    expect(stdout).to eq('')
    expect(code).to eq(1)
  end

  it 'lists them too where there is apt-get but no way to be root' do
    _, stderr, code = setup(programs: %w[cargo c++ make], stubs: { 'apt-get' => apt_get, 'id' => 'echo 1000' })
    expect(stderr).to start_with('bin/setup: please install these')
    expect(code).to eq(1)
    expect(File).not_to exist(log)
  end
end
