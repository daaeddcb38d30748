# frozen_string_literal: true

require 'json'
require_relative 'command'
require_relative 'model_summary'

module LLaMACpp
  class CLI
    # llama_cpp info: what a model's file says about it.
    class Info < Command
      SUMMARY = 'show what is in a model file'
      USAGE = 'llama_cpp info -m FILE.gguf [options]'
      DESCRIPTION = <<~TEXT
        Prints architecture, sizes, quantization, vocabulary and metadata of a model. Only the header of the file is
        read, so it takes no memory, and works for models that llama.cpp cannot load.
      TEXT
      EXAMPLE = 'llama_cpp info -m models/tiny/tiny.gguf'

      # Longer lists, like the vocabulary's, are cut.
      LONGEST_LIST = 16
      LONGEST_TEXT = 200
      private_constant :LONGEST_LIST, :LONGEST_TEXT

      private

      def options(parser)
        parser.on('--full', 'also long lists of the metadata, and all tensors')
        parser.on('--json', 'as JSON')
      end

      def call
        raise UsageError, "what is #{@arguments.first}? The model goes with -m" unless @arguments.empty?

        @summary = ModelSummary.new(model_path)
        @settings[:json] ? print_json : print_text
      end

      def print_json
        hash = { **@summary.to_h, metadata: listed_metadata }
        hash[:tensors] = @summary.tensors if @settings[:full]
        @terminal.output.puts JSON.pretty_generate(presentable(hash))
      end

      # JSON has no infinities, and no text but UTF-8.
      def presentable(value)
        case value
        when Hash then value.to_a.to_h { |pair| presentable(pair) }
        when Array then value.map { |entry| presentable(entry) }
        when Float then finite(value)
        when String then value.scrub
        else value
        end
      end

      def finite(number)
        number if number.finite?
      end

      def listed_metadata
        return @summary.metadata if @settings[:full]

        @summary.metadata.reject { |_, value| value.is_a?(Array) && value.size > LONGEST_LIST }
      end

      def print_text
        width = @summary.lines.keys.map(&:size).max
        @summary.lines.each { |name, value| line(@terminal.paint(name.ljust(width + 1), :bold), value) }
        section('metadata', @summary.metadata.transform_values { |value| "= #{value_text(value)}" })
        section('tensors', @summary.tensors.to_h { |tensor| tensor_line(**tensor) }) if @settings[:full]
      end

      def section(title, entries)
        @terminal.output.puts '', @terminal.paint(title, :bold)
        entries.each { |name, value| line("  #{printable(name)}", value) }
      end

      def tensor_line(name:, type:, shape:, **)
        [name, "#{type} #{shape.join(' x ')}"]
      end

      def line(name, value)
        @terminal.output.puts "#{name} #{printable(value)}"
      end

      def value_text(value)
        return scalar_text(value) unless value.is_a?(Array)
        return value.inspect if @settings[:full] || value.size <= LONGEST_LIST

        "#{value.size} values: #{value.first(4).map { |entry| entry.inspect[0, 40] }.join(', ')}, …"
      end

      # Most numbers were written with the precision of 32 bits.
      def scalar_text(value)
        value.is_a?(Float) ? format('%.7g', value) : shortened(value.inspect)
      end

      def shortened(text)
        text.size <= LONGEST_TEXT || @settings[:full] ? text : "#{text[0, LONGEST_TEXT]}… (#{text.size} characters)"
      end

      # A file from elsewhere does not get to speak to the terminal.
      def printable(text)
        text.to_s.scrub.gsub(/[[:cntrl:]]/) { |character| character.inspect[1..-2] }
      end
    end
  end
end
