# frozen_string_literal: true

# Builds the extension with AddressSanitizer in llama.cpp and the shim, in a folder of its own, and runs specs with it.

require 'fileutils'
require 'rbconfig'

root = File.expand_path('../..', __dir__)
target = File.join(root, 'tmp', 'asan-target')
lib = File.join(root, 'tmp', 'asan', 'lib')

built = system({ 'RUBY' => RbConfig.ruby, 'CARGO_TARGET_DIR' => target }, 'cargo', 'build', '--locked', '--release',
               '--package', 'llama_cpp_ext', '--features', 'asan', chdir: root)
abort 'bin/test: the extension with AddressSanitizer could not be built.' unless built

FileUtils.mkdir_p(lib)
FileUtils.cp_r(File.join(root, 'lib', '.'), lib)
extension = File.join(lib, 'llama_cpp', "llama_cpp.#{RbConfig::CONFIG['DLEXT']}")
FileUtils.rm_f(extension)
FileUtils.cp(File.join(target, 'release', "libllama_cpp.#{RbConfig::CONFIG['SOEXT']}"), extension)

# The runtime has to come before everything else. Ruby keeps most of its memory to the end, on purpose, and gives its
# threads signal stacks of its own, which the runtime would take for those that it gave them.
runtime = `#{RbConfig::CONFIG['CC'].split.first} -print-file-name=libasan.so`.strip
options = 'detect_leaks=0:detect_stack_use_after_return=0:use_sigaltstack=0'
environment = { 'LD_PRELOAD' => runtime, 'ASAN_OPTIONS' => options }
# RSpec puts lib/ before everything else unless it is there already.
exec(environment, RbConfig.ruby, '-I', lib, '-I', File.join(root, 'lib'), '-S', 'rspec', *ARGV, chdir: root)
