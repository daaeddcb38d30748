# frozen_string_literal: true

require 'tmpdir'

RSpec.describe 'Limits' do
  describe 'of a context' do
    {
      2**31 => [ArgumentError, 'n_ctx is 2147483648, 33554431 is the limit for this model'],
      (2**31) - 1 => [ArgumentError, 'n_ctx is 2147483647, 33554431 is the limit for this model'],
      (2**32) - 1 => [ArgumentError, 'n_ctx is 4294967295, 33554431 is the limit for this model'],
      2**32 => [RangeError, 'n_ctx is 4294967296, it must be 0 to 4294967295'],
      33_554_431 => [RuntimeError, /\Aa context of 33554431 tokens needs 32767 MiB for its KV cache and/]
    }.each do |n_ctx, (error, message)|
      it("refuse #{n_ctx} tokens") { expect { new_context(n_ctx:) }.to raise_error(error, message) }
    end

    it 'let a batch be as large as the context, whatever is asked for' do
      context = new_context(n_ctx: 64, n_batch: 2**31)
      decode(context, [1] * 64)
      expect(context.kv_cache_token_count).to eq(64)
    end

    it 'are those of the memory that there is: an exception, and a smaller one can be made' do
      script = <<~RUBY
        model = tiny
        Process.setrlimit(Process::RLIMIT_AS, 500 << 20)
        [-> { new_context(model, n_ctx: 1_000_000, n_batch: 1) },
         -> { new_context(model, n_ctx: 8192, n_batch: 8192) },
         -> { Batch.new(max_n_token: 2**24, n_embd: 0, max_n_seq: 4) }].each do |call|
          call.call
          puts 'made'
        rescue NoMemoryError => e
          puts e.message
        end
        puts LLaMACpp.generate(new_context(model), FRANCE, temperature: 0)
      RUBY
      expect(script).to print_in_a_child(<<~TEXT.chomp)
        cannot make the context: out of memory
        cannot make the context: out of memory
        cannot make the batch: out of memory for 268435456 bytes
        Paris.
      TEXT
    end

    it 'is a NoMemoryError for what the caller passes in, too' do
      script = <<~RUBY
        model = load_model
        tokens = [5] * 40_000_000
        floats = [0.5] * 40_000_000
        text = 'a' * 150_000_000
        used = File.read('/proc/self/status')[/VmSize:\\s*(\\d+)/, 1].to_i * 1024
        Process.setrlimit(Process::RLIMIT_AS, used + 100_000_000)
        [-> { model.detokenize(tokens) }, -> { model.tokenize(text:) }, -> { Chat.new(new_context(model)).say(text) },
         -> { Batch.get_one(tokens:, n_tokens: 1, pos_zero: 0, seq_id: 0) },
         -> { ModelParams.new.tensor_split = floats }].each do |call|
          call.call
          puts 'done'
        rescue NoMemoryError => e
          puts 'no memory'
        end
        puts model.detokenize([5]).size
      RUBY
      expect(script).to print_in_a_child("no memory\nno memory\nno memory\nno memory\nno memory\n1").within(60)
    end
  end

  describe 'of a batch' do
    {
      { max_n_token: 2**31 } => 'max_n_token is 2147483648, it must be between 0 and 2147483647',
      { max_n_token: (2**31) - 1 } => 'max_n_token is 2147483647, 16777216 is the limit',
      { n_embd: (2**31) - 1 } => 'max_n_token times n_embd is 2147483647, 67108864 is the limit',
      { max_n_seq: (2**31) - 1 } => 'max_n_seq is 2147483647, 65536 is the limit'
    }.each do |sizes, message|
      it "refuse #{sizes}" do
        expect { LLaMACpp::Batch.new(**{ max_n_token: 1, n_embd: 0, max_n_seq: 1 }, **sizes) }
          .to raise_error(ArgumentError, message)
      end
    end

    it 'refuse more tokens than there are' do
      expect { LLaMACpp::Batch.get_one(tokens: [1], n_tokens: (2**31) - 1, pos_zero: 0, seq_id: 0) }
        .to raise_error(ArgumentError, 'n_tokens is 2147483647, but tokens has 1')
    end
  end

  describe 'of threads' do
    it 'are four for each core, and 64 at least: more would spin for minutes' do
      max = [4 * LLaMACpp.build_info[:usable_cores], 64].max
      expect { new_context(n_threads: max + 1) }
        .to raise_error(ArgumentError, /\An_threads is #{max + 1}, it must be 1 to #{max}/)
    end

    it 'that the system does not give: an exception, nothing written' do
      script = <<~RUBY
        params = ModelQuantizeParams.new(ftype: 7, n_thread: 512)
        Process.setrlimit(Process::RLIMIT_AS, 500 << 20)
        Dir.mktmpdir do |folder|
          LLaMACpp.model_quantize(input_path: TINY, output_path: File.join(folder, 'q'), params: params)
        rescue RuntimeError => e
          puts e.message, Dir.children(folder).inspect
        end
      RUBY
      expect("require 'tmpdir'\n#{script}")
        .to print_in_a_child(/\A512 threads are wanted, but only \d+ can be started: .+\n\[\]\z/)
    end
  end

  describe 'of a disk' do
    it 'that is full: an exception, and nothing is left' do
      script = <<~RUBY
        require 'tmpdir'
        # A file that must not grow fails as one on a full disk does; a signal comes with it, which a full disk has not.
        trap('XFSZ', 'IGNORE')
        Process.setrlimit(Process::RLIMIT_FSIZE, 100_000)
        context = new_context(logits_all: true)
        decode(context, [1] * 60)
        Dir.mktmpdir do |folder|
          Dir.chdir(folder)
          [-> { LLaMACpp.model_quantize(input_path: TINY, output_path: 'q', params: ModelQuantizeParams.new(ftype: 7)) },
           -> { context.save_session_file(session_path: 's', session_tokens: [1]) }].each do |call|
            call.call
          rescue RuntimeError => e
            puts e.message, Dir.children('.').inspect
          end
        end
        puts context.kv_cache_token_count
      RUBY
      expect(script).to print_in_a_child(<<~TEXT.chomp)
        cannot write q: writing failed; is the disk full?
        []
        cannot write s: File too large (os error 27)
        []
        60
      TEXT
    end
  end

  describe 'of a grammar' do
    let(:depth) { 20_000 }
    let(:context) { new_context.tap { |context| decode(context, [1]) } }

    # What a grammar whose only text is "a" leaves of all tokens.
    def expect_only_a(grammar)
      array = context.candidates
      context.sample_grammar(array, grammar:)
      allowed = array.ids.zip(array.logits).select { |_, logit| logit.finite? }.map { |id, _| tiny.token_to_piece(id) }
      expect(allowed.uniq).to eq(['a'])
    end

    it 'are not reached by 20,000 rules one within the other' do
      rules = Array.new(depth) { |i| "r#{i} ::= r#{i + 1}\n" }.join
      expect_only_a(LLaMACpp::Grammar.from_gbnf("root ::= r0\n#{rules}r#{depth} ::= \"a\"\n"))
    end

    it 'are not reached by 20,000 parentheses one within the other' do
      expect_only_a(LLaMACpp::Grammar.from_gbnf("root ::= #{'(' * depth}\"a\"#{')' * depth}"))
    end

    it 'are not reached by 20,000 rules of elements' do
      element = ->(type, value) { LLaMACpp::GrammarElement.new(type:, value:) }
      rules = Array.new(depth) { |i| [element.call(LLaMACpp::LLAMA_GRETYPE_RULE_REF, i + 1), element.call(0, 0)] }
      rules << [element.call(LLaMACpp::LLAMA_GRETYPE_CHAR, 97), element.call(0, 0)]
      expect_only_a(LLaMACpp::Grammar.new(rules:, start_rule_index: 0))
    end

    it 'are told when rules go round in a circle of 20,000' do
      rules = Array.new(depth) { |i| "r#{i} ::= r#{(i + 1) % depth}\n" }.join
      expect { LLaMACpp::Grammar.from_gbnf("root ::= r0\n#{rules}") }
        .to raise_error(ArgumentError, /left-recursive|itself/)
    end
  end

  describe 'of files' do
    it 'a pipe is none: nobody waits for its writer' do
      Dir.mktmpdir do |folder|
        path = File.join(folder, 'pipe')
        File.mkfifo(path)
        message = /#{Regexp.escape(path)}: .*is not a regular file/
        expect { load_model(path) }.to raise_error(RuntimeError, message)
        expect { LLaMACpp::Model.metadata(path) }.to raise_error(RuntimeError, /is not a regular file/)
        expect { load_model.apply_lora_from_file(lora_path: path) }.to raise_error(RuntimeError, message)
        expect { new_context.load_session_file(session_path: path) }.to raise_error(RuntimeError, message)
      end
    end

    it 'a device is not replaced by a session or a model' do
      context = new_context
      decode(context, [1])
      expect { context.save_session_file(session_path: '/dev/null', session_tokens: [1]) }
        .to raise_error(RuntimeError, 'cannot write /dev/null: it is no regular file')
      params = LLaMACpp::ModelQuantizeParams.new
      expect { LLaMACpp.model_quantize(input_path: Models::TINY, output_path: '/dev/null', params:) }
        .to raise_error(RuntimeError, 'cannot write /dev/null: it is no regular file')
      expect(File.stat('/dev/null')).to be_chardev
    end
  end

  it 'of layers on a GPU begin at none' do
    expect { load_model(n_gpu_layers: -1) }
      .to raise_error(ArgumentError, /\An_gpu_layers is -1, it must be 0 or more/)
    expect { load_model(n_gpu_layers: -2**31) }.to raise_error(ArgumentError, /\An_gpu_layers is -2147483648/)
    expect(load_model(n_gpu_layers: (2**31) - 1).n_vocab).to eq(640)
  end
end
