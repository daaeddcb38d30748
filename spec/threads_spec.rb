# frozen_string_literal: true

require 'timeout'
require 'tmpdir'

RSpec.describe 'Threads' do
  # Seconds that a call took.
  def seconds
    start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    yield
    Process.clock_gettime(Process::CLOCK_MONOTONIC) - start
  end

  # How often a thread that sleeps and wakes got its turn while the block ran.
  def turns
    count = 0
    counter = Thread.new do
      loop do
        sleep 0.001
        count += 1
      end
    end
    yield
    count
  ensure
    counter.kill.join
  end

  let(:large) { load_model(LargeModel.path) }
  let(:context) { new_context(large, n_ctx: 512) }
  # Takes a second or so.
  let(:prompt) { [1] * 160 }

  describe 'others run meanwhile' do
    it 'during a decode' do
      expect(turns { decode(context, prompt) }).to be > 30
    end

    it 'during generate' do
      expect(turns { LLaMACpp.generate(context, 'x', n_predict: 40, logit_bias: { 2 => -1e9 }) }).to be > 50
    end

    it 'during a load and a quantization' do
      Dir.mktmpdir do |folder|
        params = params(LLaMACpp::ModelQuantizeParams, ftype: 7, n_thread: 1)
        expect(turns do
          LLaMACpp.model_quantize(input_path: LargeModel.path, output_path: File.join(folder, 'q'), params:)
        end).to be > 20
      end
      expect(turns { 8.times { load_model(LargeModel.path, use_mmap: false) } }).to be > 10
    end
  end

  describe 'an interrupt' do
    before { decode(context, [1, 2, 3]) }

    def expect_usable
      expect(context.kv_cache_token_count).to eq(3)
      decode(context, [4], pos: 3)
      expect(context.logits.size).to eq(640)
    end

    it 'ends a decode by Thread#kill, and the cache stays as it was' do
      thread = Thread.new { decode(context, [1] * 500, pos: 3) }
      sleep 0.15
      expect(seconds { thread.kill.join }).to be < 0.6
      expect_usable
    end

    it 'ends a decode by Timeout' do
      took = seconds do
        expect { Timeout.timeout(0.15) { decode(context, [1] * 500, pos: 3) } }.to raise_error(Timeout::Error)
      end
      expect(took).to be_between(0.14, 0.8)
      expect_usable
    end

    it 'ends a decode by Thread#raise' do
      thread = Thread.new { decode(context, [1] * 500, pos: 3) }
      thread.report_on_exception = false
      sleep 0.15
      thread.raise(IOError, 'stop')
      expect { thread.value }.to raise_error(IOError, 'stop')
      expect_usable
    end

    it 'that raises nothing does not end a decode' do
      thread = Thread.new { decode(context, [1] * 200, pos: 3) }
      sleep 0.1
      3.times do
        thread.wakeup
        sleep 0.02
      end
      thread.join
      expect(context.kv_cache_token_count).to eq(203)
    end

    it 'that is held off waits until the decode is done' do
      counts = []
      thread = Thread.new do
        Thread.handle_interrupt(IOError => :never) do
          decode(context, [1] * 200, pos: 3)
          counts << context.kv_cache_token_count
        end
        counts << :never
      end
      thread.report_on_exception = false
      sleep 0.1
      thread.raise(IOError, 'stop')
      expect { thread.value }.to raise_error(IOError, 'stop')
      expect(counts).to eq([203])
    end

    it 'leaves no logits of half a batch' do
      thread = Thread.new { decode(context, [1] * 500, pos: 3) }
      sleep 0.15
      thread.kill.join
      expect { context.logits }.to raise_error(RuntimeError, 'nothing was decoded yet: call decode first')
    end

    it 'ends generate, and the context can generate again' do
      endless = { n_predict: -1, logit_bias: { 2 => -1e9 }, temperature: 0 }
      took = seconds do
        expect { Timeout.timeout(0.3) { LLaMACpp.generate(context, 'Once', **endless) } }.to raise_error(Timeout::Error)
      end
      expect(took).to be < 1
      fresh = LLaMACpp.generate(new_context(large, n_ctx: 512), 'Once', n_predict: 8)
      expect(LLaMACpp.generate(context, 'Once', n_predict: 8)).to eq(fresh)
    end

    it 'ends a quantization, and leaves no file' do
      Dir.mktmpdir do |folder|
        params = params(LLaMACpp::ModelQuantizeParams, ftype: 15, n_thread: 1)
        took = seconds do
          expect do
            Timeout.timeout(0.3) do
              LLaMACpp.model_quantize(input_path: LargeModel.path, output_path: File.join(folder, 'q'), params:)
            end
          end.to raise_error(Timeout::Error)
        end
        expect([took < 1.2, Dir.children(folder)]).to eq([true, []])
      end
    end

    it 'ends a load, and the model can be loaded again' do
      model = LLaMACpp::Model.new
      params = LLaMACpp::ModelParams.new
      started = Queue.new
      thread = Thread.new do
        model.load(model_path: LargeModel.path, params:) do
          started << true
          sleep
        end
      end
      started.pop
      expect { model.load(model_path: LargeModel.path, params:) }
        .to raise_error(RuntimeError, 'the model is being loaded by another thread')
      expect(seconds { thread.kill.join }).to be < 0.3
      expect([started.size, model.empty?]).to eq([0, true])
      model.load(model_path: LargeModel.path, params:)
      expect(model.n_vocab).to eq(640)
    end
  end

  it 'Ctrl-C ends a decode, generate and a quantization in the main thread' do
    script = <<~RUBY
      model = load_model('#{LargeModel.path}')
      context = new_context(model, n_ctx: 512)
      target = '#{LargeModel.path}.interrupted'
      quantize = params(ModelQuantizeParams, ftype: 15, n_thread: 1)
      calls = [
        -> { decode(context, [1] * 512) },
        -> { LLaMACpp.generate(context, 'x', n_predict: -1, logit_bias: { 2 => -1e9 }) },
        -> { LLaMACpp.model_quantize(input_path: '#{LargeModel.path}', output_path: target, params: quantize) }
      ]
      calls.each do |call|
        spawn("sleep 0.3; kill -INT \#{Process.pid}")
        start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
        call.call
        puts 'not interrupted'
      rescue Interrupt
        puts Process.clock_gettime(Process::CLOCK_MONOTONIC) - start < 1.5
      end
      p Dir[target + '*'], LLaMACpp.generate(context, 'x', n_predict: 2).class
    RUBY
    expect(script).to print_in_a_child("true\ntrue\ntrue\n[]\nString")
  end

  it 'Ctrl-C ends the main thread, though another one works, too' do
    script = <<~RUBY
      model = load_model('#{LargeModel.path}')
      contexts = Array.new(2) { new_context(model, n_ctx: 512) }
      thread = Thread.new { decode(contexts.last, [1] * 100) }
      spawn("sleep 0.3; kill -INT \#{Process.pid}")
      begin
        decode(contexts.first, [1] * 512)
        puts 'not interrupted'
      rescue Interrupt
        puts contexts.first.kv_cache_token_count
      end
      thread.join
      puts contexts.last.kv_cache_token_count
    RUBY
    expect(script).to print_in_a_child("0\n100")
  end

  describe 'two on one context' do
    it 'get their results, or an error that says why' do
      small = new_context
      results = Array.new(4) do
        Thread.new do
          Array.new(200) do
            decode(small, [1], pos: 0)
            small.kv_cache_seq_rm(0, 0, -1)
            :fine
          rescue RuntimeError => e
            e.message
          end
        end
      end.flat_map(&:value).tally
      expect(results.fetch(:fine)).to be > 0
      allowed = /\Athe (context is in use by another call|KV cache has no room)/
      expect((results.keys - [:fine]).grep_v(allowed)).to eq([])
    end

    it 'are told apart while one decodes' do
      thread = Thread.new { decode(context, prompt) }
      sleep 0.1
      message = 'the context is in use by another call: give each thread a context of its own, or take turns'
      [-> { decode(context, [1]) }, -> { context.logits }, -> { context.kv_cache_clear }, -> { context.timings },
       -> { context.sample_token(candidates(1.0)) }].each do |call|
        expect { call.call }.to raise_error(RuntimeError, message)
      end
      expect(context.inspect).to eq('#<LLaMACpp::Context in use or uninitialized>')
      thread.join
      expect(context.kv_cache_token_count).to eq(160)
    end

    it 'cannot both generate' do
      small = new_context(n_ctx: 256)
      runs = Array.new(2) do
        Thread.new do
          LLaMACpp.generate(small, 'Once', n_predict: 200, logit_bias: { 2 => -1e9 })
        rescue RuntimeError => e
          e.message
        end
      end.map(&:value)
      expect(runs.grep(/\Aanother generate is running on this context|\Athe context is in use/).size).to be <= 1
      expect(LLaMACpp.generate(small, Models::FRANCE, temperature: 0)).to eq('Paris.')
    end

    it 'cannot change a batch that is being decoded' do
      batch = LLaMACpp::Batch.get_one(tokens: prompt, n_tokens: 160, pos_zero: 0, seq_id: 0)
      thread = Thread.new { context.decode(batch) }
      sleep 0.1
      expect { batch.set_token(0, 5) }
        .to raise_error(RuntimeError, 'the batch is being decoded by another thread')
      thread.join
      expect(batch.set_token(0, 5)).to eq(5)
    end
  end

  it 'on contexts of their own give the same at the same time as one after the other' do
    prompts = ['The capital of France is', 'User: How are you?', '7 + 8 =', 'Once upon a time']
    settings = { temperature: 1.2, n_predict: 40 }
    expected = prompts.map { |text| LLaMACpp.generate(new_context(n_ctx: 256), text, **settings) }
    threads = prompts.map { |text| Thread.new { LLaMACpp.generate(new_context(n_ctx: 256), text, **settings) } }
    expect(threads.map(&:value)).to eq(expected)
  end

  it 'load, decode and free at the same time' do
    results = Array.new(4) do
      Thread.new do
        Array.new(5) do
          model = load_model
          context = new_context(model)
          decode(context, Models::FRANCE_TOKENS)
          model.free
          best(context.logits)
        end
      end
    end.flat_map(&:value)
    expect(results.uniq).to eq([442])
  end

  it 'may free a model while another decodes with it' do
    thread = Thread.new { decode(context, prompt) }
    sleep 0.1
    large.free
    thread.join
    expect([context.kv_cache_token_count, large.empty?]).to eq([160, true])
  end

  it 'and fork: the child generates and exits, and so does the parent' do
    script = <<~RUBY
      context = new_context(n_ctx: 256)
      reader, writer = IO.pipe
      pid = fork { writer.puts(LLaMACpp.generate(context, FRANCE, temperature: 0)) }
      Process.wait(pid)
      writer.close
      puts reader.read, $?.exitstatus, LLaMACpp.generate(context, FRANCE, temperature: 0)
    RUBY
    expect(script).to print_in_a_child("Paris.\n0\nParis.")
  end

  it 'and Ractors: the usual error, not a crash' do
    script = <<~RUBY
      ractor = Ractor.new('#{Models::TINY}') do |path|
        LLaMACpp::Model.new(model_path: path, params: LLaMACpp::ModelParams.new).n_vocab
      end
      puts (ractor.take rescue $!.cause.class)
    RUBY
    expect(script).to print_in_a_child(/\A(640|Ractor::UnsafeError)\z/)
  end
end
