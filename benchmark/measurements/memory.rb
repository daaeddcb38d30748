# frozen_string_literal: true

require 'objspace'

module Bench
  # Resident memory. Each in a process of its own.
  module Memory
    MEGABYTE = 1024.0 * 1024.0

    module_function

    # @param bench [Workbench]
    # @return [Array<Figure>]
    def measure(bench)
      large, medium = %w[1.1B 100M].map { |size| bench.path(size) }
      [bench.apart { loading(large) }, bench.apart { context(medium) }, bench.apart { generating }]
    end

    # @return [Integer] bytes
    def resident
      File.read('/proc/self/status')[/^VmRSS:\s+(\d+)/, 1].to_i * 1024
    end

    def load(path)
      LLaMACpp::Model.new(model_path: path, params: LLaMACpp::ModelParams.new)
    end

    # The mapped file counts as resident, too, as soon as it is read.
    def loading(path)
      before = resident
      model = load(path)
      grown = resident - before
      Figure.at_most(1.05, grown.fdiv(File.size(path)), 'resident after loading 1.1B by mmap / the file',
                     megabytes(grown, model.size))
    end

    # The cache is filled to its end, since memory that was never written to is not resident.
    def context(path)
      model = load(path)
      params = LLaMACpp::ContextParams.new
      params.n_ctx = 512
      first = LLaMACpp::Context.new(model:, params:)
      BareLoop.new(first).prompt(8)
      before = resident
      context = LLaMACpp::Context.new(model:, params:)
      BareLoop.new(context).prompt(512)
      reported = ObjectSpace.memsize_of(context)
      grown = resident - before
      Figure.at_most(1.05, grown.fdiv(reported), 'a context of 512, filled / what it reports',
                     megabytes(grown, reported))
    end

    # 10,000 tokens, after as many as it takes to warm up.
    def generating
      params = LLaMACpp::ContextParams.new
      params.n_ctx = 128
      params.n_threads = params.n_threads_batch = 1
      context = LLaMACpp::Context.new(model: load(Workbench::TINY), params:)
      endless = { logit_bias: { context.model.token_eos => -1e9 } }
      LLaMACpp.generate(context, 'The', n_predict: 1000, **endless)
      before = resident
      LLaMACpp.generate(context, 'The', n_predict: 10_000, **endless)
      grown = resident - before
      Figure.check('resident memory more by 10,000 tokens', "#{(grown / MEGABYTE).round(1)} MB", 'at most 1 MB',
                   grown <= MEGABYTE)
    end

    def megabytes(grown, whole)
      "#{[grown, whole].map { |bytes| (bytes / MEGABYTE).round(1) }.join(' / ')} MB"
    end
  end
end
