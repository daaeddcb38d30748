# frozen_string_literal: true

# What stands between the pieces of tokens and the block of generate.
RSpec.describe 'LLaMACpp::TextStream' do
  # TextStream is private to the module.
  def stream(*stops)
    LLaMACpp.module_eval('TextStream', __FILE__, __LINE__).new(stops)
  end

  # What comes out at each piece, and at the end.
  def shown(pieces, *stops)
    text = stream(*stops)
    parts = pieces.map { |piece| text.stopped? ? '' : text.push(piece) }
    [*parts, text.finish, text.stopped?]
  end

  it 'lets whole characters through at once' do
    expect(shown(%w[a é 東京])).to eq(['a', 'é', '東京', '', false])
  end

  it 'holds a character back until it is whole' do
    bytes = '🦙'.bytes.map { |byte| byte.chr.b }
    expect(shown(bytes)).to eq(['', '', '', '🦙', '', false])
    expect(shown(["x\xC3".b, "\xA9y".b])).to eq(['x', 'éy', '', false])
  end

  it 'replaces what is no UTF-8 as soon as that is certain' do
    expect(shown(["\xFF", 'a'])).to eq(['?', 'a', '', false])
    expect(shown(["\xE6\x9D", 'a'])).to eq(['', '?a', '', false])
    expect(shown(["a\xE6\x9D"])).to eq(['a', '?', false])
    expect(shown(["\x80\x80"])).to eq(['??', '', false])
  end

  it 'never shows half a character, whatever the pieces are' do
    text = "aé東🦙\u0301ß 👨‍👩‍👧 end"
    random = Random.new(3)
    100.times do
      bytes = text.b
      pieces = []
      pieces << bytes.slice!(0, random.rand(1..5)) until bytes.empty?
      *parts, stopped = shown(pieces)
      expect(parts.join).to eq(text)
      expect(parts.map(&:valid_encoding?).uniq).to eq([true])
      expect(stopped).to be(false)
    end
  end

  it 'ends at a stop text, which it does not show' do
    expect(shown(['abc. User: x'], 'User:')).to eq(['abc. ', '', true])
  end

  it 'finds a stop text that is split over pieces' do
    expect(shown(%w[ab EN D], 'END')).to eq(['ab', '', '', '', true])
    expect(shown(%w[ab EN E ND x], 'END').join).to eq('abENtrue')
  end

  it 'shows what only began like a stop text' do
    expect(shown(%w[ab EN x], 'END')).to eq(['ab', '', 'ENx', '', false])
    expect(shown(%w[ab EN], 'END')).to eq(['ab', '', 'EN', false])
    expect(shown(%w[aab aac], 'aaac')).to eq(['aab', 'aac', '', false])
    expect(shown(%w[aa aac], 'aaac')).to eq(['', 'a', '', true])
  end

  it 'finds a stop text within characters that are split' do
    bytes = 'x。y'.b
    expect(shown([bytes[0, 2], bytes[2, 1], bytes[3..]], '。')).to eq(['x', '', '', '', true])
  end

  it 'takes the first of several' do
    expect(shown(['one two three'], 'three', 'two', 'none')).to eq(['one ', '', true])
    expect(shown(['aXbY'], 'Y', /x/i)).to eq(['a', '', true])
  end

  it 'takes a Regexp, and holds back what it may need' do
    expect(shown(%w[abc 1 23], /\d\d/)).to eq(['', '', 'abc', '', true])
    expect(shown(['x' * 200, '7'], /\d\z/).first.size).to eq(200 - 128)
    expect(shown(['x' * 200, '7'], /\d\z/).join).to eq("#{'x' * 200}true")
  end

  it 'takes a Regexp at the end' do
    expect(shown(%w[ab c], /z/)).to eq(['', '', 'abc', false])
  end

  it 'shows the same for every way to split, with every kind of stop' do
    text = 'The quick brown 🦙 jumps over STOP the dog'
    random = Random.new(5)
    50.times do
      bytes = text.b
      pieces = []
      pieces << bytes.slice!(0, random.rand(1..7)) until bytes.empty?
      [['STOP'], %w[ST OP], [/S.OP/], ['over STOP', /dog/], ['🦙 ']].each do |stops|
        first = stops.filter_map { |stop| text.index(stop) }.min
        expect(shown(pieces, *stops).join).to eq("#{text[0, first]}true")
      end
    end
  end
end
