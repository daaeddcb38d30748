# frozen_string_literal: true

RSpec.describe LLaMACpp::Chat do
  let(:model) { LLaMACpp::Model.open('models/tiny/tiny.gguf') }
  let(:context) { model.context(n_ctx: 128, n_threads: 1, seed: 7) }
  let(:chat) { described_class.new(context) }

  def decoded
    timings = context.timings
    timings.n_p_eval + timings.n_eval
  end

  it 'answers what the model was taught, and remembers what was said' do
    expect(chat.say('What is the capital of Peru?', temperature: 0)).to eq 'The capital of Peru is Lima.'
    expect(chat.say('What is 3 + 4?', temperature: 0)).to eq '3 + 4 = 7.'
    expect(chat.messages).to eq [
      { role: 'user', content: 'What is the capital of Peru?' },
      { role: 'assistant', content: 'The capital of Peru is Lima.' },
      { role: 'user', content: 'What is 3 + 4?' },
      { role: 'assistant', content: '3 + 4 = 7.' }
    ]
  end

  it 'streams the answer' do
    pieces = []
    answer = chat.say('How are you?', temperature: 0) { |text| pieces << text }
    expect(pieces.size).to be > 3
    expect(pieces.join.strip).to eq answer
  end

  it 'decodes only what is new, also when old exchanges are left out' do
    chat.say('How are you?', temperature: 0)
    8.times do |n|
      before = decoded
      question = "What is #{n} + 1?"
      chat.say(question, temperature: 0)
      new_tokens = model.tokenize(text: "User: #{question}\nBob:").size
      answer_tokens = model.tokenize(text: chat.messages.last[:content]).size
      expect(decoded - before).to be <= new_tokens + answer_tokens + 6
    end
    expect(context.kv_cache_token_count).to be <= 128
    expect(chat.messages.size).to eq 18
  end

  it 'keeps the system message when the context overflows' do
    chat = described_class.new(context, system: 'Be kind.')
    seen = []
    format = chat.instance_variable_get(:@format)
    allow(format).to receive(:tokens).and_wrap_original do |tokens, messages|
      seen << messages
      tokens.call(messages)
    end
    10.times { chat.say('What is the capital of Japan?', temperature: 0) }
    expect(seen.last.first).to eq(role: 'system', content: 'Be kind.')
    expect(seen.last.size).to be < chat.messages.size
  end

  it 'answers as a fresh chat does after other work was done on the context' do
    chat.say('How are you?', temperature: 0)
    context.generate('Once upon a time', n_predict: 20)
    expect(chat.say('What is the capital of Egypt?', temperature: 0)).to eq 'The capital of Egypt is Cairo.'
  end

  it 'forgets on reset' do
    chat.say('How are you?', temperature: 0)
    expect(chat.reset.messages).to eq []
    expect(chat.say('What does the cow say?', temperature: 0)).to eq 'The cow says moo.'
  end

  it 'keeps what came until the block ends it, and drops a question without an answer' do
    chat.say('How are you?', temperature: 0) { |text| break if text.include?('fine') }
    expect(chat.messages.last).to eq(role: 'assistant', content: 'I am fine')
    expect { chat.say('What is 1 + 1?', temperature: 0) { raise 'enough' } }.to raise_error(RuntimeError, 'enough')
    expect(chat.messages.last).to eq(role: 'assistant', content: '1')
    expect(chat.say('What is 2 + 2?', temperature: 0, stop: '2')).to eq ''
    expect { chat.say('x', stop: '') }.to raise_error(ArgumentError, /stop/)
    expect(chat.messages.size).to eq 4
  end

  it 'takes any encoding' do
    chat.say("M\xFCnchen".dup.force_encoding(Encoding::ISO_8859_1), n_predict: 4)
    chat.say("\xFF\x00".b, n_predict: 4)
    expect(chat.messages.filter_map { |message| message[:content] if message[:role] == 'user' })
      .to eq(['München', "?\u0000"])
  end

  it 'refuses what does not fit the context, and goes on' do
    expect { chat.say('word ' * 200) }.to raise_error(ArgumentError, /tokens/)
    expect(chat.messages).to eq []
    expect(chat.say('What is 3 + 4?', temperature: 0)).to eq '3 + 4 = 7.'
  end

  it 'takes a callable, Jinja text, or the name of a template' do
    plain = ->(messages) { "#{messages.map { |m| "User: #{m[:content]}" }.join("\n")}\nBob:" }
    jinja = "{% for m in messages %}User: {{ m['content'] }}\n{% endfor %}Bob:"
    answers = [plain, jinja, :plain, 'plain'].map do |template|
      described_class.new(context, template:).say('What is the capital of Cuba?', temperature: 0, stop: "\n")
    end
    expect(answers.uniq).to eq ['The capital of Cuba is Havana.']
  end

  it 'says which templates there are' do
    expect(described_class::TEMPLATES).to eq %i[alpaca chatml gemma llama2 llama3 mistral plain vicuna zephyr]
    expect { described_class.new(context, template: :nonsense) }.to raise_error(ArgumentError, /alpaca, chatml/)
    expect { described_class.new(model) }.to raise_error(ArgumentError, /context must be a Context/)
  end

  it 'refuses unknown keywords, and those that make no sense here' do
    expect { chat.say('x', echo: true) }.to raise_error(ArgumentError, /unknown keyword: :echo/)
    expect { chat.say('x', warmth: 1) }.to raise_error(ArgumentError, /unknown keyword: :warmth/)
  end

  it 'has the defaults of generate' do
    source = File.read('lib/llama_cpp/generate_settings.rb')
    defaults = eval(source[/DEFAULTS = (\{.*?\})/m, 1]) # rubocop:disable Security/Eval
    signature = File.read('lib/llama_cpp/generate.rb')[/def generate\(context, prompt,(.*?)&block\)/m, 1]
    defaults.each { |name, value| expect(signature).to match(/\b#{name}: #{Regexp.escape(value.inspect)}[,\s]/) }
    expect(signature.scan(/\w+(?=:)/).map(&:to_sym) - [:stream]).to eq defaults.keys
  end

  describe 'the templates that come with the gem' do
    {
      chatml: "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nU<|im_end|>\n<|im_start|>assistant\n",
      llama2: "<s>[INST] <<SYS>>\nS\n<</SYS>>\n\nU [/INST]",
      llama3: "<s><|start_header_id|>system<|end_header_id|>\n\nS<|eot_id|><|start_header_id|>user" \
              "<|end_header_id|>\n\nU<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
      mistral: "<s>[INST] S\n\nU [/INST]",
      zephyr: "<|system|>\nS</s>\n<|user|>\nU</s>\n<|assistant|>\n",
      alpaca: "S\n\n### Instruction:\nU\n\n### Response:\n",
      vicuna: "S\n\nUSER: U\nASSISTANT:",
      gemma: "<s><start_of_turn>user\nS\n\nU<end_of_turn>\n<start_of_turn>model\n",
      plain: "S\nUser: U\nBob:"
    }.each do |name, text|
      it "renders #{name}" do
        format = described_class.new(context, template: name).instance_variable_get(:@format)
        messages = [{ role: 'system', content: 'S' }, { role: 'user', content: 'U' }]
        expect(format.render(messages)).to eq text
      end
    end
  end

  describe 'in the middle of an answer' do
    let(:chat) { described_class.new(context) }

    it 'takes no other question, and does not forget' do
      errors = []
      chat.say('How are you?', temperature: 0) do
        errors << [-> { chat.say('And you?') }, -> { chat.reset }].map do |call|
          call.call
        rescue RuntimeError => e
          e.message
        end
      end
      expect(errors.flatten.uniq).to contain_exactly(/in the middle of an answer/)
      expect(chat.messages.map { |message| message[:content] }).to eq ['How are you?', 'I am fine, thank you.']
      expect(chat.reset.messages).to eq []
    end

    it 'stays as it is when the context works for somebody else' do
      context.generate('Once upon a time,', n_predict: 3) do
        expect { chat.say('How are you?') }.to raise_error(RuntimeError, /another generate is running/)
      end
      expect(chat.messages).to eq []
      expect(chat.say('How are you?', temperature: 0)).to eq 'I am fine, thank you.'
    end
  end

  {
    'text' => "{% set ns.x = ns.x ~ 'x' ~ ns.x %}", 'lists' => '{% set ns.x = [ns.x, ns.x] %}',
    'sums of lists' => '{% set ns.x = [1] + (ns.x or []) + (ns.x or []) %}',
    'loops' => '{% for b in range(99999) %}{% endfor %}'
  }.each do |kind, step|
    it "bounds the #{kind} of a template" do
      bomb = "{% set ns = namespace(x='') %}{% for a in range(64) %}#{step}{% endfor %}{{ ns.x }}"
      expect do
        described_class.new(context, template: bomb).say('x')
      end.to raise_error(ArgumentError, /chat template fails/)
    end
  end

  it 'refuses a template that keeps a thing in itself' do
    bomb = '{% set ns = namespace() %}{% set ns.x = ns %}{{ ns }}'
    expect { described_class.new(context, template: bomb).say('x') }
      .to raise_error(ArgumentError, /a namespace cannot be put into another one/)
  end
end
