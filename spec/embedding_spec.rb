# frozen_string_literal: true

RSpec.describe 'LLaMACpp.embed' do
  let(:model) { LLaMACpp::Model.open('models/tiny/tiny.gguf') }

  # The same by hand.
  def embedding_of(text)
    context = model.context(embedding: true, n_threads: 1)
    tokens = model.tokenize(text:, add_bos: true)
    context.decode(LLaMACpp::Batch.get_one(tokens:, n_tokens: tokens.size, pos_zero: 0, seq_id: 0))
    context.embeddings
  end

  it 'gives the state at the last token, of length 1' do
    raw = embedding_of('The cat says meow.')
    length = Math.sqrt(raw.sum { |x| x * x })
    vector = LLaMACpp.embed(model, 'The cat says meow.')
    expect(vector).to match(raw.map { |x| be_within(1e-5).of(x / length) })
    expect(LLaMACpp.embed(model, 'The cat says meow.', normalize: false)).to match(raw.map do |x|
                                                                                     be_within(1e-4).of(x)
                                                                                   end)
  end

  it 'gives each text of an Array the embedding that it has alone' do
    texts = ['The cat says meow.', '7 + 8 = 15.', 'x']
    together = LLaMACpp.embed(model, texts)
    expect(together.size).to eq 3
    texts.zip(together) do |text, vector|
      expect(vector).to match(LLaMACpp.embed(model, text).map { |x| be_within(1e-4).of(x) })
    end
    expect(LLaMACpp.embed(model, [])).to eq []
  end

  it 'leaves the context that it is given as it was' do
    context = model.context(n_threads: 1)
    context.decode(LLaMACpp::Batch.get_one(tokens: [1, 262, 299], n_tokens: 3, pos_zero: 0, seq_id: 0))
    before = context.logits
    LLaMACpp.embed(context, 'Something else')
    expect(context.logits).to eq before
    expect(context.kv_cache_token_count).to eq 3
  end

  it 'finds similar sentences similar' do
    cat, dog, sum = LLaMACpp.embed(model, ['The cat says meow.', 'The dog says woof.', '7 + 8 = 15.'])
    cosine = ->(a, b) { a.zip(b).sum { |x, y| x * y } }
    expect(cosine[cat, dog]).to be > cosine[cat, sum]
    expect(cosine[cat, cat]).to be_within(1e-6).of(1)
  end

  it 'says what is wrong' do
    expect { LLaMACpp.embed(model, 1) }.to raise_error(ArgumentError, /input must be a String or an Array/)
    expect { LLaMACpp.embed(model, ['a', nil]) }.to raise_error(ArgumentError, /input/)
    expect { LLaMACpp.embed('model', 'a') }.to raise_error(ArgumentError, /expected a Context or a Model/)
    expect { LLaMACpp.embed(model, 'word ' * 400) }.to raise_error(ArgumentError, /trained with 256/)
    expect { LLaMACpp.embed(LLaMACpp::Model.new, 'a') }.to raise_error(RuntimeError, /empty/)
  end
end
