# frozen_string_literal: true

# llama.cpp in Ruby: load a GGUF model, generate text.
module LLaMACpp
  # The extension defines these constants, with the numbers of llama.cpp's header.

  # @!group Versions

  # @!parse
  #   # The build of llama.cpp that is inside.
  #   LLAMA_CPP_VERSION = 'b1892'

  # @!endgroup

  # @!group Limits and defaults

  # @!parse
  #   # The seed that stands for a random one. A String, as in the C++ gem.
  #   LLAMA_DEFAULT_SEED = '0xffffffff'
  #
  #   # Another name of LLAMA_DEFAULT_SEED, as some programs spell it.
  #   LLAMA_DEFALUT_SEED = '0xffffffff'
  #
  #   # The most devices that a model can be split over; see {LLaMACpp.max_devices}.
  #   LLAMA_MAX_DEVICES = 1

  # @!endgroup

  # @!group Files

  # @!parse
  #   # How a LoRA adapter begins. A String, as in the C++ gem; so the following ones.
  #   LLAMA_FILE_MAGIC_GGLA = '0x67676c61'
  #
  #   # How a session file begins.
  #   LLAMA_FILE_MAGIC_GGSN = '0x6767736e'
  #
  #   # How a session file begins.
  #   LLAMA_SESSION_MAGIC = '0x6767736e'
  #
  #   # The version of session files.
  #   LLAMA_SESSION_VERSION = '4'

  # @!endgroup

  # @!group Types of weights, for {ModelQuantizeParams#ftype}

  # @!parse
  #   # 32 bits per weight, as they are.
  #   LLAMA_FTYPE_ALL_F32 = 0
  #
  #   # 16 bits per weight.
  #   LLAMA_FTYPE_MOSTLY_F16 = 1
  #
  #   # 4.5 bits per weight, in blocks of 32.
  #   LLAMA_FTYPE_MOSTLY_Q4_0 = 2
  #
  #   # 5 bits per weight, in blocks of 32.
  #   LLAMA_FTYPE_MOSTLY_Q4_1 = 3
  #
  #   # Only read: llama.cpp writes it no more.
  #   LLAMA_FTYPE_MOSTLY_Q4_1_SOME_F16 = 4
  #
  #   # 8.5 bits per weight, in blocks of 32: hardly any loss.
  #   LLAMA_FTYPE_MOSTLY_Q8_0 = 7
  #
  #   # 5.5 bits per weight, in blocks of 32.
  #   LLAMA_FTYPE_MOSTLY_Q5_0 = 8
  #
  #   # 6 bits per weight, in blocks of 32.
  #   LLAMA_FTYPE_MOSTLY_Q5_1 = 9
  #
  #   # About 2.6 bits per weight, in blocks of 256, some tensors better.
  #   LLAMA_FTYPE_MOSTLY_Q2_K = 10
  #
  #   # About 3.4 bits per weight, in blocks of 256.
  #   LLAMA_FTYPE_MOSTLY_Q3_K_S = 11
  #
  #   # As LLAMA_FTYPE_MOSTLY_Q3_K_S, some tensors better.
  #   LLAMA_FTYPE_MOSTLY_Q3_K_M = 12
  #
  #   # As LLAMA_FTYPE_MOSTLY_Q3_K_M, more of them.
  #   LLAMA_FTYPE_MOSTLY_Q3_K_L = 13
  #
  #   # About 4.5 bits per weight, in blocks of 256.
  #   LLAMA_FTYPE_MOSTLY_Q4_K_S = 14
  #
  #   # As LLAMA_FTYPE_MOSTLY_Q4_K_S, some tensors better: what most people take.
  #   LLAMA_FTYPE_MOSTLY_Q4_K_M = 15
  #
  #   # About 5.5 bits per weight, in blocks of 256.
  #   LLAMA_FTYPE_MOSTLY_Q5_K_S = 16
  #
  #   # As LLAMA_FTYPE_MOSTLY_Q5_K_S, some tensors better.
  #   LLAMA_FTYPE_MOSTLY_Q5_K_M = 17
  #
  #   # About 6.6 bits per weight, in blocks of 256.
  #   LLAMA_FTYPE_MOSTLY_Q6_K = 18
  #
  #   # About 2.1 bits per weight, in blocks of 256. llama.cpp needs measurements to write it.
  #   LLAMA_FTYPE_MOSTLY_IQ2_XXS = 19
  #
  #   # About 2.3 bits per weight, in blocks of 256. llama.cpp needs measurements to write it.
  #   LLAMA_FTYPE_MOSTLY_IQ2_XS = 20
  #
  #   # About 2.6 bits per weight, in blocks of 256. llama.cpp needs measurements to write it.
  #   LLAMA_FTYPE_MOSTLY_Q2_K_S = 21
  #
  #   # A flag: the file did not say, the type was guessed.
  #   LLAMA_FTYPE_GUESSED = 1024

  # @!endgroup

  # @!group Kinds of elements in a grammar, for {GrammarElement#type}

  # @!parse
  #   # The end of a rule.
  #   LLAMA_GRETYPE_END = 0
  #
  #   # Or: another alternative begins.
  #   LLAMA_GRETYPE_ALT = 1
  #
  #   # Another rule; the value is its index.
  #   LLAMA_GRETYPE_RULE_REF = 2
  #
  #   # A character, or the first one of a set; the value is its code point.
  #   LLAMA_GRETYPE_CHAR = 3
  #
  #   # Any character but those of the set that begins here.
  #   LLAMA_GRETYPE_CHAR_NOT = 4
  #
  #   # The last character of a range that the element before begins.
  #   LLAMA_GRETYPE_CHAR_RNG_UPPER = 5
  #
  #   # One more character of the set.
  #   LLAMA_GRETYPE_CHAR_ALT = 6

  # @!endgroup

  # @!group Kinds of values, for {ModelKVOverride#tag}

  # @!parse
  #   # An Integer.
  #   LLAMA_KV_OVERRIDE_INT = 0
  #
  #   # A Float.
  #   LLAMA_KV_OVERRIDE_FLOAT = 1
  #
  #   # true or false.
  #   LLAMA_KV_OVERRIDE_BOOL = 2

  # @!endgroup

  # @!group Scaling of positions, for {ContextParams#rope_scaling_type}

  # @!parse
  #   # As the model says.
  #   LLAMA_ROPE_SCALING_UNSPECIFIED = -1
  #
  #   # None.
  #   LLAMA_ROPE_SCALING_NONE = 0
  #
  #   # Linear.
  #   LLAMA_ROPE_SCALING_LINEAR = 1
  #
  #   # YaRN.
  #   LLAMA_ROPE_SCALING_YARN = 2
  #
  #   # The largest of these numbers.
  #   LLAMA_ROPE_SCALING_MAX_VALUE = 2

  # @!endgroup

  # @!group Ways to split a model, for {ModelParams#split_mode}

  # @!parse
  #   # All on one GPU.
  #   LLAMA_SPLIT_NONE = 0
  #
  #   # Layers, with their cache.
  #   LLAMA_SPLIT_LAYER = 1
  #
  #   # Rows of the tensors.
  #   LLAMA_SPLIT_ROW = 2

  # @!endgroup

  # @!group Kinds of tokens, from {Model#type}

  # @!parse
  #   # The file does not say.
  #   LLAMA_TOKEN_TYPE_UNDEFINED = 0
  #
  #   # Text.
  #   LLAMA_TOKEN_TYPE_NORMAL = 1
  #
  #   # What stands for anything that the vocabulary lacks.
  #   LLAMA_TOKEN_TYPE_UNKNOWN = 2
  #
  #   # No text, but a sign: the beginning or the end of a sequence.
  #   LLAMA_TOKEN_TYPE_CONTROL = 3
  #
  #   # Text that was added to the vocabulary.
  #   LLAMA_TOKEN_TYPE_USER_DEFINED = 4
  #
  #   # Of no use.
  #   LLAMA_TOKEN_TYPE_UNUSED = 5
  #
  #   # A single byte.
  #   LLAMA_TOKEN_TYPE_BYTE = 6

  # @!endgroup

  # @!group Kinds of vocabularies, from {Model#vocab_type}

  # @!parse
  #   # SentencePiece.
  #   LLAMA_VOCAB_TYPE_SPM = 0
  #
  #   # Byte pair encoding.
  #   LLAMA_VOCAB_TYPE_BPE = 1

  # @!endgroup
end
