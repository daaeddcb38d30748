//! Rules in the form that the engine runs.

use std::collections::HashMap;
use std::ops::Range;

use super::chars::{Alphabet, CharClass};
use super::element::{Element, ElementType};
use super::error::GrammarError;
use super::order;

/// One step of an alternate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// The text is complete.
    Accept,
    /// The alternate is complete.
    Stop,
    /// A character of this class.
    Class(u32),
    /// All that this rule matches.
    Call(u32),
}

/// A rule: its alternates, and whether it matches the empty text.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) alternates: Range<u32>,
    pub(super) nullable: bool,
}

/// The rules that can be reached from the start rule.
///
/// They are numbered so that a rule comes after all rules that may call it before they have read a
/// character. Such an order exists since there is no left recursion.
#[derive(Clone, Debug)]
pub(super) struct Program {
    /// All alternates, one after the other. `ACCEPT` and `START` come first.
    items: Vec<Item>,
    /// The first item of each alternate, rule by rule.
    alternates: Vec<u32>,
    rules: Vec<Rule>,
    classes: Vec<CharClass>,
    pub(super) alphabet: Alphabet,
}

/// The item `Accept`.
pub(super) const ACCEPT: u32 = 0;
/// A call of the start rule, followed by `Stop`.
pub(super) const START: u32 = 1;

impl Program {
    /// Compiles rules that have passed the checks of `validate`.
    pub(super) fn compile(rules: &[Vec<Element>], start: usize) -> Result<Self, GrammarError> {
        let draft = Draft::of(rules, start)?;
        let order = order::sort(&draft)?;

        let mut items = draft.items;
        for item in &mut items {
            if let Item::Call(rule) = item {
                *rule = order.position[*rule as usize];
            }
        }
        let mut alternates = Vec::with_capacity(draft.alternates.len());
        let mut sorted = Vec::with_capacity(draft.rules.len());
        for &rule in &order.rules {
            let first = alternates.len() as u32;
            let own = draft.rules[rule as usize].alternates.clone();
            alternates.extend_from_slice(&draft.alternates[own.start as usize..own.end as usize]);
            sorted.push(Rule { alternates: first..alternates.len() as u32, nullable: order.nullable[rule as usize] });
        }
        let alphabet = Alphabet::of(draft.classes.iter());
        Ok(Self { items, alternates, rules: sorted, classes: draft.classes, alphabet })
    }

    pub(super) fn item(&self, position: u32) -> Item {
        self.items[position as usize]
    }

    /// The first items of a rule's alternates.
    pub(super) fn alternates(&self, rule: u32) -> &[u32] {
        let own = &self.rules[rule as usize].alternates;
        &self.alternates[own.start as usize..own.end as usize]
    }

    pub(super) fn nullable(&self, rule: u32) -> bool {
        self.rules[rule as usize].nullable
    }

    /// The class at a position, if there is one.
    pub(super) fn class(&self, position: u32) -> Option<&CharClass> {
        match self.item(position) {
            Item::Class(class) => self.classes.get(class as usize),
            _ => None,
        }
    }

    pub(super) fn memsize(&self) -> usize {
        let ranges: usize = self.classes.iter().map(|class| size_of_val(class.ranges())).sum();
        self.items.capacity() * size_of::<Item>()
            + self.alternates.capacity() * size_of::<u32>()
            + self.rules.capacity() * size_of::<Rule>()
            + self.classes.capacity() * size_of::<CharClass>()
            + ranges
            + self.alphabet.memsize()
    }
}

/// A program before its rules are in order.
pub(super) struct Draft {
    pub(super) items: Vec<Item>,
    /// The element that each item was made from.
    pub(super) elements: Vec<u32>,
    pub(super) alternates: Vec<u32>,
    pub(super) rules: Vec<Rule>,
    /// The number that each rule has in the grammar.
    pub(super) numbers: Vec<usize>,
    classes: Vec<CharClass>,
}

impl Draft {
    fn of(rules: &[Vec<Element>], start: usize) -> Result<Self, GrammarError> {
        let mut draft = Self {
            items: vec![Item::Accept, Item::Call(0), Item::Stop],
            elements: vec![0, 0, 0],
            alternates: Vec::new(),
            rules: Vec::new(),
            numbers: vec![start],
            classes: Vec::new(),
        };
        let mut known: HashMap<usize, u32> = HashMap::from([(start, 0)]);
        let mut classes: HashMap<CharClass, u32> = HashMap::new();

        while let Some(&number) = draft.numbers.get(draft.rules.len()) {
            let Some(elements) = rules.get(number) else {
                break;
            };
            let first = draft.alternates.len() as u32;
            draft.alternates.push(draft.items.len() as u32);
            let mut at = 0;
            while let Some(element) = elements.get(at) {
                let (item, length) = match element.kind {
                    ElementType::End | ElementType::Alt => (Item::Stop, 1),
                    ElementType::RuleRef => {
                        let numbers = &mut draft.numbers;
                        let called = element.value as usize;
                        let rule = *known.entry(called).or_insert_with(|| {
                            numbers.push(called);
                            numbers.len() as u32 - 1
                        });
                        (Item::Call(rule), 1)
                    }
                    _ => {
                        let (class, length) = CharClass::read(&elements[at..]);
                        if class.is_empty() {
                            return Err(GrammarError::EmptyClass { rule: number, element: at });
                        }
                        let found = &mut draft.classes;
                        let class = *classes.entry(class).or_insert_with_key(|class| {
                            found.push(class.clone());
                            found.len() as u32 - 1
                        });
                        (Item::Class(class), length.max(1))
                    }
                };
                draft.items.push(item);
                draft.elements.push(at as u32);
                if element.kind == ElementType::Alt {
                    draft.alternates.push(draft.items.len() as u32);
                }
                at += length;
            }
            draft.rules.push(Rule { alternates: first..draft.alternates.len() as u32, nullable: false });
        }
        Ok(draft)
    }

    /// The items of an alternate with their positions, without its `Stop`.
    pub(super) fn alternate(&self, first: u32) -> impl Iterator<Item = (u32, Item)> + '_ {
        let rest = self.items.get(first as usize..).unwrap_or_default();
        (first..).zip(rest.iter().copied()).take_while(|&(_, item)| item != Item::Stop)
    }

    /// The first items of a rule's alternates.
    pub(super) fn alternates(&self, rule: usize) -> &[u32] {
        let own = &self.rules[rule].alternates;
        &self.alternates[own.start as usize..own.end as usize]
    }
}
