# frozen_string_literal: true

require 'objspace'

RSpec.describe 'Lifetimes' do
  it 'a context keeps the memory of a model that was freed' do
    model = load_model
    context = new_context(model)
    decode(context, Models::FRANCE_TOKENS)
    before = context.logits
    model.free
    context.kv_cache_clear
    decode(context, Models::FRANCE_TOKENS)
    expect([context.logits == before, context.model.empty?]).to eq([true, true])
    expect(context.sample_token_greedy(context.candidates)).to eq(442)
  end

  it 'a context outlives every variable of its model' do
    contexts = Array.new(3) { new_context(load_model) }
    GC.start
    contexts.each { |context| decode(context, Models::FRANCE_TOKENS) }
    expect(contexts.map { |context| best(context.logits) }).to eq([442] * 3)
    expect(contexts.map { |context| context.model.n_vocab }).to eq([640] * 3)
  end

  it 'the collector may free model and context in any order' do
    script = <<~RUBY
      20.times { new_context(load_model) }
      GC.start
      models = Array.new(5) { load_model }
      contexts = models.map { |model| new_context(model) }
      models = nil
      contexts = nil
      GC.start
      puts 'done'
    RUBY
    expect(script).to print_in_a_child('done')
  end

  it 'an exit with everything alive is clean' do
    script = <<~RUBY
      $context = new_context
      $grammar = Grammar.from_gbnf('root ::= "a"')
      Thread.new { LLaMACpp.generate($context, 'x', n_predict: -1, logit_bias: { 2 => -1e9 }) }
      sleep 0.1
      puts 'done'
    RUBY
    expect(script).to print_in_a_child('done')
  end

  it 'hundreds of contexts take no more memory than a few' do
    script = <<~RUBY
      def resident = File.read('/proc/self/statm').split[1].to_i * 4096
      make = -> { decode(new_context(n_ctx: 256, n_batch: 32), [1, 2, 3]) }
      200.times { make.call }
      before = resident
      800.times { make.call }
      grown = resident - before
      puts grown < 100_000_000 ? 'flat' : grown
    RUBY
    expect(script).to print_in_a_child('flat').within(60)
  end

  it 'batches, grammars, candidates and failing constructors leave nothing' do
    script = <<~RUBY
      def resident = File.read('/proc/self/statm').split[1].to_i * 4096
      make = lambda do
        Batch.new(max_n_token: 1000, n_embd: 0, max_n_seq: 8)
        Grammar.from_gbnf('root ::= ([a-z]+ " ")* "."')
        (Grammar.from_gbnf('root ::= (') rescue nil)
        (Model.new(model_path: '/nonexistent', params: ModelParams.new) rescue nil)
        (new_context(n_threads: 0) rescue nil)
        candidates([1.0] * 640)
      end
      1000.times { make.call }
      before = resident
      3000.times { make.call }
      grown = resident - before
      puts grown < 40_000_000 ? 'flat' : grown
    RUBY
    expect(script).to print_in_a_child('flat').within(60)
  end

  it 'the collector is told of what a context takes' do
    script = <<~RUBY
      model = tiny
      before = GC.count
      100.times { new_context(model, n_ctx: 4096) }
      puts GC.count - before > 3
    RUBY
    expect(script).to print_in_a_child('true')
  end

  it 'the size of an object is told truly' do
    batch = LLaMACpp::Batch.new(max_n_token: 10_000, n_embd: 0, max_n_seq: 4)
    expect(ObjectSpace.memsize_of(batch)).to be_between(10_000 * ((3 + 4) * 4), 10_000 * ((3 + 4) * 4 * 1.1))
    expect(ObjectSpace.memsize_of(candidates([1.0] * 1000))).to be_between(12_000, 13_000)
    expect(ObjectSpace.memsize_of(LLaMACpp::TokenData.new(id: 1, logit: 1.0, p: 1.0))).to be < 200
  end

  it 'everything works while the collector runs at every step' do
    script = <<~RUBY
      model = tiny
      params = params(ContextParams, n_ctx: 32, n_threads: 1, n_threads_batch: 1)
      grammar = nil
      GC.stress = true
      context = Context.new(model: model, params: params)
      context.decode(Batch.get_one(tokens: [1, 262], n_tokens: 2, pos_zero: 0, seq_id: 0))
      array = TokenDataArray.new([TokenData.new(id: 5, logit: 1.0, p: 0.0), TokenData.new(id: 6, logit: 2.0, p: 0.0)])
      context.sample_softmax(array)
      grammar = Grammar.from_gbnf('root ::= "a"')
      pieces = model.tokenize(text: 'ab').map { |id| model.token_to_piece(id) }
      results = [array.ids, grammar.rules.first.map(&:value), pieces.join]
      GC.stress = false
      p results, context.logits.size
    RUBY
    expect(script).to print_in_a_child("[[6, 5], [97, 0], \" ab\"]\n640").within(60)
  end

  it 'everything survives a compaction' do
    script = <<~RUBY
      model = tiny
      contexts = Array.new(3) { new_context(model) }
      overrides = params(ModelParams, kv_overrides: [ModelKVOverride.new(key: 'a', value: 1)])
      loaded = Model.new(model_path: TINY, params: overrides)
      grammar = Grammar.from_gbnf('root ::= "a"')
      GC.respond_to?(:verify_compaction_references) && begin
        GC.verify_compaction_references(toward: :empty, double_heap: true)
      rescue NotImplementedError
        nil
      end
      GC.auto_compact = true rescue nil
      GC.start
      contexts.each { |context| decode(context, FRANCE_TOKENS) }
      p contexts.map { |context| [best(context.logits), context.model.equal?(model)] }.uniq,
        loaded.params.kv_overrides.first.key, grammar.rules.size
    RUBY
    expect(script).to print_in_a_child("[[442, true]]\n\"a\"\n1").within(60)
  end
end
