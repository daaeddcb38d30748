# frozen_string_literal: true

module Recorded
  # What a model says of itself.
  class Facts
    def initialize(path)
      @model = Recorded.model(path)
    end

    def result(rest)
      public_send(rest)
    end

    def facts
      %i[desc size n_params n_vocab n_ctx_train n_embd rope_freq_scale_train empty? token_bos token_eos]
        .map { |name| @model.public_send(name) }
    end

    def all_pieces
      @model.n_vocab.times.map { |id| @model.token_to_piece(id).unpack1('H*') }
    end

    # As the original had it.
    def all_pieces_cut_at_nul
      all_pieces.map { |hex| [hex].pack('H*')[/\A[^\0]*/n].unpack1('H*') }
    end
  end
end
