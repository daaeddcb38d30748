# frozen_string_literal: true

require 'fileutils'
require 'open3'
require 'rbconfig'
require 'tmpdir'

# It compiles llama.cpp a second time, so it runs where it is asked for.
RSpec.describe 'A build with OpenBLAS', if: ENV.key?('LLAMA_CPP_TEST_OPENBLAS') do
  root = File.expand_path('../..', __dir__)

  program = <<~RUBY
    model = LLaMACpp::Model.open('models/tiny/tiny.gguf')
    tokens = model.tokenize(text: 'Once upon a time, Tom went to the farm. ' * 6, add_bos: true).first(60)
    context = model.context(n_ctx: 128, n_threads: 1, n_threads_batch: 1)
    context.decode(LLaMACpp::Batch.get_one(tokens:, n_tokens: 60, pos_zero: 0, seq_id: 0))
    puts LLaMACpp.print_system_info[/BLAS = ./], LLaMACpp.build_info[:flags].include?('OPENBLAS')
    puts context.logits.join(' '), context.generate('The capital of France is', temperature: 0)
  RUBY

  def run(lib, program, root)
    output, status = Open3.capture2e(RbConfig.ruby, "-I#{lib}", '-rllama_cpp', '-e', program, chdir: root)
    expect(status).to be_success, output
    output.lines.map(&:chomp)
  end

  it 'is compiled by the option, says so, and computes the same' do
    Dir.mktmpdir do |folder|
      environment = { 'CARGO_TARGET_DIR' => File.join(root, 'target', 'openblas') }
      extconf = File.join(root, 'ext/llama_cpp/extconf.rb')
      log, status = Open3.capture2e(environment, RbConfig.ruby, extconf, '--with-openblas', chdir: folder)
      expect(status).to be_success, log
      FileUtils.cp_r(File.join(root, 'lib'), folder)
      FileUtils.rm(Dir.glob(File.join(folder, 'lib/llama_cpp/llama_cpp.{so,bundle}')))
      log, status = Open3.capture2e(environment, 'make', 'install', "sitearchdir=#{folder}/lib", chdir: folder)
      expect(status).to be_success, log

      blas, flag, logits, answer = run(File.join(folder, 'lib'), program, root)
      plain_blas, plain_flag, plain_logits, plain_answer = run(File.join(root, 'lib'), program, root)
      expect([blas, flag, answer]).to eq ['BLAS = 1', 'true', 'Paris.']
      expect([plain_blas, plain_flag, plain_answer]).to eq ['BLAS = 0', 'false', 'Paris.']
      expect(logits.split.map(&:to_f)).to match(plain_logits.split.map { |logit| be_within(0.1).of(logit.to_f) })
    end
  end
end
