//! The element types of tensors, as the bundled llama.cpp knows them.

/// The type of a tensor's elements. The numbers are those of `ggml_type` in build b1892.
///
/// # Examples
///
/// ```
/// use llama::gguf::TensorType;
///
/// let q4_k = TensorType::from_number(12).unwrap();
/// assert_eq!((q4_k.name(), q4_k.block_size(), q4_k.block_bytes()), ("q4_K", 256, 144));
/// assert_eq!(q4_k.row_bytes(512), Some(288));
/// assert_eq!(q4_k.row_bytes(300), None);
/// assert_eq!(TensorType::from_number(4), None); // Q4_2 was removed
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
#[allow(missing_docs)] // the names are what is to be said about them
pub enum TensorType {
    F32 = 0,
    F16 = 1,
    Q4_0 = 2,
    Q4_1 = 3,
    Q5_0 = 6,
    Q5_1 = 7,
    Q8_0 = 8,
    Q8_1 = 9,
    Q2K = 10,
    Q3K = 11,
    Q4K = 12,
    Q5K = 13,
    Q6K = 14,
    Q8K = 15,
    IQ2XXS = 16,
    IQ2XS = 17,
    I8 = 18,
    I16 = 19,
    I32 = 20,
}

impl TensorType {
    /// All types, in the order of their numbers.
    pub const ALL: [Self; 19] = [
        Self::F32,
        Self::F16,
        Self::Q4_0,
        Self::Q4_1,
        Self::Q5_0,
        Self::Q5_1,
        Self::Q8_0,
        Self::Q8_1,
        Self::Q2K,
        Self::Q3K,
        Self::Q4K,
        Self::Q5K,
        Self::Q6K,
        Self::Q8K,
        Self::IQ2XXS,
        Self::IQ2XS,
        Self::I8,
        Self::I16,
        Self::I32,
    ];

    /// The type with llama.cpp's number `number`; none for the numbers of removed and of later types.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.number() == number)
    }

    /// llama.cpp's number for it.
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// llama.cpp's name for it: `"q4_K"`.
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// Elements per block.
    pub const fn block_size(self) -> u64 {
        self.row().1
    }

    /// Bytes per block.
    pub const fn block_bytes(self) -> u64 {
        self.row().2
    }

    /// Bytes that a row of `elements` takes, unless they are no whole number of blocks or too many.
    pub const fn row_bytes(self, elements: u64) -> Option<u64> {
        if elements % self.block_size() != 0 {
            return None;
        }
        (elements / self.block_size()).checked_mul(self.block_bytes())
    }

    /// Whether it can be turned into floats: what looking up rows of an embedding, requantizing and adding a LoRA
    /// adapter do. (llama.cpp calls a null pointer for the others.)
    pub const fn is_readable(self) -> bool {
        !matches!(self, Self::Q8_1 | Self::Q8K | Self::I8 | Self::I16 | Self::I32)
    }

    /// The type to which the other operand of a matrix multiplication is converted; none if a matrix of this type
    /// cannot be multiplied. (llama.cpp calls a null pointer for those.)
    pub const fn multiplies_with(self) -> Option<Self> {
        match self {
            Self::F32 => Some(Self::F32),
            Self::F16 => Some(Self::F16),
            Self::Q4_0 | Self::Q5_0 | Self::Q8_0 => Some(Self::Q8_0),
            Self::Q4_1 | Self::Q5_1 => Some(Self::Q8_1),
            Self::Q2K | Self::Q3K | Self::Q4K | Self::Q5K | Self::Q6K | Self::IQ2XXS | Self::IQ2XS => Some(Self::Q8K),
            Self::Q8_1 | Self::Q8K | Self::I8 | Self::I16 | Self::I32 => None,
        }
    }

    /// Whether floats can be turned into it without an importance matrix.
    pub const fn is_writable(self) -> bool {
        self.is_readable() && !matches!(self, Self::IQ2XXS | Self::IQ2XS)
    }

    /// Whether its blocks share a scale, as opposed to plain numbers.
    pub const fn is_quantized(self) -> bool {
        self.block_size() > 1
    }

    /// Name, elements per block, bytes per block.
    const fn row(self) -> (&'static str, u64, u64) {
        match self {
            Self::F32 => ("f32", 1, 4),
            Self::F16 => ("f16", 1, 2),
            Self::Q4_0 => ("q4_0", 32, 18),
            Self::Q4_1 => ("q4_1", 32, 20),
            Self::Q5_0 => ("q5_0", 32, 22),
            Self::Q5_1 => ("q5_1", 32, 24),
            Self::Q8_0 => ("q8_0", 32, 34),
            Self::Q8_1 => ("q8_1", 32, 40),
            Self::Q2K => ("q2_K", 256, 84),
            Self::Q3K => ("q3_K", 256, 110),
            Self::Q4K => ("q4_K", 256, 144),
            Self::Q5K => ("q5_K", 256, 176),
            Self::Q6K => ("q6_K", 256, 210),
            Self::Q8K => ("q8_K", 256, 292),
            Self::IQ2XXS => ("iq2_xxs", 256, 66),
            Self::IQ2XS => ("iq2_xs", 256, 74),
            Self::I8 => ("i8", 1, 1),
            Self::I16 => ("i16", 1, 2),
            Self::I32 => ("i32", 1, 4),
        }
    }
}
