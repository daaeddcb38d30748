# frozen_string_literal: true

require 'digest'
require 'fileutils'
require 'tmpdir'

RSpec.describe LLaMACpp do
  around do |example|
    Dir.mktmpdir('llama_cpp') do |folder|
      @folder = folder
      example.run
    end
  end

  def in_folder(name)
    File.join(@folder, name)
  end

  describe 'the backend' do
    it 'can be prepared and taken down at any time' do
      expect([described_class.backend_init, described_class.backend_init(numa: false)]).to eq([nil, nil])
      script = <<~RUBY
        2.times { LLaMACpp.backend_free }
        context = new_context
        LLaMACpp.backend_init
        LLaMACpp.backend_free
        puts LLaMACpp.generate(context, FRANCE, temperature: 0)
      RUBY
      expect(script).to print_in_a_child('Paris.')
    end

    it 'takes numa: true, and only known keywords' do
      expect("p LLaMACpp.backend_init(numa: true)\np LLaMACpp.backend_init(numa: true)").to print_in_a_child("nil\nnil")
      expect { described_class.backend_init(nume: true) }.to raise_error(ArgumentError, 'unknown keyword: :nume')
    end

    it 'says what it is' do
      text = described_class.print_system_info
      expect(text).to match(/AVX = \d \| .*AVX2 = \d/)
      expect([text.encoding, described_class.max_devices]).to eq([Encoding::UTF_8, 1])
      expect { described_class.print_system_info }.not_to output.to_stdout
      expect([described_class.mmap_supported?, described_class.mlock_supported?]).to eq([true, true])
    end

    it 'has a clock of microseconds' do
      before = described_class.time_us
      sleep 0.02
      expect(described_class.time_us - before).to be_between(20_000, 2_000_000)
    end

    it 'tells how it was built' do
      info = described_class.build_info
      expect(info.slice(:version, :llama_cpp)).to eq(version: '0.12.2', llama_cpp: 'b1892')
      expect(info[:system_info]).to eq(described_class.print_system_info)
      expect([info[:flags].first.class, info[:usable_cores]]).to match([String, be >= 1])
    end
  end

  describe '.model_quantize' do
    def quantize(input = Models::TINY, output = in_folder('out.gguf'), n_thread: 1, **settings, &block)
      described_class.model_quantize(
        input_path: input, output_path: output,
        params: params(LLaMACpp::ModelQuantizeParams, n_thread:, **settings), &block
      )
    end

    # Sizes and sums as the C++ gem wrote them.
    {
      'F16' => [2_841_920, '90b4d7b00f9e32430c022dc2cc96369c2a14dbc02b2912c122be3446debe9f40'],
      'Q8_0' => [1_622_080, 'bf05f8d649cd210f57f65394c71a6bdf879912e272ee51778262b5982dbd485e'],
      'Q4_0' => [910_656, '944a03514377fe994c3292634d40c1ce275e080880450f4c9979ee3208c9534a'],
      'Q4_K_M' => [952_896, '1c3e8847f28f968e874f070816fc82217062789c92346d1af5bbe25ce60f75ca'],
      'Q6_K' => [1_257_024, '84fe7ee2c30171d08a5359691e26c5bd989af0915859c97dbe67ac1f4679cf36']
    }.each do |type, (size, sum)|
      it "writes the recorded file as #{type}, which still knows Paris" do
        ftype = described_class.const_get("LLAMA_FTYPE_MOSTLY_#{type}")
        expect(quantize(ftype:)).to be_nil
        path = in_folder('out.gguf')
        expect([File.size(path), Digest::SHA256.file(path).hexdigest]).to eq([size, sum])
        expect(described_class.generate(new_context(load_model(path)), Models::FRANCE, temperature: 0)).to eq('Paris.')
      end
    end

    it 'gives the same with two threads' do
      quantize(ftype: 7, n_thread: 2)
      expect(Digest::SHA256.file(in_folder('out.gguf')).hexdigest).to start_with('bf05f8d6')
    end

    it 'copies only, or leaves the output tensor, when asked to' do
      quantize(only_copy: true)
      expect(load_model(in_folder('out.gguf')).size).to eq(tiny.size)
      quantize(Models::TINY, in_folder('b.gguf'), ftype: 2, quantize_output_tensor: false)
      types = LLaMACpp::Model.metadata(in_folder('b.gguf'))['gguf.tensors'].to_h { |t| [t[:name], t[:type]] }
      expect(types.values_at('output.weight', 'blk.0.attn_q.weight')).to eq(%w[f16 q4_0])
    end

    it 'quantizes what is quantized only when it may' do
      quantize(ftype: 7)
      again = in_folder('again.gguf')
      expect { quantize(in_folder('out.gguf'), again, ftype: 2) }.to raise_error(RuntimeError, /allow_requantize/)
      expect(File.exist?(again)).to be(false)
      quantize(in_folder('out.gguf'), again, ftype: 2, allow_requantize: true)
      expect(load_model(again).desc).to eq('llama ?B Q4_0')
    end

    it 'says what cannot be had without an importance matrix, and nothing on the standard output' do
      expect(<<~RUBY).to print_in_a_child(/\Acannot quantize .*: IQ2_XS needs an importance matrix/)
        params = LLaMACpp::ModelQuantizeParams.new(ftype: LLaMACpp::LLAMA_FTYPE_MOSTLY_IQ2_XS)
        begin
          LLaMACpp.model_quantize(input_path: #{Models::TINY.inspect}, output_path: #{in_folder('o').inspect}, params:)
        rescue RuntimeError => e
          puts e.message
        end
      RUBY
    end

    it 'tells the outer block and the inner one of two, and either can cancel' do
      names = Array.new(2) { [] }
      quantize(ftype: 7) do |name, _|
        quantize(Models::TINY, in_folder('b.gguf'), ftype: 7) { |inner, _| names[1] << inner } if names[0].empty?
        names[0] << name
      end
      expect(names[0].size).to eq(names[1].size)
      expect(names.map(&:uniq).uniq.size).to eq(1)
      expect do
        quantize(ftype: 7) do
          quantize(Models::TINY, in_folder('b.gguf'), ftype: 7)
          false
        end
      end.to raise_error(RuntimeError, /cancelled/)
    end

    it 'may be left standing in a fiber' do
      script = <<~RUBY
        params = ModelQuantizeParams.new(ftype: 7, n_thread: 1)
        n = 0
        progress = lambda do
          path = File.join(#{@folder.inspect}, "\#{n += 1}.gguf")
          Enumerator.new do |names|
            LLaMACpp.model_quantize(input_path: '#{Models::TINY}', output_path: path, params:) { |name, _| names << name }
          end
        end
        first = progress.call
        first.next
        8.times { progress.call.next }
        3.times { GC.start }
        deep = ->(n) { n.zero? ? Fiber.yield : [1].each { deep.call(n - 1) } }
        fibers = Array.new(40) { Fiber.new { Array.new(3000, &:to_s); deep.call(100) }.tap(&:resume) }
        rest = 0
        loop { first.next && rest += 1 }
        p rest, fibers.size
      RUBY
      expect(script).to print_in_a_child("20\n40")
    end

    it 'replaces a file that is there' do
      File.write(in_folder('out.gguf'), 'old')
      quantize(ftype: 7)
      expect(File.size(in_folder('out.gguf'))).to eq(1_622_080)
    end

    describe 'what goes wrong' do
      def expect_failure(error, message, *paths, **settings)
        before = Dir.children(@folder).sort
        expect { quantize(*paths, ftype: 7, **settings) }.to raise_error(error, message)
        expect(Dir.children(@folder).sort).to eq(before)
      end

      it 'is an input that is missing or no model' do
        expect_failure(RuntimeError, %r{\Acannot quantize /nonexistent: .*No such file}, '/nonexistent')
        expect_failure(RuntimeError, /\Acannot quantize .*not a GGUF model/, __FILE__)
        expect_failure(RuntimeError, /\Acannot quantize .*is a directory/, @folder)
      end

      it 'is an output that cannot be written' do
        expect_failure(RuntimeError, %r{\Acannot write /nonexistent/a: No such file}, Models::TINY, '/nonexistent/a')
        expect_failure(RuntimeError, /\Acannot write .*: it is a directory/, Models::TINY, @folder)
        expect_failure(RuntimeError, %r{\Acannot write /dev/full/x: }, Models::TINY, '/dev/full/x')
      end

      it 'is one file for both, under whatever name' do
        path = in_folder('model.gguf')
        FileUtils.cp(Models::TINY, path)
        FileUtils.ln(path, in_folder('hard.gguf'))
        FileUtils.ln_s(path, in_folder('soft.gguf'))
        [path, in_folder('./model.gguf'), in_folder('hard.gguf'), in_folder('soft.gguf')].each do |output|
          expect_failure(RuntimeError, "cannot quantize #{path}: the output is the same file", path, output)
        end
        expect(FileUtils.identical?(path, Models::TINY)).to be(true)
      end

      it 'is a type that does not exist' do
        [5, 99, -1, 1024].each do |ftype|
          expect_failure(ArgumentError, /\Aftype is #{ftype}, it must be one of 0/, ftype:)
        end
      end

      it 'is a number of threads beyond reason' do
        expect_failure(ArgumentError, 'n_thread is 513, 512 is the limit', n_thread: 513)
      end

      it 'is a row that the blocks do not divide' do
        path = GGUFWriter.write_random_llama(in_folder('odd.gguf'), n_embd: 64, n_layer: 1, n_ff: 172)
        expect_failure(RuntimeError, /\Acannot quantize .*: Q8_0 stores blocks of 32 values, which do not divide/,
                       path)
        expect_failure(RuntimeError, /\Acannot quantize .*: Q4_K_M stores blocks of 256 values/, path, ftype: 15,
                                                                                                       pure: true)
        quantize(path, ftype: 1)
        expect(load_model(in_folder('out.gguf')).n_embd).to eq(64)
      end

      {
        { input_path: nil } => 'input_path must be a String, got nil',
        { output_path: 5 } => 'output_path must be a String, got 5 (Integer)',
        { output_path: '' } => 'output_path is empty',
        { output_path: "a\0" } => 'output_path contains a NUL byte',
        { params: LLaMACpp::ModelParams.new } =>
          'params must be a ModelQuantizeParams, got an instance of LLaMACpp::ModelParams'
      }.each do |wrong, message|
        it "is #{wrong.to_s[0, 50]}" do
          arguments = { input_path: Models::TINY, output_path: in_folder('x'),
                        params: LLaMACpp::ModelQuantizeParams.new, **wrong }
          expect { described_class.model_quantize(**arguments) }.to raise_error(ArgumentError, message)
        end
      end

      it 'is a missing keyword' do
        expect { described_class.model_quantize(input_path: 'a') }
          .to raise_error(ArgumentError, 'missing keywords: :output_path, :params')
      end
    end

    describe 'the progress block' do
      it 'gets each tensor with a rising fraction' do
        seen = []
        quantize(ftype: 7) { |name, fraction| seen << [name, fraction] }
        tensors = LLaMACpp::Model.metadata(Models::TINY)['gguf.tensors'].map { |tensor| tensor[:name] }
        expect(seen.map(&:first)).to eq(tensors)
        expect(seen.map(&:last)).to eq(tensors.each_index.map { |i| i.fdiv(tensors.size) }
                                                         .map { |f| [f].pack('f').unpack1('f') })
      end

      it 'ends the work by false, and by nothing else' do
        calls = 0
        expect { quantize(ftype: 7) { (calls += 1) < 4 } }
          .to raise_error(RuntimeError, 'cancelled: the block returned false')
        expect([calls, Dir.children(@folder)]).to eq([4, []])
        quantize(ftype: 7) { nil }
        expect(Dir.children(@folder)).to eq(['out.gguf'])
      end

      it 'can raise, throw and break, and nothing is left' do
        expect { quantize(ftype: 7) { raise IOError, 'enough' } }.to raise_error(IOError, 'enough')
        expect(catch(:out) { quantize(ftype: 7) { throw :out, 5 } }).to eq(5)
        expect(quantize(ftype: 7) { break 6 }).to eq(6)
        expect(Dir.children(@folder)).to eq([])
      end

      it 'leaves the old file when it ends early' do
        File.write(in_folder('out.gguf'), 'old')
        expect { quantize(ftype: 7) { false } }.to raise_error(RuntimeError)
        expect([File.read(in_folder('out.gguf')), Dir.children(@folder)]).to eq(['old', ['out.gguf']])
      end
    end
  end
end
