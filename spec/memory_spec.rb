# frozen_string_literal: true

require 'objspace'

# More about contexts, batches and grammars in lifetime_spec and context_spec.
RSpec.describe 'Memory' do
  # What a child process has at hand.
  let(:prelude) do
    <<~RUBY
      require 'objspace'
      require 'tmpdir'
      def resident = File.read('/proc/self/statm').split[1].to_i * 4096

      # Grows by how many bytes, once it has grown used to it.
      def growth(warm_up, rounds)
        warm_up.times { yield }
        GC.start
        before = resident
        rounds.times { yield }
        GC.start
        resident - before
      end
    RUBY
  end

  # The smallest native object, lost in each round, would be more. Where the collector decides when objects go, it takes
  # some thousand rounds until the process has found its size.
  {
    'models that are freed' => ['load_model(use_mmap: false).free', 20, 100],
    'models that are mapped and freed' => ['load_model.free', 20, 200],
    'vocabularies that nobody frees' => ['load_model(vocab_only: true)', 2000, 600],
    'loads that are cancelled' =>
      ['(Model.new(model_path: TINY, params: ModelParams.new) { |fraction| fraction < 0.5 } rescue nil)', 20, 200],
    'loads of what is no model' => ["(load_model('#{__FILE__}') rescue nil); (load_model('/') rescue nil)", 200, 3000],
    'generate' => ['LLaMACpp.generate($context ||= new_context(n_ctx: 256), FRANCE, n_predict: 8)', 20, 150],
    'generate with a grammar' => [<<~RUBY, 10, 40],
      LLaMACpp.generate($context ||= new_context(n_ctx: 256), FRANCE, n_predict: 8, grammar: 'root ::= [a-z ]+')
    RUBY
    'embed' => ["LLaMACpp.embed($context ||= new_context(n_threads: 1), 'The cat says meow.')", 1000, 600],
    'decodes that fail' => ['(decode($context ||= new_context, [1] * 65) rescue nil)', 200, 3000],
    'sessions' => [<<~RUBY, 10, 100],
      $path ||= "\#{Dir.mktmpdir}/session"
      decode($context ||= new_context(n_batch: 32), [1]) if $context.nil? || $context.kv_cache_token_count.zero?
      $context.save_session_file(session_path: $path, session_tokens: [1])
      $context.load_session_file(session_path: $path)
    RUBY
    'quantizations that are stopped' => [<<~RUBY, 5, 40]
      $path ||= "\#{Dir.mktmpdir}/quantized"
      $params ||= ModelQuantizeParams.new(ftype: 7, n_thread: 1)
      (model_quantize(input_path: TINY, output_path: $path, params: $params) { |_, done| done < 0.2 } rescue nil)
    RUBY
  }.each do |what, (code, warm_up, rounds)|
    it "stays flat: #{what}" do
      expect("#{prelude}p growth(#{warm_up}, #{rounds}) { #{code.chomp.tr("\n", ';')} } / 1_000_000")
        .to print_in_a_child(satisfy { |megabytes| Integer(megabytes) < 8 }).within(60)
    end
  end

  describe 'ObjectSpace.memsize_of' do
    # Of what an object takes, by the growth of the process.
    def expect_truth(making)
      script = <<~RUBY
        #{prelude}
        load_model(use_mmap: false).free
        GC.start
        before = resident
        object = begin
          #{making}
        end
        puts resident - before, ObjectSpace.memsize_of(object)
      RUBY
      result = child(script)
      grown, told = result.stdout.split.map { |text| Integer(text) }
      expect([told, result]).to match([be_within(grown * 0.08).of(grown), be_fine])
    end

    it 'is what a model has taken that is not mapped' do
      expect_truth("load_model('#{LargeModel.path}', use_mmap: false)")
    end

    it 'is what a batch has taken' do
      expect_truth('Batch.new(max_n_token: 1_000_000, n_embd: 0, max_n_seq: 8)')
    end
  end
end
