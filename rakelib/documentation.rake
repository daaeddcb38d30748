# frozen_string_literal: true

desc 'Write the documentation to doc/'
task :yard do
  sh('yard', 'doc', '--fail-on-warning')
end

desc 'List the public methods without documentation, example or signature'
task undocumented: :compile do
  $LOAD_PATH.unshift(File.join(ROOT, 'lib'))
  require 'llama_cpp'
  require_relative '../spec/support/undocumented'

  lines = Undocumented.new.lines
  puts lines.empty? ? "All #{PublicApi.entries.size} public methods have them." : lines
  exit 1 unless lines.empty?
end
