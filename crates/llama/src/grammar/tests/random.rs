//! Random small grammars on all short texts, compared with the reference.

use super::super::{Element, ElementType, Grammar, GrammarError, Matcher};
use super::reference::{is_left_recursive, Ends, Stacks};
use super::Random;

const ALPHABET: [char; 4] = ['a', 'b', 'é', 'ぁ'];
const LONGEST: usize = 5;

fn random_rules(random: &mut Random) -> Vec<Vec<Element>> {
    let count = 1 + random.below(5);
    (0..count).map(|_| random_rule(random, count)).collect()
}

fn random_rule(random: &mut Random, rules: usize) -> Vec<Element> {
    let mut elements = Vec::new();
    for alternate in 0..=random.below(3) {
        if alternate > 0 {
            elements.push(Element::alt());
        }
        for _ in 0..random.below(4) {
            if random.below(2) == 0 {
                elements.push(Element::rule_ref(random.below(rules) as u32));
            } else {
                random_class(random, &mut elements);
            }
        }
    }
    elements.push(Element::end());
    elements
}

fn random_class(random: &mut Random, elements: &mut Vec<Element>) {
    let mut kind = *random.pick(&[ElementType::Char, ElementType::Char, ElementType::CharNot]);
    for _ in 0..=random.below(2) {
        let ends = [*random.pick(&ALPHABET), *random.pick(&ALPHABET)];
        elements.push(Element::new(kind, ends[0].into()));
        if random.below(3) == 0 && ends[0] <= ends[1] {
            elements.push(Element::new(ElementType::CharRngUpper, ends[1].into()));
        }
        kind = ElementType::CharAlt;
    }
}

/// Compares on every text that goes on after `text` and is not too long. Returns their number.
fn compare(
    rules: &[Vec<Element>],
    reference: &Stacks,
    matcher: &Matcher,
    text: &mut Vec<char>,
    random: &mut Random,
) -> usize {
    let mut matcher = matcher.clone();
    if random.below(4) == 0 {
        matcher.clear();
    }
    let may_end = reference.stacks.contains(&Vec::new());
    assert_eq!(matcher.may_end(), may_end, "end after {text:?} of {rules:?}");
    assert_eq!(may_end, Ends::matches(rules, 0, text), "reference after {text:?} of {rules:?}");
    // The number of stacks may explode, in the reference.
    if text.len() == LONGEST || reference.stacks.len() > 300 {
        return 1;
    }
    let mut compared = 1;
    for character in ALPHABET {
        let mut bytes = [0; 4];
        let piece = character.encode_utf8(&mut bytes).as_bytes();
        let next = reference.read(character);
        let allowed = !next.stacks.is_empty();
        assert_eq!(matcher.allows(piece), Ok(allowed), "{character:?} after {text:?} of {rules:?}");
        let mut matcher = matcher.clone();
        assert_eq!(matcher.accept(piece).is_ok(), allowed);
        if allowed {
            text.push(character);
            compared += compare(rules, &next, &matcher, text, random);
            text.pop();
        }
    }
    compared
}

#[test]
fn the_engine_agrees_with_the_reference() {
    let mut random = Random(0x9E37_79B9);
    let (mut grammars, mut left_recursive, mut texts) = (0, 0, 0);
    for _ in 0..500 {
        let rules = random_rules(&mut random);
        match Grammar::new(rules.clone(), 0) {
            Ok(grammar) => {
                assert!(!is_left_recursive(&rules, 0), "{rules:?}");
                let reference = Stacks::new(&rules, 0);
                texts += compare(&rules, &reference, &grammar.matcher(), &mut Vec::new(), &mut random);
                grammars += 1;
            }
            Err(GrammarError::LeftRecursion { .. }) => {
                assert!(is_left_recursive(&rules, 0), "{rules:?}");
                left_recursive += 1;
            }
            Err(error) => panic!("{error}: {rules:?}"),
        }
    }
    assert!(
        grammars > 200 && left_recursive > 100 && texts > 10_000,
        "{grammars} grammars, {left_recursive} left-recursive ones, {texts} texts"
    );
}
