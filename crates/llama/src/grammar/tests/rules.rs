//! Rules from elements: what is refused, and how deep they may be.

use super::super::{Element, ElementType, Grammar, GrammarError};

fn message(rules: &[Vec<Element>]) -> String {
    Grammar::new(rules.to_vec(), 0).err().map_or_else(|| "fine".into(), |error| error.to_string())
}

fn refs(rules: &[u32]) -> Vec<Element> {
    let mut elements: Vec<Element> = rules.iter().copied().map(Element::rule_ref).collect();
    elements.push(Element::end());
    elements
}

#[test]
fn form_is_checked_in_rules_that_are_not_used_too() {
    let rules = [refs(&[]), vec![Element::char('a')]];
    assert_eq!(message(&rules), "rule 1, the rule ends with CHAR: expected END as the last element");
    assert_eq!(Grammar::new(Vec::new(), 0).unwrap_err().to_string(), "a grammar needs at least one rule");
    assert_eq!(
        Grammar::new(vec![refs(&[])], 1).unwrap_err().to_string(),
        "the start rule is 1, but there are 1 rules: expected 0 to 0"
    );
}

#[test]
fn characters_that_are_in_no_text() {
    let pair = [
        Element::char('a'),
        Element::new(ElementType::Char, 0xD83D),
        Element::new(ElementType::Char, 0xDE00),
        Element::end(),
    ];
    assert_eq!(
        message(&[pair.to_vec()]),
        "rule 0, element 1, no character can match here: NUL and surrogates (U+D800 to U+DFFF) \
         are in no text; write a character beyond U+FFFF as one code point"
    );
    let not_nul = [Element::new(ElementType::CharNot, 0), Element::end()];
    assert_eq!(message(&[not_nul.to_vec()]), "fine");
    let across =
        [Element::new(ElementType::Char, 0xD000), Element::new(ElementType::CharRngUpper, 0xE000), Element::end()];
    assert_eq!(message(&[across.to_vec()]), "fine");
}

#[test]
fn left_recursion_is_named() {
    assert_eq!(
        message(&[refs(&[0])]),
        "rule 0, element 0, the rule refers to itself before any character (0 → 0): \
         put a character before the reference"
    );
    // 0 ::= "a" 1; 1 ::= "b" | 2 3; 2 ::= ; 3 ::= 2 1
    let rules = [
        vec![Element::char('a'), Element::rule_ref(1), Element::end()],
        vec![Element::char('b'), Element::alt(), Element::rule_ref(2), Element::rule_ref(3), Element::end()],
        refs(&[]),
        refs(&[2, 1]),
    ];
    assert_eq!(
        Grammar::new(rules.to_vec(), 0).unwrap_err(),
        GrammarError::LeftRecursion { cycle: vec![1, 3], element: 3 }
    );
    assert_eq!(
        message(&rules),
        "rule 1, element 3, the rule refers to itself before any character (1 → 3 → 1): \
         put a character before the reference"
    );
    // A cycle of twelve.
    let cycle: Vec<_> = (0..12).map(|rule| refs(&[(rule + 1) % 12])).collect();
    assert_eq!(
        message(&cycle),
        "rule 0, element 0, the rule refers to itself before any character \
         (0 → 1 → 2 → 3 → 4 → 5 → 6 → 7 → … (12 rules) → 0): \
         put a character before the reference"
    );
}

#[test]
fn left_recursion_out_of_reach_does_no_harm() {
    let rules = vec![vec![Element::char('a'), Element::end()], refs(&[1])];
    let mut matcher = Grammar::new(rules.clone(), 0).unwrap().matcher();
    assert_eq!(matcher.accept(b"a"), Ok(()));
    assert!(Grammar::new(rules, 1).is_err());
}

#[test]
fn a_text_without_end_is_fine() {
    let rules = vec![vec![Element::char('a'), Element::rule_ref(0), Element::end()]];
    let mut matcher = Grammar::new(rules, 0).unwrap().matcher();
    for _ in 0..1_000 {
        assert_eq!(matcher.accept(b"aaa"), Ok(()));
        assert!(!matcher.may_end());
    }
    assert_eq!(matcher.allows(b"ab"), Ok(false));
}

#[test]
fn the_start_rule_is_any_of_them() {
    let rules =
        vec![vec![Element::char('a'), Element::end()], vec![Element::char('b'), Element::rule_ref(0), Element::end()]];
    let grammar = Grammar::new(rules.clone(), 1).unwrap();
    assert_eq!((grammar.start(), grammar.rules()), (1, &rules[..]));
    assert_eq!(grammar.rule_name(0), None);
    assert_eq!(grammar.matcher().allows(b"ba"), Ok(true));
    assert_eq!(grammar.matcher().allows(b"a"), Ok(false));
}

const DEEP: u32 = 20_000;

/// Rules that refer to the next one each, and the last one to a character.
fn chain(rule: impl Fn(Element) -> Vec<Element>) -> Grammar {
    let mut rules: Vec<_> = (1..=DEEP).map(|next| rule(Element::rule_ref(next))).collect();
    rules.push(vec![Element::char('x'), Element::end()]);
    Grammar::new(rules, 0).unwrap()
}

#[test]
fn deep_chains() {
    let units = chain(|next| vec![next, Element::end()]);
    assert!(super::matches("x", &units));

    let wrapped = chain(|next| vec![Element::char('('), next, Element::char(')'), Element::end()]);
    let depth = DEEP as usize;
    let text = format!("{}x{}", "(".repeat(depth), ")".repeat(depth));
    let mut matcher = wrapped.matcher();
    assert_eq!(matcher.accept(text.as_bytes()), Ok(()));
    assert!(matcher.may_end());
    assert_eq!(wrapped.matcher().allows(&text.as_bytes()[1..]), Ok(false));

    let followed = chain(|next| vec![next, Element::char('!'), Element::end()]);
    assert!(super::matches(&format!("x{}", "!".repeat(depth)), &followed));
    assert!(!super::matches(&format!("x{}", "!".repeat(depth - 1)), &followed));

    let optional = chain(|next| vec![next, Element::alt(), Element::end()]);
    assert!(super::matches("", &optional) && super::matches("x", &optional));
    assert!(!super::matches("xx", &optional));
}

#[test]
fn deep_cycles() {
    let mut rules: Vec<_> = (1..=DEEP).map(|next| refs(&[next])).collect();
    rules.push(refs(&[0]));
    let Err(GrammarError::LeftRecursion { cycle, element: 0 }) = Grammar::new(rules, 0) else {
        panic!("expected left recursion");
    };
    assert_eq!(cycle, (0..=DEEP as usize).collect::<Vec<_>>());
}

#[test]
fn memory_is_counted() {
    let small = Grammar::new(vec![refs(&[])], 0).unwrap().memsize();
    let large = chain(|next| vec![next, Element::end()]).memsize();
    let elements = 2 * DEEP as usize * size_of::<Element>();
    assert!(small < 10_000, "{small}");
    assert!((elements..20 * elements).contains(&large), "{large}");
}
