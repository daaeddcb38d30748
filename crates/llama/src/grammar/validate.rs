//! Whether rules are well-formed, element by element.

use super::chars::MAX_CODE_POINT;
use super::element::{Element, ElementType};
use super::error::GrammarError;
use super::MAX_ELEMENTS;

/// Checks everything that can be told from single elements and their neighbours.
pub(super) fn check(rules: &[Vec<Element>], start: usize) -> Result<(), GrammarError> {
    if rules.is_empty() {
        return Err(GrammarError::NoRules);
    }
    if start >= rules.len() {
        return Err(GrammarError::StartOutside { start, rules: rules.len() });
    }
    let elements = rules.iter().map(Vec::len).sum();
    if elements > MAX_ELEMENTS {
        return Err(GrammarError::TooManyElements { elements });
    }
    for (index, rule) in rules.iter().enumerate() {
        check_rule(index, rule, rules.len())?;
    }
    Ok(())
}

fn check_rule(rule: usize, elements: &[Element], rules: usize) -> Result<(), GrammarError> {
    let Some(last) = elements.last() else {
        return Err(GrammarError::EmptyRule { rule });
    };
    let mut before: Option<Element> = None;
    for (index, element) in elements.iter().enumerate() {
        check_element(rule, index, *element, before, rules)?;
        if element.kind == ElementType::End && index + 1 < elements.len() {
            return Err(GrammarError::EarlyEnd { rule, element: index, length: elements.len() });
        }
        before = Some(*element);
    }
    if last.kind != ElementType::End {
        return Err(GrammarError::NoEnd { rule, last: last.kind });
    }
    Ok(())
}

fn check_element(
    rule: usize,
    index: usize,
    element: Element,
    before: Option<Element>,
    rules: usize,
) -> Result<(), GrammarError> {
    use ElementType::{Alt, Char, CharAlt, CharNot, CharRngUpper, End, RuleRef};

    let Element { kind, value } = element;
    let continued = match kind {
        End | Alt => return Ok(()),
        RuleRef if (value as usize) < rules => return Ok(()),
        RuleRef => return Err(GrammarError::RuleOutside { rule, element: index, value, rules }),
        Char | CharNot => None,
        CharRngUpper => before.filter(|before| matches!(before.kind, Char | CharNot | CharAlt)),
        CharAlt => before.filter(|before| matches!(before.kind, Char | CharNot | CharAlt | CharRngUpper)),
    };
    if matches!(kind, CharRngUpper | CharAlt) && continued.is_none() {
        return Err(GrammarError::Misplaced { rule, element: index, kind });
    }
    if value > MAX_CODE_POINT {
        return Err(GrammarError::NoCodePoint { rule, element: index, value });
    }
    match continued {
        Some(low) if kind == CharRngUpper && value < low.value => {
            Err(GrammarError::ReversedRange { rule, element: index, low: low.value, high: value })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use ElementType::{Alt, Char, CharAlt, CharNot, CharRngUpper, End, RuleRef};

    fn rule(elements: &[(ElementType, u32)]) -> Vec<Element> {
        elements.iter().map(|&(kind, value)| Element::new(kind, value)).collect()
    }

    fn message(elements: &[(ElementType, u32)]) -> String {
        let rules = [rule(&[(End, 0)]), rule(elements)];
        check(&rules, 0).err().map_or_else(|| "fine".into(), |error| error.to_string())
    }

    #[test]
    fn well_formed() {
        let class = [
            (CharNot, 0x61),
            (CharRngUpper, 0x7A),
            (CharAlt, 0),
            (CharRngUpper, 0x10_FFFF),
            (CharAlt, 0x5F),
            (Alt, 9),
            (Alt, 9),
            (RuleRef, 1),
            (End, 9),
        ];
        assert_eq!(message(&class), "fine");
    }

    #[test]
    fn every_fault_has_its_place_and_limit() {
        let cases: &[(&[(ElementType, u32)], &str)] = &[
            (&[], "rule 1, the rule has no elements: expected at least END"),
            (&[(Char, 97)], "rule 1, the rule ends with CHAR: expected END as the last element"),
            (
                &[(Char, 97), (End, 0), (Char, 98), (End, 0)],
                "rule 1, element 1, END before the last of 4 elements: expected it only there",
            ),
            (
                &[(Char, 97), (RuleRef, 2), (End, 0)],
                "rule 1, element 1, RULE_REF to rule 2, but there are 2 rules: expected 0 to 1",
            ),
            (
                &[(RuleRef, u32::MAX), (End, 0)],
                "rule 1, element 0, RULE_REF to rule 4294967295, but there are 2 rules: \
                 expected 0 to 1",
            ),
            (
                &[(CharRngUpper, 97), (End, 0)],
                "rule 1, element 0, CHAR_RNG_UPPER continues nothing: \
                 expected CHAR, CHAR_NOT or CHAR_ALT before it",
            ),
            (
                &[(Char, 97), (CharRngUpper, 98), (CharRngUpper, 99), (End, 0)],
                "rule 1, element 2, CHAR_RNG_UPPER continues nothing: \
                 expected CHAR, CHAR_NOT or CHAR_ALT before it",
            ),
            (
                &[(Char, 97), (Alt, 0), (CharAlt, 98), (End, 0)],
                "rule 1, element 2, CHAR_ALT continues nothing: \
                 expected CHAR, CHAR_NOT, CHAR_ALT or CHAR_RNG_UPPER before it",
            ),
            (
                &[(RuleRef, 0), (CharAlt, 98), (End, 0)],
                "rule 1, element 1, CHAR_ALT continues nothing: \
                 expected CHAR, CHAR_NOT, CHAR_ALT or CHAR_RNG_UPPER before it",
            ),
            (&[(CharNot, 0x11_0000), (End, 0)], "rule 1, element 0, 0x110000 is no code point: the limit is 0x10FFFF"),
            (
                &[(Char, 0x7A), (CharRngUpper, 0x61), (End, 0)],
                "rule 1, element 1, the range from U+007A to U+0061 is reversed: \
                 expected the smaller code point first",
            ),
        ];
        for (elements, expected) in cases {
            assert_eq!(&message(elements), expected, "{elements:?}");
        }
    }

    #[test]
    fn whole_grammar() {
        assert_eq!(check(&[], 0), Err(GrammarError::NoRules));
        let rules = [rule(&[(End, 0)]), rule(&[(End, 0)])];
        assert_eq!(check(&rules, 1), Ok(()));
        assert_eq!(
            check(&rules, 2).unwrap_err().to_string(),
            "the start rule is 2, but there are 2 rules: expected 0 to 1"
        );
        let mut long = vec![Element::char('a'); MAX_ELEMENTS];
        long.push(Element::end());
        assert_eq!(
            check(&[long], 0).unwrap_err().to_string(),
            "the grammar has 1048577 elements: the limit is 1048576"
        );
    }
}
