# frozen_string_literal: true

require 'fileutils'
require 'logger'
require 'tmpdir'
require_relative 'layout'
require_relative 'mutator'

module Fuzz
  ROOT = File.expand_path('../../..', __dir__)
  TINY = File.join(ROOT, 'models', 'tiny', 'tiny.gguf')

  # Makes damaged files of one kind, and does with them what a program would do.
  #
  # `use` returns what became of the file: `refused` (an exception said what is wrong), `used`, or `given up` (it was
  # taken, but something that was done with it raised). Whatever else comes out is a failure.
  class Target
    # @param seed [Integer]
    def initialize(seed)
      @seed = seed
      @mutators = {}
    end

    # @param index [Integer]
    # @return [Mutant] always the same for the same seed and index
    def mutant(index)
      mutator(index).mutate(Random.new((@seed << 32) + index))
    end

    private

    def load_model(path, **settings)
      params = LLaMACpp::ModelParams.new
      settings.each { |name, value| params.public_send("#{name}=", value) }
      LLaMACpp::Model.new(model_path: path, params:)
    end

    def new_context(model)
      params = LLaMACpp::ContextParams.new
      { n_ctx: 32, n_batch: 32, n_threads: 1, n_threads_batch: 1, seed: 1 }
        .each { |name, value| params.public_send("#{name}=", value) }
      LLaMACpp::Context.new(model:, params:)
    end

    def generate(model)
      LLaMACpp.generate(new_context(model), 'The capital', n_predict: 2, temperature: 0)
    end

    # What may be raised by a call on a file that was taken: the tokenizer of a vocabulary without byte tokens, say.
    def tolerating
      yield
      'used'
    rescue RuntimeError, ArgumentError, IndexError => e
      refuse_excess(e)
      'given up'
    end

    # The file must be refused by a RuntimeError.
    def refusing
      yield
      nil
    rescue RuntimeError => e
      refuse_excess(e)
      'refused'
    end

    # Memory that could not be had was asked for.
    def refuse_excess(error)
      raise NoMemoryError, error.message if error.message.match?(/alloc|out of memory|buffer/)
    end
  end

  # GGUF files: the tiny model, and for each eighth the vocabulary of another.
  class ModelTarget < Target
    VOCABULARIES = Dir[File.join(ROOT, 'vendor', 'llama.cpp', 'models', 'ggml-vocab-*.gguf')].freeze
    EXTENSION = 'gguf'

    # @return [String] the file of which the mutant is made
    def source(index)
      return TINY if index % 8 != 7 || VOCABULARIES.empty?

      VOCABULARIES[(index / 8) % VOCABULARIES.size]
    end

    # @param path [String] of the mutant
    # @param index [Integer]
    # @return [String] what became of it
    def use(path, index)
      model = nil
      refusing { LLaMACpp::Model.metadata(path).size }
      vocab_only = source(index) != TINY
      refusing { model = load_model(path, vocab_only:, use_mmap: index.even?) } || tolerating do
        look_at(model)
        generate(model) unless vocab_only
      end
    ensure
      model&.free
    end

    private

    def mutator(index)
      path = source(index)
      @mutators[path] ||= File.binread(path).then { |bytes| Mutator.new(bytes, GGUFLayout.new(bytes)) }
    end

    def look_at(model)
      %i[inspect n_params token_bos token_eos token_nl n_ctx_train].each { |name| model.public_send(name) }
      ids = [*0...20, model.n_vocab / 2, model.n_vocab - 1].select { |id| id < model.n_vocab }
      ids.product(%i[text score type token_to_piece]).each { |id, name| model.public_send(name, id) }
      text = "The capital of France is \u{1F999}, 12 345\n"
      model.detokenize(model.tokenize(text:, add_bos: true, special: true))
      model.tokenize(text: "\xFF\0 b")
    end
  end

  # LoRA adapters of the tiny model.
  class LoraTarget < Target
    EXTENSION = 'ggla'
    TENSORS = { 'blk.0.attn_q.weight' => [256, 256], 'blk.1.attn_k.weight' => [256, 128],
                'blk.0.ffn_down.weight' => [512, 256], 'output.weight' => [256, 640] }.freeze

    # @return [String] a sound adapter
    def self.adapter
      random = Random.new(1)
      head = 'algg'.b + [1, 2, 4].pack('L<3')
      TENSORS.each_with_index.inject(head) do |bytes, ((name, widths), i)|
        widths.zip(%w[A B]).inject(bytes) do |all, (width, suffix)|
          add(all, "#{name}.lora#{suffix}", width, i % 2, random)
        end
      end
    end

    def self.add(bytes, name, width, type, random)
      bytes += [2, name.bytesize, type, 2, width].pack('L<5') + name
      bytes += "\0" * (-bytes.bytesize % 32)
      # Small numbers: halves of 2^-5 to 2^-3, floats of up to a tenth.
      data = Array.new(2 * width) { type == 1 ? 0x2800 + random.rand(0x800) : random.rand(0.1) }
      bytes + data.pack(type == 1 ? 'S<*' : 'e*')
    end
    private_class_method :add

    # (see ModelTarget#use)
    def use(path, index)
      model = load_model(TINY, use_mmap: index.even?)
      refusing { model.apply_lora_from_file(lora_path: path) } || tolerating { generate(model) }
    ensure
      model&.free
    end

    private

    def mutator(_)
      @mutators[nil] ||= Mutator.new(self.class.adapter, LoraLayout.new(self.class.adapter))
    end
  end

  # Sessions of a context of the tiny model.
  class SessionTarget < Target
    EXTENSION = 'session'
    TOKENS = [1, 262, 299, 268, 410, 306, 316, 266].freeze

    # (see ModelTarget#use)
    def use(path, _)
      context = new_context(model)
      decode(context, TOKENS.first(3), 0)
      before = context.logits
      refused = refusing { context.load_session_file(session_path: path) }
      raise 'a session that was refused changed the context' if refused && context.logits != before

      refused || tolerating { go_on(context) }
    end

    private

    def model
      @model ||= load_model(TINY)
    end

    def go_on(context)
      2.times do |i|
        decode(context, [442], 20 + i)
        context.sample_token(context.candidates)
      end
    end

    def decode(context, tokens, pos_zero)
      context.decode(LLaMACpp::Batch.get_one(tokens:, n_tokens: tokens.size, pos_zero:, seq_id: 0))
    end

    def mutator(_)
      @mutators[nil] ||= session.then { |bytes| Mutator.new(bytes, SessionLayout.new(bytes, TOKENS)) }
    end

    def session
      Dir.mktmpdir do |folder|
        context = new_context(model)
        decode(context, TOKENS, 0)
        path = File.join(folder, 'sound')
        context.save_session_file(session_path: path, session_tokens: TOKENS)
        File.binread(path)
      end
    end
  end

  TARGETS = { 'models' => ModelTarget, 'lora' => LoraTarget, 'sessions' => SessionTarget }.freeze
end
