# frozen_string_literal: true

module LLaMACpp
  class CLI
    # The options of commands that generate text: those of the context, and the keywords of {LLaMACpp.generate}.
    module SamplingOptions
      # Name, kind, and explanation. The defaults are generate's own.
      KEYWORDS = {
        n_predict: [Integer, 'N', 'generate N tokens at most; -1: until the text ends'],
        temperature: [Float, 'T', 'how daring: 0 always takes the likeliest token (0.8)'],
        top_k: [Integer, 'N', 'draw from the N likeliest tokens (40)'],
        top_p: [Float, 'P', 'draw from the likeliest tokens that sum up to P (0.95)'],
        min_p: [Float, 'P', 'drop tokens less likely than P times the likeliest (0)'],
        typical_p: [Float, 'P', 'locally typical sampling (1: off)'],
        tfs_z: [Float, 'Z', 'tail-free sampling (1: off)'],
        repeat_penalty: [Float, 'X', 'make what was there lately less likely (1.1; 1: off)'],
        repeat_last_n: [Integer, 'N', 'how many tokens are lately (64)'],
        frequency: [Float, 'X', 'penalty for each occurrence (0)'],
        presence: [Float, 'X', 'penalty for any occurrence (0)'],
        mirostat: [Integer, 'N', 'Mirostat 1 or 2 in place of the filters (0: off)'],
        tau: [Float, 'X', "Mirostat's target surprise (5)"],
        eta: [Float, 'X', "Mirostat's learning rate (0.1)"],
        seed: [Integer, 'N', 'draw the same way each time']
      }.freeze

      private

      def sampling_options(parser)
        KEYWORDS.each do |name, (kind, placeholder, explanation)|
          short = ['-n'] if name == :n_predict
          parser.on(*short, "--#{name.to_s.tr('_', '-')} #{placeholder}", kind, explanation)
        end
        parser.on('--stop TEXT', 'end before TEXT; may be given several times') { |stop| stops << CLI.utf8(stop) }
        parser.on('--grammar FILE', 'the text must follow the GBNF grammar in FILE')
        context_options(parser)
      end

      def context_options(parser)
        size = "size of the context (the model's, #{Command::LARGEST_CONTEXT} at most)"
        parser.on('--n-ctx N', Integer, size) { |number| positive(number) }
        thread_options(parser)
      end

      def thread_options(parser)
        threads = 'threads (1 for a small model, else one per core)'
        parser.on('--threads N', Integer, threads) { |number| positive(number) }
        parser.on('--gpu-layers N', Integer, 'layers to compute on the GPU, if the build has one (0)')
      end

      def stops
        @stops ||= []
      end

      # @return [Hash{Symbol => Object}] keywords of {LLaMACpp.generate}
      def sampling
        keywords = @settings.slice(*KEYWORDS.keys)
        keywords[:stop] = stops unless stops.empty?
        keywords[:grammar] = grammar(@settings[:grammar]) if @settings[:grammar]
        keywords
      end

      def grammar(path)
        raise UsageError, "--grammar wants a file, #{path} is something else" if File.exist?(path) && !File.file?(path)

        CLI.utf8(File.read(path))
      rescue SystemCallError => e
        raise UsageError, "--grammar wants a file: cannot read #{path}: #{e.class.new.message}"
      end
    end
  end
end
