# frozen_string_literal: true

RSpec.describe 'Streams of LLaMACpp.generate and who owns the context' do
  let(:model) { LLaMACpp::Model.open('models/tiny/tiny.gguf') }
  let(:context) { model.context(n_ctx: 128, n_threads: 1, seed: 3) }

  it 'a stream that nobody reads to its end gives way to another run' do
    stream = context.generate('1, 2, 3,', stream: true, temperature: 0)
    expect(stream.next).to be_a(String)
    expect(context.generate('The capital of Italy is', temperature: 0)).to eq 'Rome.'
    expect { loop { stream.next } }.to raise_error(RuntimeError, /another generate has begun/)
    expect(context.generate('The capital of Spain is', temperature: 0)).to eq 'Madrid.'
  end

  it 'a stream that is read goes on, and may be read again' do
    stream = context.generate('The capital of Italy is', stream: true, temperature: 0)
    expect([stream.to_a.join, stream.first(2).join]).to eq [' Rome.', ' R']
    expect(context.generate('The capital of Italy is', temperature: 0)).to eq 'Rome.'
  end

  it 'another run within the block is refused, and the first goes on' do
    text = context.generate('The capital of Italy is', temperature: 0) do
      expect { context.generate('x') }.to raise_error(RuntimeError, /another context within the block/)
    end
    expect(text).to eq 'Rome.'
  end

  it 'a cache that is changed meanwhile is noticed' do
    expect { context.generate('Once upon a time,', temperature: 0) { context.kv_cache_clear } }
      .to raise_error(RuntimeError, /KV cache was changed/)
    expect(context.generate('The capital of Italy is', temperature: 0)).to eq 'Rome.'
  end

  it 'names what is wrong with a bias or a grammar' do
    expect { context.generate('x', logit_bias: { 640 => 1.0 }) }
      .to raise_error(ArgumentError, 'logit_bias has the token 640, the vocabulary has 0 to 639')
    expect { context.generate('x', grammar: 'root ::= foo') }
      .to raise_error(ArgumentError, /\Agrammar: line 1, column 10/)
  end
end
