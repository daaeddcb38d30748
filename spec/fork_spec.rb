# frozen_string_literal: true

require 'tmpdir'

# What a forked process inherits in the middle of something.
RSpec.describe 'fork' do
  it 'leaves a model that another thread computes with in a state that says so' do
    script = <<~RUBY
      model = load_model
      context = new_context(model, n_ctx: 512, n_batch: 512)
      batch = Batch.get_one(tokens: [5] * 500, n_tokens: 500, pos_zero: 0, seq_id: 0)
      Thread.new { loop { context.kv_cache_clear; context.decode(batch) } }
      sleep 0.2
      # Forks now and then between two calls, when all is free.
      answers = Array.new(10) do
        reader, writer = IO.pipe
        pid = fork do
          small = Batch.get_one(tokens: [5], n_tokens: 1, pos_zero: 0, seq_id: 0)
          writer.puts(new_context(model).decode(small).inspect)
          context.decode(small)
        rescue RuntimeError => e
          writer.puts(e.message)
        end
        Process.wait(pid)
        writer.close
        reader.read.lines.first(2).map { |line| line[/nil|in use|forked/] }
      end
      p answers.flatten.compact.uniq.sort - ['in use', 'nil'], answers.flatten.include?('nil')
    RUBY
    expect(script).to print_in_a_child("[]\ntrue").within(60)
  end

  it 'does not inherit a lock that a load holds' do
    script = <<~RUBY
      context = new_context
      2.times { Thread.new { loop { Model.open('#{Models::TINY}', vocab_only: true) {} } } }
      statuses = Array.new(60) do
        pid = fork { new_context(context.model).free; exit!(0) }
        Process.wait(pid)
        $?.exitstatus
      end
      p statuses.uniq
    RUBY
    expect(script).to print_in_a_child('[0]').within(60)
  end

  # Both processes are in the middle of writing one file.
  {
    'goes away' => 'pid = fork; exit if pid.nil?; Process.wait(pid)', 'goes on' => 'fork',
    'has its own block' => 'fork {}'
  }.each do |what, code|
    it "in the block of a quantization spoils nothing when the child #{what}" do
      Dir.mktmpdir do |folder|
        script = <<~RUBY
          require 'digest'
          parent = $$
          quantize = lambda do |name, &block|
            path = File.join(#{folder.inspect}, name)
            LLaMACpp.model_quantize(input_path: '#{Models::TINY}', output_path: path,
                                    params: ModelQuantizeParams.new(ftype: LLAMA_FTYPE_MOSTLY_Q8_0, n_thread: 1), &block)
            Digest::SHA256.file(path).hexdigest
          end
          calls = 0
          whole = quantize.call('whole')
          begin
            other = quantize.call('other') { #{code} if (calls += 1) == 5; true }
          rescue RuntimeError => e
            exit if $$ != parent
            other = e.message[/another process/] || raise
          end
          exit if $$ != parent
          sleep 0.3
          p [whole, 'another process'].include?(other), Dir.children(#{folder.inspect}).sort - %w[other whole]
        RUBY
        expect(script).to print_in_a_child("true\n[]")
      end
    end
  end
end
