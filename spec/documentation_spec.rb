# frozen_string_literal: true

require 'cgi'
require 'open3'
require 'rbconfig'
require 'tmpdir'
require 'uri'

RSpec.describe 'The documentation' do
  it 'has every public method, with an example and a signature' do
    expect(Undocumented.new.lines).to eq([])
  end

  it 'has every constant, with its value' do
    documented = Documentation.new.constants
    names = (LLaMACpp.constants - PublicApi::PROGRAM).reject { |name| LLaMACpp.const_get(name).is_a?(Module) }
    expect(documented.keys).to match_array(names)
    expect(documented).to eq(names.to_h { |name| [name, LLaMACpp.const_get(name)] })
  end

  # Typed: they call everything as it is meant to be called.
  Documentation.new.examples.each do |example|
    it "is right: #{example.location}", :typed do
      expect(example.differences.map(&:to_s)).to eq([])
      expect(example).to be_states_something
    end
  end

  # The links of a page that lead nowhere.
  def dead_links(folder, page)
    File.read(File.join(folder, page)).scan(/(?:href|src)="([^"]+)"/).flatten.uniq.reject do |link|
      next true if link.match?(/\A(?:https?:|javascript:)/)

      path, anchor = CGI.unescapeHTML(link).sub(/\?\d+\z/, '').split('#')
      target = path.to_s.empty? ? page : File.join(File.dirname(page), path)
      file = File.join(folder, target)
      File.file?(file) && (anchor.nil? || File.read(file).include?(%(id="#{URI.decode_www_form_component(anchor)}")))
    end
  end

  it 'builds without a warning and without a dead link' do
    Dir.mktmpdir do |folder|
      output, status = Open3.capture2e('yard', 'doc', '--fail-on-warning', '--no-cache', '--no-save',
                                       '--output-dir', folder, chdir: Documentation::ROOT)
      expect(output).not_to match(/\[(?:warn|error)\]/i)
      expect(status).to be_success
      pages = Dir.glob('**/*.html', base: folder)
      expect(pages).to include('index.html', 'LLaMACpp/Context.html')
      expect(pages.to_h { |page| [page, dead_links(folder, page)] }.reject { |_, links| links.empty? }).to eq({})
    end
  end

  # The checks themselves.
  describe 'of a toy' do
    def documentation(text)
      Dir.mktmpdir do |folder|
        File.write(File.join(folder, 'toy.rb'), text)
        yield Documentation.new([File.join(folder, 'toy.rb')])
      end
    end

    def entry(name)
      PublicApi::Entry.new(Class.new { define_singleton_method(:to_s) { 'Toy' } }, :instance, name)
    end

    it 'is asked for sentences and examples' do
      text = <<~RUBY
        class Toy
          def bare; end
          # A sentence.
          def described; end
          # @return [Integer] a number
          # @example
          #   1 #=> 1
          def whole; end
          # @return [Integer]
          # @example
          #   1 #=> 1
          def shown; end
        end
      RUBY
      documentation(text) do |documentation|
        expect(%i[bare described whole shown absent].to_h { |name| [name, documentation.missing(entry(name))] })
          .to eq(bare: %w[documentation example], described: ['example'], whole: [], shown: ['documentation'],
                 absent: %w[documentation example])
      end
    end

    def differences(text)
      DocumentedExample.new(text, 'toy.rb:1').differences.map(&:to_s)
    end

    it 'finds a wrong value' do
      expect(differences("x = 1\nx + 1 #=> 3\nx #=> 1")).to eq(['x + 1: says 3, is 2'])
      expect(differences('nil #=> false')).to eq(['nil: says false, is nil'])
      expect(differences('1 #=> 1.0')).to eq(['1: says 1.0, is 1'])
      expect(differences('Object #=> "Object"')).to eq(['Object: says "Object", is Object'])
    end

    it 'understands values of all kinds' do
      expect(differences(%q(['a', nil, 1.5, :b, { c: 1 }] #=> ["a", nil, 1.5, :b, {c: 1}]))).to eq([])
      expect(differences("[:x]\n  .first #=> :x")).to eq([])
      expect(differences("-Float::INFINITY\n#=> -Float::INFINITY")).to eq([])
      expect(differences("s = Struct.new(:a)\ndef s.inspect = '#<S>'\ns #=> #<S>")).to eq([])
      expect(differences("begin\n  raise 'no'\nrescue RuntimeError => e\n  e.message #=> \"no\"\nend")).to eq([])
    end

    it 'notices an error, and an expression that is none' do
      expect { differences("raise 'oops'") }.to raise_error(RuntimeError, 'oops')
      expect { differences('1 + #=> 1') }.to raise_error(SyntaxError, /toy.rb:1/)
    end

    it 'keeps its names to itself' do
      differences("include Math\nlocal = 1\nHERE = 2\nlocal #=> 1")
      expect(Object.include?(Math)).to be(false)
      expect(Object.const_defined?(:HERE)).to be(false)
      expect { differences('local #=> 1') }.to raise_error(NameError)
    end

    it 'knows whether it says anything' do
      expect(DocumentedExample.new('1 + 1', 'toy')).not_to be_states_something
    end
  end
end
