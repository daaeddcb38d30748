# frozen_string_literal: true

RSpec.describe LLaMACpp::Timings do
  let(:context) { new_context }

  it 'counts the decodes and the samples' do
    decode(context, Models::FRANCE_TOKENS)
    3.times { |i| decode(context, [442], pos: 8 + i) }
    2.times { context.sample_token(context.candidates) }
    timings = context.timings
    expect([timings.n_p_eval, timings.n_eval, timings.n_sample]).to eq([8, 3, 2])
  end

  it 'has times that add up' do
    decode(context, Models::FRANCE_TOKENS)
    decode(context, [442], pos: 8)
    timings = context.timings
    expect(timings.t_p_eval_ms).to be_between(0.001, 10_000)
    expect(timings.t_eval_ms).to be_between(0.001, 10_000)
    expect(timings.t_end_ms - timings.t_start_ms).to be >= timings.t_p_eval_ms + timings.t_eval_ms
    expect(timings.tokens_per_second).to be_within(0.01).of(1000.0 / timings.t_eval_ms)
  end

  it 'counts one at least, as llama.cpp does' do
    timings = context.timings
    expect([timings.n_p_eval, timings.n_eval, timings.n_sample]).to eq([1, 1, 1])
    expect([timings.t_p_eval_ms, timings.t_eval_ms, timings.t_sample_ms]).to eq([0.0, 0.0, 0.0])
  end

  it 'starts anew with reset_timings' do
    decode(context, Models::FRANCE_TOKENS)
    before = context.timings
    expect(context.reset_timings).to be_nil
    after = context.timings
    expect([after.n_p_eval, after.t_p_eval_ms]).to eq([1, 0.0])
    expect(after.t_start_ms).to be >= before.t_start_ms
    expect(before.n_p_eval).to eq(8)
  end

  it 'has Floats and Integers' do
    timings = context.timings
    floats = %i[t_start_ms t_end_ms t_load_ms t_sample_ms t_p_eval_ms t_eval_ms]
    expect(floats.map { |name| timings.public_send(name).class }.uniq).to eq([Float])
    expect(%i[n_sample n_p_eval n_eval].map { |name| timings.public_send(name).class }.uniq).to eq([Integer])
  end

  it 'is printed to stderr, with the figures of each kind of work' do
    decode(context, Models::FRANCE_TOKENS)
    result = nil
    lines = nil
    expect { result = context.print_timings }.to output(satisfy { |text| lines = text.lines }).to_stderr
    expect(result).to be_nil
    expect(lines.map { |line| line[/\A\w+:/] }).to eq(%w[load: sample: prompt: eval: total:])
    expect(lines[2]).to match(%r{\Aprompt: +#{format('%.2f', context.timings.t_p_eval_ms)} ms / +8 tokens})
  end

  it 'is copied by dup' do
    decode(context, Models::FRANCE_TOKENS)
    expect(context.timings.dup.n_p_eval).to eq(8)
  end

  it 'is all zeros when made from nothing' do
    expect(described_class.new.then { |t| [t.n_eval, t.t_eval_ms, t.tokens_per_second] }).to eq([0, 0.0, 0.0])
  end

  it 'shows prompt and generation' do
    expect(described_class.new.inspect)
      .to eq('#<LLaMACpp::Timings prompt: 0.0 ms / 0 tokens, eval: 0.0 ms / 0 tokens>')
  end
end
