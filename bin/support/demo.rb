# frozen_string_literal: true

# Lets a model go on with a text, and prints both as one sentence.

require 'etc'
require 'optparse'

ROOT = File.expand_path('../..', __dir__)

# One run: a command line, and the sentence that comes of it.
class Demo
  EMBEDDED_MODEL = File.join(ROOT, 'models', 'tiny', 'tiny.gguf')
  DEFAULT_PROMPT = 'The capital of France is'

  # llama.cpp's threads spin while they wait: with a small model they cost more than they give.
  SMALL_MODEL = 100 * 1024 * 1024
  LARGEST_CONTEXT = 2048

  def initialize(arguments)
    given = {}
    words = parser.parse(arguments, into: given)
    @settings = { model: EMBEDDED_MODEL, n_predict: 64, temperature: 0.0 }
                .merge(given.transform_keys { |name| name.to_s.tr('-', '_').to_sym })
    @prompt = words.empty? ? DEFAULT_PROMPT : words.join(' ')
  end

  # @return [String] the prompt and how it goes on
  def sentence
    check
    require 'llama_cpp'
    require 'llama_cpp/cli/progress'

    text = LLaMACpp.generate(context(load_model), @prompt, n_threads:,
                                                           **@settings.slice(:n_predict, :temperature, :top_k, :top_p))
    # `generate` strips what it returns: the space in between is lost, and there was none before punctuation.
    text.match?(/\A(\z|[[:punct:]])/) ? "#{@prompt}#{text}" : "#{@prompt} #{text}"
  end

  private

  def parser
    OptionParser.new do |options|
      options.banner = <<~TEXT
        Usage: bin/demo [options] ["prompt"]

        Prints the prompt and how the model goes on. Without options: the embedded model, greedily.

      TEXT
      options.on('--model FILE', 'a model in GGUF format')
      options.on('--n-predict N', Integer, 'how many tokens at most (64)')
      options.on('--temperature T', Float, '0 always takes the likeliest token (0)')
      options.on('--top-k N', Integer, 'draw from the N likeliest tokens (40)')
      options.on('--top-p P', Float, 'draw from the likeliest tokens that sum up to P (0.95)')
      options.on('--seed N', Integer, 'draw the same way each time')
      options.on('--n-ctx N', Integer, "size of the context (the model's, #{LARGEST_CONTEXT} at most)")
      options.on('--threads N', Integer, 'threads (1 for a small model, else one per core)')
    end
  end

  def check
    path = @settings[:model]
    raise 'the prompt is empty: give the text that the model shall go on with.' if @prompt.strip.empty?
    raise "there is no file #{path}." unless File.exist?(path)
    raise "#{path} is a folder, not a model." if File.directory?(path)
    return if File.binread(path, 4) == 'GGUF'

    raise "#{path} is not a model in GGUF format: it does not begin with GGUF."
  end

  def load_model
    LLaMACpp::CLI::Progress.loading(@settings[:model]) do |report|
      LLaMACpp::Model.new(model_path: @settings[:model], params: LLaMACpp::ModelParams.new, &report)
    end
  end

  def context(model)
    params = LLaMACpp::ContextParams.new
    params.n_ctx = @settings[:n_ctx] || [model.n_ctx_train, LARGEST_CONTEXT].min
    params.n_threads = params.n_threads_batch = n_threads
    params.seed = @settings[:seed] if @settings[:seed]
    LLaMACpp::Context.new(model:, params:)
  end

  def n_threads
    @settings[:threads] || (File.size(@settings[:model]) < SMALL_MODEL ? 1 : Etc.nprocessors)
  end
end

begin
  puts Demo.new(ARGV).sentence
rescue StandardError => e
  abort "bin/demo: #{e.message.lines.first.chomp}"
end
