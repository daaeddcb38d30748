# frozen_string_literal: true

require 'digest'

module Recorded
  # The models that are vocabularies only, out of llama.cpp's tree.
  class Vocabulary
    # Of texts and scores, every so many are recorded.
    STRIDE = 997

    def initialize(path)
      @model = Recorded.model(path, vocab_only: true)
    end

    def result(rest)
      kind, text = rest.split('/', 2)
      case kind
      when 'tokenize' then @model.tokenize(text:)
      when 'tokenize_bos_special' then @model.tokenize(text:, add_bos: true, special: true)
      else public_send(kind)
      end
    end

    def load
      @model.n_vocab
    end

    def special
      %i[token_bos token_eos token_nl token_prefix token_middle token_suffix token_eot add_bos_token? add_eos_token?]
        .map { |name| @model.public_send(name) }
    end

    def pieces
      digest { |id| @model.token_to_piece(id).unpack1('H*') }
    end

    # As the original had it.
    def pieces_cut_at_nul
      digest { |id| @model.token_to_piece(id).b[/\A[^\0]*/n].unpack1('H*') }
    end

    def types
      digest { |id| @model.type(id) }
    end

    def text
      some { |id| @model.text(id) }
    end

    def score
      some { |id| @model.score(id) }
    end

    private

    def digest(&)
      Digest::SHA256.hexdigest(@model.n_vocab.times.map(&).join(','))
    end

    def some(&)
      0.step(@model.n_vocab - 1, STRIDE).map(&)
    end
  end
end
