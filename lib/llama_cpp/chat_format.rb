# frozen_string_literal: true

module LLaMACpp
  # How a conversation becomes the text that a model was trained on, and what ends an answer.
  #
  # @api private
  class ChatFormat
    FOLDER = File.join(__dir__, 'chat_templates')
    private_constant :FOLDER

    # The templates that come with the gem, by name.
    NAMES = Dir.children(FOLDER).map { |file| File.basename(file, '.jinja').to_sym }.sort.freeze

    # What ends a turn in the formats that are in use. A template's are those that it contains.
    MARKERS = ['<|im_end|>', '<|eot_id|>', '<end_of_turn>', '<|end|>', '<|endoftext|>', '<|user|>', '</s>', '[INST]',
               '### Instruction:', 'USER:', "\nUser:"].freeze
    private_constant :MARKERS

    # @return [Array<String>] texts that end an answer
    attr_reader :stops

    # @param model [Model]
    # @param template [String, Symbol, #call, nil] a name of {NAMES}, Jinja text, something to call with the messages,
    #   or nil for the model's own
    def initialize(model, template)
      @model = model
      template ||= model.chat_template || :plain
      @callable = template if template.respond_to?(:call)
      @source = @callable ? '' : source_of(template)
      @stops = stops_of(@source)
    end

    # @param messages [Array<Hash>] with +:role+ and +:content+
    # @return [String] the text up to where the assistant's answer begins
    def render(messages)
      return render_by_call(messages) if @callable

      pairs = messages.map { |message| message.values_at(:role, :content) }
      Native.render_chat(@source, pairs, token_text(@model.token_bos), token_text(@model.token_eos))
    end

    # @param messages [Array<Hash>]
    # @return [Array<Integer>] the tokens of {#render}
    def tokens(messages)
      text = render(messages)
      bos = token_text(@model.token_bos)
      add_bos = bos.empty? || !text.start_with?(bos)
      @model.tokenize(text:, add_bos:, special: true)
    end

    # @return [Array<Integer>] the tokens that stand for a stop text by themselves
    def stop_tokens
      stops.filter_map do |stop|
        ids = @model.tokenize(text: stop, special: true)
        ids.first if ids.size == 1 && @model.type(ids.first) != LLAMA_TOKEN_TYPE_NORMAL
      end
    end

    private

    def stops_of(source)
      stops = MARKERS.select { |marker| source.include?(marker.delete_prefix("\n")) }
      stops << token_text(@model.token_eos) if source.include?('eos_token')
      stops.uniq - ['']
    end

    def source_of(template)
      text = GenerateSettings.in_utf8('template', template.to_s)
      raise ArgumentError, 'the chat template is not valid UTF-8' unless text.valid_encoding?
      return File.read(File.join(FOLDER, "#{text}.jinja"), encoding: 'UTF-8') if NAMES.include?(text.to_sym)
      return text if template.is_a?(String) && text.match?(/\{\{|\{%/)

      raise ArgumentError, "there is no chat template #{template.inspect}: give one of #{NAMES.join(', ')}, " \
                           'Jinja text, or something to call'
    end

    def render_by_call(messages)
      text = @callable.call(messages.map(&:dup))
      raise ArgumentError, "the chat template returned a #{text.class}, no String" unless text.is_a?(String)

      text
    end

    def known?(token)
      token.between?(0, @model.n_vocab - 1)
    end

    def token_text(token)
      known?(token) ? @model.text(token) : ''
    end
  end
  private_constant :ChatFormat
end
