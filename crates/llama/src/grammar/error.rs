//! What can be wrong with a grammar, and with a piece of text under it.

use std::fmt;

use super::element::ElementType;
use super::MAX_ELEMENTS;

/// Why rules make no grammar. Rules and elements are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GrammarError {
    /// There is not a single rule.
    NoRules,
    /// The start rule is none of the rules.
    StartOutside {
        /// The index that was given.
        start: usize,
        /// The number of rules.
        rules: usize,
    },
    /// The rules have more than [`MAX_ELEMENTS`] elements together.
    TooManyElements {
        /// The number of elements.
        elements: usize,
    },
    /// A rule has no element at all, not even its END.
    EmptyRule {
        /// The rule.
        rule: usize,
    },
    /// A rule does not end with END.
    NoEnd {
        /// The rule.
        rule: usize,
        /// What it ends with.
        last: ElementType,
    },
    /// END comes before the last element of a rule.
    EarlyEnd {
        /// The rule.
        rule: usize,
        /// The index of the END.
        element: usize,
        /// The number of elements of the rule.
        length: usize,
    },
    /// A RULE_REF to a rule that does not exist.
    RuleOutside {
        /// The rule that refers.
        rule: usize,
        /// The index of the RULE_REF.
        element: usize,
        /// The value of the RULE_REF.
        value: u32,
        /// The number of rules.
        rules: usize,
    },
    /// A CHAR_RNG_UPPER or CHAR_ALT at a place where there is nothing that it continues.
    Misplaced {
        /// The rule.
        rule: usize,
        /// The index of the element.
        element: usize,
        /// What it is.
        kind: ElementType,
    },
    /// A value beyond the last code point of Unicode.
    NoCodePoint {
        /// The rule.
        rule: usize,
        /// The index of the element.
        element: usize,
        /// Its value.
        value: u32,
    },
    /// A range whose upper end is below its lower end.
    ReversedRange {
        /// The rule.
        rule: usize,
        /// The index of the CHAR_RNG_UPPER.
        element: usize,
        /// The lower end.
        low: u32,
        /// The upper end.
        high: u32,
    },
    /// A character class that no character of any text matches: only NUL or surrogates are left.
    EmptyClass {
        /// The rule.
        rule: usize,
        /// The index of the element that starts the class.
        element: usize,
    },
    /// A rule that refers to itself before any character: expanding it never ends.
    LeftRecursion {
        /// The rules of the cycle, each referring to the next, the last one to the first.
        cycle: Vec<usize>,
        /// The index of the RULE_REF in the first of them.
        element: usize,
    },
    /// The start of the grammar alone is beyond the limits of the engine.
    TooComplex(TooComplex),
}

impl GrammarError {
    /// The rule and the element that are wrong, where it is one rule.
    pub(super) fn place(&self) -> Option<(usize, usize)> {
        match *self {
            Self::NoRules | Self::StartOutside { .. } | Self::TooManyElements { .. } | Self::TooComplex(_) => None,
            Self::EmptyRule { rule } | Self::NoEnd { rule, .. } => Some((rule, 0)),
            Self::EarlyEnd { rule, element, .. }
            | Self::RuleOutside { rule, element, .. }
            | Self::Misplaced { rule, element, .. }
            | Self::NoCodePoint { rule, element, .. }
            | Self::ReversedRange { rule, element, .. }
            | Self::EmptyClass { rule, element } => Some((rule, element)),
            Self::LeftRecursion { ref cycle, element } => Some((*cycle.first()?, element)),
        }
    }

    /// The message without the place.
    pub(super) fn what(&self, name: impl Fn(usize) -> String) -> String {
        match self {
            Self::NoRules => "a grammar needs at least one rule".into(),
            Self::StartOutside { start, rules } => format!(
                "the start rule is {start}, but there are {rules} rules: expected 0 to {}",
                rules.saturating_sub(1)
            ),
            Self::TooManyElements { elements } => {
                format!("the grammar has {elements} elements: the limit is {MAX_ELEMENTS}")
            }
            Self::EmptyRule { .. } => "the rule has no elements: expected at least END".into(),
            Self::NoEnd { last, .. } => {
                format!("the rule ends with {last}: expected END as the last element")
            }
            Self::EarlyEnd { length, .. } => {
                format!("END before the last of {length} elements: expected it only there")
            }
            Self::RuleOutside { value, rules, .. } => format!(
                "RULE_REF to rule {value}, but there are {rules} rules: expected 0 to {}",
                rules.saturating_sub(1)
            ),
            Self::Misplaced { kind, .. } => format!(
                "{kind} continues nothing: expected {} before it",
                match kind {
                    ElementType::CharRngUpper => "CHAR, CHAR_NOT or CHAR_ALT",
                    _ => "CHAR, CHAR_NOT, CHAR_ALT or CHAR_RNG_UPPER",
                }
            ),
            Self::NoCodePoint { value, .. } => {
                format!("0x{value:X} is no code point: the limit is 0x10FFFF")
            }
            Self::ReversedRange { low, high, .. } => format!(
                "the range from U+{low:04X} to U+{high:04X} is reversed: \
                 expected the smaller code point first"
            ),
            Self::EmptyClass { .. } => "no character can match here: NUL and surrogates \
                (U+D800 to U+DFFF) are in no text; write a character beyond U+FFFF as one code point"
                .into(),
            Self::LeftRecursion { cycle, .. } => {
                const SHOWN: usize = 8;
                let mut path: Vec<String> = cycle.iter().take(SHOWN).map(|&rule| name(rule)).collect();
                if cycle.len() > SHOWN {
                    path.push(format!("… ({} rules)", cycle.len()));
                }
                path.extend(cycle.first().map(|&rule| name(rule)));
                format!(
                    "the rule refers to itself before any character ({}): \
                     put a character before the reference",
                    path.join(" → ")
                )
            }
            Self::TooComplex(error) => error.to_string(),
        }
    }
}

impl fmt::Display for GrammarError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((rule, element)) = self.place() {
            write!(f, "rule {rule}, ")?;
            if !matches!(self, Self::EmptyRule { .. } | Self::NoEnd { .. }) {
                write!(f, "element {element}, ")?;
            }
        }
        f.write_str(&self.what(|rule| rule.to_string()))
    }
}

impl std::error::Error for GrammarError {}

impl From<TooComplex> for GrammarError {
    fn from(error: TooComplex) -> Self {
        Self::TooComplex(error)
    }
}

/// The ways to read a text are too many, or nested too deep, to be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TooComplex {
    /// They would take more memory than the limit, in bytes.
    Memory(usize),
    /// Following them would take too long: more than this number of steps in one call.
    Steps(u64),
}

impl fmt::Display for TooComplex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(bytes) => write!(
                f,
                "the grammar reads the text in so many ways, or so deeply nested, that they need \
                 more than {} MiB: make it less ambiguous",
                bytes >> 20
            ),
            Self::Steps(steps) => write!(
                f,
                "the grammar reads the text in so many ways that they need more than {steps} \
                 steps: make it less ambiguous"
            ),
        }
    }
}

impl std::error::Error for TooComplex {}

/// Why a piece of text was not accepted. Offsets are in bytes from the start of the piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The piece is empty: it would let the text stand still.
    Empty,
    /// The piece has a NUL.
    Nul {
        /// Where.
        offset: usize,
    },
    /// With this byte the text can be no UTF-8.
    NotUtf8 {
        /// Where.
        offset: usize,
        /// The byte.
        byte: u8,
    },
    /// The grammar forbids this character.
    Character {
        /// Where the byte is that completes it.
        offset: usize,
        /// The character.
        character: char,
    },
    /// The piece ends within a character, and the grammar forbids whatever that may become.
    PartialCharacter,
    /// Whether the grammar allows the piece cannot be found out.
    TooComplex(TooComplex),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the piece is empty"),
            Self::Nul { offset } => write!(f, "NUL at byte {offset} of the piece"),
            Self::NotUtf8 { offset, byte } => {
                write!(f, "no UTF-8: 0x{byte:02X} at byte {offset} of the piece")
            }
            Self::Character { offset, character } => write!(
                f,
                "the grammar forbids {character:?} (U+{:04X}) at byte {offset} of the piece",
                u32::from(*character)
            ),
            Self::PartialCharacter => {
                f.write_str("the grammar forbids every character that the piece's last bytes start")
            }
            Self::TooComplex(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<TooComplex> for Refusal {
    fn from(error: TooComplex) -> Self {
        Self::TooComplex(error)
    }
}
