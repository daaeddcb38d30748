# frozen_string_literal: true

# Loaded by YARD, more than once (.yardopts). README.md and docs/ link to each other as files, which is right where they
# are read as files; in the rendered site the same links have to lead to the rendered pages.
module YardPages
  # @param text [String] Markdown
  # @return [String] HTML
  def html_markup_markdown(text)
    html = super(with_file_links(text)).gsub(%r{<h(\d) id="[^"]*">(.*?)</h\1>}) do
      level, title = Regexp.last_match.captures
      %(<h#{level} id="#{anchor(title)}">#{title}</h#{level}>)
    end
    html.gsub('src="docs/images/', 'src="images/')
  end

  private

  # YARD's own links, which it resolves, and warns of when there is no such page.
  def with_file_links(text)
    text.gsub(/(?<!!)\[([^\]]+)\]\((?!https?:)([^)#]+)(#[^)]*)?\)/) do
      label, path, anchor = Regexp.last_match.captures
      page = options.files.map(&:filename).find { |name| File.basename(name) == File.basename(path) }
      "{file:#{page || path}#{anchor} #{label}}"
    end
  end

  # As it is made where Markdown is shown as files.
  def anchor(title)
    title.gsub(/<[^>]+>/, '').downcase.gsub(/[^\p{Word}\- ]/, '').tr(' ', '-')
  end
end

YARD::Templates::Helpers::HtmlHelper.prepend(YardPages)
