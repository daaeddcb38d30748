# frozen_string_literal: true

require 'tmpdir'

RSpec.describe 'llama_cpp quantize' do
  around do |example|
    Dir.mktmpdir do |folder|
      @output = File.join(folder, 'out.gguf')
      example.run
    end
  end

  it 'writes the model with that type' do
    expect(with_tiny('quantize', @output, 'Q8_0').to_a).to eq(["#{@output}: Q8_0, 1.6 MB, from 3.0 MB\n", '', 0])
    expect(File.size(@output)).to eq(1_622_080)
    expect(LLaMACpp::Model.metadata(@output)['general.file_type']).to eq(LLaMACpp::LLAMA_FTYPE_MOSTLY_Q8_0)
    expect(llama_cpp('generate', '-m', @output, '--temperature', '0', 'The capital of France is').stdout)
      .to eq("Paris.\n")
  end

  it 'takes a type in any case' do
    expect(with_tiny('quantize', @output, 'q4_k_m').stdout).to start_with("#{@output}: Q4_K_M, ")
  end

  it 'writes every type that its help names' do
    types = llama_cpp('quantize', '--help').stdout[/smallest:\n(.*)\.$/, 1].split
    expect(types.size).to eq(16)
    sizes = types.map do |type|
      expect(with_tiny('quantize', @output, type, '--force', '--pure').code).to eq(0)
      File.size(@output)
    end
    expect(sizes).to eq(sizes.sort.reverse)
  end

  it 'leaves the output tensor as it is when it is asked to' do
    with_tiny('quantize', @output, 'Q4_0', '--keep-output')
    types = LLaMACpp::Model.metadata(@output)['gguf.tensors'].to_h { |tensor| tensor.values_at(:name, :type) }
    expect(types).to include('output.weight' => 'f16', 'blk.0.attn_q.weight' => 'q4_0')
  end

  it 'replaces a file only when it is asked to' do
    File.write(@output, 'mine')
    expect(with_tiny('quantize', @output, 'Q8_0').to_a)
      .to eq(['', "llama_cpp quantize: #{@output} is there already: --force replaces it\n", 1])
    expect(File.read(@output)).to eq('mine')
    expect(with_tiny('quantize', @output, 'Q8_0', '--force').code).to eq(0)
    expect(File.size(@output)).to eq(1_622_080)
  end

  it 'never replaces the model itself' do
    expect(with_tiny('quantize', Models::TINY, 'Q8_0', '--force').to_a).to eq(
      ['', "llama_cpp quantize: cannot quantize #{Models::TINY}: the output is the same file\n", 1]
    )
  end

  it 'takes quantized weights only when it is asked to' do
    with_tiny('quantize', @output, 'Q4_0')
    again = "#{@output}.again"
    outcome = llama_cpp('quantize', '-m', @output, again, 'Q8_0')
    expect(outcome.stderr).to match(/\Allama_cpp quantize: .*\n\z/)
    expect(outcome.code).to eq(1)
    expect(File).not_to exist(again)
    expect(llama_cpp('quantize', '-m', @output, again, 'Q8_0', '--allow-requantize').code).to eq(0)
  end

  it 'refuses a type that does not exist, and wrong arguments' do
    expect(with_tiny('quantize', @output, 'Q9').to_a)
      .to match(['', /\Allama_cpp quantize: there is no type Q9; there are F32, F16, .* --help\)\n\z/, 2])
    line = 'llama_cpp quantize: give the file to write and a type, like Q4_K_M (the model to read goes with -m) ' \
           "(see llama_cpp quantize --help)\n"
    [[], [@output], [@output, 'Q8_0', 'more']].each do |arguments|
      expect(with_tiny('quantize', *arguments).to_a).to eq(['', line, 2])
    end
    expect(with_tiny('quantize', 'q8_0', @output).stderr).to include('first the file to write, then the type')
  end

  it 'says in one line that it cannot write' do
    expect(with_tiny('quantize', '/nowhere/out.gguf', 'Q8_0').to_a)
      .to match(['', %r{\Allama_cpp quantize: cannot write /nowhere/out\.gguf: .*\n\z}, 1])
  end

  it 'shows a progress bar on a terminal, and takes it away' do
    skip 'needs the gem ruby-progressbar' if Gem::Specification.find_all_by_name('ruby-progressbar').empty?
    screen = on_a_terminal('quantize', '-m', Models::TINY, @output, 'Q8_0').stdout
    expect(screen).to match(/\rQuantizing \d+% /)
    expect(screen).to end_with("\r#{@output}: Q8_0, 1.6 MB, from 3.0 MB\r\n")
  end
end
