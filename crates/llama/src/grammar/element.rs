//! What a rule is made of.

use std::fmt;

/// The kind of an [`Element`], with the numbers of `llama_gretype`.
///
/// # Examples
///
/// ```
/// use llama::grammar::ElementType;
///
/// assert_eq!(ElementType::try_from(3_i64), Ok(ElementType::Char));
/// assert_eq!(
///     ElementType::try_from(9_i64).unwrap_err().to_string(),
///     "9 is no type of grammar element: expected 0 (END) to 6 (CHAR_ALT)",
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum ElementType {
    /// The end of a rule.
    End = 0,
    /// The start of another alternate of the rule.
    Alt = 1,
    /// A reference to the rule whose index is the value.
    RuleRef = 2,
    /// The code point in the value; starts a character class.
    Char = 3,
    /// Any code point but the one in the value; starts a negated character class.
    CharNot = 4,
    /// Makes the code point before it the lower end of an inclusive range, with the value as upper end.
    CharRngUpper = 5,
    /// One more code point for the character class before it.
    CharAlt = 6,
}

impl ElementType {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 7] =
        [Self::End, Self::Alt, Self::RuleRef, Self::Char, Self::CharNot, Self::CharRngUpper, Self::CharAlt];

    /// The name as llama.cpp spells it, without its prefix: `"CHAR_NOT"`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::End => "END",
            Self::Alt => "ALT",
            Self::RuleRef => "RULE_REF",
            Self::Char => "CHAR",
            Self::CharNot => "CHAR_NOT",
            Self::CharRngUpper => "CHAR_RNG_UPPER",
            Self::CharAlt => "CHAR_ALT",
        }
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl TryFrom<i64> for ElementType {
    type Error = UnknownElementType;

    fn try_from(number: i64) -> Result<Self, Self::Error> {
        usize::try_from(number).ok().and_then(|index| Self::ALL.get(index).copied()).ok_or(UnknownElementType(number))
    }
}

impl TryFrom<u32> for ElementType {
    type Error = UnknownElementType;

    fn try_from(number: u32) -> Result<Self, Self::Error> {
        Self::try_from(i64::from(number))
    }
}

/// A number that stands for no [`ElementType`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownElementType(pub i64);

impl fmt::Display for UnknownElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is no type of grammar element: expected 0 (END) to 6 (CHAR_ALT)", self.0)
    }
}

impl std::error::Error for UnknownElementType {}

/// One element of a rule: its kind, and a code point or the index of a rule.
///
/// # Examples
///
/// ```
/// use llama::grammar::{Element, ElementType};
///
/// // [a-z] is two elements.
/// let class = [Element::char('a'), Element::new(ElementType::CharRngUpper, 'z'.into())];
/// assert_eq!(class[1].value, 122);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Element {
    /// What the element is.
    pub kind: ElementType,
    /// A code point for the character kinds, the index of a rule for `RuleRef`, else without meaning.
    pub value: u32,
}

impl Element {
    /// The element of this kind and value.
    pub const fn new(kind: ElementType, value: u32) -> Self {
        Self { kind, value }
    }

    /// The end of a rule.
    pub const fn end() -> Self {
        Self::new(ElementType::End, 0)
    }

    /// The start of another alternate.
    pub const fn alt() -> Self {
        Self::new(ElementType::Alt, 0)
    }

    /// A reference to the rule with this index.
    pub const fn rule_ref(rule: u32) -> Self {
        Self::new(ElementType::RuleRef, rule)
    }

    /// One character.
    pub const fn char(character: char) -> Self {
        Self::new(ElementType::Char, character as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_header() {
        for (number, kind) in ElementType::ALL.into_iter().enumerate() {
            assert_eq!(kind as u32 as usize, number);
            assert_eq!(ElementType::try_from(number as i64), Ok(kind));
            assert_eq!(ElementType::try_from(number as u32), Ok(kind));
        }
    }

    #[test]
    fn other_numbers_are_unknown() {
        for number in [-1, 7, i64::MIN, i64::MAX, 1 << 32] {
            assert_eq!(ElementType::try_from(number), Err(UnknownElementType(number)));
        }
        assert_eq!(ElementType::try_from(7_u32), Err(UnknownElementType(7)));
    }
}
