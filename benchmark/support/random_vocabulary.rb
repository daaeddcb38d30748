# frozen_string_literal: true

module Bench
  # The vocabulary of the models with random weights: in the manner of SentencePiece, and able to tokenize.
  module RandomVocabulary
    SIZE = 32_000
    # Ids below it are control tokens and bytes.
    FIRST_PIECE = 3 + 256

    module_function

    # @return [Hash{String => Object}] as a GGUF file has it
    def metadata
      pieces = plausible_pieces.take(SIZE - FIRST_PIECE)
      tokens = ['<unk>', '<s>', '</s>'] + (0..255).map { |byte| format('<0x%02X>', byte) } + pieces
      {
        'tokenizer.ggml.model' => 'llama', 'tokenizer.ggml.tokens' => tokens,
        'tokenizer.ggml.scores' => ([0.0] * FIRST_PIECE) + pieces.each_index.map { |rank| -rank.to_f },
        'tokenizer.ggml.token_type' => [2, 3, 3] + ([6] * 256) + ([1] * pieces.size),
        'tokenizer.ggml.bos_token_id' => 1, 'tokenizer.ggml.eos_token_id' => 2, 'tokenizer.ggml.unknown_token_id' => 0
      }
    end

    # Characters, then groups of two and three letters: each can be reached by merging two that come before it.
    def plausible_pieces
      letters = [*'a'..'z']
      pairs = letters.product(letters).map(&:join)
      triples = pairs.product(letters).map(&:join)
      ['▁', *(' '..'~').drop(1)] + pairs + (letters + pairs).map { |piece| "▁#{piece}" } +
        triples + triples.map { |piece| "▁#{piece}" }
    end
  end
end
