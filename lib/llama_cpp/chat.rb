# frozen_string_literal: true

require_relative 'chat_cache'
require_relative 'chat_format'

module LLaMACpp
  # A conversation with a model.
  #
  # Only what is new is decoded in each turn. When the context is full, the oldest exchange is left out of it; the
  # system message stays.
  #
  # @example
  #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
  #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
  #   chat = LLaMACpp::Chat.new(context)
  #   chat.say('What is the capital of Peru?', temperature: 0) #=> "The capital of Peru is Lima."
  class Chat
    # The names of the chat templates that come with the gem.
    TEMPLATES = ChatFormat::NAMES

    # @return [Context] the context that it uses
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   LLaMACpp::Chat.new(context).context.equal?(context) #=> true
    attr_reader :context

    # @param context [Context] a context that nobody else uses meanwhile
    # @param system [String, nil] what the model is told before the conversation
    # @param template [String, Symbol, #call, nil] how messages become text: nil for the model's own template (or plain
    #   +User:+ and +Bob:+ when it has none), one of {TEMPLATES}, Jinja text, or something that gets an Array of Hashes
    #   with +:role+ and +:content+ and returns a String
    # @raise [ArgumentError] for a wrong kind of value, or an unknown template
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   LLaMACpp::Chat.new(context, template: :chatml).messages #=> []
    def initialize(context, system: nil, template: nil)
      GenerateSettings.check_context(context)
      unless system.nil? || system.is_a?(String)
        raise ArgumentError, "system must be a String or nil, got an instance of #{system.class}"
      end

      @context = context
      @system = system && GenerateSettings.in_utf8('system', system).scrub('?').freeze
      @format = ChatFormat.new(context.send(:native_model), template)
      @cache = ChatCache.new(context)
      forget
    end

    # Says something and returns the answer.
    #
    # @param content [String] what the user says
    # @param n_predict [Integer] the most tokens of the answer; negative: as many as fit
    # @param options [Hash] the other keywords of {LLaMACpp.generate}, but for +n_keep+, +echo+ and +stream+
    # @yield [text] the answer as it comes; +break+ ends it, and what came so far is the answer
    # @yieldparam text [String]
    # @return [String] the answer, without white space around it
    # @raise [ArgumentError] for a wrong kind of value, or when what is said does not fit the context
    # @raise [RuntimeError] when the context, or this conversation, is in the middle of another answer
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   chat = LLaMACpp::Chat.new(context)
    #   chat.say('How are you?', temperature: 0) #=> "I am fine, thank you."
    #   chat.messages.size #=> 2
    def say(content, n_predict: 256, **options, &block)
      raise ArgumentError, "content must be a String, got an instance of #{content.class}" unless content.is_a?(String)

      said = GenerateSettings.in_utf8('content', content).scrub('?').freeze
      message = { role: 'user', content: said }.freeze
      settings = chat_settings(n_predict:, **options)
      take_turn { answer(begin_turn(message, settings), message, &block) }
    end

    # What was said, the system message first; also what the context has no room for any more.
    #
    # @return [Array<Hash{Symbol => String}>] with +:role+ (+system+, +user+, +assistant+) and +:content+
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   LLaMACpp::Chat.new(context, system: 'Be kind.').messages #=> [{:role=>"system", :content=>"Be kind."}]
    def messages
      system_messages + @messages
    end

    # Forgets the conversation; the system message stays.
    #
    # @return [self]
    # @raise [RuntimeError] in the middle of an answer
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   chat = LLaMACpp::Chat.new(context)
    #   chat.say('How are you?', temperature: 0)
    #   chat.reset.messages #=> []
    def reset
      take_turn { forget }
      self
    end

    # @return [String] how long it is, and the context
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   LLaMACpp::Chat.new(context).inspect.start_with?('#<LLaMACpp::Chat messages: 0, context: #<') #=> true
    def inspect
      "#<#{self.class} messages: #{messages.size}, context: #{@context.inspect}>"
    end

    private

    def forget
      @messages = []
      @left_out = 0
      @cache.forget
    end

    # One at a time: an answer within another one would come between its question and it.
    def take_turn
      raise 'this chat is in the middle of an answer: wait for its end, or make another chat' if @answering

      @answering = true
      begin
        yield
      ensure
        @answering = false
      end
    end

    def answer(generation, message)
      answer = +''
      @messages << message
      generation.run do |text|
        # The space that parts the answer from what is before it is no part of it.
        text = text.lstrip if answer.empty?
        answer << text
        yield text if block_given? && !text.empty?
      end
      answer.strip
    ensure
      end_turn(generation, answer)
    end

    def system_messages
      @system ? [{ role: 'system', content: @system }] : []
    end

    def chat_settings(**keywords)
      GenerateSettings.with_defaults(@context.send(:native_model).n_vocab, keywords, refused: %i[n_keep echo]).for_run
    end

    # The generation of the answer, with room for it.
    def begin_turn(message, settings)
      reserve = settings[:n_predict].negative? ? 0 : settings[:n_predict]
      tokens = fitting_tokens(message, [reserve, @context.n_ctx / 4].min)
      room = @context.n_ctx - tokens.size
      settings[:n_predict] = room if settings[:n_predict].negative? || settings[:n_predict] > room
      settings[:stop] = settings[:stop] + @format.stops
      settings[:stop_tokens] = @format.stop_tokens
      Generation.new(@context, tokens, settings, cached: @cache.reuse(tokens, gap: @left_out.positive?))
    end

    # The tokens of the conversation, without as many of the oldest exchanges as there is no room for.
    def fitting_tokens(message, reserve)
      loop do
        tokens = @format.tokens(system_messages + @messages.drop(@left_out) + [message])
        return tokens if tokens.size + reserve <= @context.n_ctx || @left_out >= @messages.size

        @left_out += 1
        @left_out += 1 until @left_out >= @messages.size || @messages[@left_out][:role] == 'user'
      end
    end

    def end_turn(generation, answer)
      @cache.remember(generation.cached_tokens)
      if answer.strip.empty?
        @messages.pop
      else
        @messages << { role: 'assistant', content: answer.strip.freeze }.freeze
      end
    end
  end
end
