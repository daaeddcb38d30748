//! Two slow ways to tell what a grammar allows, by which the engine is measured.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{Element, ElementType};

fn ends_alternate(element: Element) -> bool {
    matches!(element.kind, ElementType::End | ElementType::Alt)
}

/// The first elements of all alternates.
fn alternates(rule: &[Element]) -> Vec<usize> {
    let after_alt = (0..rule.len()).filter(|&at| rule[at].kind == ElementType::Alt).map(|at| at + 1);
    std::iter::once(0).chain(after_alt).collect()
}

/// Whether the class at `at` has the character, and where the class ends.
fn class(rule: &[Element], mut at: usize, character: u32) -> (bool, usize) {
    let positive = rule[at].kind == ElementType::Char;
    let mut found = false;
    loop {
        let low = rule[at].value;
        at += 1;
        let mut high = low;
        if rule[at].kind == ElementType::CharRngUpper {
            high = rule[at].value;
            at += 1;
        }
        found |= (low..=high).contains(&character);
        if rule[at].kind != ElementType::CharAlt {
            return (found == positive, at);
        }
    }
}

/// A stack for each way of reading, written out in full.
pub(super) struct Stacks<'a> {
    rules: &'a [Vec<Element>],
    pub(super) stacks: BTreeSet<Vec<(usize, usize)>>,
}

impl<'a> Stacks<'a> {
    pub(super) fn new(rules: &'a [Vec<Element>], start: usize) -> Self {
        let mut new = Self { rules, stacks: BTreeSet::new() };
        for first in alternates(&rules[start]) {
            new.expand(vec![(start, first)]);
        }
        new
    }

    fn expand(&mut self, mut stack: Vec<(usize, usize)>) {
        let Some(&(rule, at)) = stack.last() else {
            self.stacks.insert(stack);
            return;
        };
        let element = self.rules[rule][at];
        if ends_alternate(element) {
            stack.pop();
            self.expand(stack);
        } else if element.kind == ElementType::RuleRef {
            stack.pop();
            stack.push((rule, at + 1));
            let called = element.value as usize;
            for first in alternates(&self.rules[called]) {
                let mut inner = stack.clone();
                inner.push((called, first));
                self.expand(inner);
            }
        } else {
            self.stacks.insert(stack);
        }
    }

    pub(super) fn read(&self, character: char) -> Self {
        let mut new = Self { rules: self.rules, stacks: BTreeSet::new() };
        for stack in &self.stacks {
            let Some(&(rule, at)) = stack.last() else {
                continue;
            };
            let (matches, after) = class(&self.rules[rule], at, character.into());
            if matches {
                let mut stack = stack.clone();
                stack.pop();
                stack.push((rule, after));
                new.expand(stack);
            }
        }
        new
    }
}

/// Where rules can end in a text, by their definition.
pub(super) struct Ends<'a> {
    rules: &'a [Vec<Element>],
    text: Vec<char>,
    known: BTreeMap<(usize, usize), BTreeSet<usize>>,
}

impl<'a> Ends<'a> {
    /// Whether the rule `start` matches the text as a whole.
    pub(super) fn matches(rules: &'a [Vec<Element>], start: usize, text: &[char]) -> bool {
        let mut ends = Self { rules, text: text.to_vec(), known: BTreeMap::new() };
        ends.of_rule(start, 0).contains(&text.len())
    }

    fn of_rule(&mut self, rule: usize, from: usize) -> BTreeSet<usize> {
        if let Some(known) = self.known.get(&(rule, from)) {
            return known.clone();
        }
        let mut all = BTreeSet::new();
        for mut at in alternates(&self.rules[rule]) {
            let mut here = BTreeSet::from([from]);
            loop {
                let element = self.rules[rule][at];
                if ends_alternate(element) {
                    break;
                }
                let mut next = BTreeSet::new();
                if element.kind == ElementType::RuleRef {
                    for &from in &here {
                        next.extend(self.of_rule(element.value as usize, from));
                    }
                    at += 1;
                } else {
                    for &from in &here {
                        if let Some(&character) = self.text.get(from) {
                            if class(&self.rules[rule], at, character.into()).0 {
                                next.insert(from + 1);
                            }
                        }
                    }
                    at = class(&self.rules[rule], at, 0).1;
                }
                here = next;
            }
            all.extend(here);
        }
        self.known.insert((rule, from), all.clone());
        all
    }
}

/// Whether a rule that can be reached from `start` can lead to itself before any character.
pub(super) fn is_left_recursive(rules: &[Vec<Element>], start: usize) -> bool {
    let count = rules.len();
    let items = |rule: usize, first: usize| {
        rules[rule][first..].iter().copied().take_while(|&element| !ends_alternate(element))
    };

    let mut nullable = vec![false; count];
    for _ in 0..count {
        for rule in 0..count {
            nullable[rule] |= alternates(&rules[rule]).into_iter().any(|first| {
                items(rule, first)
                    .all(|element| element.kind == ElementType::RuleRef && nullable[element.value as usize])
            });
        }
    }

    let mut first = vec![vec![false; count]; count];
    let mut any = vec![vec![false; count]; count];
    for rule in 0..count {
        for alternate in alternates(&rules[rule]) {
            let mut at_start = true;
            for element in items(rule, alternate) {
                let called = element.value as usize;
                if element.kind == ElementType::RuleRef {
                    any[rule][called] = true;
                    first[rule][called] |= at_start;
                    at_start &= nullable[called];
                } else {
                    at_start = false;
                }
            }
        }
    }
    for closure in [&mut first, &mut any] {
        for via in 0..count {
            for from in 0..count {
                for to in 0..count {
                    closure[from][to] |= closure[from][via] && closure[via][to];
                }
            }
        }
    }
    (0..count).any(|rule| first[rule][rule] && (rule == start || any[start][rule]))
}
