# frozen_string_literal: true

RSpec.describe LLaMACpp, '.generate' do
  let(:context) { new_context(n_ctx: 256) }

  def generate(prompt = Models::FRANCE, with: context, **settings, &block)
    described_class.generate(with, prompt, **settings, &block)
  end

  # Whatever the model thinks: the text that the grammar leaves.
  def generate_exactly(text, **settings, &block)
    literal = text.gsub(/["\\\n]/, '"' => '\\"', '\\' => '\\\\', "\n" => '\\n')
    generate('Say:', grammar: "root ::= \"#{literal}\"", temperature: 0, **settings, &block)
  end

  describe 'its text' do
    {
      'The capital of France is' => 'Paris.',
      '7 + 8 =' => '15.',
      'User: How are you?' => "Bob: I am fine, thank you.\nUser: What is the capital of Poland?\n" \
                              'Bob: The capital of Poland is Warsaw.'
    }.each do |prompt, answer|
      it "is the recorded one after #{prompt.inspect}" do
        expect(generate(prompt, temperature: 0.01)).to eq(answer)
      end
    end

    it 'is UTF-8, without the prompt and the space around it' do
      text = generate('The capital of Japan is', temperature: 0)
      expect([text, text.encoding]).to eq(['Tokyo.', Encoding::UTF_8])
    end

    it 'is what the description gives, step by step' do
      [
        {}, { temperature: 1.5, top_k: 100 }, { top_p: 0.5, typical_p: 0.7, temperature: 1.2 },
        { tfs_z: 0.8, temperature: 1.4, repeat_penalty: 1.5 }, { frequency: 0.6, presence: 0.4, repeat_last_n: 20 },
        { temperature: 0, n_batch: 2 }, { n_predict: 3 }, { repeat_last_n: 0, temperature: 1.1 }
      ].each do |settings|
        expected = ReferenceGeneration.new(new_context(n_ctx: 256), 'Once upon a time', **settings).text
        expect(generate('Once upon a time', **settings)).to eq(expected)
      end
    end

    it 'has question marks for bytes that are no UTF-8' do
      expect(generate(logit_bias: { 0xFF + 3 => 1000 }, n_predict: 3, temperature: 0)).to eq('???')
    end

    it 'is as long as n_predict says at most' do
      texts = [0, 1, 2, 3].map { |n_predict| generate(n_predict:, temperature: 0) }
      expect(texts).to eq(['', 'P', 'Par', 'Paris'])
    end

    it 'goes on to the end of the sequence with a negative n_predict' do
      expect(generate(n_predict: -1, temperature: 0)).to eq('Paris.')
      expect(generate(n_predict: -100, temperature: 0)).to eq('Paris.')
    end
  end

  describe 'a context' do
    it 'can be used again: it gives what a fresh one gives' do
      settings = { temperature: 1.5, top_k: 0, n_predict: 20 }
      fresh = generate('Once', with: new_context(n_ctx: 256), **settings)
      generate('The capital of Spain is')
      decode(context, [5, 6, 7], pos: 100, seq: 3)
      context.sample_token(candidates([1.0] * 9))
      expect(Array.new(2) { generate('Once', **settings) }).to eq([fresh, fresh])
    end

    it 'draws with its seed, or with the one for this run' do
      settings = { temperature: 2.0, top_k: 0, top_p: 1.0, n_predict: 20 }
      own = generate('Once', **settings)
      seven = generate('Once', seed: 7, **settings)
      expect(generate('Once', **settings)).to eq(own)
      expect(generate('Once', with: new_context(n_ctx: 256, seed: 7), **settings)).to eq(seven)
      expect(seven).not_to eq(own)
    end

    it 'with a random seed draws differently each time' do
      random = new_context(n_ctx: 256, seed: -1)
      texts = Array.new(3) { generate('Once', with: random, temperature: 2.0, top_k: 0, top_p: 1.0, n_predict: 20) }
      expect(texts.uniq.size).to be > 1
    end

    it 'is fed in parts of n_batch, and never more than its own' do
      whole = generate('User: How are you?', temperature: 0)
      expect([1, 3, 512].map { |n_batch| generate('User: How are you?', temperature: 0, n_batch:) }.uniq).to eq([whole])
      expect(generate('User: How are you?', with: new_context(n_ctx: 256, n_batch: 4), temperature: 0)).to eq(whole)
    end

    it 'has the threads that it had before' do
      expect(generate(temperature: 0, n_threads: 2)).to eq('Paris.')
      expect([context.n_threads, context.n_threads_batch]).to eq([1, 1])
    end

    it 'that decodes embeddings can generate, too' do
      expect(generate(with: new_context(embedding: true), temperature: 0)).to eq('Paris.')
      expect(generate(with: new_context(logits_all: true), temperature: 0)).to eq('Paris.')
    end
  end

  describe 'beyond the size of the context' do
    let(:small) { new_context(n_ctx: 32) }
    # No end of the sequence.
    let(:endless) { { logit_bias: { 2 => -1000 }, n_predict: 300 } }

    it 'shifts the cache as described, again and again' do
      prompt = 'Once upon a time'
      [0, 5, 10, 25].each do |n_keep|
        settings = { n_keep:, n_predict: 200, temperature: 1.2, top_k: 60 }
        reference = ReferenceGeneration.new(new_context(n_ctx: 32), prompt, **settings)
        expect(generate(prompt, with: small, **settings)).to eq(reference.text)
        expect(small.kv_cache_token_count).to be <= 32
      end
    end

    it 'goes on for as long as is wanted, and comes to the same each time' do
      texts = Array.new(2) { generate('Once', with: small, temperature: 0, **endless) }
      expect(texts.uniq.size).to eq(1)
      pieces = []
      generate('Once', with: small, temperature: 0, **endless) { |piece| pieces << piece }
      expect(pieces.join.strip).to eq(texts.first)
      expect(small.timings.n_eval).to be >= 2 * 299
    end

    it 'keeps the first n_keep tokens' do
      reference = ReferenceGeneration.new(new_context(n_ctx: 32), 'Once upon a time', n_keep: 6, n_predict: 150,
                                                                                      temperature: 2.0, top_k: 0)
      prompt = tiny.tokenize(text: ' Once upon a time', add_bos: true)
      expect(reference.drawn.size).to be > 32
      expect(reference.cached.first(6)).to eq(prompt.first(6))
    end

    it 'takes any n_keep' do
      [-1, -5, 31, 32, 1000].each do |n_keep|
        generate('Once', with: small, temperature: 1.0, n_keep:, **endless)
        expect(small.kv_cache_token_count).to be_between(1, 32)
      end
    end

    it 'works on the smallest context' do
      tiny_context = new_context(n_ctx: 8)
      expect(generate('a', with: tiny_context, temperature: 0, n_keep: 0, **endless)).not_to eq('')
    end

    it 'does not shift a cache that cannot be shifted, but says so' do
      expect { generate('Once', with: new_context(n_ctx: 32, type_k: 8), **endless) }
        .to raise_error(RuntimeError, /\Apositions cannot be moved in a cache with quantized keys/)
    end
  end

  describe 'the settings' do
    it 'temperature of 0 or less, or top_k of 1, is greedy' do
      greedy = generate('Once upon a time', temperature: 0)
      others = [{ temperature: -1.0 }, { top_k: 1, temperature: 5.0 }, { temperature: 1e-40 }, { top_p: 0.0 }]
      expect(others.map { |settings| generate('Once upon a time', **settings) }.uniq).to eq([greedy])
    end

    it 'min_p cuts what is less probable' do
      greedy = generate('Once upon a time', temperature: 0)
      expect(generate('Once upon a time', min_p: 1.0, temperature: 3.0)).to eq(greedy)
    end

    it 'logit_bias moves tokens' do
      text = generate(logit_bias: { 442 => -100.0 }, temperature: 0)
      expect([text.empty?, text.start_with?('P')]).to eq([false, false])
      expect(generate(logit_bias: { 13 => 100 }, n_predict: 4, temperature: 0)).to eq('')
    end

    it 'mirostat draws near the surprise that is aimed at' do
      low, high = [0.1, 8.0].map do |tau|
        generate('Once upon a time', mirostat: 2, tau:, eta: 0.1, n_predict: 60, temperature: 1.0)
      end
      expect(low).not_to eq(high)
      expect(generate(mirostat: 1, tau: 1.0, n_predict: 8)).to eq(generate(mirostat: 1, tau: 1.0, n_predict: 8))
    end

    it 'grammar keeps to the rules, from a text or a Grammar, which stays where it was' do
      grammar = LLaMACpp::Grammar.from_gbnf('root ::= [0-9]{3}'.sub('{3}', ' [0-9] [0-9]'))
      texts = [grammar, grammar, 'root ::= [0-9] [0-9] [0-9]'].map { |g| generate(grammar: g) }
      expect(texts.uniq.size).to eq(1)
      expect([texts.first.match?(/\A[0-9]{3}\z/), grammar.may_end?]).to eq([true, false])
    end

    it 'grammar goes before everything else' do
      expect(generate_exactly('xyzzy', temperature: 2.0, top_k: 1)).to eq('xyzzy')
      expect(generate_exactly('Tōkyō 🦙', mirostat: 2)).to eq('Tōkyō 🦙')
    end

    it 'echo puts the prompt first' do
      expect(generate(temperature: 0, echo: true)).to eq("#{Models::FRANCE} Paris.")
    end
  end

  describe 'stop' do
    it 'ends the text before it' do
      expect(generate_exactly('abc END def', stop: 'END')).to eq('abc')
      expect(generate('User: How are you?', temperature: 0.01, stop: "\nUser:")).to eq('Bob: I am fine, thank you.')
    end

    it 'takes several, and Regexps' do
      expect(generate_exactly('abc END def', stop: ['x', 'def', /E.D/])).to eq('abc')
      expect(generate_exactly('abc 123', stop: /\d+/)).to eq('abc')
      expect(generate_exactly('abc 123', stop: [])).to eq('abc 123')
      expect(generate_exactly('abc 123', stop: 'no')).to eq('abc 123')
    end

    it 'is found when it is split over tokens, and never shown in part' do
      parts = []
      expect(generate_exactly('say STOPPING now', stop: 'TOPPIN') { |part| parts << part }).to eq('say S')
      expect(parts.join).to eq('say S').or eq(' say S')
    end

    it 'may be in another encoding' do
      expect(generate_exactly('aéb', stop: 'é'.encode('ISO-8859-1'))).to eq('a')
      expect(generate_exactly('aéb', stop: 'é'.b)).to eq('a')
    end

    it 'does not look at the prompt' do
      expect(generate(temperature: 0, stop: 'France', echo: true)).to eq("#{Models::FRANCE} Paris.")
    end

    it 'spares the tokens that would come' do
      generate_exactly('abc END def', stop: 'END')
      before = context.kv_cache_token_count
      generate_exactly('abc END def')
      expect(context.kv_cache_token_count).to be > before
    end
  end

  describe 'with a block' do
    it 'hands over the text as it comes' do
      parts = []
      expect(generate(temperature: 0) { |part| parts << part }).to eq('Paris.')
      expect(parts).to eq([' P', 'ar', 'is', '.'])
    end

    it 'hands over whole characters only' do
      parts = []
      text = 'é東🦙'
      expect(generate_exactly(text) { |part| parts << part }).to eq(text)
      expect([parts.join.strip, parts.map(&:valid_encoding?).uniq]).to eq([text, [true]])
      expect(parts.join).not_to include('?')
    end

    it 'can be left by break, and used again' do
      parts = []
      result = generate(temperature: 0) do |part|
        parts << part
        break :enough if parts.size == 2
      end
      expect([result, parts]).to eq([:enough, [' P', 'ar']])
      expect(generate(temperature: 0)).to eq('Paris.')
    end

    it 'can raise and throw, and the context goes on' do
      expect { generate { raise IOError, 'closed' } }.to raise_error(IOError, 'closed')
      expect(catch(:out) { generate { throw :out, 5 } }).to eq(5)
      expect([generate(temperature: 0), context.n_threads]).to eq(['Paris.', 1])
    end

    it 'has its threads back after an exception' do
      expect { generate(n_threads: 2) { raise 'x' } }.to raise_error('x')
      expect(context.n_threads).to eq(1)
    end

    it 'cannot generate on the same context within it, but on another' do
      errors = []
      others = []
      other = new_context
      text = generate(temperature: 0) do
        others << generate('7 + 8 =', with: other, temperature: 0)
        generate('7 + 8 =', temperature: 0)
      rescue RuntimeError => e
        errors << e.message
      end
      expect([text, others.uniq]).to eq(['Paris.', ['15.']])
      expect(errors.uniq).to eq(['another generate is running on this context: give each thread a context of its ' \
                                 'own or let them take turns, and use another context within the block of a ' \
                                 'generate'])
    end

    it 'gets the echo first' do
      parts = []
      generate(temperature: 0, echo: true) { |part| parts << part }
      expect(parts).to eq([Models::FRANCE, ' P', 'ar', 'is', '.'])
    end
  end

  describe 'with stream: true' do
    it 'is a lazy enumerator of the same parts' do
      stream = generate(temperature: 0, stream: true)
      expect(stream).to be_a(Enumerator::Lazy)
      expect([stream.to_a, stream.to_a]).to eq([[' P', 'ar', 'is', '.']] * 2)
    end

    it 'does not work before it is asked' do
      stream = generate(temperature: 0, stream: true)
      expect(context.kv_cache_token_count).to eq(0)
      expect(stream.first(2)).to eq([' P', 'ar'])
      expect(context.kv_cache_token_count).to be_between(8, 10)
      expect(generate(temperature: 0)).to eq('Paris.')
    end

    it 'can be taken step by step' do
      stream = generate(temperature: 0, stream: true).eager
      enumerator = stream.each_entry
      expect(Array.new(4) { enumerator.next }).to eq([' P', 'ar', 'is', '.'])
      expect { enumerator.next }.to raise_error(StopIteration)
    end

    it 'checks its arguments at once' do
      expect { generate(nil, stream: true) }.to raise_error(ArgumentError, /prompt must be a String/)
    end

    it 'takes the block of a block' do
      parts = []
      expect(generate(temperature: 0, stream: true) { |part| parts << part }).to eq('Paris.')
      expect(parts.size).to eq(4)
    end
  end

  describe 'a prompt' do
    it 'may be empty, or have space around it' do
      expect(generate('', n_predict: 4, temperature: 0)).to be_a(String)
      expect(generate(" #{Models::FRANCE} ", temperature: 0, n_predict: 0)).to eq('')
    end

    it 'may be in another encoding, or frozen, or of a subclass' do
      prompts = [Models::FRANCE.encode('UTF-16LE'), Models::FRANCE.b, Class.new(String).new(Models::FRANCE).freeze]
      expect(prompts.map { |prompt| generate(prompt, temperature: 0) }).to eq(['Paris.'] * 3)
      expect(generate('é'.encode('ISO-8859-1'), temperature: 0, n_predict: 5, echo: true)).to start_with('é')
    end

    it 'may have any bytes' do
      expect(generate("\xFF\xFE", n_predict: 1, echo: true)).to start_with('??')
      expect(generate("a\0b", n_predict: 1, echo: true)).to start_with("a\0b")
      expect { generate("\xD8".dup.force_encoding('UTF-16LE')) }
        .to raise_error(ArgumentError, /\Aprompt cannot be converted from UTF-16LE to UTF-8: /)
    end

    it 'leaves room for four tokens' do
      small = new_context(n_ctx: 16)
      texts = (1..40).map { |n| 'q' * n }.group_by { |text| tiny.tokenize(text: " #{text}", add_bos: true).size }
      expect(generate(texts.fetch(12).last, with: small, n_predict: 0)).to eq('')
      expect { generate(texts.fetch(13).first, with: small) }
        .to raise_error(ArgumentError, 'the prompt has 13 tokens, a context of 16 takes 12: shorten it, or make the ' \
                                       'context with a larger n_ctx')
    end
  end

  describe 'wrong arguments' do
    {
      { n_predict: nil } => 'n_predict must be an Integer, got nil',
      { n_predict: 2**31 } => 'n_predict is 2147483648, it must be between -2147483648 and 2147483647',
      { n_keep: 1.0 } => 'n_keep must be an Integer, got 1.0',
      { repeat_last_n: 2**64 } => /\Arepeat_last_n is 18446744073709551616, it must be between -2147483648 and/,
      { top_k: '1' } => 'top_k must be an Integer, got "1"',
      { temperature: '0.5' } => 'temperature must be a Float, got "0.5"',
      { temperature: Float::NAN } => 'temperature is NaN',
      { top_p: nil } => 'top_p must be a Float, got nil',
      { top_p: Float::NAN } => 'top_p is NaN',
      { repeat_penalty: 1r } => 'repeat_penalty must be a Float, got (1/1)',
      { n_batch: 0 } => 'n_batch is 0, it must be 1 or more',
      { n_batch: -3 } => 'n_batch is -3, it must be 1 or more',
      { mirostat: 3 } => 'mirostat is 3, it must be 0 (none), 1 or 2',
      { stop: '' } => 'stop must be a String that is not empty, a Regexp for UTF-8, or an Array of them, got ""',
      { stop: [nil] } => 'stop must be a String that is not empty, a Regexp for UTF-8, or an Array of them, got nil',
      { stop: Regexp.new('é'.encode('EUC-JP')) } => /\Astop must be a String/,
      { grammar: 5 } => 'grammar must be a Grammar or a String, got an instance of Integer',
      { grammar: 'root ::= (' } => /\Agrammar: line 1, column 1\d: /,
      { logit_bias: [1] } => 'logit_bias must be a Hash, got an instance of Array',
      { logit_bias: { 'a' => 1 } } => 'a token of logit_bias must be an Integer, got "a"',
      { logit_bias: { 5 => 'x' } } => 'logit_bias[5] must be a Float, got "x"',
      { logit_bias: { 2**31 => 1 } } => /\Aa token of logit_bias is 2147483648, it must be between/,
      { n_threads: 0 } => /\An_threads is 0, it must be between 1 and \d+\z/,
      { n_threads: 'x' } => 'n_threads must be an Integer, got an instance of String',
      { seed: -1 } => 'seed is -1, it must be between 0 and 4294967295',
      { seed: 'x' } => 'seed must be an Integer, got an instance of String',
      { repeat_penalty: 0 } => /\Apenalty_repeat is 0, it must be above 0/,
      { top: 1 } => 'unknown keyword: :top'
    }.each do |wrong, message|
      it "of #{wrong} are refused, and the context goes on" do
        expect { generate(**wrong) }.to raise_error(ArgumentError, message)
        expect(generate(temperature: 0)).to eq('Paris.')
      end
    end

    it 'that are no context or no prompt are refused' do
      expect do
        generate(with: nil)
      end.to raise_error(ArgumentError, 'context must be a Context, got an instance of NilClass')
      expect { generate(with: tiny) }
        .to raise_error(ArgumentError, /got an instance of LLaMACpp::Model: make one with Model#context\z/)
      expect { generate(nil) }.to raise_error(ArgumentError, 'prompt must be a String, got an instance of NilClass')
      expect { generate(:a) }.to raise_error(ArgumentError, 'prompt must be a String, got an instance of Symbol')
      expect { described_class.generate(context) }.to raise_error(ArgumentError, /wrong number of arguments/)
    end

    it 'such as the name of a file for a grammar are told apart' do
      expect { generate(grammar: 'json.gbnf') }
        .to raise_error(ArgumentError, /not the name of a file/)
    end
  end

  describe 'a context' do
    let(:mine) { new_context(tiny, n_ctx: 512, n_batch: 512) }

    it 'is free again after another thread came between' do
      batch = LLaMACpp::Batch.get_one(tokens: [5] * 400, n_tokens: 400, pos_zero: 0, seq_id: 1)
      before = mine.n_threads
      other = nil
      begin
        generate(with: mine, n_threads: before + 1) do
          other ||= Thread.new { mine.decode(batch) }
          sleep 0.01
        end
      rescue RuntimeError => e
        expect(e.message).to match(/in use|cache was changed/)
      end
      other.join
      expect([mine.n_threads, generate(with: mine)]).to eq([before, generate(with: context)])
    end

    it 'is free again when nobody is left to ask for the rest' do
      first = -> { mine.enum_for(:generate, Models::FRANCE, temperature: 0).next }
      # Deep in the stack, so that nothing of it stays where the collector looks.
      expect(Array.new(3) { Thread.new { first.call }.value }.uniq).to eq([' P'])
      expect(generate(with: mine)).to eq(generate(with: context))
    end

    it 'has its own number of threads when a stream was overtaken' do
      before = mine.n_threads
      stream = mine.generate(Models::FRANCE, n_threads: before + 1, stream: true)
      stream.next
      generate(with: mine, n_predict: 2)
      expect { stream.next }.to raise_error(RuntimeError, /this stream is over/)
      expect(mine.n_threads).to eq(before)
    end
  end

  describe 'a model that is freed' do
    let(:model) { load_model }
    let(:orphan) { new_context(model) }

    it 'lives on in its context' do
      orphan && model.free
      expect(generate(with: orphan)).to eq generate(with: context)
      expect(LLaMACpp::Chat.new(orphan).say('How are you?', temperature: 0)).to eq 'I am fine, thank you.'
      expect(LLaMACpp.embed(orphan, 'One text.').size).to eq 256
    end

    it 'lives on in a run that is under way' do
      text = generate(with: orphan) { model.free }
      expect(text).to eq generate(with: context)
    end
  end
end
