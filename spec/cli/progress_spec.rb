# frozen_string_literal: true

require 'tmpdir'

RSpec.describe 'The progress bar of llama_cpp' do
  def needs_the_gem
    skip 'needs the gem ruby-progressbar' if Gem::Specification.find_all_by_name('ruby-progressbar').empty?
  end

  around do |example|
    Dir.mktmpdir do |folder|
      @folder = folder
      example.run
    end
  end

  # The tiny model, and nothing behind it: it takes no room on the disk.
  let(:large_model) do
    File.join(@folder, 'large.gguf').tap do |path|
      FileUtils.cp(Models::TINY, path)
      File.truncate(path, 101_000_000)
    end
  end

  it 'is there while a large model is loaded, and gone before the text' do
    needs_the_gem
    screen = on_a_terminal('generate', '-m', large_model, '--temperature', '0', '--threads', '1', Models::FRANCE).stdout
    expect(screen).to match(/\rLoading \d+% /)
    expect(screen).to end_with("\rParis.\r\n")
  end

  it 'is not there for a small model' do
    expect(on_a_terminal('generate', '-m', Models::TINY, '--temperature', '0', Models::FRANCE).stdout)
      .to eq("Paris.\r\n")
  end

  it 'is not there without a terminal' do
    outcome = llama_cpp('generate', '-m', large_model, '--temperature', '0', '--threads', '1', Models::FRANCE)
    expect(outcome.to_a).to eq(["Paris.\n", '', 0])
  end

  it 'is not missed without the gem' do
    hide = File.join(@folder, 'hide.rb')
    File.write(hide, <<~RUBY)
      module Hide
        def require(name)
          name == 'ruby-progressbar' ? raise(LoadError, name) : super
        end
      end
      Object.prepend(Hide)
    RUBY
    screen = on_a_terminal('quantize', '-m', Models::TINY, File.join(@folder, 'out.gguf'), 'Q8_0',
                           environment: { 'RUBYOPT' => "-r#{hide}" }).stdout
    expect(screen).to eq("#{@folder}/out.gguf: Q8_0, 1.6 MB, from 3.0 MB\r\n")
  end

  # In a process of its own: here, the classes of the program would be taken for a part of the library.
  it 'takes fractions, and says to go on' do
    expect(<<~RUBY).to print_in_a_child('[:done, [true, true, true]]')
      require 'llama_cpp/cli/progress'
      answers = []
      result = CLI::Progress.during('Working') do |report|
        answers = [0.0, 0.5, 1.5].map { |fraction| report.call(fraction) }
        :done
      end
      p [result, answers]
    RUBY
  end

  it 'goes away when what it shows fails' do
    needs_the_gem
    expect(<<~RUBY).to print_in_a_child(/\\rWorking 0% .*\\rWorking 50% .*\\r +\\r"\nbroken\z/)
      require 'llama_cpp/cli/progress'
      require 'stringio'
      screen = StringIO.new
      def screen.tty? = true
      begin
        CLI::Progress.during('Working', output: screen) do |report|
          sleep 0.3 # the gem draws ten times a second at most
          report.call(0.5)
          raise 'broken'
        end
      rescue RuntimeError => e
        p screen.string
        puts e.message
      end
    RUBY
  end
end
