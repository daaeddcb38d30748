# frozen_string_literal: true

# Every recorded case comes out the same, but those that are defects of the original.
RSpec.describe 'The recorded results of llama_cpp 0.12.2' do
  # A case that comes out otherwise: which defect of the original the record shows (nil: a kind of value that is
  # accepted now), the cases, and what is right instead.
  kind = Struct.new(:defect, :cases, :right, :check, keyword_init: true)

  exceptions = [
    kind.new(
      defect: 2, cases: %r{/grammar_digits\z}, right: 'a grammar of digits gives ten tokens of digits',
      check: ->(result, *) { result.match?(/\A\d{10,}\z/) }
    ),
    kind.new(
      defect: 4, cases: %r{(\A|/)model/facts\z}, right: 'the size is that of the tensors, the rest as recorded',
      check: lambda { |result, record, _|
        sizes = { 'llama ?B all F32' => 1_171_200, 'llama ?B F16' => 3_019_776 }
        result[1] == sizes[result[0]] &&
          Recorded.same?(result.values_at(0, 2..), record['ok'].values_at(0, 2..))
      }
    ),
    kind.new(
      defect: 5, cases: ->(name, record) { name.match?(%r{\Aggml-vocab-[^/]+/tokenize}) && record.key?('error') },
      right: 'a text of more tokens than bytes has its tokens',
      check: lambda { |result, _, name|
        text = name.split('/', 3).last
        result.size > text.size && Recorded.text(name, result) == " #{text}"
      }
    ),
    kind.new(
      defect: 6, cases: %r{/(all_)?pieces\z}, right: 'the NUL byte is there, the rest is as recorded',
      check: lambda { |result, record, name|
        result != record['ok'] && Recorded.result("#{name}_cut_at_nul") == record['ok']
      }
    ),
    kind.new(
      defect: 8, cases: ->(name, record) { name.end_with?('/generate_past_ctx') && record.key?('error') },
      right: 'the text goes on where the context is full',
      check: lambda { |result, _, name|
        full = Recorded.result(name.sub('_past_ctx', '_up_to_ctx'))
        result.start_with?(full) && result.size > full.size
      }
    ),
    kind.new(
      defect: 15, cases: %r{\Aquantize/(Q8_0|Q4_0|Q4_K_M|Q6_K)\z}, right: 'rows that no block divides are refused',
      check: ->(result, *) { result.is_a?(RuntimeError) && result.message.include?('172') }
    ),
    kind.new(
      defect: nil, cases: %r{\Aerr/td_types\z}, right: 'an Integer is accepted for a Float',
      check: ->(result, *) { result == [1, 2.0, 0.0] }
    )
  ]

  tally = Hash.new(0)
  excepted = Hash.new(0)

  result_of = lambda do |name|
    Recorded.result(name)
  rescue StandardError => e
    e
  end

  possible = Recorded::CASES.select { |name, _| Recorded.possible?(name) }
  left_out = Recorded::CASES.size - possible.size

  possible.each do |name, record|
    exception = exceptions.find { |e| e.cases.is_a?(Proc) ? e.cases.call(name, record) : e.cases.match?(name) }
    if exception
      it "#{name.inspect}: #{exception.right}" do
        tally[:compared] += 1
        result = result_of.call(name)
        expect(exception.check.call(result, record, name)).to be(true), "got #{result.inspect[0, 400]}"
        excepted[exception.defect] += 1
      end
    elsif record.key?('error')
      it "#{name.inspect} raises #{record['error']}" do
        tally[:compared] += 1
        expect { Recorded.result(name) }.to raise_error(Object.const_get(record['error']))
        tally[:equal] += 1
      end
    else
      it "#{name.inspect} is as recorded" do
        tally[:compared] += 1
        result = Recorded.result(name)
        expect(Recorded.same?(result, record.fetch('ok'))).to be(true), lambda {
          "got      #{result.inspect[0, 600]}\nrecorded #{record['ok'].inspect[0, 600]}"
        }
        tally[:equal] += 1
      end
    end
  end

  summary = lambda do
    defects = excepted.sort_by { |defect, _| defect || 99 }.map do |defect, count|
      "#{defect ? "defect #{defect}" : 'Integer for Float'}: #{count}"
    end
    lines = ["Recorded cases: #{tally[:compared]} compared, #{tally[:equal]} equal, " \
             "#{excepted.values.sum} excepted (#{defects.join(', ')})"]
    if left_out.positive?
      lines << "Recorded cases: #{left_out} left out: LLAMA_CPP_TEST_MODELS names no folder with stories260K.gguf"
    end
    lines.join("\n")
  end

  RSpec.configuration.after(:suite) { RSpec.configuration.reporter.message("\n#{summary.call}") }
end
