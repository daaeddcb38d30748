# frozen_string_literal: true

require 'tmpdir'

RSpec.describe 'The type signatures' do
  it 'agree with what there is, both ways' do
    expect(Signatures.new.differences).to eq([])
  end

  it 'cover the aliases' do
    names = %w[Batch#set_logit Batch#get_logit ModelQuantizeParams#allow_quantization
               ModelQuantizeParams#allow_quantization= TokenDataArray#length]
    entries = PublicApi.entries.select { |entry| names.include?(entry.to_s.delete_prefix('LLaMACpp::')) }
    expect(entries.size).to eq(names.size)
    expect(entries).to all(satisfy { |entry| Signatures.new.include?(entry) })
    expect(File.read(File.join(Signatures::FOLDER, 'llama_cpp.rbs'))).to include('Params: singleton(ContextParams)')
  end

  it 'do not show what is private' do
    text = Dir[File.join(Signatures::FOLDER, '**', '*.rbs')].map { |path| File.read(path) }.join
    expect(text).not_to match(/native/i)
  end

  # The comparison itself, on a class with one method of each kind.
  describe 'of a toy' do
    before do
      stub_const('Toy', Module.new do
        module_function

        def count = 1

        const_set(:SIZE, 3)
        const_set(:Ball, Class.new do
          attr_accessor :colour

          def self.of(*parts) = parts
          def initialize(colour, size = 1, bounce:, seams: 0) = [colour, size, bounce, seams]
          def throw(far, &block) = [far, block]
          def hide(...) = throw(...)
          private :hide
        end)
      end)
    end

    # As much of Ruby as the toy needs: reading all of it takes a second.
    let(:core) do
      <<~RBS
        class BasicObject
          def initialize: () -> void
        end
        class Object < BasicObject
        end
        class Module < Object
        end
        class Class < Module
          def new: (*untyped) -> untyped
        end
        class Integer
        end
        class Float
        end
        class String
        end
        class Array[A]
        end
      RBS
    end

    let(:right) do
      <<~RBS
        module Toy
          SIZE: Integer
          def self?.count: () -> Integer
          class Ball
            def self.of: (*untyped parts) -> Array[untyped]
            def initialize: (String colour, ?Integer size, bounce: Float, ?seams: Integer) -> void
            attr_accessor colour(): String
            def throw: (Integer far) ?{ () -> void } -> void
          end
        end
      RBS
    end

    def differences(text)
      Dir.mktmpdir do |folder|
        File.write(File.join(folder, 'toy.rbs'), core + text)
        Signatures.new(Toy, folder, core: false).differences
      end
    end

    it 'finds nothing in right ones' do
      expect(differences(right)).to eq([])
    end

    {
      'a keyword of another name' =>
        ['bounce: Float', 'jump: Float',
         'Toy::Ball#initialize has the required keywords [:bounce], by its signature [:jump]'],
      'a keyword that is not optional' =>
        ['bounce: Float', '?bounce: Float',
         'Toy::Ball#initialize has the required keywords [:bounce], by its signature []',
         'Toy::Ball#initialize has the optional keywords [:seams], by its signature [:bounce, :seams]'],
      'a keyword that is missing' =>
        [', ?seams: Integer', '', 'Toy::Ball#initialize has the optional keywords [:seams], by its signature []'],
      'any keyword' =>
        ['?seams: Integer', '?seams: Integer, **untyped',
         'Toy::Ball#initialize takes any keyword, or its signature does'],
      'an argument too many' =>
        ['Integer far', 'Integer far, Integer high', 'Toy::Ball#throw takes 1..1 arguments, by its signature 2..2'],
      'an argument that is not optional' =>
        ['?Integer size', 'Integer size', 'Toy::Ball#initialize takes 1..2 arguments, by its signature 2..2'],
      'a rest that is missing' => ['*untyped parts', '', 'Toy::Ball.of takes 0.. arguments, by its signature 0..0'],
      'an argument of another name' =>
        ['Integer far', 'Integer wide', 'Toy::Ball#throw has the argument far, by its signature wide'],
      'a block that is missing' =>
        ['?{ () -> void } ', '', 'Toy::Ball#throw takes a block, the signature does not'],
      'a method that does not exist' =>
        ['def throw:', "def roll: () -> void\n    def throw:",
         'method Toy::Ball#roll has a signature, but does not exist'],
      'a private method' =>
        ['def throw:', "def hide: () -> void\n    def throw:",
         'method Toy::Ball#hide has a signature, but does not exist'],
      'a method that is missing' =>
        ["def throw: (Integer far) ?{ () -> void } -> void\n", "\n", 'method Toy::Ball#throw has no signature'],
      'a setter that is missing' => ['attr_accessor', 'attr_reader', 'method Toy::Ball#colour= has no signature'],
      'a module function that is not public alone' =>
        ['self?.count', 'self.count', 'module function Toy.count has no signature'],
      'a constant of another class' => ['SIZE: Integer', 'SIZE: String', 'constant Toy::SIZE is no ::String'],
      'a constant that does not exist' =>
        ['SIZE: Integer', "SIZE: Integer\n  WEIGHT: Float", 'constant Toy::WEIGHT has a signature, but does not exist'],
      'a constant that is missing' => ['SIZE: Integer', '', 'constant Toy::SIZE has no signature'],
      'a class that does not exist' =>
        ['class Ball', "class Bat\n  end\n  class Ball", 'module Toy::Bat has a signature, but does not exist']
    }.each do |mistake, (text, replacement, *sentences)|
      it "finds #{mistake}" do
        wrong = right.sub(text, replacement)
        expect(wrong).not_to eq(right)
        expect(differences(wrong)).to match_array(sentences)
      end
    end

    it 'finds a class that is missing' do
      expect(differences("module Toy\n  SIZE: Integer\n  def self?.count: () -> Integer\nend"))
        .to eq(['module Toy::Ball has no signature'])
    end
  end
end
