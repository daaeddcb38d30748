# frozen_string_literal: true

require 'json'
require 'net/http'
require 'open3'
require 'rbconfig'
require 'timeout'

# The programs in examples/, run as their comments say.
RSpec.describe 'examples' do
  root = File.expand_path('..', __dir__)

  def example_command(name)
    [RbConfig.ruby, '-Ilib', "examples/#{name}.rb"]
  end

  # @return [Array(String, String, Integer)] stdout, stderr, exit code
  define_method(:run_example) do |name, *arguments|
    stdout, stderr, status = Open3.capture3(*example_command(name), *arguments, chdir: root)
    [stdout, stderr, status.exitstatus]
  end

  it 'are all run here' do
    names = Dir.children(File.join(root, 'examples')).grep(/\.rb\z/).sort
    expect(names).to eq(%w[chat.rb completion.rb embeddings_search.rb json_grammar.rb parallel_batch.rb quantize.rb
                           stream_server.rb])
  end

  it 'completion continues a text' do
    context = new_context(n_ctx: 256)
    text = LLaMACpp.generate(context, 'Once upon a time,', n_predict: 64, temperature: 0.8, seed: 7, echo: true)
    stdout, stderr, code = run_example('completion')
    expect(text).to start_with('Once upon a time, ')
    expect(stdout).to eq("#{text}\n")
    expect(stderr).to match(/\A\d+ tokens, \d+ a second\n\z/)
    expect(code).to eq(0)
  end

  it 'completion takes a model and a prompt' do
    stdout, _, code = run_example('completion', Models::TINY, 'The capital of France is')
    expect(stdout).to start_with('The capital of France is ')
    expect(code).to eq(0)
  end

  it 'chat remembers' do
    expect(run_example('chat')).to eq([<<~TEXT, '', 0])
      > Hello, Bob.
      Hello. How may I help you today?
      > What is the capital of Peru?
      The capital of Peru is Lima.
      > Thank you.
      You are welcome.
      6 messages, 65 tokens in the cache
    TEXT
  end

  it 'embeddings_search finds the sentence that is most alike' do
    stdout, stderr, code = run_example('embeddings_search')
    expect(stdout.lines.size).to eq(6)
    expect(stdout).to match(/\A0\.97\d  The dog says woof\.\n0\.93\d  The opposite of hot is cold\.\n/)
    expect([stderr, code]).to eq(['', 0])
  end

  it 'json_grammar writes JSON' do
    stdout, stderr, code = run_example('json_grammar')
    data = JSON.parse(stdout.lines.first)
    expect(data).to match('name' => String, 'pet' => String, 'age' => Integer)
    expect(stdout.lines.last).to eq("#{data['name']} is #{data['age']} and has a #{data['pet']}.\n")
    expect([stderr, code]).to eq(['', 0])
  end

  it 'parallel_batch continues all prompts, each as it would be by itself' do
    expect(run_example('parallel_batch')).to eq([<<~TEXT, '', 0])
      The capital of Italy is Rome.
      The opposite of wet is dry.
      The colour of the snow is white.
      34 tokens in 5 decodes
    TEXT
  end

  it 'quantize writes smaller models that still answer' do
    expect(run_example('quantize')).to eq([<<~TEXT, '', 0])
      original   3035168 bytes  The capital of France is Paris.
      Q8_0       1622080 bytes  The capital of France is Paris.
      Q4_K_M      952896 bytes  The capital of France is Paris.
      Q2_K        642368 bytes  The capital of France is Paris.
    TEXT
  end

  describe 'stream_server' do
    around do |example|
      skip 'needs the gem webrick' if Gem::Specification.find_all_by_name('webrick').empty?
      # Port 0 is any that is free.
      Open3.popen3(*example_command('stream_server'), Models::TINY, '0', chdir: root) do |_, stdout, stderr, thread|
        Timeout.timeout(30) { @address = stdout.gets.chomp }
        example.run
        Process.kill(:INT, thread.pid)
        @stderr = stderr.read
        expect([thread.join(10) && thread.value.exitstatus, @stderr]).to eq([0, ''])
      ensure
        Process.kill(:KILL, thread.pid) if thread.alive?
      end
    end

    # @yield [chunk] as it comes
    def get(path, &block)
      address = URI.join(@address, path)
      Net::HTTP.start(address.host, address.port, read_timeout: 20) do |http|
        http.request(Net::HTTP::Get.new(address)) { |response| response.read_body(&block) }
      end
    end

    def stream(prompt)
      events = []
      get("stream?prompt=#{URI.encode_www_form_component(prompt)}") { |chunk| events << chunk }
      events.join.split("\n\n").map { |event| event.scan(/^(\w+): (.*)$/).to_h }
    end

    it 'serves the page' do
      response = get('')
      expect(response['Content-Type']).to eq('text/html; charset=utf-8')
      expect(response.body).to include("new EventSource('/stream?prompt='")
      expect(get('nothing').code).to eq('404')
    end

    it 'streams the text as events' do
      chunks = []
      response = get('stream?prompt=Once+upon+a+time,') { |chunk| chunks << chunk }
      expect(response['Content-Type']).to eq('text/event-stream')
      expect(chunks.size).to be > 1
      events = chunks.join.split("\n\n")
      pieces = events[0..-2].map { |event| JSON.parse(event.delete_prefix('data: ')) }
      expect(events.last).to eq("event: done\ndata: null")
      expect(pieces.size).to be > 3
      expect(pieces.join).to match(/\A [A-Z]\w+ went to the /)
    end

    it 'says what is wrong with a prompt' do
      events = stream('one two three ' * 100)
      expect(events.size).to eq(1)
      expect(events.first['event']).to eq('failed')
      expect(JSON.parse(events.first['data'])).to match(/\Athe prompt has \d+ tokens/)
    end

    it 'serves others after a reader has gone' do
      address = URI(@address)
      TCPSocket.open(address.host, address.port) do |socket|
        socket.write("GET /stream?prompt=Monday HTTP/1.1\r\nHost: localhost\r\n\r\n")
        socket.readpartial(10)
      end
      expect(stream('The capital of France is').last['event']).to eq('done')
    end
  end
end
