# frozen_string_literal: true

require 'json'
require 'tmpdir'

# What the C++ gem did wrong, by the numbers of the list in the contract. What ended its process runs in a child here.
RSpec.describe 'Defect' do
  let(:prompt) { Models::FRANCE_TOKENS }

  def element(type, value)
    LLaMACpp::GrammarElement.new(type:, value:)
  end

  def vocabulary(name)
    path = File.join(Models::ROOT, 'vendor', 'llama.cpp', 'models', "ggml-vocab-#{name}.gguf")
    skip "#{path} is not there: run rake vendor" unless File.exist?(path)
    quietly { load_model(path, vocab_only: true) }
  end

  describe '1: GrammarElement.new ignored its keywords' do
    it 'stores them' do
      expect(element(3, 97).then { |e| [e.type, e.value] }).to eq([3, 97])
    end
  end

  describe '2: a Grammar kept pointers into memory that was gone' do
    it 'owns its rules' do
      script = <<~RUBY
        context = new_context
        decode(context, FRANCE_TOKENS)
        make = lambda do
          digit = [GrammarElement.new(type: 3, value: 48), GrammarElement.new(type: 5, value: 57), GrammarElement.new]
          Grammar.new(rules: [digit], start_rule_index: 0)
        end
        grammars = Array.new(50) { make.call }
        GC.start
        Array.new(10_000) { 'x' * 100 }
        texts = grammars.map do |grammar|
          array = context.candidates
          context.sample_grammar(array, grammar: grammar)
          id = context.sample_token_greedy(array)
          context.grammar_accept_token(grammar: grammar, token: id)
          [context.model.token_to_piece(id).match?(/\\A[0-9]\\z/), grammar.may_end?]
        end
        p texts.uniq
      RUBY
      expect(script).to print_in_a_child('[[true, true]]')
    end
  end

  describe '3: malformed grammars ended the process' do
    {
      'left recursion' => '[[e(2, 0), e(0, 0)]]', 'a missing END' => '[[e(3, 97)]]', 'no rule' => '[]',
      'an empty rule' => '[[]]', 'a rule index outside' => '[[e(2, 7), e(0, 0)]]',
      'an unknown type' => '[[e(77, 0), e(0, 0)]]',
      'endless recursion' => '[[e(2, 1), e(0, 0)], [e(1, 0), e(2, 0), e(0, 0)]]'
    }.each do |what, rules|
      it "refuses #{what}" do
        script = <<~RUBY
          def e(type, value) = GrammarElement.new(type: type, value: value)
          begin
            Grammar.new(rules: #{rules}, start_rule_index: 0)
          rescue ArgumentError
            puts 'ArgumentError'
          end
        RUBY
        expect(script).to print_in_a_child('ArgumentError')
      end
    end

    it 'refuses a token that is forbidden, and the grammar stays as it was' do
      script = <<~RUBY
        context = new_context
        grammar = Grammar.from_gbnf('root ::= "ab"')
        (context.grammar_accept_token(grammar: grammar, token: 'b'.ord + 3)) rescue puts($!.class)
        'ab'.each_byte { |byte| context.grammar_accept_token(grammar: grammar, token: byte + 3) }
        puts grammar.may_end?
      RUBY
      expect(script).to print_in_a_child("RuntimeError\ntrue")
    end
  end

  describe '4: Model#size was always 8, and n_params wrapped' do
    it 'gives the true figures' do
      tensors = LLaMACpp::Model.metadata(Models::TINY)['gguf.tensors']
      expect([tiny.size, tiny.n_params])
        .to eq([tensors.sum { |t| t[:n_bytes] }, tensors.sum { |t| t[:shape].inject(:*) }])
    end
  end

  describe '5: tokenize failed where there are more tokens than bytes' do
    it 'gives the tokens' do
      expect(["\n", '🦙', 'ß', "\0"].map { |text| tiny.tokenize(text:).size }).to eq([2, 5, 3, 2])
      expect(tiny.detokenize(tiny.tokenize(text: "\n"))).to eq(" \n")
      expect(tiny.tokenize(text: '123 456', add_bos: true).size).to be > 7
    end

    it 'does so with the vocabularies that failed' do
      baichuan = vocabulary('baichuan')
      texts = ["\n", "\n\n", ' ', '123 456'].map { |text| baichuan.detokenize(baichuan.tokenize(text:)) }
      expect(texts).to eq([" \n", " \n\n", '  ', ' 123 456'])
    end
  end

  describe '6: token_to_piece lost a NUL byte' do
    it('keeps it') { expect(tiny.token_to_piece(3)).to eq("\0") }
  end

  describe '7: tokenize of invalid UTF-8 with a BPE vocabulary ended the process' do
    it 'is ArgumentError' do
      path = File.join(Models::ROOT, 'vendor', 'llama.cpp', 'models', 'ggml-vocab-gpt-2.gguf').sub('gpt-2', 'gpt-neox')
      skip "#{path} is not there: run rake vendor" unless File.exist?(path)
      script = <<~'RUBY'.sub('PATH', path)
        model = load_model('PATH', vocab_only: true)
        ["\xFF", "a\xC3", "\xED\xA0\x80", "\xF8\x88\x80\x80\x80"].each do |text|
          model.tokenize(text: text)
        rescue ArgumentError => e
          puts e.message[/at byte \d/]
        end
        p model.tokenize(text: 'Hello world')
      RUBY
      expect(script).to print_in_a_child("at byte 0\nat byte 1\nat byte 0\nat byte 0\n[12092, 1533]")
        .with_environment('LLAMA_LOG' => 'off')
    end
  end

  describe '8: generate beyond the context size raised TypeError or repeated itself' do
    it 'shifts the context' do
      settings = { n_predict: 150, n_keep: 4, temperature: 1.1 }
      reference = ReferenceGeneration.new(new_context(n_ctx: 32), 'Once upon a time', **settings)
      expect(reference.drawn.size).to be > 32
      expect(LLaMACpp.generate(new_context(n_ctx: 32), 'Once upon a time', **settings)).to eq(reference.text)
    end
  end

  describe '9: generate on a used context was polluted' do
    it 'gives what a fresh context gives' do
      context = new_context(n_ctx: 256)
      decode(context, tiny.tokenize(text: 'User: Hello! Bob:', add_bos: true))
      LLaMACpp.generate(context, 'Once')
      fresh = LLaMACpp.generate(new_context(n_ctx: 256), 'Once upon', temperature: 1.5)
      expect(LLaMACpp.generate(context, 'Once upon', temperature: 1.5)).to eq(fresh)
    end
  end

  describe '10: decode with a full cache returned nil and left stale logits' do
    it 'is RuntimeError, and nothing changes' do
      context = new_context(n_ctx: 16)
      decode(context, prompt + prompt)
      before = context.logits
      expect { decode(context, [1], pos: 16) }.to raise_error(RuntimeError, /no room for 1 more tokens.*16 of its 16/)
      expect([context.logits == before, context.kv_cache_token_count]).to eq([true, 16])
    end
  end

  describe '11: wrong batches aborted or read out of bounds' do
    it 'is refused, naming the value and the limit' do
      script = <<~RUBY
        context = new_context(n_batch: 4)
        batches = {
          'too many' => Batch.get_one(tokens: [1] * 5, n_tokens: 5, pos_zero: 0, seq_id: 0),
          'token' => Batch.get_one(tokens: [640], n_tokens: 1, pos_zero: 0, seq_id: 0),
          'negative token' => Batch.get_one(tokens: [-1], n_tokens: 1, pos_zero: 0, seq_id: 0),
          'position' => Batch.get_one(tokens: [1], n_tokens: 1, pos_zero: -1, seq_id: 0),
          'far position' => Batch.get_one(tokens: [1, 1], n_tokens: 2, pos_zero: 2**31 - 1, seq_id: 0),
          'sequence' => Batch.get_one(tokens: [1], n_tokens: 1, pos_zero: 0, seq_id: -1),
          'empty' => Batch.get_one(tokens: [], n_tokens: 0, pos_zero: 0, seq_id: 0),
          'nothing' => Batch.new(max_n_token: 0, n_embd: 0, max_n_seq: 0)
        }
        batches.each do |name, batch|
          context.decode(batch)
          puts "\#{name}: decoded"
        rescue ArgumentError => e
          puts "\#{name}: \#{e.message[/-?\\d+[^:]*|empty/]}"
        end
        decode(context, [1])
        p context.kv_cache_token_count
      RUBY
      expect(script).to print_in_a_child(<<~TEXT.chomp)
        too many: 5 tokens, n_batch of the context is 4
        token: 640 at index 0 is outside of the vocabulary, which has the tokens 0 to 639
        negative token: -1 at index 0 is outside of the vocabulary, which has the tokens 0 to 639
        position: -1 is outside of 0 to 2147483647
        far position: 2147483648 is outside of 0 to 2147483647
        sequence: -1 is negative
        empty: empty
        nothing: empty
        1
      TEXT
    end
  end

  describe '12: batch indices beyond the allocation corrupted memory' do
    it 'are IndexError' do
      script = <<~RUBY
        batch = Batch.new(max_n_token: 2, n_embd: 0, max_n_seq: 1)
        errors = [2, 1000, 2**31 - 1, 2**40].map do |i|
          [[:set_token, i, 1], [:set_pos, i, 1], [:set_n_seq_id, i, 1], [:set_seq_id, i, 0, 1], [:set_logits, i, true],
           [:get_token, i], [:get_pos, i], [:get_n_seq_id, i], [:get_seq_id, i, 0], [:get_logits, i],
           [:set_seq_id, 0, i, 1], [:get_seq_id, 1, i]].map { |call| batch.public_send(*call) rescue $!.class }
        end
        p errors.flatten.uniq
      RUBY
      expect(script).to print_in_a_child('[IndexError]')
    end

    it 'a batch of get_one answers with what it stands for' do
      script = <<~RUBY
        batch = Batch.get_one(tokens: [7, 8], n_tokens: 2, pos_zero: 5, seq_id: 3)
        p [batch.get_pos(1), batch.get_seq_id(1, 0), batch.get_n_seq_id(0), batch.get_logits(0), batch.get_logits(1)]
      RUBY
      expect(script).to print_in_a_child('[6, 3, 1, false, true]')
    end

    it 'allocate without initialize, and initialize twice, are errors' do
      script = <<~RUBY
        p((Batch.allocate.get_token(0) rescue $!.class), (Batch.allocate.send(:n_tokens=, 1) rescue $!.class))
        batch = Batch.new(max_n_token: 1, n_embd: 0, max_n_seq: 1)
        p((batch.send(:initialize, max_n_token: 9, n_embd: 0, max_n_seq: 1) rescue $!.class), batch.set_token(0, 4))
        p [Model, Context, ContextParams, ModelParams, TokenData, TokenDataArray, Grammar, GrammarElement, Timings,
           ModelKVOverride, ModelQuantizeParams].map { |c| c.allocate.inspect.class }.uniq
      RUBY
      expect(script).to print_in_a_child("RuntimeError\nRuntimeError\nRuntimeError\n4\n[String]")
    end
  end

  describe '13: Model#free while a context used the model' do
    it 'leaves the memory to the context' do
      script = <<~RUBY
        model = load_model(TINY, use_mmap: false)
        context = new_context(model)
        model.free
        GC.start
        decode(context, FRANCE_TOKENS)
        p best(context.logits), (model.n_vocab rescue $!.class)
      RUBY
      expect(script).to print_in_a_child("442\nRuntimeError")
    end
  end

  describe '14: ModelKVOverride could not be made or used' do
    it 'shows its effect on a loaded model' do
      override = LLaMACpp::ModelKVOverride.new(key: 'llama.context_length', value: 77)
      expect(load_model(kv_overrides: [override]).n_ctx_train).to eq(77)
    end
  end

  describe '15: quantizing ended the process, wrote garbage or destroyed its input' do
    it 'refuses rows that are no multiple of the block, for every type' do
      Dir.mktmpdir do |folder|
        model = GGUFWriter.write_random_llama(File.join(folder, 'odd.gguf'), n_embd: 64, n_layer: 1, n_ff: 172)
        script = <<~RUBY
          results = [2, 3, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21].map do |ftype|
            LLaMACpp.model_quantize(input_path: '#{model}', output_path: '#{folder}/out',
                                    params: params(ModelQuantizeParams, ftype: ftype, n_thread: 1))
          rescue RuntimeError => e
            e.message[/which do not divide the rows of 172 values of the tensor blk.0.ffn_down.weight/] || e.message
          end
          p results.uniq.size, results.first[0, 20], Dir.children('#{folder}')
        RUBY
        expect(script).to print_in_a_child("1\n\"which do not divide \"\n[\"odd.gguf\"]")
      end
    end

    it 'refuses to quantize a file onto itself' do
      Dir.mktmpdir do |folder|
        path = File.join(folder, 'model.gguf')
        FileUtils.cp(Models::TINY, path)
        params = params(LLaMACpp::ModelQuantizeParams, ftype: 2, n_thread: 1)
        expect { LLaMACpp.model_quantize(input_path: path, output_path: path, params:) }
          .to raise_error(RuntimeError, "cannot quantize #{path}: the output is the same file")
        expect(FileUtils.identical?(path, Models::TINY)).to be(true)
      end
    end
  end

  describe '16: kv_cache_seq_div by zero, reversed and huge ranges' do
    it 'is ArgumentError, or changes nothing' do
      script = <<~RUBY
        context = new_context
        decode(context, FRANCE_TOKENS)
        p (context.kv_cache_seq_div(0, 0, -1, 0) rescue $!.class)
        [[7, 2], [2**31 - 1, 0], [2**31 - 1, 2**31 - 1], [-2**31, -2**31]].each do |p0, p1|
          next if p1.negative?

          context.kv_cache_seq_rm(0, p0, p1)
          context.kv_cache_seq_shift(0, p0, p1, 3)
          context.kv_cache_seq_div(0, p0, p1, 3)
          context.kv_cache_seq_cp(0, 1, p0, p1)
        end
        context.kv_cache_seq_rm(0, 0, 4)
        p context.kv_cache_token_count
        context.kv_cache_seq_rm(0, -2**31, -2**31)
        p context.kv_cache_token_count
      RUBY
      expect(script).to print_in_a_child("ArgumentError\n4\n0")
    end
  end

  describe '17: load_session_file of a wrong file aborted or read beyond it' do
    it 'is RuntimeError, and the context stays as it was' do
      Dir.mktmpdir do |folder|
        script = <<~RUBY
          folder = '#{folder}'
          context = new_context
          decode(context, FRANCE_TOKENS)
          context.save_session_file(session_path: folder + '/good', session_tokens: FRANCE_TOKENS)
          good = File.binread(folder + '/good')
          File.binwrite(folder + '/short', good[0..-2])
          File.binwrite(folder + '/head', good[0, 20])
          File.binwrite(folder + '/empty', '')
          File.binwrite(folder + '/text', 'x' * 5000)
          File.binwrite(folder + '/flipped', good.dup.tap { |bytes| bytes.setbyte(8, 255) })
          File.binwrite(folder + '/huge', good[0, good.index([8].pack('L<'))] + [2**32 - 1].pack('L<') + good[-100..])
          big = new_context(n_ctx: 128)
          decode(big, FRANCE_TOKENS)
          big.save_session_file(session_path: folder + '/other', session_tokens: [1] * 100)
          logits = context.logits
          results = %w[short head empty text flipped huge missing ../.. ].map do |name|
            context.load_session_file(session_path: folder + '/' + name)
          rescue RuntimeError
            RuntimeError
          end
          p results.uniq, context.kv_cache_token_count, context.logits == logits
          decode(context, [442], pos: 8)
          puts context.model.token_to_piece(best(context.logits))
          p context.load_session_file(session_path: folder + '/good') == FRANCE_TOKENS
        RUBY
        expect(script).to print_in_a_child("[RuntimeError]\n8\ntrue\nar\ntrue")
      end
    end

    it 'loads with n_ctx = 0' do
      Dir.mktmpdir do |folder|
        path = File.join(folder, 'session')
        contexts = Array.new(2) { new_context(n_ctx: 0) }
        decode(contexts.first, prompt)
        contexts.first.save_session_file(session_path: path, session_tokens: prompt)
        expect(contexts.last.load_session_file(session_path: path)).to eq(prompt)
        contexts.each { |context| decode(context, [442], pos: 8) }
        expect(contexts.first.logits).to eq(contexts.last.logits)
      end
    end
  end

  describe '18: impossible parameters were accepted, then aborted' do
    it 'are refused with a clear message' do
      script = <<~RUBY
        [{ n_threads: 0 }, { n_threads_batch: 0 }, { n_batch: 0 }, { type_k: 99 }, { type_v: 99 }, { type_k: 16 },
         { n_ctx: 2**31 }].each do |settings|
          new_context(tiny, **settings)
          puts 'accepted'
        rescue ArgumentError => e
          puts e.message[/\\A\\w+ is \\d+/]
        end
        (new_context(load_model(TINY, vocab_only: true))) rescue puts($!.class)
      RUBY
      expect(script).to print_in_a_child(<<~TEXT.chomp)
        n_threads is 0
        n_threads_batch is 0
        n_batch is 0
        type_k is 99
        type_v is 99
        type_k is 16
        n_ctx is 2147483648
        RuntimeError
      TEXT
    end
  end

  describe '19: samplers on strange candidates aborted' do
    it 'are defined' do
      script = <<~RUBY
        context = new_context
        inf = Float::INFINITY
        sets = [[-inf] * 3, [Float::NAN] * 3, [inf] * 3, [Float::NAN, 1.0, -inf], [0.0] * 3, [3e38, -3e38, 1.0], [1.0]]
        filters = { top_k: [{ k: 0 }, { k: -1, min_keep: 0 }], top_p: [{ prob: 0.0 }, { prob: -1.0, min_keep: 0 }],
                    min_p: [{ prob: 2.0 }, { prob: inf }], tail_free: [{ z: 0.0, min_keep: 0 }, { z: -inf }],
                    typical: [{ prob: 0.0, min_keep: 0 }, { prob: 0.5 }], temp: [{ temp: 0.0 }, { temp: -1.0 }, { temp: 1e-45 }] }
        choosers = [[:sample_token, {}], [:sample_token_greedy, {}],
                    [:sample_token_mirostat, { tau: 0.0, eta: 1.0, m: 2, mu: -5.0 }],
                    [:sample_token_mirostat, { tau: 5.0, eta: 0.1, m: 2**31 - 1, mu: 1e30 }],
                    [:sample_token_mirostat_v2, { tau: 5.0, eta: 0.1, mu: -1e30 }]]
        results = sets.flat_map do |logits|
          filters.flat_map do |filter, settings|
            settings.flat_map do |keywords|
              choosers.map do |chooser, arguments|
                array = candidates(logits)
                context.public_send(:"sample_\#{filter}", array, **keywords)
                id = Array(context.public_send(chooser, array, **arguments)).first
                logits[id].nan? || logits[id] == -inf ? 'impossible' : 'chosen'
              rescue RuntimeError => e
                logits.all? { |l| l.nan? || l == -inf } || array.size.zero? ? 'refused' : e.message
              end
            end
          end
        end
        p results.tally.keys.sort
      RUBY
      expect(script).to print_in_a_child('["chosen", "refused"]')
    end
  end

  describe '20: the lock of the VM was held' do
    it 'is released: another thread counts while one decodes' do
      context = new_context(load_model(LargeModel.path), n_ctx: 256)
      count = 0
      counter = Thread.new do
        loop do
          sleep 0.001
          count += 1
        end
      end
      decode(context, [1] * 200)
      expect(count).to be > 30
      counter.kill.join
    end
  end

  describe '21: logs always went to stderr' do
    it 'is quiet, and has a switch' do
      result = child('load_model; new_context')
      expect([result.fine?, result.stderr]).to eq([true, ''])
    end
  end

  describe '22: the type signatures named methods that did not exist' do
    it 'has them' do
      names = { Batch: %i[set_logit get_logit], ModelQuantizeParams: %i[allow_quantization allow_quantization=] }
      names.each do |class_, methods|
        expect(methods - LLaMACpp.const_get(class_).public_instance_methods(false)).to eq([])
      end
      expect([LLaMACpp::LLAMA_DEFALUT_SEED, LLaMACpp::Params]).to eq(['0xffffffff', LLaMACpp::ContextParams])
    end
  end

  describe '23: eval and eval_embd wrote beyond their keyword table' do
    it 'work, and warn once per call' do
      script = <<~RUBY
        context = new_context
        embedding = TinyWeights.embedding(1)
        context.eval(tokens: FRANCE_TOKENS, n_past: 0, n_tokens: 8)
        p best(context.logits)
        context.eval_embd(embd: embedding, n_past: 0, n_tokens: 1)
        context.eval_embd(tokens: embedding, n_past: 0)
        p context.kv_cache_token_count
      RUBY
      result = child("require '#{File.join(__dir__, 'support', 'tiny_weights')}'\n$VERBOSE = false\n#{script}")
      expect([result.fine?, result.stdout]).to eq([true, "442\n1\n"])
      expect(result.stderr.lines.map { |line| line[/#eval\w* is deprecated/] })
        .to eq(['#eval is deprecated', '#eval_embd is deprecated', '#eval_embd is deprecated'])
    end
  end

  describe '24: apply_lora_from_file on a mapped model wrote into read-only pages' do
    it 'works' do
      path = Dir[File.join(ENV.fetch('LLAMA_CPP_TEST_MODELS', '/nonexistent'), 'lora-stories260K-tales.ggla.bin')].first
      skip 'set LLAMA_CPP_TEST_MODELS to the folder with the models for this' unless path
      script = <<~RUBY
        folder = '#{File.dirname(path)}'
        texts = [true, false].map do |use_mmap|
          model = load_model(folder + '/stories260K.gguf', use_mmap: use_mmap)
          model.apply_lora_from_file(lora_path: '#{path}')
          LLaMACpp.generate(new_context(model), 'Once upon a time', temperature: 0, n_predict: 30)
        end
        plain = LLaMACpp.generate(new_context(load_model(folder + '/stories260K.gguf')), 'Once upon a time',
                                  temperature: 0, n_predict: 30)
        p texts.uniq.size, texts.first == plain
      RUBY
      expect(script).to print_in_a_child("1\nfalse")
    end
  end

  describe '25: the library was not found without LD_LIBRARY_PATH' do
    it 'is one extension, which needs nothing but the system' do
      skip 'needs ldd' unless system('which ldd', out: File::NULL)
      extension = $LOADED_FEATURES.grep(%r{llama_cpp/llama_cpp\.so\z}).first
      libraries = `ldd #{extension}`.lines.map { |line| line[%r{\A\s*(?:/\S*/)?([^\s/]+)}, 1] }
      expect(libraries.grep(/llama|ggml/)).to eq([])
      expect(`ldd #{extension}`).not_to include('not found')
      expect('puts VERSION').to print_in_a_child('0.12.2').with_environment('LD_LIBRARY_PATH' => '')
    end
  end
end
