# frozen_string_literal: true

require_relative '../../ext/llama_cpp/support/options'

RSpec.describe LlamaCppBuild::Options do
  def parse(*arguments, environment: {}, platform: 'x86_64-linux')
    described_class.parse(arguments, environment:, platform:)
  end

  it 'asks for nothing by default' do
    expect(parse.features).to eq([])
    expect(parse.profile).to eq('release')
  end

  {
    '--enable-portable' => 'portable', '--with-openblas' => 'openblas', '--with-blis' => 'blis',
    '--with-cublas' => 'cublas', '--with-cuda' => 'cublas', '--with-clblast' => 'clblast', '--with-hipblas' => 'hipblas'
  }.each do |option, feature|
    it "turns #{option} into the feature #{feature}" do
      expect(parse(option).features).to eq([feature])
    end
  end

  it 'takes --with-metal on macOS only' do
    expect(parse('--with-metal', platform: 'arm64-darwin23').features).to eq(['metal'])
    expect { parse('--with-metal') }.to raise_error(LlamaCppBuild::Error, /needs macOS, and this is x86_64-linux/)
  end

  it 'takes LLAMA_CPP_PORTABLE=1 for --enable-portable' do
    expect(parse(environment: { 'LLAMA_CPP_PORTABLE' => '1' }).features).to eq(['portable'])
    expect(parse('--enable-portable', environment: { 'LLAMA_CPP_PORTABLE' => '1' }).features).to eq(['portable'])
    expect(parse(environment: { 'LLAMA_CPP_PORTABLE' => '0' }).features).to eq([])
  end

  it 'combines what goes together' do
    options = parse('--with-openblas', '--with-cuda', '--with-cublas', '--enable-portable', '--with-debug')
    expect(options.features).to eq(%w[cublas openblas portable])
    expect(options.profile).to eq('debugging')
  end

  it 'refuses two GPU back ends and two BLAS libraries' do
    expect { parse('--with-cuda', '--with-hipblas') }
      .to raise_error(LlamaCppBuild::Error, /--with-cublas and --with-hipblas exclude each other.*GPU/)
    expect { parse('--with-openblas', '--with-blis') }
      .to raise_error(LlamaCppBuild::Error, /--with-blis and --with-openblas exclude each other.*BLAS/)
  end

  it 'refuses an option that it does not know' do
    expect { parse('--with-opneblas') }
      .to raise_error(LlamaCppBuild::Error, /\AUnknown option --with-opneblas; there are --enable-portable, /)
  end
end
