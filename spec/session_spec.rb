# frozen_string_literal: true

require 'tmpdir'

RSpec.describe LLaMACpp::Context, 'sessions' do
  let(:context) { new_context.tap { |c| decode(c, Models::FRANCE_TOKENS) } }
  let(:path) { File.join(@folder, 'session') }

  around do |example|
    Dir.mktmpdir('llama_cpp') do |folder|
      @folder = folder
      example.run
    end
  end

  def save(from = context, tokens: Models::FRANCE_TOKENS)
    from.save_session_file(session_path: path, session_tokens: tokens)
  end

  def load_into(target)
    target.load_session_file(session_path: path)
  end

  it 'goes on in a new context as in the old one' do
    draws = ->(c) { Array.new(9) { c.sample_token(candidates([1.0] * 99)) } }
    context.sample_token(candidates([1.0] * 99))
    expect(save).to be_nil
    other = new_context(seed: 7)
    expect(load_into(other)).to eq(Models::FRANCE_TOKENS)
    expect([other.kv_cache_token_count, other.logits == context.logits]).to eq([8, true])
    expect(draws.call(other)).to eq(draws.call(context))
    [context, other].each { |c| decode(c, [442], pos: 8) }
    expect(other.logits).to eq(context.logits)
  end

  it 'replaces what the context had' do
    save
    other = new_context
    decode(other, [5] * 30, seq: 3)
    load_into(other)
    expect(other.kv_cache_token_count).to eq(8)
    [context, other].each { |c| decode(c, [442], pos: 8) }
    expect(other.logits).to eq(context.logits)
  end

  it 'keeps sequences, holes and positions' do
    context.kv_cache_seq_cp(0, 2, 0, 5)
    context.kv_cache_seq_rm(0, 3, 6)
    save
    other = new_context
    load_into(other)
    expect(other.kv_cache_token_count).to eq(context.kv_cache_token_count)
    [[442, 8, 0], [316, 5, 2]].each do |token, pos, seq|
      rows = [context, other].map do |c|
        decode(c, [token], pos:, seq:)
        c.logits
      end
      expect(rows[0]).to eq(rows[1])
    end
  end

  it 'keeps embeddings and all rows of logits' do
    settings = { embedding: true, logits_all: true }
    first, second = Array.new(2) { new_context(**settings) }
    decode(first, Models::FRANCE_TOKENS)
    save(first)
    load_into(second)
    expect([second.embeddings == first.embeddings, second.logits == first.logits]).to eq([true, true])
  end

  it 'may have any tokens, and none' do
    [[], [1] * 64, [639, 0]].each do |tokens|
      save(tokens:)
      expect(load_into(new_context)).to eq(tokens)
    end
    fresh = new_context
    save(fresh, tokens: [])
    load_into(context)
    expect(context.kv_cache_token_count).to eq(0)
  end

  it 'is written whole or not at all' do
    File.write(path, 'old')
    expect do
      save(tokens: [1,
                    640])
    end.to raise_error(ArgumentError, 'session_tokens has 640, but the vocabulary has the tokens 0 to 639')
    expect([File.read(path), Dir.children(@folder)]).to eq(['old', ['session']])
    expect { context.save_session_file(session_path: '/nonexistent/x', session_tokens: []) }
      .to raise_error(RuntimeError, %r{\Acannot write /nonexistent/x: No such file})
    expect { context.save_session_file(session_path: @folder, session_tokens: []) }
      .to raise_error(RuntimeError, /\Acannot write .*: it is a directory/)
  end

  it 'stays for its owner, and where a link leads to' do
    File.write(path, '')
    File.chmod(0o600, path)
    link = File.join(@folder, 'link')
    File.symlink('there', link)
    save
    context.save_session_file(session_path: link, session_tokens: [])
    expect(File.stat(path).mode & 0o777).to eq(0o600)
    expect([File.symlink?(link), File.file?(File.join(@folder, 'there'))]).to eq([true, true])
  end

  it 'of another size or model is refused' do
    save
    expect { load_into(new_context(n_ctx: 128)) }.to raise_error(RuntimeError, /\A.*#{Regexp.escape(path)}/)
    path_of_other = GGUFWriter.write_random_llama(File.join(@folder, 'm.gguf'), n_embd: 64, n_layer: 1, n_ff: 64)
    expect { load_into(new_context(load_model(path_of_other))) }
      .to raise_error(RuntimeError, /\A.*#{Regexp.escape(path)}/)
  end

  {
    { session_path: nil } => 'session_path must be a String, got nil',
    { session_path: '' } => 'session_path is empty',
    { session_tokens: nil } => 'session_tokens must be an Array of Integers, got nil',
    { session_tokens: ['a'] } => 'session_tokens[0] must be an Integer, got an instance of String'
  }.each do |wrong, message|
    it "refuses #{wrong}" do
      expect { context.save_session_file(session_path: path, session_tokens: [], **wrong) }
        .to raise_error(ArgumentError, message)
      expect(Dir.children(@folder)).to eq([])
    end
  end

  it 'refuses to load what is no path' do
    expect { context.load_session_file(session_path: 1) }
      .to raise_error(ArgumentError, 'session_path must be a String, got 1 (Integer)')
    expect { context.load_session_file }.to raise_error(ArgumentError, 'missing keyword: :session_path')
  end
end
