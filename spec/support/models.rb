# frozen_string_literal: true

# The tiny model, loaded once for all specs, and what is said about it again and again.
module Models
  ROOT = File.expand_path('../..', __dir__)
  TINY = File.join(ROOT, 'models', 'tiny', 'tiny.gguf')
  FRANCE = 'The capital of France is'
  FRANCE_TOKENS = [1, 262, 299, 268, 410, 306, 316, 266].freeze

  module_function

  # @return [LLaMACpp::Model] the shared one: not to be freed
  def tiny
    @@tiny ||= load_model # rubocop:disable Style/ClassVars
  end

  # @return [LLaMACpp::Model] one of the caller's own
  def load_model(path = TINY, **settings)
    LLaMACpp::Model.new(model_path: path, params: params(LLaMACpp::ModelParams, **settings))
  end

  # @return [LLaMACpp::Context] a small one, with one thread
  def new_context(model = tiny, **settings)
    defaults = { n_ctx: 64, n_threads: 1, n_threads_batch: 1, seed: 42 }
    LLaMACpp::Context.new(model:, params: params(LLaMACpp::ContextParams, **defaults, **settings))
  end

  # @return [Object] parameters of that class with these settings
  def params(class_, **settings)
    class_.new.tap { |object| settings.each { |name, value| object.public_send("#{name}=", value) } }
  end

  # Decodes tokens of one sequence at once.
  def decode(context, tokens, pos: 0, seq: 0)
    context.decode(LLaMACpp::Batch.get_one(tokens:, n_tokens: tokens.size, pos_zero: pos, seq_id: seq))
  end

  # A batch of `[token, position, sequences, wants logits]` for each token.
  def batch_of(*entries, max_n_seq: 4)
    batch = LLaMACpp::Batch.new(max_n_token: entries.size, n_embd: 0, max_n_seq:)
    batch.n_tokens = entries.size
    entries.each_with_index do |(token, pos, sequences, logits), i|
      batch.set_token(i, token)
      batch.set_pos(i, pos)
      batch.set_n_seq_id(i, sequences.size)
      sequences.each_with_index { |seq, j| batch.set_seq_id(i, j, seq) }
      batch.set_logits(i, logits)
    end
    batch
  end

  # Candidates with these logits, and the ids 0, 1, 2, …
  def candidates(*logits, sorted: false)
    data = logits.flatten.each_with_index.map { |logit, id| LLaMACpp::TokenData.new(id:, logit:, p: 0.0) }
    LLaMACpp::TokenDataArray.new(data, sorted:)
  end

  # Without llama.cpp's warnings.
  def quietly
    LLaMACpp.logger = Logger.new(nil)
    yield
  ensure
    LLaMACpp.logger = nil
  end

  # The token with the largest logit.
  def best(logits)
    logits.each_with_index.max_by(&:first).last
  end

  # The largest distance between two rows of numbers.
  def distance(one, other)
    raise ArgumentError, "#{one.size} numbers and #{other.size}" unless one.size == other.size

    one.zip(other).map { |a, b| (a - b).abs }.max
  end
end

RSpec.configure { |config| config.include(Models) }
