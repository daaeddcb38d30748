# frozen_string_literal: true

# Damages files and uses them; says what became of them, and keeps those that were too much.

require 'optparse'
require_relative '../../spec/support/fuzz/campaign'

options = { count: 20_000, seed: 1, only: nil, jobs: 2, timeout: 10 }
parser = OptionParser.new do |o|
  o.banner = 'Usage: bin/fuzz [options] models|lora|sessions'
  o.on('--count N', Integer, "how many files (#{options[:count]})")
  o.on('--seed N', Integer, "start of the random numbers (#{options[:seed]})")
  o.on('--only N', Integer, 'the file with this number only; it is kept')
  o.on('--jobs N', Integer, "processes at a time (#{options[:jobs]})")
  o.on('--timeout N', Integer, "seconds for one file (#{options[:timeout]})")
end

begin
  target, *rest = parser.parse(ARGV, into: options)
  raise OptionParser::MissingArgument, 'models, lora or sessions' unless Fuzz::TARGETS.key?(target) && rest.empty?
rescue OptionParser::ParseError => e
  abort "bin/fuzz: #{e.message}"
end

campaign = Fuzz::Campaign.new(target, **options.slice(:seed, :jobs, :timeout))
indices = options[:only] ? options[:only]..options[:only] : 0...options[:count]
done = 0
campaign.run(indices) do
  done += 1
  warn "#{done} of #{indices.size}" if (done % 1000).zero?
end
campaign.keep(options[:only]) if options[:only]
puts campaign.summary
exit campaign.failures.empty?
