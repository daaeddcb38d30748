# frozen_string_literal: true

require 'fileutils'
require 'shellwords'

# README.md and docs/: what they show works.
RSpec.describe 'The documentation pages' do
  # What a reader of the table has typed before.
  before_recipes = <<~RUBY
    model = LLaMACpp::Model.open('models/tiny/tiny.gguf')
    context = model.context(n_ctx: 256)
    context.save_session_file(session_path: 'tmp/a.session', session_tokens: [1, 262])
  RUBY

  # Warnings of the library are no part of what is shown.
  around { |example| quietly { example.run } }

  Page.all.each do |page|
    describe page.name do
      it 'has only code that runs, or says why it does not' do
        unknown = page.blocks.reject { |block| block.reason || %w[ruby sh].include?(block.language) }
        expect(unknown.map(&:code)).to eq([])
        expect(page.blocks.size).to eq(page.fences / 2)
      end

      it 'points to files that are there' do
        folder = File.dirname(File.join(Page::ROOT, page.name))
        missing = page.links.reject { |link| File.exist?(File.expand_path(link, folder)) }
        expect(missing).to eq([])
      end

      it 'has Ruby that does what it says, from top to bottom' do
        program = page.runnable('ruby').map(&:code).join("\n")
        expect(DocumentedExample.new(program, page.name).differences.map(&:to_s)).to eq([])
      end

      page.runnable('sh').flat_map { |block| block.code.lines(chomp: true) }.each do |line|
        it "has a command line that works: #{line}" do
          program, *arguments = Shellwords.split(line)
          expect(program).to eq('llama_cpp')
          FileUtils.mkdir_p(File.join(Page::ROOT, 'tmp'))
          FileUtils.rm_f(File.join(Page::ROOT, 'tmp/smaller.gguf'))
          outcome = llama_cpp(*arguments)
          expect(outcome.stdout).not_to be_empty
          expect([outcome.stderr, outcome.code]).to eq(['', 0])
        end
      end

      page.recipes.each do |recipe|
        it "has a line that works: #{recipe}" do
          expect { DocumentedExample.new(before_recipes + recipe, page.name).differences }.not_to raise_error
        end
      end
    end
  end

  it 'has a table of recipes' do
    expect(Page.new('README.md').recipes.size).to be > 20
  end

  it 'shows the shortest program with what it prints' do
    block = Page.new('README.md').runnable('ruby').first.code
    expect(block).to include('# => Paris.')
    expect(block).to print_in_a_child('Paris.')
  end
end
