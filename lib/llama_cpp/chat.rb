# frozen_string_literal: true

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
      unless context.is_a?(Context)
        raise ArgumentError, "context must be a Context, got an instance of #{context.class}"
      end
      unless system.nil? || system.is_a?(String)
        raise ArgumentError, "system must be a String or nil, got an instance of #{system.class}"
      end

      @context = context
      @system = system && GenerateSettings.in_utf8('system', system).scrub('?').freeze
      @format = ChatFormat.new(context.model, template)
      reset
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
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   chat = LLaMACpp::Chat.new(context)
    #   chat.say('How are you?', temperature: 0) #=> "I am fine, thank you."
    #   chat.messages.size #=> 2
    def say(content, n_predict: 256, **options, &block)
      raise ArgumentError, "content must be a String, got an instance of #{content.class}" unless content.is_a?(String)

      answer = +''
      said = GenerateSettings.in_utf8('content', content).scrub('?').freeze
      message = { role: 'user', content: said }.freeze
      settings = chat_settings(n_predict:, **options)
      generation = begin_turn(message, settings)
      @messages << message
      generation.run do |text|
        # The space that parts the answer from what is before it is no part of it.
        text = text.lstrip if answer.empty?
        answer << text
        yield text if block && !text.empty?
      end
      answer.strip
    ensure
      end_turn(generation, answer) if generation
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
    # @example
    #   model = LLaMACpp::Model.new(model_path: 'models/tiny/tiny.gguf', params: LLaMACpp::ModelParams.new)
    #   context = LLaMACpp::Context.new(model: model, params: LLaMACpp::ContextParams.new)
    #   chat = LLaMACpp::Chat.new(context)
    #   chat.say('How are you?', temperature: 0)
    #   chat.reset.messages #=> []
    def reset
      @messages = []
      @left_out = 0
      @cached = []
      @runs = nil
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

    def system_messages
      @system ? [{ role: 'system', content: @system }] : []
    end

    def chat_settings(**keywords)
      GenerateSettings.with_defaults(@context.model.n_vocab, keywords, refused: %i[n_keep echo]).for_run
    end

    # The generation of the answer, with room for it.
    def begin_turn(message, settings)
      reserve = settings[:n_predict].negative? ? 0 : settings[:n_predict]
      tokens = fitting_tokens(message, [reserve, @context.n_ctx / 4].min)
      room = @context.n_ctx - tokens.size
      settings[:n_predict] = room if settings[:n_predict].negative? || settings[:n_predict] > room
      settings[:stop] = settings[:stop] + @format.stops
      settings[:stop_tokens] = @format.stop_tokens
      Generation.new(@context, tokens, settings, cached: reuse_cache(tokens))
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

    # How many of the tokens the cache has, after what lies between them and others that it has was taken out. One of
    # them at least is decoded again, for its logits.
    def reuse_cache(tokens)
      return 0 unless @runs == @context.send(:runs) && @context.kv_cache_token_count == @cached.size

      same = common_prefix(tokens)
      same = close_gap(tokens, same) if @left_out.positive?
      [same, tokens.size - 1].min
    end

    def common_prefix(tokens)
      tokens.zip(@cached).index { |token, cached| token != cached } || tokens.size
    end

    # Where an old exchange was left out, what follows it moves up in the cache instead of being decoded again.
    def close_gap(tokens, same)
      gap = (1...(@cached.size - same)).find do |size|
        tokens[same, @cached.size - same - size] == @cached.drop(same + size)
      end
      return same unless gap

      @context.kv_cache_seq_rm(0, same, same + gap)
      @context.kv_cache_seq_shift(0, same + gap, -1, -gap)
      @cached.size - gap
    rescue RuntimeError
      # Quantized keys cannot be moved: the cache is filled anew.
      @context.kv_cache_clear
      0
    end

    def end_turn(generation, answer)
      @cached = generation.cached_tokens
      @runs = @context.send(:runs)
      if answer.strip.empty?
        @messages.pop
      else
        @messages << { role: 'assistant', content: answer.strip.freeze }.freeze
      end
    end
  end
end
