# frozen_string_literal: true

require_relative 'figures'
require_relative 'file_types'

module LLaMACpp
  class CLI
    # What the header of a GGUF file says, sorted for people.
    class ModelSummary
      # The special tokens, as the metadata call them.
      SPECIAL_TOKENS = %w[bos eos unknown separator padding].freeze
      private_constant :SPECIAL_TOKENS

      # @return [Hash{String => Object}] as in the file
      attr_reader :metadata

      # @return [Array<Hash>] name, type, shape, and bytes of each
      attr_reader :tensors

      # @param path [String] a GGUF file
      # @raise [RuntimeError] when it is none
      def initialize(path)
        @path = path
        @metadata = Model.metadata(path)
        @version = @metadata.delete('gguf.version')
        @tensors = @metadata.delete('gguf.tensors')
      end

      # @return [Hash{Symbol => Object}] for programs; nil is what the file does not say
      def to_h
        {
          file: @path, file_size: File.size(@path), gguf_version: @version,
          name: @metadata['general.name'], architecture:, parameters:, size:, quantization:,
          tensor_types: @tensors.map { |tensor| tensor[:type] }.tally,
          context_length: hyperparameter('context_length'), embedding_length: hyperparameter('embedding_length'),
          feed_forward_length: hyperparameter('feed_forward_length'), block_count: hyperparameter('block_count'),
          head_count: hyperparameter('attention.head_count'),
          head_count_kv: hyperparameter('attention.head_count_kv') || hyperparameter('attention.head_count'),
          vocabulary:, chat_template: @metadata['tokenizer.chat_template']
        }
      end

      # @return [Hash{String => String}] for people
      def lines
        facts = to_h
        { **size_lines(facts), **shape_lines(facts), **vocabulary_lines(facts) }.compact
      end

      private

      def size_lines(facts)
        {
          'file' => "#{@path} (#{Figures.bytes(facts[:file_size])}, GGUF version #{@version})",
          'name' => facts[:name], 'architecture' => architecture,
          'parameters' => "#{Figures.count(parameters)} (#{parameters})",
          'weights' => "#{Figures.bytes(size)}, #{quantization} (#{list(facts[:tensor_types])})"
        }
      end

      def shape_lines(facts)
        {
          'context' => facts[:context_length]&.then { |length| "#{length} tokens" },
          'embedding' => facts[:embedding_length], 'feed forward' => facts[:feed_forward_length],
          'layers' => facts[:block_count],
          'heads' => facts[:head_count]&.then { |count| "#{count}, #{facts[:head_count_kv]} of keys and values" }
        }
      end

      def vocabulary_lines(facts)
        {
          'vocabulary' => vocabulary && "#{vocabulary[:size]} tokens, #{vocabulary[:type]}",
          'special tokens' => special_tokens_line, 'chat template' => facts[:chat_template] ? 'yes' : 'no'
        }
      end

      def architecture
        @metadata['general.architecture']
      end

      def hyperparameter(name)
        @metadata["#{architecture}.#{name}"]
      end

      def parameters
        @tensors.sum { |tensor| tensor[:shape].reduce(1, :*) }
      end

      def size
        @tensors.sum { |tensor| tensor[:n_bytes] }
      end

      # What the file says it is, or else the type that most bytes have.
      def quantization
        named = FileTypes.name(@metadata['general.file_type'])
        named || @tensors.group_by { |tensor| tensor[:type] }
                         .max_by { |_, tensors| tensors.sum { |tensor| tensor[:n_bytes] } }&.first&.upcase
      end

      def vocabulary
        tokens = @metadata['tokenizer.ggml.tokens']
        return unless tokens

        { type: @metadata['tokenizer.ggml.model'], size: tokens.size, special_tokens: special_tokens(tokens) }
      end

      def special_tokens(tokens)
        SPECIAL_TOKENS.filter_map do |name|
          id = @metadata["tokenizer.ggml.#{name}_token_id"]
          [name, { id:, text: tokens[id] }] if id
        end.to_h
      end

      def special_tokens_line
        special = vocabulary&.fetch(:special_tokens)
        return if special.nil? || special.empty?

        special.map { |name, token| "#{name} #{token[:id]} #{token[:text].inspect}" }.join(', ')
      end

      def list(tally)
        tally.map { |type, count| "#{count} of #{type}" }.join(', ')
      end
    end
  end
end
