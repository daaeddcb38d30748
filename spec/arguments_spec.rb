# frozen_string_literal: true

# LLAMA_CPP_ARGUMENTS=all tries all of it; see docs/safety.md.
RSpec.describe Arguments do
  let(:trials) { Arguments::Trials.all }

  it 'of every method may be anything: a value comes out, or an exception that says why' do
    every = ENV['LLAMA_CPP_ARGUMENTS'] == 'all' ? 1 : 7
    supervisor = Arguments::Runner.supervise(every)
    some = Arguments::Trials.some(every)
    expect(supervisor.failures.map { |failure| "#{some[failure.index]}: #{failure.reason}" }).to eq([])
    expect(supervisor.outcomes.values.sum).to eq(some.size)
    # Most of it is wrong, and much of it is not.
    expect(supervisor.outcomes['raised']).to be > some.size / 2
    expect(supervisor.outcomes['returned']).to be > some.size / 10
    expect(supervisor.peak).to be < 1 << 20
  end

  it 'are those of the signatures, for every method that takes some' do
    # But for those that hand over whatever keywords they get.
    entries = PublicApi.entries.reject { |entry| (entry.method.parameters.map(&:first) - %i[block keyrest]).empty? }
    tried = trials.select(&:slot).map { |trial| trial.callable.to_s }.uniq
    expect(entries.map(&:to_s) - tried).to eq([])
    expect(tried.size).to be > 100
  end

  it 'have each value in turn, also in the share that is tried in the suite' do
    values = Arguments::Trials.some(7).select(&:slot).map(&:code).uniq
    expect(values).to match_array(Arguments::Values::ALL)
    slots = Arguments::Trials.some(7).select(&:slot).map { |trial| [trial.callable, trial.slot] }.uniq
    expect(slots.size).to eq(trials.select(&:slot).map { |trial| [trial.callable, trial.slot] }.uniq.size)
  end

  describe Arguments::SignatureReader do
    it 'reads overloads, keywords, module functions and aliases' do
      callables = described_class.read
      overloads = callables.select { |callable| callable.to_s == 'LLaMACpp::Context#eval_embd' }
      expect(overloads.map { |callable| callable.slots.map(&:key) })
        .to eq([%i[embd n_past n_tokens], %i[tokens n_past n_tokens]])
      metadata = callables.find { |callable| callable.to_s == 'LLaMACpp::Model.metadata' }
      expect(metadata.slots.map(&:to_a)).to eq([[0, :path, 'path', true]])
      expect(callables.map(&:to_s)).to include('LLaMACpp.max_devices', 'LLaMACpp::Batch#set_logit')
    end
  end

  describe Arguments::Runner do
    # A call of a method that does as it is told.
    def outcome(&behaviour)
      stub_const('LLaMACpp::Toy', Class.new { define_method(:play) { |ball| instance_exec(ball, &behaviour) } })
      slot = Arguments::Slot.new(0, :ball, 'Integer', true)
      callable = Arguments::Callable.new('LLaMACpp::Toy', :instance, :play, [slot])
      described_class.new([]).send(:try, Arguments::Trial.new(callable, slot, '2**64'))
    end

    it 'lets values and clear exceptions pass' do
      expect(outcome { |ball| ball }).to eq('returned')
      expect(outcome { |ball| raise RangeError, ball.to_s }).to eq('raised')
      expect(outcome { |_| raise FrozenError, 'frozen' }).to eq('raised')
      expect(outcome { |_| raise Errno::ENOENT }).to eq('raised')
    end

    it 'lets nothing else pass' do
      expect { outcome(&:bounce) }.to raise_error(NoMethodError)
      expect { outcome { |_| raise NoMemoryError, 'too much' } }.to raise_error(NoMemoryError)
      expect { outcome { |_| raise SystemStackError, 'too deep' } }.to raise_error(SystemStackError)
      expect { outcome { |_| raise EncodingError, 'what?' } }.to raise_error(EncodingError)
      expect { outcome { |_| raise IOError, 'mine' } }.to raise_error(IOError, 'mine')
    end
  end
end
