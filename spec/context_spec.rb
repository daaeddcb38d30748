# frozen_string_literal: true

require 'objspace'

RSpec.describe LLaMACpp::Context do
  subject(:context) { new_context }

  let(:france) { Models::FRANCE_TOKENS }
  let(:whole) { new_context(logits_all: true).tap { |c| decode(c, france) } }

  describe '#free' do
    it 'lets go of the memory, more than once' do
      before = ObjectSpace.memsize_of(context)
      expect([context.free, context.free]).to eq([nil, nil])
      expect(ObjectSpace.memsize_of(context)).to be < before / 2
    end

    it 'leaves nothing to work with' do
      context.free
      message = 'the context is no more: it was freed (or never initialized); make another one of its model'
      %i[n_ctx model logits candidates kv_cache_clear timings].each do |name|
        expect { context.public_send(name) }.to raise_error(RuntimeError, message)
      end
      expect { decode(context, france) }.to raise_error(RuntimeError, message)
    end
  end

  describe '.new' do
    it 'makes a context of a model' do
      expect([context.n_ctx, context.n_batch, context.kv_cache_token_count]).to eq([64, 512, 0])
      expect(context.model).to equal(tiny)
      expect([context.n_threads, context.n_threads_batch]).to eq([1, 1])
    end

    {
      { model: nil } => 'model must be a Model, got nil',
      { model: 'x' } => 'model must be a Model, got an instance of String',
      { params: nil } => 'params must be a ContextParams, got nil',
      { params: LLaMACpp::ModelParams.new } =>
        'params must be a ContextParams, got an instance of LLaMACpp::ModelParams',
      { model: LLaMACpp::Model.new } => 'the model is empty: it was freed, or no file was loaded yet'
    }.each do |wrong, message|
      it "refuses #{wrong.keys.first} #{wrong.values.first.class}" do
        arguments = { model: tiny, params: LLaMACpp::ContextParams.new, **wrong }
        expect { described_class.new(**arguments) }.to raise_error(ArgumentError, message)
      end
    end

    it 'wants both keywords' do
      expect { described_class.new }.to raise_error(ArgumentError, 'missing keywords: :model, :params')
    end

    it 'tells its memory' do
      small, large = [64, 4096].map { |n_ctx| ObjectSpace.memsize_of(new_context(n_ctx:)) }
      # Keys and values: 2 layers × 128 numbers × 2 bytes each, for every cell.
      expect(large - small).to be >= (4096 - 64) * 2 * 2 * 128 * 2
    end
  end

  describe '#decode' do
    it 'gives the recorded logits' do
      decode(context, france)
      expect(distance(context.logits.first(6), [-1.4449, 0.5272, 0.02, -1.2981, -1.3922, -1.4332])).to be < 0.01
      expect(tiny.token_to_piece(best(context.logits))).to eq(' P')
    end

    it 'gives a batch the logits that its tokens have one by one' do
      rows = france.each_with_index.map do |token, pos|
        decode(context, [token], pos:)
        context.logits
      end
      expect(distance(whole.logits, rows.flatten)).to be < 0.01
    end

    it 'gives parts of a batch the logits that the whole has' do
      decode(context, france[0, 3])
      decode(context, france[3, 5], pos: 3)
      expect(distance(context.logits, whole.logits(-1))).to be < 0.01
    end

    it 'returns nil, and counts the tokens in the cache' do
      expect(context.decode(LLaMACpp::Batch.get_one(tokens: [1, 2], n_tokens: 2, pos_zero: 0, seq_id: 0))).to be_nil
      expect(context.kv_cache_token_count).to eq(2)
    end

    it 'gives a batch filled by hand what get_one gives' do
      context.decode(batch_of(*france.each_with_index.map { |token, pos| [token, pos, [0], pos == 7] }))
      expect(distance(context.logits, whole.logits(7))).to be < 1e-3
    end

    it 'keeps sequences apart' do
      other = tiny.tokenize(text: '7 + 8 =', add_bos: true)
      entries = france.each_with_index.map { |token, pos| [token, pos, [0], pos == 7] } +
                other.each_with_index.map { |token, pos| [token, pos, [1], pos == other.size - 1] }
      context.decode(batch_of(*entries))
      alone = new_context
      decode(alone, other)
      expect(distance(context.logits(7), whole.logits(7))).to be < 0.01
      expect(distance(context.logits(-1), alone.logits)).to be < 0.01
    end

    it 'lets sequences share tokens' do
      entries = france.each_with_index.map { |token, pos| [token, pos, [0, 3], pos == 7] }
      context.decode(batch_of(*entries))
      expect(context.kv_cache_token_count).to eq(16)
      decode(context, [442], pos: 8, seq: 3)
      decode(whole, [442], pos: 8)
      expect(distance(context.logits, whole.logits)).to be < 0.01
    end

    it 'sees positions, not the order in the batch' do
      entries = france.each_with_index.map { |token, pos| [token, pos, [0], pos == 7] }
      context.decode(batch_of(*entries.reverse))
      expect(distance(context.logits(0), whole.logits(7))).to be < 0.01
    end

    it 'is the same every time' do
      rows = Array.new(3) do
        context.kv_cache_clear
        decode(context, france)
        context.logits
      end
      expect(rows.uniq.size).to eq(1)
    end

    it 'decodes embeddings in a batch of the model\'s width only' do
      batch = LLaMACpp::Batch.new(max_n_token: 1, n_embd: 8, max_n_seq: 1)
      batch.n_tokens = 1
      batch.set_n_seq_id(0, 1)
      expect { context.decode(batch) }
        .to raise_error(ArgumentError, "the batch holds embeddings of 8 floats, the model's have 256")
    end

    it 'refuses what is no batch' do
      expect { context.decode(nil) }.to raise_error(ArgumentError, 'batch must be a Batch, got nil')
      expect { context.decode([1]) }.to raise_error(ArgumentError, 'batch must be a Batch, got an instance of Array')
    end
  end

  describe 'a batch that cannot be decoded' do
    before { decode(context, france) }

    def expect_refusal(error, message, batch)
      logits = context.logits
      expect { context.decode(batch) }.to raise_error(error, message)
      expect([context.kv_cache_token_count, context.logits == logits]).to eq([8, true])
      # It goes on as if nothing had been.
      decode(context, [442], pos: 8)
      expect(tiny.token_to_piece(best(context.logits))).to eq('ar')
    end

    it 'is one that is empty' do
      expect_refusal(ArgumentError, 'the batch is empty: set its tokens and n_tokens',
                     LLaMACpp::Batch.new(max_n_token: 1, n_embd: 0, max_n_seq: 1))
    end

    it 'is one beyond n_batch' do
      small = new_context(n_batch: 4)
      expect { decode(small, france) }
        .to raise_error(ArgumentError, 'the batch has 8 tokens, n_batch of the context is 4: decode it in parts')
      expect(small.kv_cache_token_count).to eq(0)
    end

    it 'is one with a token outside of the vocabulary' do
      expect_refusal(ArgumentError,
                     'token 640 at index 1 is outside of the vocabulary, which has the tokens 0 to 639',
                     batch_of([1, 8, [0], true], [640, 9, [0], true]))
      expect { decode(context, [-1], pos: 9) }.to raise_error(ArgumentError, /\Atoken -1 at index 0 is outside/)
    end

    it 'is one with a negative position' do
      expect_refusal(ArgumentError, 'position -1 at index 0 is negative', batch_of([1, -1, [0], true]))
      expect { decode(context, [1], pos: -3) }
        .to raise_error(ArgumentError, 'position -3 is outside of 0 to 2147483647')
      expect { decode(context, [1, 1], pos: (2**31) - 1) }
        .to raise_error(ArgumentError, 'position 2147483648 is outside of 0 to 2147483647')
    end

    it 'is one with a negative sequence, or none' do
      expect_refusal(ArgumentError, 'sequence id -7 at index 0, 1 is negative', batch_of([1, 8, [0, -7], true]))
      expect { decode(context, [1], pos: 9, seq: -1) }.to raise_error(ArgumentError, 'sequence id -1 is negative')
      expect { context.decode(batch_of([1, 9, [], true])) }
        .to raise_error(ArgumentError, /\Athe token at index 0 belongs to no sequence: set its n_seq_id to 1 or more/)
    end

    it 'is one for which the cache has no room' do
      56.times { |i| decode(context, [1], pos: 8 + i) }
      logits = context.logits
      expect { decode(context, [1], pos: 64) }
        .to raise_error(RuntimeError, /\Athe KV cache has no room for 1 more tokens in a row: 64 of its 64 cells/)
      expect([context.kv_cache_token_count, context.logits == logits]).to eq([64, true])
      context.kv_cache_seq_rm(0, 8, -1)
      decode(context, [442], pos: 8)
      expect(tiny.token_to_piece(best(context.logits))).to eq('ar')
    end
  end

  describe '#logits' do
    it 'is of the last token' do
      decode(context, france)
      expect(context.logits.size).to eq(tiny.n_vocab)
      expect(distance(context.logits, whole.logits(-1))).to be < 0.01
    end

    it 'is all rows with logits_all' do
      expect(whole.logits.size).to eq(8 * 640)
      expect(Array.new(8) { |i| whole.logits(i) }.flatten).to eq(whole.logits)
      expect(whole.logits(-8)).to eq(whole.logits(0))
    end

    it 'is of the tokens that were flagged' do
      context.decode(batch_of(*france.each_with_index.map { |token, pos| [token, pos, [0], [2, 5].include?(pos)] }))
      expect(context.logits).to eq(context.logits(5))
      expect(distance(context.logits(2), whole.logits(2))).to be < 0.01
      expect { context.logits(3) }
        .to raise_error(IndexError, 'the logits of token 3 were not asked for: set_logits(3, true) in the batch')
    end

    it 'is not there before the first decode, or when nobody asked for it' do
      expect { context.logits }.to raise_error(RuntimeError, 'nothing was decoded yet: call decode first')
      expect { context.logits(0) }.to raise_error(RuntimeError, 'nothing was decoded yet: call decode first')
      expect { context.candidates }.to raise_error(RuntimeError, 'nothing was decoded yet: call decode first')
      context.decode(batch_of([1, 0, [0], false]))
      message = 'no token of the last batch asked for logits: set_logits(i, true) for those that should have them'
      expect { context.logits }.to raise_error(RuntimeError, message)
      expect { context.candidates }.to raise_error(RuntimeError, message)
    end

    it 'has rows of the last decode only' do
      [8, -9, 2**40].each do |row|
        expect { whole.logits(row) }
          .to raise_error(IndexError, "row #{row} is outside of the 8 rows of the last decode")
      end
      expect { whole.logits('1') }.to raise_error(TypeError)
    end

    it 'is the product of the last state and the output matrix' do
      embedding = new_context(embedding: true)
      decode(embedding, france)
      state = embedding.embeddings
      [0, 13, 442, 639].each do |token|
        product = TinyWeights.output(token).zip(state).sum { |a, b| a * b }
        expect(embedding.logits[token]).to be_within(0.02).of(product)
      end
    end

    it 'is an Array of its own' do
      decode(context, france)
      context.logits[0] = 99.0
      expect(context.logits[0]).not_to eq(99.0)
    end
  end

  describe '#logits_packed' do
    it 'has the same numbers as bytes' do
      expect(whole.logits_packed.unpack('f*')).to eq(whole.logits)
      expect(whole.logits_packed(3).unpack('f*')).to eq(whole.logits(3))
      expect([whole.logits_packed.encoding, whole.logits_packed.bytesize]).to eq([Encoding::BINARY, 8 * 640 * 4])
    end
  end

  describe '#candidates' do
    it 'has the whole vocabulary with the logits' do
      decode(context, france)
      array = context.candidates
      expect([array.ids, array.logits, array.sorted]).to eq([(0...640).to_a, context.logits, false])
      expect(whole.candidates(2).logits).to eq(whole.logits(2))
      expect { whole.candidates(8) }.to raise_error(IndexError, 'row 8 is outside of the 8 rows of the last decode')
    end
  end

  describe '#embeddings' do
    let(:embedding) { new_context(embedding: true) }

    it 'gives the recorded numbers' do
      decode(embedding, france)
      expect(embedding.embeddings.size).to eq(256)
      expect(distance(embedding.embeddings.first(5), [-0.3576, -1.1262, -0.611, -0.5257, -0.4499])).to be < 0.01
      expect(embedding.embeddings_packed.unpack('f*')).to eq(embedding.embeddings)
    end

    it 'is of the last decode' do
      texts = ['Hello', Models::FRANCE].map { |text| tiny.tokenize(text:, add_bos: true) }
      vectors = [texts[1], texts[0], texts[1]].map do |tokens|
        embedding.kv_cache_clear
        decode(embedding, tokens)
        embedding.embeddings
      end
      expect([vectors[0] == vectors[2], distance(vectors[0], vectors[1]) > 0.1]).to eq([true, true])
    end

    it 'needs a context that was made with it, and a decode' do
      decode(context, france)
      expect { context.embeddings }
        .to raise_error(RuntimeError, 'the context was made without embeddings: set embedding = true in its ' \
                                      'ContextParams')
      expect { embedding.embeddings }.to raise_error(RuntimeError, 'nothing was decoded yet: call decode first')
      expect { embedding.embeddings_packed }.to raise_error(RuntimeError, /nothing was decoded yet/)
    end
  end

  describe '#eval' do
    # Without the warnings, which have examples of their own.
    def eval_quietly(context, **arguments)
      result = :none
      expect { result = context.eval(**arguments) }.to output.to_stderr
      result
    end

    it 'decodes at n_past' do
      expect(eval_quietly(context, tokens: france, n_past: 0)).to be_nil
      expect(distance(context.logits, whole.logits(-1))).to be < 0.01
      expect(context.kv_cache_token_count).to eq(8)
    end

    it 'drops the cells from n_past on first' do
      eval_quietly(context, tokens: [1, 262, 299, 5, 5, 5, 5], n_past: 0)
      eval_quietly(context, tokens: france[3..], n_past: 3)
      expect(context.kv_cache_token_count).to eq(8)
      expect(distance(context.logits, whole.logits(-1))).to be < 0.01
    end

    it 'takes the first n_tokens' do
      eval_quietly(context, tokens: france + [9, 9], n_past: 0, n_tokens: 8)
      expect(distance(context.logits, whole.logits(-1))).to be < 0.01
    end

    it 'warns once for each call, at the line of the caller' do
      place = Regexp.escape("#{__FILE__}:#{__LINE__ + 1}")
      expect { context.eval(tokens: [1], n_past: 0) }
        .to output(/\A#{place}: warning: LLaMACpp::Context#eval is deprecated: use decode$/).to_stderr
      expect { 2.times { context.eval(tokens: [1], n_past: 0) } }
        .to output(satisfy { |text| text.lines.size == 2 }).to_stderr
    end

    it 'keeps the cache when it cannot work' do
      eval_quietly(context, tokens: france, n_past: 0)
      {
        { tokens: [640], n_past: 2 } => [ArgumentError, /\Atoken 640 at index 0/],
        { tokens: [], n_past: 2 } => [ArgumentError, 'the batch is empty: set its tokens and n_tokens'],
        { tokens: [1] * 63, n_past: 2 } => [RuntimeError, /\Athe KV cache has no room for 63 more tokens/],
        { tokens: [1], n_past: -1 } => [ArgumentError, 'n_past is -1, it must be between 0 and 2147483647'],
        { tokens: [1], n_past: 2, n_tokens: 2 } => [ArgumentError, 'n_tokens is 2, but tokens has 1'],
        { tokens: nil, n_past: 2 } => [ArgumentError, 'tokens must be an Array of Integers, got nil'],
        { tokens: [1] } => [ArgumentError, 'missing keyword: :n_past']
      }.each do |arguments, (error, message)|
        expect { eval_quietly(context, **arguments) }.to raise_error(error, message)
      end
      expect(context.kv_cache_token_count).to eq(8)
    end
  end

  describe '#eval_embd' do
    let(:values) { france.flat_map { |token| TinyWeights.embedding(token) } }

    def eval_embd_quietly(**arguments)
      expect { context.eval_embd(**arguments) }.to output(/eval_embd is deprecated: use decode/).to_stderr
    end

    it 'gives for the embeddings of tokens what the tokens give' do
      eval_embd_quietly(embd: values, n_past: 0)
      expect(context.kv_cache_token_count).to eq(8)
      expect(distance(context.logits, whole.logits(-1))).to be < 0.01
    end

    it 'also calls them tokens, and takes the first n_tokens' do
      eval_embd_quietly(tokens: values + ([0.5] * 256), n_past: 0, n_tokens: 8)
      expect(distance(context.logits, whole.logits(-1))).to be < 0.01
    end

    {
      { embd: [0.1] * 255, n_past: 0 } => "255 floats are no multiple of the embedding's width 256",
      { embd: [0.1] * 256, n_past: 0, n_tokens: 2 } =>
        'n_tokens is 2, which takes 512 floats of 256 per token, but embd has 256',
      { embd: ['x'], n_past: 0 } => 'embd[0] must be a Float, got an instance of String',
      { embd: [], n_past: 0 } => 'the batch is empty: set its tokens and n_tokens',
      { embd: nil, n_past: 0 } => 'embd must be an Array of Floats, got nil',
      { n_past: 0 } => 'missing keyword: :embd',
      { embd: [], tokens: [], n_past: 0 } => 'embd and tokens are the same: give one of them'
    }.each do |arguments, message|
      it "refuses #{arguments.to_s[0, 60]}" do
        expect { expect { context.eval_embd(**arguments) }.to raise_error(ArgumentError, message) }.to output.to_stderr
      end
    end
  end

  describe 'the KV cache' do
    before { decode(context, france) }

    # The logits of a token that comes next.
    def next_logits(target = context, token: 442, pos: 8, seq: 0)
      decode(target, [token], pos:, seq:)
      target.logits
    end

    it 'is emptied by kv_cache_clear' do
      expect([context.kv_cache_clear, context.kv_cache_token_count]).to eq([nil, 0])
      expect(distance(next_logits(token: 1, pos: 0), whole.logits(0))).to be < 0.01
    end

    it 'loses a range by kv_cache_seq_rm' do
      expect([context.kv_cache_seq_rm(0, 5, 8), context.kv_cache_token_count]).to eq([nil, 5])
      decode(context, france[5..], pos: 5)
      expect(distance(context.logits, whole.logits(-1))).to be < 0.01
    end

    it 'loses everything by an open range, and a sequence of any number by a negative one' do
      counts = [[0, 6, -1], [0, -1, 2], [1, -1, -1], [-1, 3, 4], [-1, -1, -1]].map do |arguments|
        context.kv_cache_seq_rm(*arguments)
        context.kv_cache_token_count
      end
      expect(counts).to eq([6, 4, 4, 3, 0])
    end

    it 'without a token speaks otherwise' do
      other = next_logits
      context.kv_cache_seq_rm(0, 8, -1)
      context.kv_cache_seq_rm(0, 6, 7)
      expect(distance(next_logits, other)).to be > 0.1
    end

    it 'gives a sequence to another by kv_cache_seq_cp' do
      expect([context.kv_cache_seq_cp(0, 1, 0, -1), context.kv_cache_token_count]).to eq([nil, 16])
      expect(distance(next_logits(seq: 1), next_logits(whole))).to be < 0.01
      context.kv_cache_seq_rm(0, -1, -1)
      expect(context.kv_cache_token_count).to eq(9)
    end

    it 'gives a part of a sequence' do
      context.kv_cache_seq_cp(0, 1, 2, 6)
      expect(context.kv_cache_token_count).to eq(12)
    end

    it 'keeps one sequence by kv_cache_seq_keep' do
      context.kv_cache_seq_cp(0, 1, 0, 3)
      expect([context.kv_cache_seq_keep(1), context.kv_cache_token_count]).to eq([nil, 3])
      context.kv_cache_seq_keep(7)
      expect(context.kv_cache_token_count).to eq(0)
    end

    it 'moves a sequence by kv_cache_seq_shift' do
      other = new_context
      decode(other, france, pos: 20)
      expect(context.kv_cache_seq_shift(0, 0, -1, 20)).to be_nil
      expect(distance(next_logits(pos: 28), next_logits(other, pos: 28))).to be < 0.05
      context.kv_cache_seq_rm(0, 20, -1)
      expect(context.kv_cache_token_count).to eq(0)
    end

    it 'moves a part of a sequence, and drops what becomes negative' do
      context.kv_cache_seq_shift(0, 4, -1, 10)
      context.kv_cache_seq_rm(0, 4, 14)
      expect(context.kv_cache_token_count).to eq(8)
      context.kv_cache_seq_shift(0, 0, 4, -2)
      expect(context.kv_cache_token_count).to eq(6)
    end

    it 'divides positions by kv_cache_seq_div' do
      expect(context.kv_cache_seq_div(0, 0, -1, 2)).to be_nil
      # 0 to 7 became 0, 0, 1, 1, 2, 2, 3, 3.
      counts = [[0, 3, -1], [0, 2, 3], [0, 0, 1]].map do |arguments|
        context.kv_cache_seq_rm(*arguments)
        context.kv_cache_token_count
      end
      expect(counts).to eq([6, 4, 2])
    end

    it 'is not changed by a reversed range, or an empty one' do
      expected = next_logits(whole)
      [[5, 2], [(2**31) - 1, 0], [3, 3], [100, 200]].each do |p0, p1|
        context.kv_cache_seq_rm(0, p0, p1)
        context.kv_cache_seq_cp(0, 1, p0, p1)
        context.kv_cache_seq_shift(0, p0, p1, 5)
        context.kv_cache_seq_div(0, p0, p1, 2)
      end
      expect(context.kv_cache_token_count).to eq(8)
      expect(distance(next_logits, expected)).to be < 0.01
    end

    it 'refuses what it cannot do, and stays as it was' do
      {
        [:kv_cache_seq_div, 0, 0, -1, 0] => [ArgumentError, /\Apositions cannot be divided by 0/],
        [:kv_cache_seq_div, 0, 0, -1, -2] => [ArgumentError, /\Apositions cannot be divided by -2/],
        [:kv_cache_seq_cp, -1, 1, 0, -1] => [ArgumentError, 'sequence id -1 is negative'],
        [:kv_cache_seq_cp, 0, -2, 0, -1] => [ArgumentError, 'sequence id -2 is negative'],
        [:kv_cache_seq_keep, -1] => [ArgumentError, 'sequence id -1 is negative'],
        [:kv_cache_seq_shift, -1, 0, -1, 1] => [ArgumentError, 'sequence id -1 is negative'],
        [:kv_cache_seq_shift, 0, 0, -1, (2**31) - 1] => [ArgumentError, /\Aposition 7 plus 2147483647 is beyond/],
        [:kv_cache_seq_rm, 0, 2**31, -1] => [RangeError, nil],
        [:kv_cache_seq_rm, nil, 0, -1] => [TypeError, nil],
        [:kv_cache_seq_rm, 0, 0] => [ArgumentError, /wrong number of arguments/],
        [:kv_cache_seq_shift, 0, 0, -1, '1'] => [TypeError, nil]
      }.each do |call, (error, message)|
        expect { context.public_send(*call) }.to raise_error(error, message)
      end
      expect(context.kv_cache_token_count).to eq(8)
      expect(distance(next_logits, next_logits(whole))).to be < 0.01
    end

    it 'with quantized keys cannot be moved' do
      quantized = new_context(type_k: 8)
      decode(quantized, france)
      message = 'positions cannot be moved in a cache with quantized keys: make the context with type_k F16 or F32'
      expect { quantized.kv_cache_seq_shift(0, 0, -1, 1) }.to raise_error(RuntimeError, message)
      expect { quantized.kv_cache_seq_div(0, 0, -1, 2) }.to raise_error(RuntimeError, message)
      expect(quantized.kv_cache_token_count).to eq(8)
    end
  end

  describe '#set_rng_seed' do
    def draws(context)
      Array.new(12) { context.sample_token(candidates([1.0] * 50)) }
    end

    it 'starts the random numbers anew' do
      expect(context.set_rng_seed(7)).to be_nil
      first = draws(context)
      second = draws(context)
      context.set_rng_seed(7)
      expect([draws(context) == first, first == second]).to eq([true, false])
    end

    it 'starts them as the seed of the params does' do
      context.set_rng_seed(5)
      expect(draws(context)).to eq(draws(new_context(seed: 5)))
      expect(draws(context)).not_to eq(draws(new_context(seed: 6)))
    end

    it 'refuses what is no seed' do
      expect { context.set_rng_seed(-1) }
        .to raise_error(ArgumentError, 'seed is -1, it must be between 0 and 4294967295')
      expect { context.set_rng_seed(2**32) }.to raise_error(ArgumentError, /seed is 4294967296/)
      expect { context.set_rng_seed(nil) }.to raise_error(ArgumentError, 'seed must be an Integer, got nil')
    end
  end

  it 'cannot be copied' do
    expect { context.dup }
      .to raise_error(TypeError, 'a Context cannot be copied: make another one of its model')
    expect { context.clone }.to raise_error(TypeError)
  end

  it 'is initialized once' do
    decode(context, france)
    expect { context.send(:initialize, model: tiny, params: LLaMACpp::ContextParams.new) }
      .to raise_error(RuntimeError, 'the context is initialized already')
    expect(context.kv_cache_token_count).to eq(8)
  end

  it 'is of no use when only allocated' do
    raw = described_class.allocate
    message = 'the context is no more: it was freed (or never initialized); make another one of its model'
    {
      model: [], n_ctx: [], n_batch: [], n_threads: [], decode: [batch_of([1, 0, [0], true])], logits: [],
      embeddings: [], timings: [], reset_timings: [], kv_cache_token_count: [], kv_cache_clear: [],
      kv_cache_seq_rm: [0, 0, 0], set_rng_seed: [1], sample_token: [candidates(1.0)], candidates: []
    }.each do |name, arguments|
      expect { raw.public_send(name, *arguments) }.to raise_error(RuntimeError, message)
    end
    expect { LLaMACpp.generate(raw, 'x') }.to raise_error(RuntimeError, message)
    expect(raw.inspect).to eq('#<LLaMACpp::Context in use or uninitialized>')
  end

  it 'can be made after a failure' do
    raw = described_class.allocate
    expect { raw.send(:initialize, model: nil, params: nil) }.to raise_error(ArgumentError)
    raw.send(:initialize, model: tiny, params: params(LLaMACpp::ContextParams, n_ctx: 16))
    expect(raw.n_ctx).to eq(16)
  end

  it 'can be subclassed' do
    subclass = Class.new(described_class) do
      def initialize(model) = super(model:, params: Models.params(LLaMACpp::ContextParams, n_ctx: 32, n_threads: 1))
      def decode(tokens) = super(LLaMACpp::Batch.get_one(tokens:, n_tokens: tokens.size, pos_zero: 0, seq_id: 0))
    end
    context = subclass.new(tiny)
    context.decode(france)
    expect([context.class, context.n_ctx, best(context.logits)]).to eq([subclass, 32, 442])
  end

  it 'shows its sizes' do
    decode(context, france)
    expect(context.inspect).to eq('#<LLaMACpp::Context n_ctx: 64, n_batch: 512, tokens: 8, model: ' \
                                  '#<LLaMACpp::Model llama ?B F16, 3.0 MB>>')
  end
end
