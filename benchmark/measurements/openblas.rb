# frozen_string_literal: true

require 'fileutils'
require 'rbconfig'

module Bench
  # Prompts with OpenBLAS and without. It takes a second build of the gem, and OpenBLAS with its headers.
  module OpenBlas
    LENGTHS = [32, 128, 512].freeze
    WORKER = File.expand_path('../worker.rb', __dir__)

    module_function

    # @param bench [Workbench]
    # @return [Array<Figure>]
    def measure(bench)
      lib = build(File.join(Workbench::ROOT, 'tmp', 'benchmark', 'openblas'))
      %w[100M 1.1B].flat_map { |size| compare(bench, size, lib) }
    end

    # OpenBLAS has threads of its own: those of llama.cpp would only be in its way.
    def compare(bench, size, lib)
      plain = BareLoop.new(bench.context(size))
      command = [RbConfig.ruby, '-I', lib, WORKER, bench.path(size), '512', '512', '1']
      bench.against(command) do |blas|
        LENGTHS.map do |length|
          without, with = Clock.compete(3, -> { plain.prompt(length) }, -> { blas.prompt(length) })
          Figure.told("prompt of #{length} tokens, #{size}, with OpenBLAS / without",
                      Figure.rates(length, with, without), without / with)
        end
      end
    end

    # @return [String] a lib folder whose extension has OpenBLAS
    def build(folder)
      lib = File.join(folder, 'lib')
      FileUtils.rm_rf(lib)
      FileUtils.mkdir_p(folder)
      FileUtils.cp_r(File.join(Workbench::ROOT, 'lib'), lib)
      environment = { 'CARGO_TARGET_DIR' => File.join(folder, 'target') }
      extconf = File.join(Workbench::ROOT, 'ext', 'llama_cpp', 'extconf.rb')
      steps = [[RbConfig.ruby, extconf, '--with-openblas'], ['make', '--silent', 'install', "sitearchdir=#{lib}"]]
      steps.each do |command|
        system(environment, *command, chdir: folder, out: $stderr) || raise('the build with OpenBLAS has failed')
      end
      lib
    end
  end
end
