# frozen_string_literal: true

module Recorded
  # Objects as they are made, and a model as it is once freed.
  class Defaults
    def initialize(path)
      @path = path
    end

    def result(rest)
      public_send(rest)
    end

    def context_params
      names = CASES.dig('defaults/context_params', 'ok').keys
      names.to_h { |name| [name, LLaMACpp::ContextParams.new.public_send(name)] }
    end

    def model_params
      values_of(LLaMACpp::ModelParams, %i[n_gpu_layers split_mode main_gpu tensor_split vocab_only use_mmap use_mlock])
    end

    def quantize_params
      values_of(LLaMACpp::ModelQuantizeParams,
                %i[n_thread ftype allow_requantize quantize_output_tensor only_copy pure])
    end

    def free
      model = Models.load_model(@path)
      model.free
      model.free
      [model.empty?, model.params]
    end

    private

    def values_of(class_, names)
      object = class_.new
      names.map { |name| object.public_send(name) }
    end
  end
end
