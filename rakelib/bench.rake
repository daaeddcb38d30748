# frozen_string_literal: true

desc 'Measure the gem against llama.cpp itself'
task bench: :compile do
  sh(RbConfig.ruby, 'bin/bench')
end
