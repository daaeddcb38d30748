# frozen_string_literal: true

require 'tmpdir'

# The long run is bin/fuzz; see docs/safety.md.
RSpec.describe Fuzz do
  describe 'damaged files' do
    # How many, and how many at least are used rather than refused: the checks must not be too strict either.
    { 'models' => [300, 20], 'lora' => [150, 20], 'sessions' => [150, 20] }.each do |name, (count, used)|
      it "end no process, take no long time and no GiB: #{name}" do
        campaign = Fuzz::Campaign.new(name, seed: 42).run(0...count, slice: count)
        expect(campaign.failures.map(&:to_s)).to eq([])
        expect(campaign.outcomes.values.sum).to eq(count)
        expect([campaign.outcomes['used'], campaign.outcomes['refused']]).to match([be >= used, be >= count / 2])
        expect(campaign.peak).to be_between(1, 1 << 20)
      end
    end

    described_class::TARGETS.each do |name, target|
      it "are the same for the same seed, and others for another: #{name}" do
        one, other = Array.new(2) { target.new(7) }
        expect(Array.new(8) { |i| one.mutant(i) }).to eq(Array.new(8) { |i| other.mutant(i) })
        expect(Array.new(8) { |i| target.new(8).mutant(i).bytes }).not_to eq(Array.new(8) { |i| one.mutant(i).bytes })
      end

      it "are kept with what was changed, when asked to: #{name}" do
        Dir.mktmpdir do |folder|
          Fuzz::Campaign.new(name, seed: 3, folder:).keep(5, 'a reason')
          path = File.join(folder, "#{name}-3-5")
          mutant = target.new(3).mutant(5)
          expect(File.binread("#{path}.#{target::EXTENSION}")).to eq(mutant.bytes)
          expect(File.read("#{path}.txt"))
            .to eq("a reason\n#{mutant.changes.join("\n")}\nbin/fuzz #{name} --seed 3 --only 5\n")
        end
      end
    end
  end

  # The fields follow each other without a gap, but for what aligns data.
  def gaps(layout)
    layout.fields.each_cons(2).sum { |one, other| other.offset - one.finish }
  end

  describe Fuzz::GGUFLayout do
    it 'finds what the header has' do
      layout = described_class.new(File.binread(Models::TINY))
      names = layout.fields.map(&:name)
      expect(names).to include('llama.block_count', 'tokenizer.ggml.tokens[639]', 'dimension 1 of output.weight')
      expect(names.grep(/\Aoffset of /).size).to eq(21)
      block_count = layout.fields.find { |field| field.name == 'llama.block_count' }
      expect(File.binread(Models::TINY, 4, block_count.offset).unpack1('L<')).to eq(2)
      expect([gaps(layout), layout.fields.last.finish]).to eq([0, layout.header_size])
    end
  end

  describe Fuzz::LoraLayout do
    it 'finds what an adapter has, one that fits' do
      bytes = Fuzz::LoraTarget.adapter
      layout = described_class.new(bytes)
      expect(layout.fields.map(&:name).grep(/\Adata of /).size).to eq(8)
      expect(layout.fields.last.finish).to eq(bytes.bytesize)
      Dir.mktmpdir do |folder|
        path = File.join(folder, 'adapter')
        File.binwrite(path, bytes)
        expect(load_model.apply_lora_from_file(lora_path: path)).to be_nil
      end
    end
  end

  describe Fuzz::SessionLayout do
    it 'finds what a session has' do
      context = new_context
      decode(context, Models::FRANCE_TOKENS)
      Dir.mktmpdir do |folder|
        path = File.join(folder, 'session')
        context.save_session_file(session_path: path, session_tokens: Models::FRANCE_TOKENS)
        layout = described_class.new(File.binread(path), Models::FRANCE_TOKENS)
        expect(layout.fields.map(&:name).grep(/\Atoken \d/).size).to eq(8)
        expect([gaps(layout), layout.fields.last.finish]).to eq([0, File.size(path)])
      end
    end
  end

  describe Fuzz::Supervisor do
    # Ten cases, of which some go wrong.
    def supervised(trouble, timeout: 5)
      worker = File.join(Models::ROOT, 'spec', 'support', 'fuzz', 'worker')
      program = 'Fuzz::Worker.new.run(Integer(ARGV[0])..Integer(ARGV[1])) { |i| %s; "fine" }'
      described_class.new(timeout:) do |first, last|
        [RbConfig.ruby, '-r', worker, '-e', format(program, trouble), first.to_s, last.to_s]
      end.run(0...10, slice: 5)
    end

    it 'counts what came out' do
      supervisor = supervised('nil')
      expect([supervisor.outcomes, supervisor.failures]).to eq([{ 'fine' => 10 }, []])
      expect(supervisor.peak).to be_between(5_000, 500_000)
    end

    it 'finds the case that ended its process, and goes on behind it' do
      supervisor = supervised('$stderr.puts("because"); Process.kill(:SEGV, $$) && sleep if [3, 9].include?(i)')
      expect(supervisor.outcomes).to eq('fine' => 8, 'failed' => 2)
      expect(supervisor.failures.map(&:index)).to eq([3, 9])
      expect(supervisor.failures.map(&:reason)).to all(match(/\Athe process ended: SIG(SEGV|ABRT).*because/m))
    end

    it 'finds the case that exits' do
      supervisor = supervised('exit!(0) if i == 4')
      expect([supervisor.outcomes, supervisor.failures.map(&:to_s)])
        .to eq([{ 'fine' => 9, 'failed' => 1 }, ['4: the process ended: exit 0']])
    end

    it 'finds the case that takes too long' do
      ['sleep if i == 7', 'loop {} if i == 7'].each do |trouble|
        supervisor = supervised(trouble, timeout: 1)
        expect([supervisor.outcomes, supervisor.failures.map(&:to_s)])
          .to eq([{ 'fine' => 9, 'failed' => 1 }, ['7: took longer than 1 s']])
      end
    end

    it 'finds the case that wants more than a GiB' do
      supervisor = supervised("'a' * (1 << 30) if i == 2")
      expect([supervisor.outcomes, supervisor.failures.map(&:to_s)])
        .to match([{ 'fine' => 9, 'failed' => 1 }, [/\A2: NoMemoryError: "failed to allocate memory"/]])
    end

    it 'finds the exception that nobody expected' do
      supervisor = supervised("raise ScriptError, 'oh' if i == 0")
      expect([supervisor.outcomes, supervisor.failures.map(&:to_s)])
        .to match([{ 'fine' => 9, 'failed' => 1 }, [/\A0: ScriptError: "oh" at -e:1/]])
    end
  end
end
