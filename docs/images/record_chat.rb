# frozen_string_literal: true

# Draws docs/images/chat.svg: the screen after a conversation with `llama_cpp chat` on a terminal.
#
#   ruby docs/images/record_chat.rb

require 'cgi'
require 'pty'
require 'rbconfig'
require 'timeout'

# As much of a terminal as a line editor needs: text with a style, and a cursor.
class Screen
  SEQUENCE = /\e\[(?<numbers>[\d;]*)(?<letter>[A-Za-z])|\r|\n|[^\e\r\n]+/

  # A character, and the number of its style: 0 plain, 1 bold, 2 faint, 32 green.
  Cell = Struct.new(:character, :style)

  def initialize
    @rows = [[]]
    @row = @column = @style = 0
  end

  def write(text)
    text.scan(SEQUENCE) { control(Regexp.last_match) }
  end

  # @return [Array<Array<(Integer, String)>>] of each row the styles with the text that has them
  def rows
    @rows.map do |row|
      cells = row.map { |cell| cell || Cell.new(' ', 0) }
      cells.chunk(&:style).map { |style, run| [style, run.map(&:character).join] }
    end
  end

  private

  def control(match)
    case match[0]
    when "\r" then @column = 0
    when "\n" then move_down(1)
    when /\A\e/ then escape(match[:letter], match[:numbers].to_i)
    else match[0].each_char { |character| put(character) }
    end
  end

  def escape(letter, number)
    case letter
    when 'G' then @column = number - 1
    when 'A' then @row -= number
    when 'B' then move_down(number)
    when 'K' then @rows[@row] = @rows[@row].first(@column)
    when 'm' then @style = number
    end
  end

  def move_down(count)
    @row += count
    @rows << [] while @rows.size <= @row
  end

  def put(character)
    @rows[@row][@column] = Cell.new(character, @style)
    @column += 1
  end
end

# A screen as a picture.
class Drawing
  WIDTH = 76
  COLUMN = 8.43
  LINE = 20
  COLOURS = { 0 => '#d8dee9', 1 => '#ffffff', 2 => '#7b8794', 31 => '#e06c75', 32 => '#98c379' }.freeze

  def initialize(rows)
    @rows = rows
  end

  def to_s
    height = (@rows.size * LINE) + 24
    <<~SVG
      <svg xmlns="http://www.w3.org/2000/svg" width="#{(WIDTH * COLUMN).round + 32}" height="#{height}" role="img">
      <title>A conversation with llama_cpp chat</title>
      <rect width="100%" height="100%" rx="8" fill="#20252b"/>
      <g font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" xml:space="preserve">
      #{@rows.each_with_index.map { |row, index| line(row, index) }.join("\n")}
      </g>
      </svg>
    SVG
  end

  private

  def line(row, index)
    spans = row.map { |style, text| %(<tspan fill="#{COLOURS.fetch(style)}">#{CGI.escapeHTML(text)}</tspan>) }
    %(<text x="16" y="#{(index * LINE) + 28}">#{spans.join}</text>)
  end
end

root = File.expand_path('../..', __dir__)
command = ['chat', '-m', 'models/tiny/tiny.gguf', '--temperature', '0']
lines = ['Hello, Bob.', 'What is the capital of Peru?', 'What does the cow say?', 'What is 7 + 8?', '/exit']

screen = Screen.new
screen.write("\e[32m$\e[0m llama_cpp #{command.join(' ')}\r\n")
PTY.spawn({ 'TERM' => 'xterm' }, RbConfig.ruby, 'exe/llama_cpp', *command, chdir: root) do |output, keyboard, _|
  waiting = +''
  Timeout.timeout(60) do
    loop do
      part = output.readpartial(4096).force_encoding(Encoding::UTF_8)
      # The line editor tries how wide a character is, and asks where the cursor is then: still at the left.
      keyboard.write("\e[1;1R" * part.scan("\e[6n").size)
      screen.write(part.gsub(/\e\[1G▽\e\[6n\e\[1G\e\[K/, ''))
      waiting << part
      # A line has ended, and an empty prompt is there again.
      next unless waiting.match?(/\n.*\e\[32m> \e\[0m\e\[K\e\[1G\e\[3G\z/m)

      waiting.clear
      # As people do: the editor has the keyboard by then.
      sleep 0.5
      keyboard.write("#{lines.shift}\n")
    end
  rescue Errno::EIO
    # The program has ended.
  end
end

File.write(File.join(__dir__, 'chat.svg'), Drawing.new(screen.rows.reject(&:empty?)).to_s)
