# frozen_string_literal: true

module LLaMACpp
  # The claim of a {Generation} to its context: two runs at once would feed each other's tokens.
  #
  # @api private
  class Claim
    LOCK = Mutex.new
    private_constant :LOCK

    # @param context [Context]
    # @param lazy [Boolean] whether nobody may ever ask for the rest of the text: another run may take over then
    def initialize(context, lazy:)
      @context = context
      @lazy = lazy
      @waiting = false
    end

    # Holds the context while the block runs.
    #
    # @param n_threads [Integer, nil] threads to use meanwhile
    # @return [Object] what the block returns
    # @raise [RuntimeError] when another run holds it
    def hold(n_threads)
      take
      threads = @context.n_threads, @context.n_threads_batch
      @context.send(:native_set_n_threads, n_threads, n_threads) if n_threads
      yield
    ensure
      LOCK.synchronize do
        next unless held?

        @context.send(:native_set_n_threads, *threads) if threads && n_threads
        @context.send(:claim=, nil)
      end
    end

    # Gives text to whoever asked for it, which may take a long time, or for ever.
    #
    # @raise [RuntimeError] when another run has taken the context meanwhile
    def hand_over
      @waiting = @lazy
      yield
      @waiting = false
      return if held? || !@lazy

      raise 'another generate has begun on this context, so this stream is over'
    end

    # @return [Boolean] whether another run may take over
    def waiting?
      @waiting
    end

    private

    def held?
      @context.send(:claim).equal?(self)
    end

    def take
      LOCK.synchronize do
        other = @context.send(:claim)
        if other && !other.waiting?
          raise 'another generate is running on this context: give each thread a context of its own or let them take ' \
                'turns, and use another context within the block of a generate'
        end

        @context.send(:claim=, self)
      end
    end
  end
  private_constant :Claim
end
