//! Which rules match the empty text, and which rules call which before any character.
//!
//! Everything here is a loop with a stack of its own: grammars may be nested a million rules deep.

use super::error::GrammarError;
use super::program::{Draft, Item};

/// The rules of a draft in order.
pub(super) struct Order {
    /// The rules, each before those that it may call before any character.
    pub(super) rules: Vec<u32>,
    /// Where each rule is in `rules`.
    pub(super) position: Vec<u32>,
    /// Whether each rule matches the empty text.
    pub(super) nullable: Vec<bool>,
}

/// Sorts the rules, or finds a cycle.
pub(super) fn sort(draft: &Draft) -> Result<Order, GrammarError> {
    let nullable = nullable(draft);
    let calls = first_calls(draft, &nullable);
    let mut rules = finish_order(draft, &calls)?;
    rules.reverse();
    let mut position = vec![0; rules.len()];
    for (index, &rule) in rules.iter().enumerate() {
        position[rule as usize] = index as u32;
    }
    Ok(Order { rules, position, nullable })
}

fn nullable(draft: &Draft) -> Vec<bool> {
    struct Alternate {
        rule: usize,
        /// Calls of rules that are not known to be nullable.
        missing: usize,
    }

    let mut nullable = vec![false; draft.rules.len()];
    let mut alternates = Vec::new();
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); draft.rules.len()];
    let mut found = Vec::new();
    for (rule, own) in nullable.iter_mut().enumerate() {
        for &first in draft.alternates(rule) {
            let items = || draft.alternate(first).map(|(_, item)| item);
            if items().any(|item| matches!(item, Item::Class(_))) {
                continue;
            }
            let mut missing = 0;
            for item in items() {
                if let Item::Call(called) = item {
                    callers[called as usize].push(alternates.len());
                    missing += 1;
                }
            }
            alternates.push(Alternate { rule, missing });
            if missing == 0 && !*own {
                *own = true;
                found.push(rule);
            }
        }
    }
    while let Some(rule) = found.pop() {
        for &caller in &callers[rule] {
            let alternate: &mut Alternate = &mut alternates[caller];
            alternate.missing -= 1;
            if alternate.missing == 0 && !nullable[alternate.rule] {
                nullable[alternate.rule] = true;
                found.push(alternate.rule);
            }
        }
    }
    nullable
}

/// A call that may happen before any character: the position of its item, and the rule.
type FirstCall = (u32, u32);

fn first_calls(draft: &Draft, nullable: &[bool]) -> Vec<Vec<FirstCall>> {
    let of_rule = |rule| {
        let mut calls = Vec::new();
        for &first in draft.alternates(rule) {
            for (position, item) in draft.alternate(first) {
                let Item::Call(called) = item else { break };
                calls.push((position, called));
                if !nullable[called as usize] {
                    break;
                }
            }
        }
        calls
    };
    (0..draft.rules.len()).map(of_rule).collect()
}

/// The rules in the order in which a depth-first walk along the calls leaves them.
fn finish_order(draft: &Draft, calls: &[Vec<FirstCall>]) -> Result<Vec<u32>, GrammarError> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }

    let mut marks = vec![Mark::New; calls.len()];
    let mut finished = Vec::with_capacity(calls.len());
    for root in 0..calls.len() {
        if marks[root] != Mark::New {
            continue;
        }
        // Each open rule, with the number of its calls that have been followed.
        let mut open = vec![(root, 0)];
        marks[root] = Mark::Open;
        while let Some((rule, followed)) = open.last_mut() {
            let Some(&(_, called)) = calls[*rule].get(*followed) else {
                marks[*rule] = Mark::Done;
                finished.push(*rule as u32);
                open.pop();
                continue;
            };
            *followed += 1;
            let called = called as usize;
            match marks[called] {
                Mark::Done => {}
                Mark::New => {
                    marks[called] = Mark::Open;
                    open.push((called, 0));
                }
                Mark::Open => {
                    let first = open.iter().position(|&(rule, _)| rule == called);
                    return Err(cycle(draft, calls, &open[first.unwrap_or(0)..]));
                }
            }
        }
    }
    Ok(finished)
}

fn cycle(draft: &Draft, calls: &[Vec<FirstCall>], open: &[(usize, usize)]) -> GrammarError {
    let item = open
        .first()
        .and_then(|&(rule, followed)| calls[rule].get(followed.saturating_sub(1)))
        .map_or(0, |&(position, _)| position);
    GrammarError::LeftRecursion {
        cycle: open.iter().map(|&(rule, _)| draft.numbers[rule]).collect(),
        element: draft.elements[item as usize] as usize,
    }
}
