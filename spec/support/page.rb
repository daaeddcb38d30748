# frozen_string_literal: true

# A page of documentation in Markdown, and the code in it.
class Page
  ROOT = File.expand_path('../..', __dir__)
  BLOCK = /^(?:<!-- not run: (?<reason>.+?) -->\n)?```(?<language>\w*)\n(?<code>.*?)^```$/m

  # A block of code; `reason` says why it cannot run here.
  Block = Struct.new(:language, :code, :reason, keyword_init: true)

  # @return [Array<Page>]
  def self.all
    Dir['{README.md,docs/**/*.md}', base: ROOT].map { |name| new(name) }
  end

  # @return [String] its path in the repository
  attr_reader :name

  # @param name [String]
  def initialize(name)
    @name = name
    @text = File.read(File.join(ROOT, name), encoding: 'UTF-8')
  end

  # @return [Array<Block>]
  def blocks
    @text.to_enum(:scan, BLOCK).map do
      match = Regexp.last_match
      Block.new(language: match[:language], code: with_files_of_here(match[:code]), reason: match[:reason])
    end
  end

  # @return [Integer] lines that begin or end a block, wherever they are
  def fences
    @text.scan(/^ *```/).size
  end

  # @return [Array<Block>] those that a spec can run
  def runnable(language)
    blocks.select { |block| block.language == language && block.reason.nil? }
  end

  # The code in the second column of the tables that begin with "I want to…".
  #
  # @return [Array<String>]
  def recipes
    rows = @text[/^\| I want to… \|.*?\n\n/m].to_s.lines.drop(2)
    rows.filter_map { |row| row[/(?<!\\)\| `(.+)` \|$/, 1]&.then { |code| with_files_of_here(code.gsub('\\|', '|')) } }
  end

  # @return [Array<String>] the paths of this repository that it points to
  def links
    @text.scan(/\]\(([^)#]+)[^)]*\)/).flatten.grep_v(/\Ahttps?:/)
  end

  private

  # The tiny model for the reader's, and a folder for what is written.
  def with_files_of_here(code)
    code.gsub(/(?<![\w-])model\.gguf/, 'models/tiny/tiny.gguf').gsub(/\b(?:small(?:er)?\.gguf|a\.session)\b/, 'tmp/\\0')
  end
end
