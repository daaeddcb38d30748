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
      @over = false
      @abandoned = []
    end

    # Holds the context while the block runs.
    #
    # @param n_threads [Integer, nil] threads to use meanwhile
    # @return [Object] what the block returns
    # @raise [RuntimeError] when another run holds it
    def hold(n_threads)
      # Only this frame knows it: it goes when the fiber of this run goes, whose end may never come.
      alive = Object.new
      ObjectSpace.define_finalizer(alive, self.class.notice(@abandoned))
      take
      use_threads(n_threads) if n_threads
      result = yield
      alive && result
    ensure
      LOCK.synchronize { give_back if held? }
    end

    # @param flag [Array] gets an entry
    # @return [Proc] a finalizer, which must not know the object that it is for
    def self.notice(flag)
      proc { flag << true }
    end

    # Gives text to whoever asked for it, which may take a long time, or for ever.
    #
    # @raise [RuntimeError] when another run has taken the context meanwhile
    def hand_over
      @waiting = @lazy
      yield
      @waiting = false
      raise 'another generate has begun on this context, so this stream is over' if @over
    end

    protected

    # Whether another run may take over: nobody waits for the end of this one, or nobody is left who could.
    def yielding?
      @waiting || abandoned?
    end

    # Another run takes the context.
    def overtake
      @over = true
      give_back
    end

    private

    def give_back
      @context.send(:claim=, nil)
      restore_threads if @threads
    end

    def held?
      @context.send(:claim).equal?(self)
    end

    def take
      LOCK.synchronize do
        other = @context.send(:claim)
        if other && !other.yielding?
          raise 'another generate is running on this context: give each thread a context of its own or let them take ' \
                'turns, and use another context within the block of a generate'
        end

        other&.overtake
        @context.send(:claim=, self)
      end
    end

    # A run in a fiber that everybody has forgotten (the enumerator of a block, half read) does not come to its end.
    def abandoned?
      GC.start
      @abandoned.any?
    end

    def use_threads(n_threads)
      threads = @context.n_threads, @context.n_threads_batch
      @context.send(:native_set_n_threads, n_threads, n_threads)
      @threads = threads
    end

    # Another thread may decode on the context, against all advice: its call ends soon.
    def restore_threads
      @context.send(:native_set_n_threads, *@threads)
    rescue RuntimeError => e
      return unless e.message.include?('in use')

      sleep(0.001)
      retry
    end
  end
  private_constant :Claim
end
