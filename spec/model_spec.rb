# frozen_string_literal: true

require 'objspace'
require 'pathname'
require 'tempfile'

RSpec.describe LLaMACpp::Model do
  let(:model_params) { LLaMACpp::ModelParams.new }
  let(:metadata) { described_class.metadata(Models::TINY) }

  def vocabulary(name, **settings)
    path = File.join(Models::ROOT, 'vendor', 'llama.cpp', 'models', "ggml-vocab-#{name}.gguf")
    skip "#{path} is not there: run rake vendor" unless File.exist?(path)
    load_model(path, vocab_only: true, **settings)
  end

  describe 'what it says of itself' do
    it 'agrees with the header of its file' do
      expect([tiny.n_vocab, tiny.n_embd, tiny.n_ctx_train]).to eq(
        [metadata['tokenizer.ggml.tokens'].size, metadata['llama.embedding_length'], metadata['llama.context_length']]
      )
    end

    it 'adds up its tensors' do
      shapes = metadata['gguf.tensors'].map { |tensor| tensor[:shape].inject(:*) }
      expect(tiny.n_params).to eq(shapes.sum)
      expect(tiny.size).to eq(metadata['gguf.tensors'].sum { |tensor| tensor[:n_bytes] })
      expect([tiny.n_params, tiny.size]).to eq([1_508_608, 3_019_776])
    end

    it 'names architecture and type' do
      expect([tiny.desc, tiny.desc.encoding]).to eq(['llama ?B F16', Encoding::UTF_8])
      expect(tiny.inspect).to eq('#<LLaMACpp::Model llama ?B F16, 3.0 MB>')
      expect([tiny.rope_freq_scale_train, tiny.vocab_type]).to eq([1.0, LLaMACpp::LLAMA_VOCAB_TYPE_SPM])
    end

    it 'has the special tokens' do
      expect([tiny.token_bos, tiny.token_eos, tiny.token_nl]).to eq([1, 2, 13])
      expect([tiny.token_prefix, tiny.token_middle, tiny.token_suffix, tiny.token_eot])
        .to eq([32_007, 32_009, 32_008, 32_010])
      expect([tiny.add_bos_token?, tiny.add_eos_token?]).to eq([true, true])
    end

    it 'tells its memory' do
      bytes = ObjectSpace.memsize_of(tiny)
      expect(bytes).to be_between(tiny.size, tiny.size + 200_000)
      expect(ObjectSpace.memsize_of(described_class.new)).to be < 1000
    end
  end

  describe 'tokens' do
    it 'have the texts, scores and types of the file' do
      ids = (0...tiny.n_vocab).to_a
      expect(ids.map { |id| tiny.text(id) }).to eq(metadata['tokenizer.ggml.tokens'])
      expect(ids.map { |id| tiny.score(id) }).to eq(metadata['tokenizer.ggml.scores'])
      expect(ids.map { |id| tiny.type(id) }).to eq(metadata['tokenizer.ggml.token_type'])
    end

    it 'have pieces: the byte of a byte token, the text with spaces of a word, nothing of a control token' do
      expected = metadata['tokenizer.ggml.tokens'].zip(metadata['tokenizer.ggml.token_type']).map do |text, type|
        case type
        when LLaMACpp::LLAMA_TOKEN_TYPE_BYTE then text[/<0x(..)>/, 1].hex.chr.b
        when LLaMACpp::LLAMA_TOKEN_TYPE_CONTROL then ''.b
        when LLaMACpp::LLAMA_TOKEN_TYPE_UNKNOWN then "\u2585".b
        else text.tr('▁', ' ').b
        end
      end
      pieces = (0...tiny.n_vocab).map { |id| tiny.token_to_piece(id) }
      expect(pieces.map(&:b)).to eq(expected)
      expect(pieces.map(&:encoding).uniq).to eq([Encoding::UTF_8])
    end

    it 'outside of the vocabulary have no piece' do
      expect([-1, 640, (2**31) - 1, -2**31].map { |id| tiny.token_to_piece(id) }).to eq([''] * 4)
      expect { tiny.token_to_piece(2**31) }.to raise_error(RangeError)
      expect { tiny.token_to_piece('1') }.to raise_error(TypeError)
      expect { tiny.token_to_piece(nil) }.to raise_error(TypeError)
    end

    it 'outside of the vocabulary have no text, score and type' do
      %i[text score type].each do |name|
        expect { tiny.public_send(name, 640) }
          .to raise_error(IndexError, 'token 640 is outside of the vocabulary, which has the tokens 0 to 639')
        expect { tiny.public_send(name, -1) }
          .to raise_error(ArgumentError, 'token -1 is negative; the vocabulary has the tokens 0 to 639')
        expect { tiny.public_send(name, 2**31) }.to raise_error(RangeError)
      end
    end
  end

  describe '#tokenize' do
    def tokenize(text, **keywords)
      tiny.tokenize(text:, **keywords)
    end

    it 'gives the recorded tokens' do
      expect(tokenize(Models::FRANCE, add_bos: true)).to eq(Models::FRANCE_TOKENS)
      expect(tokenize(Models::FRANCE)).to eq(Models::FRANCE_TOKENS.drop(1))
      expect(tokenize('')).to eq([])
      expect(tokenize('', add_bos: true)).to eq([1])
    end

    it 'takes special tokens by their text only when asked to' do
      expect(tokenize('</s>', special: true)).to eq([2])
      expect(tokenize('</s>')).not_to include(2)
    end

    it 'takes any truth for its switches' do
      expect([tokenize('a', add_bos: 'yes').first, tokenize('a', add_bos: nil).first]).to eq([1, 277])
    end

    ['The cat. 7 + 8 = 15', "a\nb\tc", 'Tōkyō 東京 🦙', "NUL \0 inside", ' two  spaces ', 'x' * 5000].each do |text|
      it "can be undone: #{text[0, 30].inspect}" do
        expect(tiny.detokenize(tokenize(text))).to eq(" #{text}")
      end
    end

    it 'takes a text in another encoding as its UTF-8' do
      text = 'Ünïcödé'
      expected = tokenize(text)
      %w[ISO-8859-1 UTF-16LE UTF-16BE UTF-32].each { |name| expect(tokenize(text.encode(name))).to eq(expected) }
      expect(tokenize('abc'.encode('US-ASCII'))).to eq(tokenize('abc'))
    end

    it 'takes raw bytes one by one' do
      bytes = [0xFF, 0xFE, 0x80, 0xC3]
      expected = [574, *bytes.map { |byte| byte + 3 }]
      expect(tokenize(bytes.pack('C*').force_encoding('UTF-8'))).to eq(expected)
      expect(tokenize(bytes.pack('C*'))).to eq(expected)
    end

    it 'refuses a text that its encoding cannot mean' do
      expect { tokenize("\xD8".dup.force_encoding('UTF-16LE')) }
        .to raise_error(ArgumentError, /\Atext cannot be converted from UTF-16LE to UTF-8: /)
    end

    it 'does not touch a frozen text, and takes a subclass of String' do
      text = Class.new(String).new(Models::FRANCE).freeze
      expect([tokenize(text), text]).to eq([Models::FRANCE_TOKENS.drop(1), Models::FRANCE])
    end

    it 'stops at n_max_tokens' do
      expect(tokenize(Models::FRANCE, add_bos: true, n_max_tokens: 8).size).to eq(8)
      expect { tokenize(Models::FRANCE, add_bos: true, n_max_tokens: 7) }
        .to raise_error(RuntimeError, 'the text has 8 tokens, n_max_tokens is 7')
      expect { tokenize('a', n_max_tokens: 0) }.to raise_error(RuntimeError, 'the text has 1 tokens, n_max_tokens is 0')
    end

    {
      { text: nil } => 'text must be a String, got nil',
      { text: :a } => 'text must be a String, got an instance of Symbol',
      { text: 1 } => 'text must be a String, got 1 (Integer)',
      { n_max_tokens: -1 } => 'n_max_tokens is -1, it must be between 0 and 2147483647',
      { n_max_tokens: 2**31 } => 'n_max_tokens is 2147483648, it must be between 0 and 2147483647',
      { n_max_tokens: '5' } => 'n_max_tokens must be an Integer, got an instance of String'
    }.each do |wrong, message|
      it("refuses #{wrong}") { expect { tokenize('a', **wrong) }.to raise_error(ArgumentError, message) }
    end

    it 'wants a text, and no unknown keyword' do
      expect { tiny.tokenize }.to raise_error(ArgumentError, 'missing keyword: :text')
      expect { tiny.tokenize(text: 'a', bos: true) }.to raise_error(ArgumentError, 'unknown keyword: :bos')
    end

    it 'is fast with a long text' do
      text = 'The capital of France is Paris. ' * 20_000
      start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      expect(tokenize(text).size).to be_between(100_000, 640_000)
      expect(Process.clock_gettime(Process::CLOCK_MONOTONIC) - start).to be < 10
    end
  end

  describe '#tokenize with a BPE vocabulary' do
    let(:neox) { quietly { vocabulary('gpt-neox') } }

    it 'gives the recorded tokens' do
      expect(neox.tokenize(text: 'Hello world')).to eq([12_092, 1533])
      expect(neox.tokenize(text: '🦙 llama')).to eq([14_931, 101, 236, 26_198, 2902])
      expect(neox.vocab_type).to eq(LLaMACpp::LLAMA_VOCAB_TYPE_BPE)
    end

    it 'refuses invalid UTF-8 with the place' do
      expect { neox.tokenize(text: "ab\xFF") }
        .to raise_error(ArgumentError, "the text is not valid UTF-8 at byte 2; this model's vocabulary has tokens " \
                                       'for UTF-8 only')
    end
  end

  describe '#detokenize' do
    it 'joins the pieces' do
      expect(tiny.detokenize(Models::FRANCE_TOKENS)).to eq(" #{Models::FRANCE}")
      expect(tiny.detokenize([])).to eq('')
      expect(tiny.detokenize([-1, 442, 640])).to eq(' P')
      expect { tiny.detokenize([1, nil]) }
        .to raise_error(ArgumentError, 'tokens[1] must be an Integer, got nil')
    end
  end

  describe '.new and #load' do
    it 'make a model of a file' do
      model = described_class.new
      expect(model.empty?).to be(true)
      expect(model.load(model_path: Models::TINY, params: model_params)).to be_nil
      expect([model.empty?, model.n_vocab]).to eq([false, 640])
    end

    it 'take a Pathname' do
      expect(described_class.new(model_path: Pathname(Models::TINY), params: model_params).n_vocab).to eq(640)
    end

    it 'load the same with and without mmap' do
      rows = [true, false].map do |use_mmap|
        context = new_context(load_model(use_mmap:))
        decode(context, Models::FRANCE_TOKENS)
        context.logits
      end
      expect(rows[0]).to eq(rows[1])
    end

    it 'load the vocabulary only' do
      model = load_model(vocab_only: true)
      expect([model.n_vocab, model.tokenize(text: Models::FRANCE)]).to eq([640, Models::FRANCE_TOKENS.drop(1)])
      expect { new_context(model) }
        .to raise_error(RuntimeError, 'the model was loaded with vocab_only: it has no weights to make a context with')
    end

    it 'refuse a second load' do
      expect { tiny.load(model_path: Models::TINY, params: model_params) }
        .to raise_error(RuntimeError, 'the model is loaded already: free it first, or make another')
      expect { tiny.send(:initialize, model_path: Models::TINY, params: model_params) }
        .to raise_error(RuntimeError, /loaded already/)
      expect(tiny.n_vocab).to eq(640)
    end

    it 'load again after free' do
      model = load_model
      model.free
      model.load(model_path: Models::TINY, params: model_params)
      expect(model.n_vocab).to eq(640)
    end

    it 'keep a copy of their params' do
      model_params.vocab_only = true
      model = described_class.new(model_path: Models::TINY, params: model_params)
      model_params.vocab_only = false
      expect(model.params.vocab_only).to be(true)
    end

    {
      'a file that is not there' => ['/nonexistent/model.gguf', /No such file/],
      'a folder' => [Models::ROOT, /is a directory/],
      'a device' => ['/dev/null', /is not a regular file/],
      'a text' => [__FILE__, /not a GGUF model: it starts with '# fr' instead of 'GGUF'/]
    }.each do |what, (path, reason)|
      it "refuse #{what}, naming it" do
        model = described_class.new
        expect { model.load(model_path: path, params: model_params) }
          .to raise_error(RuntimeError, /\Acannot load the model #{Regexp.escape(path)}: .*#{reason}/)
        expect(model.empty?).to be(true)
      end
    end

    it 'refuse a file that is cut short by a byte' do
      Tempfile.create('cut') do |file|
        file.write(File.binread(Models::TINY)[0..-2])
        file.close
        expect { load_model(file.path) }.to raise_error(RuntimeError, /\Acannot load the model #{file.path}: /)
      end
    end

    {
      { model_path: nil } => 'model_path must be a String, got nil',
      { model_path: '' } => 'model_path is empty',
      { model_path: "a\0b" } => 'model_path contains a NUL byte',
      { model_path: 5 } => 'model_path must be a String, got 5 (Integer)',
      { params: nil } => 'params must be a ModelParams, got nil',
      { params: 'x' } => 'params must be a ModelParams, got an instance of String'
    }.each do |wrong, message|
      it "refuse #{wrong}" do
        arguments = { model_path: Models::TINY, params: model_params, **wrong }
        expect { described_class.new(**arguments) }.to raise_error(ArgumentError, message)
        expect { described_class.new.load(**arguments) }.to raise_error(ArgumentError, message)
      end
    end

    it 'want both keywords' do
      expect { described_class.new(model_path: Models::TINY) }.to raise_error(ArgumentError, 'missing keyword: :params')
      expect { described_class.new(params: model_params) }.to raise_error(ArgumentError, 'missing keyword: :model_path')
      expect { described_class.new.load }
        .to raise_error(ArgumentError, 'missing keywords: :model_path, :params')
      expect { described_class.new(Models::TINY) }.to raise_error(ArgumentError, /wrong number of arguments/)
    end
  end

  describe 'the progress block' do
    def load_with(&)
      described_class.new(model_path: Models::TINY, params: model_params, &)
    end

    it 'gets rising fractions from 0.0 to 1.0' do
      fractions = []
      load_with { |fraction| fractions << fraction }
      expect([fractions.first, fractions.last, fractions]).to eq([0.0, 1.0, fractions.sort])
      expect(fractions.size).to be > metadata['gguf.tensors'].size
    end

    it 'cancels the load by false, and by nothing else' do
      expect(load_with { nil }.n_vocab).to eq(640)
      model = described_class.new
      calls = 0
      expect { model.load(model_path: Models::TINY, params: model_params) { (calls += 1) < 3 } }
        .to raise_error(RuntimeError, 'cancelled: the block returned false')
      expect([calls, model.empty?]).to eq([3, true])
      model.load(model_path: Models::TINY, params: model_params)
      expect(model.n_vocab).to eq(640)
    end

    it 'can raise any exception' do
      model = described_class.new
      error = Class.new(Exception) # rubocop:disable Lint/InheritException
      calls = 0
      expect do
        model.load(model_path: Models::TINY, params: model_params) { raise error, 'enough' if (calls += 1) == 2 }
      end.to raise_error(error, 'enough')
      expect([calls, model.empty?]).to eq([2, true])
    end

    it 'can be left by break, throw and return' do
      expect(load_with { break 5 }).to eq(5)
      expect(catch(:out) { load_with { throw :out, 6 } }).to eq(6)
      expect(-> { load_with { return 7 } }.call).to eq(7)
    end

    it 'cannot load the model once more, nor be confused by a free' do
      model = described_class.new
      errors = []
      model.load(model_path: Models::TINY, params: model_params) do
        model.free
        model.load(model_path: Models::TINY, params: model_params)
      rescue RuntimeError => e
        errors << e.message
      end
      expect(errors.uniq).to eq(['the model is being loaded by another thread'])
      expect(model.n_vocab).to eq(640)
    end

    it 'can use other models' do
      found = []
      load_with { |fraction| found << tiny.token_to_piece(442) if fraction >= 1 }
      expect(found).to eq([' P'])
    end
  end

  describe '#free' do
    it 'may be called twice, and empties the model' do
      model = load_model
      expect([model.free, model.free, model.empty?, model.params]).to eq([nil, nil, true, nil])
      expect(model.inspect).to eq('#<LLaMACpp::Model empty>')
    end

    empty_calls = {
      n_vocab: [], n_ctx_train: [], n_embd: [], rope_freq_scale_train: [], desc: [], size: [], n_params: [],
      token_bos: [], token_eos: [], token_nl: [], token_prefix: [], token_middle: [], token_suffix: [], token_eot: [],
      add_bos_token?: [], add_eos_token?: [], vocab_type: [], token_to_piece: [1], text: [1], score: [1], type: [1],
      detokenize: [[1]]
    }
    empty_calls.each do |name, arguments|
      it "leaves no #{name}, nor does an empty model have one" do
        message = 'the model is empty: it was freed, or no file was loaded yet'
        freed = load_model.tap(&:free)
        [freed, described_class.new, described_class.allocate].each do |model|
          expect { model.public_send(name, *arguments) }.to raise_error(RuntimeError, message)
        end
      end
    end

    it 'leaves no tokenize, nor does an empty model have one' do
      expect { described_class.new.tokenize(text: 'a') }.to raise_error(RuntimeError, /the model is empty/)
      expect { load_model.tap(&:free).tokenize(text: 'a') }.to raise_error(RuntimeError, /the model is empty/)
    end
  end

  describe 'copies' do
    it 'share the weights, and are freed on their own' do
      model = load_model
      copy = model.dup
      model.free
      expect([model.empty?, copy.empty?, copy.n_vocab, copy.clone.params]).to eq([true, false, 640, model_params])
    end

    it 'of an empty model are empty' do
      expect([described_class.new.dup.empty?, described_class.new.clone.empty?]).to eq([true, true])
    end
  end

  it 'cannot be loaded when frozen' do
    model = described_class.new.freeze
    expect { model.load(model_path: Models::TINY, params: model_params) }.to raise_error(FrozenError)
    expect(model.empty?).to be(true)
    expect(load_model.freeze.n_vocab).to eq(640)
  end

  it 'can be subclassed' do
    subclass = Class.new(described_class) do
      def initialize = super(model_path: Models::TINY, params: LLaMACpp::ModelParams.new)
      def tokenize(text) = super(text:, add_bos: true)
    end
    model = subclass.new
    expect([model.class, model.dup.class, model.tokenize(Models::FRANCE)])
      .to eq([subclass, subclass, Models::FRANCE_TOKENS])
    expect(new_context(model).model).to equal(model)
  end

  describe '.metadata' do
    it 'reads the header without loading' do
      expect(metadata.slice('general.architecture', 'llama.context_length', 'tokenizer.ggml.bos_token_id'))
        .to eq('general.architecture' => 'llama', 'llama.context_length' => 256, 'tokenizer.ggml.bos_token_id' => 1)
      expect(metadata['gguf.version']).to eq(3)
    end

    it 'lists the tensors' do
      expect(metadata['gguf.tensors'].first)
        .to eq(name: 'token_embd.weight', type: 'f16', shape: [256, 640], n_bytes: 256 * 640 * 2)
      expect(metadata['gguf.tensors'].size).to eq(21)
    end

    it 'refuses what is no sound GGUF file' do
      expect { described_class.metadata(__FILE__) }.to raise_error(RuntimeError, /not a GGUF model/)
      expect { described_class.metadata('/nonexistent') }.to raise_error(RuntimeError, /No such file/)
      expect { described_class.metadata(nil) }.to raise_error(ArgumentError, 'path must be a String, got nil')
    end
  end

  describe 'a model of random weights' do
    it 'says how large it is' do
      model = load_model(LargeModel.path)
      # 12 layers of 4 square matrices, 3 of 512 × 1536 and 2 norms; 2 × 640 tokens, 1 norm.
      expect(model.n_params).to eq((12 * ((4 * 512 * 512) + (3 * 512 * 1536) + (2 * 512))) + (2 * 640 * 512) + 512)
    end
  end
end
