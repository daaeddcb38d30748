# frozen_string_literal: true

RSpec.describe LLaMACpp::Context, 'sampling' do
  let(:context) { new_context }
  let(:logits) { [1.5, -0.5, 3.0, 0.25, 2.0, -4.0, 0.0, 1.0] }
  let(:entries) { logits.each_with_index.map { |logit, id| [id, logit] } }
  let(:array) { candidates(logits) }
  # The logits of the model after a prompt that leaves many ways to go on.
  let(:model_entries) do
    decode(context, tiny.tokenize(text: 'The', add_bos: true))
    context.logits.each_with_index.map { |logit, id| [id, logit] }
  end

  describe '#sample_softmax' do
    it 'sorts, and computes the probabilities' do
      expect(context.sample_softmax(array)).to be_nil
      expected = ReferenceSamplers.softmax(entries)
      expect([array.ids, array.logits, array.sorted]).to eq([expected.map(&:first), expected.map { |e| e[1] }, true])
      expect(distance(array.probabilities, expected.map(&:last))).to be < 1e-6
    end

    it 'does so for a whole vocabulary' do
      expected = ReferenceSamplers.softmax(model_entries)
      array = context.candidates
      context.sample_softmax(array)
      expect(array.probabilities.sum).to be_within(1e-4).of(1.0)
      expect(distance(array.probabilities, expected.map(&:last))).to be < 1e-5
    end

    it 'believes a promise that they are sorted only if they are' do
      liar = candidates(1.0, 5.0, sorted: true)
      context.sample_softmax(liar)
      expect(liar.ids).to eq([1, 0])
    end

    it 'is not thrown by large numbers' do
      array = candidates(1e38, -1e38, 1e38)
      context.sample_softmax(array)
      expect(array.probabilities).to eq([0.5, 0.5, 0.0])
    end
  end

  describe '#sample_top_k' do
    [1, 3, 7, 8].each do |k|
      it "keeps the #{k} best" do
        expect(context.sample_top_k(array, k:)).to be_nil
        expect([array.ids, array.sorted]).to eq([ReferenceSamplers.top_k(entries, k), true])
      end
    end

    it 'keeps all there are of more, and min_keep of less' do
      context.sample_top_k(array, k: (2**31) - 1)
      expect(array.size).to eq(8)
      context.sample_top_k(array, k: 2, min_keep: 5)
      expect(array.size).to eq(5)
      [0, -1, -2**31].each do |k|
        context.sample_top_k(array, k:)
        expect(array.ids).to eq([2])
      end
    end
  end

  describe '#sample_top_p' do
    [0.05, 0.5, 0.8, 0.9, 0.99, 0.9999].each do |prob|
      it "keeps the best that have #{prob} of the probability" do
        expect(context.sample_top_p(array, prob:)).to be_nil
        expect(array.ids).to eq(ReferenceSamplers.top_p(entries, prob))
      end

      it "keeps those of a whole vocabulary that have #{prob}" do
        expected = ReferenceSamplers.top_p(model_entries, prob)
        array = context.candidates
        context.sample_top_p(array, prob:)
        expect((array.size - expected.size).abs).to be <= 1
        expect(array.ids.first(20)).to eq(expected.first(array.size).first(20))
      end
    end

    it 'keeps min_keep, and everything at 1.0' do
      context.sample_top_p(array, prob: 1.0)
      expect([array.ids, array.sorted]).to eq([(0..7).to_a, false])
      context.sample_top_p(array, prob: 0.1, min_keep: 4)
      expect(array.ids).to eq(ReferenceSamplers.top_p(entries, 0.1, min_keep: 4))
      context.sample_top_p(array, prob: -1.0, min_keep: (2**31) - 1)
      expect(array.size).to eq(4)
    end
  end

  describe '#sample_min_p' do
    [0.01, 0.05, 0.2, 0.3, 1.0].each do |prob|
      it "keeps those that are #{prob} times as probable as the best" do
        expect(context.sample_min_p(array, prob:)).to be_nil
        expect(array.ids).to eq(ReferenceSamplers.min_p(entries, prob))
      end
    end

    it 'keeps min_keep, and everything at 0.0' do
      context.sample_min_p(array, prob: 0)
      expect([array.size, array.sorted]).to eq([8, false])
      context.sample_min_p(array, prob: 1.0, min_keep: 3)
      expect(array.ids).to eq([2, 4, 0])
    end
  end

  describe '#sample_tail_free' do
    [0.1, 0.5, 0.8, 0.95, 0.999].each do |z|
      it "cuts the tail at #{z}" do
        expect(context.sample_tail_free(array, z:)).to be_nil
        expect(array.ids).to eq(ReferenceSamplers.tail_free(entries, z))
      end
    end

    it 'keeps min_keep, everything at 1.0, and two in any case' do
      context.sample_tail_free(array, z: 1.0)
      expect(array.size).to eq(8)
      context.sample_tail_free(array, z: 0.1, min_keep: 5)
      expect(array.ids).to eq(ReferenceSamplers.tail_free(entries, 0.1, min_keep: 5))
      two = candidates(1.0, 9.0)
      context.sample_tail_free(two, z: 0.0)
      expect(two.ids).to eq([0, 1])
    end
  end

  describe '#sample_typical' do
    [0.1, 0.3, 0.5, 0.7, 0.95].each do |prob|
      it "keeps those nearest to the expected surprise that have #{prob}" do
        expect(context.sample_typical(array, prob:)).to be_nil
        expect([array.ids, array.sorted]).to eq([ReferenceSamplers.typical(entries, prob), false])
      end
    end

    it 'keeps min_keep, and everything at 1.0' do
      context.sample_typical(array, prob: 1)
      expect(array.ids).to eq((0..7).to_a)
      context.sample_typical(array, prob: 0.01, min_keep: 3)
      expect(array.ids).to eq(ReferenceSamplers.typical(entries, 0.01, min_keep: 3))
      context.sample_typical(array, prob: 0.0, min_keep: 0)
      expect(array.size).to eq(1)
    end

    it 'leaves out what is impossible' do
      array = candidates(1.0, -Float::INFINITY, 0.5, -Float::INFINITY, 0.0)
      context.sample_typical(array, prob: 0.99)
      expect(array.ids.sort).to eq([0, 2, 4])
    end
  end

  describe '#sample_temp' do
    [0.1, 0.8, 1.0, 2.0].each do |temp|
      it "divides the logits by #{temp}" do
        expect(context.sample_temp(array, temp:)).to be_nil
        expect(distance(array.logits, logits.map { |logit| logit / temp })).to be < 1e-5
        expect(array.ids).to eq((0..7).to_a)
      end
    end

    it 'leaves the best only at 0.0 or below' do
      [0.0, 0, -1.0, -Float::INFINITY].each do |temp|
        array = candidates(logits)
        context.sample_temp(array, temp:)
        expect(array.logits.each_index.select { |i| array.logits[i] > -Float::INFINITY }).to eq([2])
        expect([array.logits[2], context.sample_token(array)]).to eq([3.0, 2])
      end
    end

    it 'leaves numbers at the smallest temperature' do
      context.sample_temp(array, temp: 1e-45)
      expect(array.logits.any?(&:nan?)).to be(false)
      expect(context.sample_token(array)).to eq(2)
    end

    it 'makes all equal at an infinite one' do
      context.sample_temp(array, temp: Float::INFINITY)
      expect(array.logits.map(&:abs)).to eq([0.0] * 8)
    end
  end

  describe '#sample_temperature' do
    it 'is the same, and warns that it is deprecated' do
      result = :none
      expect { result = context.sample_temperature(array, temperature: 2.0) }
        .to output(/#sample_temperature is deprecated: use sample_temp$/).to_stderr
      expect([result, array.logits]).to eq([nil, logits.map { |logit| logit / 2 }])
    end
  end

  describe '#sample_repetition_penalties' do
    {
      'repeat' => { repeat: 1.3, freq: 0.0, present: 0.0 },
      'frequency' => { repeat: 1.0, freq: 0.4, present: 0.0 },
      'presence' => { repeat: 1.0, freq: 0.0, present: 0.7 },
      'all of them' => { repeat: 1.1, freq: 0.2, present: -0.3 },
      'a reward' => { repeat: 0.5, freq: -0.2, present: -1.0 }
    }.each do |name, penalties|
      it "lowers the logits of tokens that occurred: #{name}" do
        tokens = [2, 5, 2, 2, 1, 99]
        result = context.sample_repetition_penalties(
          array, tokens, penalty_repeat: penalties[:repeat], penalty_freq: penalties[:freq],
                         penalty_present: penalties[:present]
        )
        expected = ReferenceSamplers.penalties(entries, tokens, **penalties)
        expect([result, array.ids]).to eq([nil, expected.map(&:first)])
        expect(distance(array.logits, expected.map(&:last))).to be < 1e-6
      end
    end

    it 'changes nothing without tokens or penalties' do
      [[[], 2.0], [[2, 2], 1.0]].each do |tokens, repeat|
        context.sample_repetition_penalties(array, tokens, penalty_repeat: repeat, penalty_freq: 0, penalty_present: 0)
      end
      expect(array.logits).to eq(logits)
    end

    it 'refuses a penalty that divides by nothing' do
      [0.0, -1.0].each do |repeat|
        expect do
          context.sample_repetition_penalties(array, [1], penalty_repeat: repeat, penalty_freq: 0, penalty_present: 0)
        end.to raise_error(ArgumentError, "penalty_repeat is #{repeat.to_i}, it must be above 0 (1.0 is no penalty)")
      end
      expect do
        context.sample_repetition_penalties(array, [1], penalty_repeat: 1, penalty_freq: Float::INFINITY,
                                                        penalty_present: 0)
      end.to raise_error(ArgumentError, 'penalty_freq is inf, it must be a finite number')
      expect(array.logits).to eq(logits)
    end
  end

  describe '#sample_apply_guidance' do
    let(:others) { Array.new(640) { |i| Math.sin(i) } }
    let(:own) { Array.new(640) { |i| 3 * Math.cos(i) } }

    [1.0, 1.5, 4.0, 0.0, -1.0].each do |scale|
      it "writes the guided values back at #{scale}" do
        logits = own.dup
        guided = others.dup
        expect(context.sample_apply_guidance(logits:, logits_guidance: guided, scale:)).to be_nil
        expect(distance(logits, ReferenceSamplers.guidance(own, others, scale))).to be < 1e-3
        expect(guided).to eq(others)
      end
    end

    {
      { logits: [1.0] * 639 } => 'logits has 639 values, logits_guidance 640: they must be equal',
      { logits: [1.0] * 8, logits_guidance: [1.0] * 8 } => 'logits has 8 values, the vocabulary 640 tokens',
      { logits: nil } => 'logits must be an Array of Floats, got nil',
      { logits_guidance: ['x'] } => 'logits_guidance[0] must be a Float, got an instance of String',
      { scale: Float::NAN } => 'scale is NaN, it must be a finite number'
    }.each do |wrong, message|
      it "refuses #{wrong.to_s[0, 50]}" do
        arguments = { logits: own, logits_guidance: others, scale: 1.0, **wrong }
        expect { context.sample_apply_guidance(**arguments) }.to raise_error(ArgumentError, message)
      end
    end

    it 'does not write into a frozen Array' do
      expect { context.sample_apply_guidance(logits: own.freeze, logits_guidance: others, scale: 1.0) }
        .to raise_error(FrozenError)
    end
  end

  describe '#sample_classifier_free_guidance' do
    let(:other) { new_context.tap { |c| decode(c, tiny.tokenize(text: '7 + 8 =', add_bos: true)) } }

    before { decode(context, Models::FRANCE_TOKENS) }

    it 'guides the candidates away from the other context' do
      array = context.candidates
      expect(context.sample_classifier_free_guidance(array, guidance: other, scale: 1.5)).to be_nil
      expected = ReferenceSamplers.guidance(context.logits, other.logits, 1.5)
      expect([array.ids, array.sorted]).to eq([(0...640).to_a, false])
      expect(distance(array.logits, expected)).to be < 1e-3
    end

    it 'leaves the logits of the other context as they are' do
      before = other.logits
      context.sample_classifier_free_guidance(context.candidates, guidance: other, scale: 2.0)
      expect(other.logits).to eq(before)
    end

    it 'can have itself for the other' do
      array = context.candidates
      context.sample_classifier_free_guidance(array, guidance: context, scale: 3.0)
      expect(distance(array.logits, ReferenceSamplers.log_softmax(context.logits))).to be < 1e-3
    end

    it 'wants the whole vocabulary in order' do
      message = 'guidance needs all 640 tokens of the vocabulary as candidates, in the order of their ids; ' \
                'apply it before other samplers'
      array = context.candidates
      context.sample_top_k(array, k: 640)
      [array, candidates(1.0, 2.0)].each do |wrong|
        expect { context.sample_classifier_free_guidance(wrong, guidance: other, scale: 1.5) }
          .to raise_error(ArgumentError, message)
      end
    end

    it 'wants another context that has decoded something' do
      expect { context.sample_classifier_free_guidance(context.candidates, guidance: new_context, scale: 1.0) }
        .to raise_error(RuntimeError, 'nothing was decoded yet: call decode first')
      expect { context.sample_classifier_free_guidance(context.candidates, guidance: nil, scale: 1.0) }
        .to raise_error(ArgumentError, 'guidance must be a Context, got nil')
    end
  end

  describe '#sample_grammar and #grammar_accept_token' do
    let(:digits) { LLaMACpp::Grammar.from_gbnf('root ::= [0-9] [0-9]') }

    before { decode(context, Models::FRANCE_TOKENS) }

    def allowed(grammar)
      array = context.candidates
      context.sample_grammar(array, grammar:)
      array.select { |candidate| candidate.logit > -Float::INFINITY }
    end

    it 'leave the tokens that the grammar allows, with their logits' do
      found = allowed(digits)
      expected = (0...640).select { |id| tiny.token_to_piece(id).b.match?(/\A[0-9]{1,2}\z/n) }
      expect(found.map(&:id)).to eq(expected)
      expect(found.map(&:logit)).to eq(context.logits.values_at(*expected))
    end

    it 'go on by one token, and allow the end at the end' do
      digit = tiny.tokenize(text: '7').last
      expect(context.grammar_accept_token(grammar: digits, token: digit)).to be_nil
      expect(allowed(digits).map { |c| tiny.token_to_piece(c.id) }.uniq.sort).to eq(('0'..'9').to_a)
      context.grammar_accept_token(grammar: digits, token: digit)
      expect([allowed(digits).map(&:id), digits.may_end?]).to eq([[tiny.token_eos], true])
      expect(context.grammar_accept_token(grammar: digits, token: tiny.token_eos)).to be_nil
    end

    it 'refuse a token that the grammar forbids, and stay where they are' do
      before = allowed(digits).map(&:id)
      expect { context.grammar_accept_token(grammar: digits, token: 442) }
        .to raise_error(RuntimeError, /\Atoken 442 \(" P"\): the grammar forbids ' ' \(U\+0020\) at byte 0/)
      expect { context.grammar_accept_token(grammar: digits, token: tiny.token_eos) }
        .to raise_error(RuntimeError, 'the grammar does not allow the text to end here')
      expect(allowed(digits).map(&:id)).to eq(before)
    end

    it 'refuse what is no token, or no grammar' do
      [-1, 640].each do |token|
        expect { context.grammar_accept_token(grammar: digits, token:) }
          .to raise_error(ArgumentError, "token #{token} is outside of the vocabulary, which has the tokens 0 to 639")
      end
      expect { context.grammar_accept_token(grammar: nil, token: 1) }
        .to raise_error(ArgumentError, 'grammar must be a Grammar, got nil')
      expect { context.sample_grammar(context.candidates, grammar: 'root ::= "a"') }
        .to raise_error(ArgumentError, 'grammar must be a Grammar, got an instance of String')
    end

    it 'read a character that comes in pieces' do
      grammar = LLaMACpp::Grammar.from_gbnf('root ::= "🦙"')
      bytes = '🦙'.bytes.map { |byte| byte + 3 }
      bytes.each do |token|
        expect(allowed(grammar).map(&:id)).to include(token)
        context.grammar_accept_token(grammar:, token:)
      end
      expect(grammar.may_end?).to be(true)
    end
  end

  describe '#sample_token_greedy' do
    it 'takes the best, without a change' do
      expect(context.sample_token_greedy(array)).to eq(2)
      expect([array.ids, array.sorted]).to eq([(0..7).to_a, false])
    end

    it 'takes an id as it is' do
      data = [[77, 1.0], [-5, 2.0]].map { |id, logit| LLaMACpp::TokenData.new(id:, logit:, p: 0.0) }
      expect(context.sample_token_greedy(LLaMACpp::TokenDataArray.new(data))).to eq(-5)
    end
  end

  describe '#sample_token' do
    it 'draws by probability' do
      counts = Array.new(4000) { context.sample_token(candidates([0.0, Math.log(2), Math.log(5)])) }.tally
      expected = { 0 => 0.125, 1 => 0.25, 2 => 0.625 }
      # Four standard deviations.
      expected.each do |id, p|
        expect(counts.fetch(id) / 4000.0).to be_within(4 * Math.sqrt(p * (1 - p) / 4000)).of(p)
      end
    end

    it 'draws the same with the same seed' do
      draws = [42, 42, 43].map do |seed|
        context = new_context(seed:)
        Array.new(30) { context.sample_token(candidates([1.0] * 100)) }
      end
      expect([draws[0] == draws[1], draws[0] == draws[2]]).to eq([true, false])
    end

    it 'never draws what is impossible' do
      drawn = Array.new(200) { context.sample_token(candidates(-Float::INFINITY, 0.0, Float::NAN, 0.0)) }.uniq
      expect(drawn.sort).to eq([1, 3])
    end

    it 'draws without a seed differently each time' do
      draws = Array.new(2) do
        context = new_context(seed: -1)
        Array.new(30) { context.sample_token(candidates([1.0] * 100)) }
      end
      expect(draws[0]).not_to eq(draws[1])
    end
  end

  describe '#sample_token_mirostat_v2' do
    it 'drops what is more surprising than mu, and moves mu to tau' do
      50.times do |i|
        mu = 0.5 + (i * 0.1)
        array = candidates(logits)
        id, next_mu = context.sample_token_mirostat_v2(array, tau: 2.0, eta: 0.3, mu:)
        sorted = ReferenceSamplers.softmax(entries)
        kept = sorted.take_while { |_, _, p| -Math.log2(p) <= mu }
        kept = sorted.first(1) if kept.empty?
        share = kept.sum(&:last)
        chosen = kept.find { |entry| entry.first == id }
        expect(array.ids).to eq(kept.map(&:first))
        expect(next_mu).to be_within(1e-4).of(mu - (0.3 * (-Math.log2(chosen.last / share) - 2.0)))
      end
    end
  end

  describe '#sample_token_mirostat' do
    it 'draws from as many as the estimate says, and moves mu to tau' do
      30.times do |i|
        mu = 1.0 + (i * 0.2)
        array = candidates(logits)
        id, next_mu = context.sample_token_mirostat(array, tau: 2.0, eta: 0.3, m: 5, mu:)
        count = ReferenceSamplers.mirostat_count(entries, 5, mu, 640).to_i.clamp(1, 8)
        kept = ReferenceSamplers.softmax(entries).first(count)
        share = kept.sum(&:last)
        chosen = kept.find { |entry| entry.first == id }
        expect(array.ids).to eq(kept.map(&:first))
        expect(next_mu).to be_within(1e-4).of(mu - (0.3 * (-Math.log2(chosen.last / share) - 2.0)))
      end
    end

    it 'gives what has no slope its chance' do
      drawn = Array.new(60) { context.sample_token_mirostat(candidates([1.0] * 3), tau: 1.0, eta: 0.1, m: 9, mu: 5.0) }
      expect(drawn.map(&:first).uniq.sort).to eq([0, 1, 2])
      expect(drawn.map(&:last).uniq.map { |mu| mu.round(4) }).to eq([(5.0 - (0.1 * (Math.log2(3) - 1.0))).round(4)])
      expect(context.sample_token_mirostat(candidates(4.0), tau: 1.0, eta: 0.5, m: 2, mu: 5.0)).to eq([0, 5.5])
    end

    it 'refuses an estimate of less than two' do
      [1, 0, -5].each do |m|
        expect { context.sample_token_mirostat(array, tau: 1.0, eta: 0.1, m:, mu: 1.0) }
          .to raise_error(ArgumentError, "m is #{m}, it must be 2 or more")
      end
    end

    it 'refuses numbers that are not finite' do
      { tau: Float::NAN, eta: Float::INFINITY, mu: -Float::INFINITY }.each do |name, value|
        arguments = { tau: 1.0, eta: 0.1, mu: 1.0, name => value }
        text = { 'NaN' => 'NaN', 'Infinity' => 'inf', '-Infinity' => '-inf' }.fetch(value.to_s)
        message = "#{name} is #{text}, it must be a finite number"
        expect { context.sample_token_mirostat(array, m: 9, **arguments) }.to raise_error(ArgumentError, message)
        expect { context.sample_token_mirostat_v2(array, **arguments) }.to raise_error(ArgumentError, message)
      end
    end
  end

  describe 'strange candidates' do
    let(:filters) do
      {
        sample_top_k: { k: 2 }, sample_top_p: { prob: 0.9 }, sample_min_p: { prob: 0.1 }, sample_tail_free: { z: 0.9 },
        sample_typical: { prob: 0.9 }, sample_temp: { temp: 0.5 }, sample_softmax: {}
      }
    end
    let(:choosers) do
      {
        sample_token: {}, sample_token_greedy: {}, sample_token_mirostat: { tau: 1.0, eta: 0.1, m: 9, mu: 2.0 },
        sample_token_mirostat_v2: { tau: 1.0, eta: 0.1, mu: 2.0 }
      }
    end

    it 'of which none is possible are refused by what chooses, and left by what filters' do
      [[-Float::INFINITY] * 3, [Float::NAN] * 3].each do |logits|
        filters.each { |name, keywords| context.public_send(name, candidates(logits), **keywords) }
        choosers.each do |name, keywords|
          expect { context.public_send(name, candidates(logits), **keywords) }
            .to raise_error(RuntimeError, /\Anone of the candidates is possible: all logits are -Infinity/)
        end
      end
    end

    it 'of which none is left are refused by what chooses, and left by what filters' do
      empty = candidates(3.0, 2.0, 1.0)
      context.sample_tail_free(empty, z: 0.0, min_keep: 0)
      context.sample_top_k(empty, k: 0, min_keep: 0)
      expect(empty.size).to eq(0)
      filters.each { |name, keywords| expect(context.public_send(name, empty, **keywords)).to be_nil }
      message = 'no candidate is left to draw from: the samplers before have removed all of them'
      choosers.each do |name, keywords|
        expect { context.public_send(name, empty, **keywords) }.to raise_error(RuntimeError, message)
      end
      expect([empty.size, empty.ids]).to eq([0, []])
    end

    it 'that are NaN or infinite are defined' do
      choosers.each do |name, keywords|
        id = context.public_send(name, candidates(Float::NAN, 1.0, Float::INFINITY, -Float::INFINITY), **keywords)
        expect(Array(id).first).to eq(2)
      end
    end

    it 'that are alone stay' do
      filters.each do |name, keywords|
        array = candidates(-7.0)
        context.public_send(name, array, **keywords)
        expect(array.ids).to eq([0])
      end
      choosers.each do |name, keywords|
        expect(Array(context.public_send(name, candidates(-7.0), **keywords)).first).to eq(0)
      end
    end
  end

  describe 'wrong arguments' do
    {
      [:sample_top_k, { k: 1.5 }] => 'k must be an Integer, got 1.5 (Float)',
      [:sample_top_k, { k: 2**31 }] => 'k is 2147483648, it must be between -2147483648 and 2147483647',
      [:sample_top_k, { k: 1, min_keep: -1 }] => 'min_keep is -1, it must be between 0 and 2147483647',
      [:sample_top_p, { prob: '0.9' }] => 'prob must be a Float, got an instance of String',
      [:sample_top_p, { prob: Float::NAN }] => 'prob is NaN',
      [:sample_min_p, { prob: nil }] => 'prob must be a Float, got nil',
      [:sample_min_p, { prob: Float::NAN }] => 'prob is NaN',
      [:sample_tail_free, { z: Float::NAN }] => 'z is NaN',
      [:sample_typical, { prob: Float::NAN }] => 'prob is NaN',
      [:sample_temp, { temp: Float::NAN }] => 'temp is NaN',
      [:sample_temp, {}] => 'missing keyword: :temp',
      [:sample_top_k, { k: 1, keep: 2 }] => 'unknown keyword: :keep'
    }.each do |(name, keywords), message|
      it "of #{name} #{keywords} are refused" do
        expect { context.public_send(name, array, **keywords) }.to raise_error(ArgumentError, message)
        expect([array.logits, array.sorted]).to eq([logits, false])
      end
    end

    it 'that are no candidates are refused' do
      [nil, [], LLaMACpp::TokenData.new(id: 1, logit: 1.0, p: 0.0)].each do |wrong|
        expect do
          context.sample_token(wrong)
        end.to raise_error(ArgumentError, /\Acandidates must be a TokenDataArray, got/)
        expect { context.sample_top_k(wrong, k: 1) }.to raise_error(ArgumentError, /\Acandidates must be/)
      end
    end
  end
end
