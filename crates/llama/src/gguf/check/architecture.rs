//! The architectures that llama.cpp b1892 knows, and how its graphs for them differ.

/// What `general.architecture` may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Architecture {
    Llama,
    Falcon,
    Gpt2,
    GptJ,
    GptNeoX,
    Mpt,
    Baichuan,
    Starcoder,
    Persimmon,
    Refact,
    Bloom,
    Stablelm,
    Qwen,
    Phi2,
    Plamo,
}

/// How much of each head rotary embeddings turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rotation {
    /// Nothing: positions are learned or biases of the attention.
    None,
    /// `rope.dimension_count` elements.
    Part,
    /// Half of it.
    Half,
    /// All of it.
    Whole,
}

impl Architecture {
    pub(super) const ALL: [Self; 15] = [
        Self::Llama,
        Self::Falcon,
        Self::Gpt2,
        Self::GptJ,
        Self::GptNeoX,
        Self::Mpt,
        Self::Baichuan,
        Self::Starcoder,
        Self::Persimmon,
        Self::Refact,
        Self::Bloom,
        Self::Stablelm,
        Self::Qwen,
        Self::Phi2,
        Self::Plamo,
    ];

    pub(super) fn from_name(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name().as_bytes() == name)
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Llama => "llama",
            Self::Falcon => "falcon",
            Self::Gpt2 => "gpt2",
            Self::GptJ => "gptj",
            Self::GptNeoX => "gptneox",
            Self::Mpt => "mpt",
            Self::Baichuan => "baichuan",
            Self::Starcoder => "starcoder",
            Self::Persimmon => "persimmon",
            Self::Refact => "refact",
            Self::Bloom => "bloom",
            Self::Stablelm => "stablelm",
            Self::Qwen => "qwen",
            Self::Phi2 => "phi2",
            Self::Plamo => "plamo",
        }
    }

    /// The last part of the key of the epsilon that its norms add.
    pub(super) const fn epsilon_key(self) -> Option<&'static str> {
        match self {
            Self::Llama | Self::Baichuan | Self::Refact | Self::Qwen | Self::Plamo => {
                Some("attention.layer_norm_rms_epsilon")
            }
            Self::Falcon
            | Self::Gpt2
            | Self::Mpt
            | Self::Starcoder
            | Self::Persimmon
            | Self::Bloom
            | Self::Stablelm
            | Self::Phi2 => Some("attention.layer_norm_epsilon"),
            Self::GptJ | Self::GptNeoX => None,
        }
    }

    pub(super) const fn rotation(self) -> Rotation {
        match self {
            Self::Llama | Self::Falcon | Self::Baichuan | Self::Plamo => Rotation::Whole,
            Self::Persimmon => Rotation::Half,
            Self::Stablelm | Self::Qwen | Self::Phi2 => Rotation::Part,
            Self::Gpt2 | Self::GptJ | Self::GptNeoX | Self::Mpt | Self::Starcoder | Self::Refact | Self::Bloom => {
                Rotation::None
            }
        }
    }

    /// How many tensors its graph has for a block, and a few more (41 are the most, 66 with Persimmon); with experts come
    /// those of [`Self::expert_nodes`].
    pub(super) const fn nodes_per_block(self) -> u64 {
        match self {
            Self::Persimmon => 70,
            _ => 44,
        }
    }

    /// How many more tensors a block's graph has with `used` experts per token.
    pub(super) const fn expert_nodes(used: u64) -> u64 {
        used.saturating_mul(8).saturating_add(9)
    }

    /// How many tensors a graph may have. `LLAMA_MAX_NODES` is 8192, but there is memory for 7,700 and the bookkeeping of
    /// a graph of that size; two architectures use ggml's default of 2,048 nodes.
    pub(super) const fn max_nodes(self) -> u64 {
        match self {
            Self::Stablelm | Self::Plamo => 2_000,
            _ => 7_600,
        }
    }
}
