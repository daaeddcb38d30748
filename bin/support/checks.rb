# frozen_string_literal: true

# Runs every check, shows what each says, and sums up.

require 'rbconfig'
require_relative 'safety_checks'

ROOT = File.expand_path('../..', __dir__)

# Debian calls the program rbs3.1; the gem is the same everywhere.
RBS = [RbConfig.ruby, '-e', 'load Gem.activate_bin_path("rbs", "rbs")'].freeze

# The release profile and the whole workspace, as for the extension: with other settings Cargo would build the
# dependencies anew, and llama.cpp with them.
CHECKS = {
  'rustfmt' => %w[cargo fmt --all --check],
  'rubocop' => %w[rubocop],
  'signatures' => [*RBS, '-I', 'sig', 'validate', '--silent'],
  'clippy' => %w[cargo clippy --locked --workspace --all-targets --release -- -D warnings],
  'cargo test' => %w[cargo test --locked --workspace --release],
  'rspec' => %w[rspec]
}.freeze

# Those that run only when they are named, too.
KNOWN = CHECKS.merge(SafetyChecks::ALL).freeze

# rb-sys binds this Ruby; the extension was built with the same setting, so Cargo sees nothing new.
ENVIRONMENT = { 'RUBY' => RbConfig.ruby }.freeze

Outcome = Struct.new(:name, :passed, :seconds) do
  def to_s
    format('%<verdict>s  %<name>-12s %<seconds>6.1f s', verdict: passed ? 'pass' : 'FAIL', name:, seconds:)
  end
end

def run(name)
  command = KNOWN.fetch(name)
  puts "\n== #{name}: #{command.join(' ')}"
  start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  passed = system(ENVIRONMENT, *command, chdir: ROOT)
  Outcome.new(name, passed == true, Process.clock_gettime(Process::CLOCK_MONOTONIC) - start)
end

$stdout.sync = true
unknown = ARGV - KNOWN.keys
abort "bin/test: there is no check #{unknown.first}; there are #{KNOWN.keys.join(', ')}." unless unknown.empty?

outcomes = (ARGV.empty? ? CHECKS.keys : ARGV).map { |name| run(name) }
puts "\n== all", outcomes
exit outcomes.all?(&:passed)
