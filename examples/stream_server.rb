# frozen_string_literal: true

# A page that shows a text while the model writes it, by server-sent events.
#
#   ruby -Ilib examples/stream_server.rb [model.gguf] [port]
#
# WEBrick is a gem since Ruby 3.0: `gem install webrick`, or Debian's ruby-webrick.

require 'json'
require 'llama_cpp'
require 'webrick'

# `GET /` is the page, `GET /stream?prompt=…` the events.
class StreamServer
  PAGE = File.join(__dir__, 'stream_server.html')

  def initialize(path, port)
    model = LLaMACpp::Model.open(path)
    params = LLaMACpp::ContextParams.new(n_ctx: [model.n_ctx_train, 2048].min, n_threads: 1, n_threads_batch: 1)
    @context = LLaMACpp::Context.new(model:, params:)
    # A context works for one at a time: the others wait.
    @turn = Mutex.new
    @server = WEBrick::HTTPServer.new(BindAddress: '127.0.0.1', Port: port, AccessLog: [],
                                      Logger: WEBrick::Log.new($stderr, WEBrick::Log::WARN))
    @server.mount_proc('/') { |request, response| page(request, response) }
    @server.mount_proc('/stream') { |request, response| stream(request, response) }
  end

  def run
    %w[INT TERM].each { |signal| trap(signal) { @server.shutdown } }
    puts "http://127.0.0.1:#{@server.config[:Port]}/"
    $stdout.flush
    @server.start
  end

  private

  def page(request, response)
    return response.status = 404 unless request.path == '/'

    response.content_type = 'text/html; charset=utf-8'
    response.body = File.read(PAGE)
  end

  def stream(request, response)
    prompt = request.query['prompt'].to_s.dup.force_encoding(Encoding::UTF_8)
    response.content_type = 'text/event-stream'
    response['Cache-Control'] = 'no-cache'
    response.chunked = true
    # WEBrick calls this with the socket. A reader who goes away makes a write fail, and that ends the generation.
    response.body = ->(socket) { @turn.synchronize { write_events(socket, prompt) } }
  end

  def write_events(socket, prompt)
    LLaMACpp.generate(@context, prompt, n_predict: 200, temperature: 0.7) do |piece|
      socket.write("data: #{JSON.generate(piece)}\n\n")
    end
    socket.write("event: done\ndata: null\n\n")
  rescue ArgumentError => e
    # A prompt that is too long, for instance.
    socket.write("event: failed\ndata: #{JSON.generate(e.message)}\n\n")
  end
end

path, port = ARGV
StreamServer.new(path || File.expand_path('../models/tiny/tiny.gguf', __dir__), Integer(port || 8080)).run
