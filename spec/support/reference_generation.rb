# frozen_string_literal: true

# What LLaMACpp.generate promises, written down with the methods of Context.
class ReferenceGeneration
  DEFAULTS = { n_predict: 128, n_keep: 10, n_batch: 512, repeat_last_n: 64, repeat_penalty: 1.1, frequency: 0.0,
               presence: 0.0, top_k: 40, top_p: 0.95, tfs_z: 1.0, typical_p: 1.0, temperature: 0.8 }.freeze

  # The tokens that were drawn, and those that the cache has at the end.
  attr_reader :drawn, :cached

  def initialize(context, prompt, **settings)
    @context = context
    @settings = DEFAULTS.merge(settings)
    @prompt = context.model.tokenize(text: " #{prompt}", add_bos: true)
    @cached = []
    @drawn = []
    run
  end

  # @return [String]
  def text
    @context.model.detokenize(@drawn).scrub('?').strip
  end

  private

  def run
    feed(@prompt)
    until @drawn.size == @settings[:n_predict]
      id = draw
      break if id == @context.model.token_eos

      @drawn << id
      feed([id])
    end
  end

  def feed(tokens)
    tokens.each_slice(@settings[:n_batch]) do |part|
      shift if @cached.size + part.size > @context.n_ctx
      Models.decode(@context, part, pos: @cached.size)
      @cached += part
    end
  end

  # The first n_keep stay, the older half of the rest goes, the rest moves up.
  def shift
    keep = @settings[:n_keep]
    dropped = (@cached.size - keep) / 2
    @context.kv_cache_seq_rm(0, keep, keep + dropped)
    @context.kv_cache_seq_shift(0, keep + dropped, @cached.size, -dropped)
    @cached.slice!(keep, dropped)
  end

  def draw
    candidates = @context.candidates
    penalize(candidates)
    return @context.sample_token_greedy(candidates) if @settings[:temperature] <= 0

    @context.sample_top_k(candidates, k: @settings[:top_k])
    @context.sample_tail_free(candidates, z: @settings[:tfs_z])
    @context.sample_typical(candidates, prob: @settings[:typical_p])
    @context.sample_top_p(candidates, prob: @settings[:top_p])
    @context.sample_temp(candidates, temp: @settings[:temperature])
    @context.sample_token(candidates)
  end

  def penalize(candidates)
    last = (@prompt + @drawn).last(@settings[:repeat_last_n])
    @context.sample_repetition_penalties(candidates, last, penalty_repeat: @settings[:repeat_penalty],
                                                           penalty_freq: @settings[:frequency],
                                                           penalty_present: @settings[:presence])
  end
end
