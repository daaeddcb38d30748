# frozen_string_literal: true

require_relative 'command'
require_relative 'figures'
require_relative 'file_types'

module LLaMACpp
  class CLI
    # llama_cpp quantize: a model with smaller weights.
    class Quantize < Command
      SUMMARY = 'write a model with smaller weights'
      # From the largest to the smallest. Those that need an importance matrix are of no use here.
      TYPES = %w[F32 F16 Q8_0 Q6_K Q5_1 Q5_K_M Q5_K_S Q5_0 Q4_1 Q4_K_M Q4_K_S Q4_0 Q3_K_L Q3_K_M Q3_K_S Q2_K].freeze
      private_constant :TYPES

      USAGE = 'llama_cpp quantize -m FILE.gguf [options] OUTPUT TYPE'
      DESCRIPTION = <<~TEXT.freeze
        Writes the model to the file OUTPUT with weights of another type; from the largest to the smallest:
        #{TYPES.join(' ')}.
        Q4_K_M is a good compromise. Begin with a file in F32 or F16.
      TEXT
      EXAMPLE = 'llama_cpp quantize -m models/tiny/tiny.gguf tmp/tiny-q8_0.gguf Q8_0 --force'

      private

      def options(parser)
        parser.on('--force', 'replace OUTPUT if it is there')
        parser.on('--allow-requantize', 'take weights that are quantized already')
        parser.on('--keep-output', 'leave the output tensor as it is: larger, a little better')
        parser.on('--pure', 'give all tensors the same type')
        parser.on('--threads N', Integer, 'threads (one per core)') { |number| positive(number) }
      end

      def call
        input = model_path
        unless @arguments.size == 2
          raise UsageError, 'give the file to write and a type, like Q4_K_M (the model to read goes with -m)'
        end

        output, type = @arguments
        params = quantize_params(type)
        spare(output) unless @settings[:force] || File.identical?(input, output)
        quantize(input, output, params)
        sizes = [input, output].map { |path| Figures.bytes(File.size(path)) }
        @terminal.output.puts "#{output}: #{FileTypes.name(params.ftype)}, #{sizes.reverse.join(', from ')}"
      end

      # For the model itself, which is never replaced, model_quantize has its own words.
      def spare(output)
        raise "#{output} is there already: --force replaces it" if File.exist?(output)
      end

      def quantize(input_path, output_path, params)
        Progress.during('Quantizing', output: @terminal.errors) do |report|
          LLaMACpp.model_quantize(input_path:, output_path:, params:) { |_, fraction| report.call(fraction) }
        end
      end

      def file_type(name)
        raise UsageError, 'first the file to write, then the type' if TYPES.include?(@arguments.first.upcase)
        return FileTypes.all.fetch(name.upcase) if TYPES.include?(name.upcase)

        raise UsageError, "there is no type #{name}; there are #{TYPES.join(', ')}"
      end

      def quantize_params(type)
        ModelQuantizeParams.new(ftype: file_type(type)).tap do |params|
          params.n_thread = @settings[:threads] || LLaMACpp.build_info[:usable_cores]
          params.allow_requantize = @settings[:allow_requantize] == true
          params.quantize_output_tensor = !@settings[:keep_output]
          params.pure = @settings[:pure] == true
        end
      end
    end
  end
end
