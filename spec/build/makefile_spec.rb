# frozen_string_literal: true

require 'fileutils'
require 'open3'
require 'rbconfig'
require 'tmpdir'
require_relative '../../ext/llama_cpp/support/makefile'
require_relative '../../ext/llama_cpp/support/options'

RSpec.describe LlamaCppBuild::Makefile do
  around do |example|
    # A name that a shell and make would both take apart.
    Dir.mktmpdir('a $HOME b') do |folder|
      @folder = folder
      FileUtils.mkdir_p([bin, build])
      File.write(File.join(bin, 'cargo'), cargo)
      File.chmod(0o755, File.join(bin, 'cargo'))
      example.run
    end
  end

  # Stands in for Cargo: notes how it was called and leaves a library where Cargo would.
  let(:cargo) do
    <<~SH
      #!/bin/sh
      [ -z "$FAILS" ] || { echo "error: linking failed" >&2; exit 101; }
      echo "RUBY=$RUBY $*" >> "$CALLS"
      while [ "$1" != --target-dir ]; do shift; done
      for profile in release debugging; do
        mkdir -p "$2/$profile"
        echo "$profile" > "$2/$profile/libllama_cpp.#{RbConfig::CONFIG['SOEXT']}"
      done
    SH
  end
  let(:bin) { File.join(@folder, 'bin') }
  let(:build) { File.join(@folder, 'build') }
  let(:calls) { File.join(@folder, 'calls') }
  let(:installed) { File.join(@folder, "site/llama_cpp/llama_cpp.#{RbConfig::CONFIG['DLEXT']}") }

  def write(*options, **settings)
    options = LlamaCppBuild::Options.parse(options, environment: {})
    File.write(File.join(build, 'Makefile'), described_class.new(root: @folder, options:, **settings).to_s)
  end

  def make(*arguments, **environment)
    Open3.capture2e({ 'PATH' => "#{bin}:#{ENV.fetch('PATH')}", 'CALLS' => calls, **environment.transform_keys(&:to_s) },
                    'make', *arguments, chdir: build)
  end

  it 'runs Cargo with what was asked for' do
    write('--with-openblas', '--enable-portable')
    expect(make.last).to be_success
    expect(File.read(calls)).to eq(
      "RUBY=#{RbConfig.ruby} build --locked --profile release --manifest-path #{@folder}/Cargo.toml " \
      "--package llama_cpp_ext --target-dir target --features openblas,portable\n"
    )
  end

  it 'installs the library as an extension and leaves nothing of a build in the gem' do
    write
    # As RubyGems does it: the folder comes with the call.
    %w[clean all install].each do |target|
      expect(make('DESTDIR=', "sitearchdir=#{@folder}/site", target).last).to be_success
    end
    expect(File.read(installed)).to eq("release\n")
    expect(Dir.children(build)).to eq(['Makefile'])
  end

  it 'keeps a target folder that it was given' do
    target_dir = File.join(@folder, 'kept')
    write('--with-debug', target_dir:)
    make("sitearchdir=#{@folder}/site", 'install')
    make('clean')
    expect(File.read(installed)).to eq("debugging\n")
    expect(Dir.children(target_dir)).to contain_exactly('release', 'debugging')
  end

  it "fails with Cargo's own words" do
    write
    output, status = make("sitearchdir=#{@folder}/site", 'install', FAILS: '1')
    expect(status).not_to be_success
    expect(output).to include('error: linking failed')
    expect(File).not_to exist(installed)
  end
end
