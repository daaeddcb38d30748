//! Sets of characters, and the alphabet that a grammar can tell apart.

use super::element::{Element, ElementType};

/// The last code point of Unicode.
pub(super) const MAX_CODE_POINT: u32 = 0x10_FFFF;

/// A character class: `"a"`, `[a-z_]` or `[^"\\]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct CharClass {
    negated: bool,
    /// The ASCII characters that match, negation included: one bit each.
    ascii: u128,
    /// The ranges as written: sorted, apart from each other, both ends inclusive.
    ranges: Box<[(u32, u32)]>,
}

impl CharClass {
    /// Reads the class that starts `elements`; returns it with the number of elements it takes.
    ///
    /// `elements` has been checked: it starts with `Char` or `CharNot`, and no range is reversed.
    pub(super) fn read(elements: &[Element]) -> (Self, usize) {
        let negated = elements.first().is_some_and(|first| first.kind == ElementType::CharNot);
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        let mut length = 0;
        for element in elements {
            match (element.kind, ranges.last_mut()) {
                (ElementType::Char | ElementType::CharNot, None) | (ElementType::CharAlt, Some(_)) => {
                    ranges.push((element.value, element.value))
                }
                (ElementType::CharRngUpper, Some(range)) => range.1 = element.value,
                _ => break,
            }
            length += 1;
        }
        (Self::new(negated, ranges), length)
    }

    fn new(negated: bool, mut ranges: Vec<(u32, u32)>) -> Self {
        ranges.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for (low, high) in ranges {
            match merged.last_mut() {
                Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
                _ => merged.push((low, high)),
            }
        }
        let mut class = Self { negated, ascii: 0, ranges: merged.into() };
        for code_point in 0..128 {
            if class.in_ranges(code_point) != negated {
                class.ascii |= 1 << code_point;
            }
        }
        class
    }

    fn in_ranges(&self, code_point: u32) -> bool {
        let after = self.ranges.partition_point(|range| range.0 <= code_point);
        after.checked_sub(1).and_then(|index| self.ranges.get(index)).is_some_and(|range| code_point <= range.1)
    }

    /// Whether the class matches this code point.
    pub(super) fn matches(&self, code_point: u32) -> bool {
        if code_point < 128 {
            self.ascii >> code_point & 1 == 1
        } else {
            self.in_ranges(code_point) != self.negated
        }
    }

    /// Whether a character that is known to be one of `low..=high` may go on.
    ///
    /// As in llama.cpp, a negated class wants none of them excluded: `[^é]` refuses the first byte
    /// of `é` although that of `è` is the same.
    pub(super) fn may_match(&self, low: u32, high: u32) -> bool {
        let after = self.ranges.partition_point(|range| range.1 < low);
        let overlaps = self.ranges.get(after).is_some_and(|range| range.0 <= high);
        overlaps != self.negated
    }

    /// Whether the class matches nothing that can be in a text: it has no character but NUL and surrogates.
    pub(super) fn is_empty(&self) -> bool {
        if self.negated {
            let rest = [(1, 0xD7FF), (0xE000, MAX_CODE_POINT)];
            rest.iter().all(|&(low, high)| self.ranges.iter().any(|range| range.0 <= low && high <= range.1))
        } else {
            self.ranges.iter().all(|&(low, high)| high == 0 || (0xD800 <= low && high <= 0xDFFF))
        }
    }

    /// The ranges as written, whether negated or not.
    pub(super) fn ranges(&self) -> &[(u32, u32)] {
        &self.ranges
    }
}

/// The code points cut into runs that no class of the grammar tells apart. Each run is a symbol.
#[derive(Clone, Debug)]
pub(super) struct Alphabet {
    ascii: Box<[u32]>,
    /// First code points of all runs but the first.
    starts: Box<[u32]>,
}

impl Alphabet {
    pub(super) fn of<'a>(classes: impl Iterator<Item = &'a CharClass>) -> Self {
        let mut starts: Vec<u32> =
            classes.flat_map(|class| class.ranges()).flat_map(|&(low, high)| [low, high.saturating_add(1)]).collect();
        starts.sort_unstable();
        starts.dedup();
        let mut alphabet = Self { ascii: Box::default(), starts: starts.into() };
        alphabet.ascii = (0..128).map(|ascii| alphabet.search(ascii)).collect();
        alphabet
    }

    /// The symbol of a code point.
    pub(super) fn symbol(&self, code_point: u32) -> u32 {
        match self.ascii.get(code_point as usize) {
            Some(&symbol) => symbol,
            None => self.search(code_point),
        }
    }

    fn search(&self, code_point: u32) -> u32 {
        // At most two runs per element, and elements are counted in 32 bits.
        self.starts.partition_point(|&start| start <= code_point) as u32
    }

    pub(super) fn memsize(&self) -> usize {
        size_of_val(&*self.ascii) + size_of_val(&*self.starts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(negated: bool, ranges: &[(char, char)]) -> CharClass {
        let ranges = ranges.iter().map(|&(low, high)| (u32::from(low), u32::from(high)));
        CharClass::new(negated, ranges.collect())
    }

    fn matched(class: &CharClass, among: &str) -> String {
        among.chars().filter(|&character| class.matches(character.into())).collect()
    }

    #[test]
    fn reads_one_class_and_stops() {
        let elements = [
            Element::new(ElementType::CharNot, 'a'.into()),
            Element::new(ElementType::CharRngUpper, 'c'.into()),
            Element::new(ElementType::CharAlt, 'x'.into()),
            Element::char('y'),
            Element::end(),
        ];
        assert_eq!(CharClass::read(&elements), (class(true, &[('a', 'c'), ('x', 'x')]), 3));
        assert_eq!(CharClass::read(&elements[3..]), (class(false, &[('y', 'y')]), 1));
    }

    #[test]
    fn matches_ranges_on_both_sides_of_ascii() {
        let vowels = class(false, &[('u', 'u'), ('a', 'e'), ('c', 'g'), ('à', 'å')]);
        assert_eq!(matched(&vowels, "abcghutvßàãåæ€"), "abcguàãå");
        let others = class(true, &[('u', 'u'), ('a', 'e'), ('c', 'g'), ('à', 'å')]);
        assert_eq!(matched(&others, "abcghutvßàãåæ€"), "htvßæ€");
        assert_eq!(vowels.ranges(), &[(0x61, 0x67), (0x75, 0x75), (0xE0, 0xE5)]);
    }

    #[test]
    fn partial_characters() {
        let hiragana = class(false, &[('ぁ', 'ゟ')]);
        assert!(hiragana.may_match(0x3040, 0x307F));
        assert!(!hiragana.may_match(0x30A0, 0x30BF));
        let no_e_acute = class(true, &[('é', 'é')]);
        assert!(!no_e_acute.may_match(0xC0, 0xFF));
        assert!(no_e_acute.may_match(0x100, 0x13F));
        assert!(class(false, &[('a', 'b'), ('é', 'é')]).may_match(0xC0, 0xFF));
    }

    #[test]
    fn empty_classes() {
        let raw = |negated, ranges: &[(u32, u32)]| CharClass::new(negated, ranges.to_vec());
        assert!(raw(false, &[(0, 0)]).is_empty());
        assert!(raw(false, &[(0xD83D, 0xD83D), (0xDE00, 0xDE00)]).is_empty());
        assert!(raw(true, &[(0, MAX_CODE_POINT)]).is_empty());
        assert!(raw(true, &[(1, 0xD7FF), (0xE000, MAX_CODE_POINT)]).is_empty());
        assert!(!raw(true, &[(2, MAX_CODE_POINT)]).is_empty());
        assert!(!raw(true, &[(0, 0)]).is_empty());
        assert!(!raw(false, &[(0, 1)]).is_empty());
        assert!(!raw(false, &[(0xD800, 0xE000)]).is_empty());
    }

    #[test]
    fn a_symbol_is_what_no_class_tells_apart() {
        let classes = [class(false, &[('0', '9')]), class(true, &[('5', '5'), ('é', 'ï')])];
        let alphabet = Alphabet::of(classes.iter());
        let symbols: Vec<u32> = "/04569:aèéïð😀".chars().map(|character| alphabet.symbol(character.into())).collect();
        assert_eq!(symbols, [0, 1, 1, 2, 3, 3, 4, 4, 4, 5, 5, 6, 6]);
    }
}
