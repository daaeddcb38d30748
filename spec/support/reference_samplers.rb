# frozen_string_literal: true

# The samplers as their authors describe them, in Ruby, over Arrays of `[id, logit]`: what the real ones are compared
# with. Probabilities are of double precision here.
module ReferenceSamplers
  module_function

  # @return [Array<Array(Integer, Float, Float)>] id, logit and probability, the best first
  def softmax(entries)
    max = entries.map(&:last).max
    sum = entries.sum { |_, logit| Math.exp(logit - max) }
    entries.sort_by { |id, logit| [-logit, id] }.map { |id, logit| [id, logit, Math.exp(logit - max) / sum] }
  end

  # @return [Array<Integer>] the ids that stay
  def top_k(entries, count)
    softmax(entries).first(count).map(&:first)
  end

  def top_p(entries, share, min_keep: 1)
    sum = 0.0
    sorted = softmax(entries)
    last = sorted.index.with_index { |(_, _, p), i| (sum += p) >= share && i + 1 >= min_keep }
    sorted[0..(last || -1)].map(&:first)
  end

  def min_p(entries, share, min_keep: 1)
    sorted = softmax(entries)
    limit = share * sorted.first.last
    sorted.select.with_index { |(_, _, p), i| i.zero? || i < min_keep || p >= limit }.map(&:first)
  end

  # Keeps what comes before the point where the normalized second differences of the probabilities add up to more
  # than `share`.
  def tail_free(entries, share, min_keep: 1)
    sorted = softmax(entries)
    first = sorted.each_cons(2).map { |a, b| a.last - b.last }
    second = first.each_cons(2).map { |a, b| (a - b).abs }
    total = second.sum
    sum = 0.0
    last = second.index.with_index { |d, i| (sum += d / total) > share && i >= min_keep }
    sorted.first(last || sorted.size).map(&:first)
  end

  # In the order of the distance from the expected surprise.
  def typical(entries, share, min_keep: 1)
    sorted = softmax(entries)
    entropy = sorted.sum { |_, _, p| -p * Math.log(p) }
    ordered = sorted.sort_by { |_, _, p| (-Math.log(p) - entropy).abs }
    sum = 0.0
    last = ordered.index.with_index { |(_, _, p), i| (sum += p) > share && i + 1 >= min_keep }
    ordered[0..(last || -1)].map(&:first)
  end

  def penalties(entries, tokens, repeat:, freq:, present:)
    counts = tokens.tally
    entries.map do |id, logit|
      count = counts[id]
      next [id, logit] unless count

      [id, (logit.positive? ? logit / repeat : logit * repeat) - (count * freq) - present]
    end
  end

  def log_softmax(logits)
    max = logits.max
    sum = logits.sum { |logit| Math.exp(logit - max) }
    logits.map { |logit| logit - max - Math.log(sum) }
  end

  def guidance(logits, others, scale)
    log_softmax(logits).zip(log_softmax(others)).map { |l, g| (scale * (l - g)) + g }
  end

  # How many candidates Mirostat 1 draws from.
  def mirostat_count(entries, count, surprise, n_vocab)
    sorted = softmax(entries).first(count)
    pairs = sorted.each_cons(2).with_index.map do |(a, b), i|
      [Math.log((i + 2.0) / (i + 1)), Math.log(a.last / b.last)]
    end
    slope = pairs.sum { |t, b| t * b } / pairs.sum { |t, _| t * t }
    epsilon = slope - 1
    ((epsilon * (2**surprise)) / (1 - (n_vocab**-epsilon)))**(1 / slope)
  end
end
