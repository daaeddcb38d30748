//! The ways in which a grammar can have read a text so far.
//!
//! A way is a stack: the item to be read now, the item to go on with when its rule is complete, and
//! so on down to `Accept`. Many stacks share much, so they are kept as sets: a [`Place`] is an item
//! with the *set* of places to go on with, and equal sets are one set with one number. All calls of
//! a rule at the same point of the text share one set, which is what keeps ambiguous grammars small.
//! A call in last position adds no set of its own: a list that is written by recursion on the right
//! does not grow.
//!
//! A whole state is such a set too, of places that read a character (or accept). So states that are
//! equal have one number, and where a character leads from a state is remembered.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use super::error::TooComplex;
use super::program::{Item, Program, ACCEPT, START};

/// Bytes that the stacks of a text may take. What is remembered besides may take as much again.
pub(super) const MAX_MEMORY: usize = 16 << 20;
/// Up to this number of bytes nothing is cleared away.
const KEPT_MEMORY: usize = 4 << 20;
/// Steps that one call may take: about a quarter of a second.
const MAX_STEPS: u64 = 1 << 23;
/// Steps that one character may take; this bounds the memory that one character can need.
const MAX_STEPS_PER_CHARACTER: u64 = 1 << 21;

/// The number of a set.
pub(super) type SetId = u32;

/// The set that every stack ends in: accept.
const BOTTOM: SetId = 0;
/// The empty set. As a state: there is no way to read the text.
pub(super) const DEAD: SetId = 1;

/// An item, and where to go on after its rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Place {
    position: u32,
    then: SetId,
}

/// Stands for all places of the set `then`.
const ALL: u32 = u32::MAX;

/// The sets of stacks of one grammar, and the moves between them that are known.
#[derive(Clone, Debug)]
pub(super) struct Stacks {
    sets: Vec<Arc<[Place]>>,
    numbers: HashMap<Arc<[Place]>, SetId>,
    /// From a set and a symbol to a set.
    moves: HashMap<u64, SetId, BuildHasherDefault<Mixer>>,
    /// Bytes that `sets` and `numbers` take.
    memory: usize,
    /// Bytes beyond which it is time to clear away.
    threshold: usize,
}

impl Stacks {
    /// The stacks at the start of the text, and their number.
    pub(super) fn new(program: &Program) -> Result<(Self, SetId), TooComplex> {
        let mut stacks = Self::empty();
        let start = Place { position: START, then: BOTTOM };
        let at = stacks.close(program, vec![start], &mut Steps::default())?;
        Ok((stacks, at))
    }

    fn empty() -> Self {
        let mut stacks = Self {
            sets: Vec::new(),
            numbers: HashMap::new(),
            moves: HashMap::default(),
            memory: 0,
            threshold: KEPT_MEMORY,
        };
        stacks.add(Arc::from([Place { position: ACCEPT, then: BOTTOM }]));
        stacks.add(Arc::from([]));
        stacks
    }

    fn places(&self, set: SetId) -> &[Place] {
        &self.sets[set as usize]
    }

    /// Whether the text may end in this state.
    pub(super) fn accepts(&self, state: SetId) -> bool {
        // Places are sorted, and `ACCEPT` is the smallest position.
        self.places(state).first().is_some_and(|place| place.position == ACCEPT)
    }

    /// Whether a character that is one of `low..=high` may go on.
    pub(super) fn may_read(
        &self,
        program: &Program,
        state: SetId,
        (low, high): (u32, u32),
        steps: &mut Steps,
    ) -> Result<bool, TooComplex> {
        steps.start_character();
        let places = self.places(state);
        steps.scan(places.len())?;
        Ok(places.iter().any(|place| program.class(place.position).is_some_and(|class| class.may_match(low, high))))
    }

    /// The state after a character, if that move is known.
    pub(super) fn known_move(&self, state: SetId, symbol: u32) -> Option<SetId> {
        self.moves.get(&key(state, symbol)).copied()
    }

    /// The state after a character.
    pub(super) fn read(
        &mut self,
        program: &Program,
        state: SetId,
        symbol: u32,
        code_point: u32,
        steps: &mut Steps,
    ) -> Result<SetId, TooComplex> {
        steps.start_character();
        let places = self.places(state);
        steps.scan(places.len())?;
        let matching =
            places.iter().filter(|place| program.class(place.position).is_some_and(|class| class.matches(code_point)));
        let after = matching.map(|place| Place { position: place.position + 1, then: place.then }).collect();
        let to = self.close(program, after, steps)?;
        self.moves.insert(key(state, symbol), to);
        Ok(to)
    }

    /// The state from which all of `places` can be reached without a character.
    fn close(&mut self, program: &Program, mut places: Vec<Place>, steps: &mut Steps) -> Result<SetId, TooComplex> {
        let mut state = Vec::new();
        let mut calls = Calls::default();

        // Returns from rules that were called at earlier characters.
        let mut seen = HashSet::new();
        while let Some(mut place) = places.pop() {
            let item = program.item(place.position);
            if item == Item::Stop {
                // All that ends into the same set is the same.
                place.position = ALL;
            }
            if !seen.insert(place) {
                continue;
            }
            steps.take(1)?;
            match item {
                Item::Accept | Item::Class(_) => state.push(place),
                Item::Stop => {
                    let then = self.places(place.then);
                    steps.take(then.len())?;
                    places.extend_from_slice(then);
                }
                Item::Call(rule) => {
                    calls.add(program, rule, place);
                    if program.nullable(rule) {
                        places.push(Place { position: place.position + 1, then: place.then });
                    }
                }
            }
        }

        // Calls. The callers of a rule are all known when its turn comes: see `Program`.
        while let Some((rule, then)) = calls.next(self, steps)? {
            for &first in program.alternates(rule) {
                let mut place = Place { position: first, then };
                loop {
                    steps.take(1)?;
                    match program.item(place.position) {
                        Item::Accept | Item::Class(_) => state.push(place),
                        // The callers have gone on by themselves, since the rule is nullable.
                        Item::Stop => {}
                        Item::Call(called) => {
                            calls.add(program, called, place);
                            if program.nullable(called) {
                                place.position += 1;
                                continue;
                            }
                        }
                    }
                    break;
                }
            }
        }
        Ok(self.number(state))
    }

    /// The number of the set of these places.
    fn number(&mut self, mut places: Vec<Place>) -> SetId {
        places.sort_unstable();
        places.dedup();
        match self.numbers.get(places.as_slice()) {
            Some(&number) => number,
            None => self.add(places.into()),
        }
    }

    fn add(&mut self, places: Arc<[Place]>) -> SetId {
        // Far fewer than 2^32 fit into the memory that they may take.
        let number = self.sets.len() as SetId;
        self.memory += cost(places.len());
        self.sets.push(Arc::clone(&places));
        self.numbers.insert(places, number);
        number
    }

    /// Whether there is so much that [`Stacks::keep_only`] should be called.
    pub(super) fn is_crowded(&self) -> bool {
        self.memory + self.moves.len() * MOVE_COST > self.threshold
    }

    /// Forgets everything but these states, and gives them their new numbers.
    ///
    /// Fails if they alone take more than [`MAX_MEMORY`]; they are kept nevertheless.
    pub(super) fn keep_only(&mut self, states: &mut [SetId], steps: &mut Steps) -> Result<(), TooComplex> {
        let mut kept = vec![false; self.sets.len()];
        let mut open: Vec<SetId> = states.to_vec();
        while let Some(set) = open.pop() {
            if !std::mem::replace(&mut kept[set as usize], true) {
                open.extend(self.places(set).iter().map(|place| place.then));
            }
        }

        let old = std::mem::replace(self, Self::empty());
        let mut renumbered = vec![DEAD; old.sets.len()];
        renumbered[BOTTOM as usize] = BOTTOM;
        // A set is numbered after all sets that its places lead to.
        for (number, places) in old.sets.iter().enumerate().skip(self.sets.len()) {
            if kept[number] {
                let places = places
                    .iter()
                    .map(|place| Place { position: place.position, then: renumbered[place.then as usize] });
                // Numbers keep their order, so the places are sorted still.
                renumbered[number] = self.add(places.collect());
            }
        }
        for state in states {
            *state = renumbered[*state as usize];
        }
        self.threshold = (2 * self.memory).clamp(KEPT_MEMORY, 2 * MAX_MEMORY);
        if self.memory > MAX_MEMORY {
            return Err(TooComplex::Memory(MAX_MEMORY));
        }
        steps.start_character();
        steps.take(old.memory / 64)
    }

    /// Bytes on the heap.
    pub(super) fn memsize(&self) -> usize {
        self.memory + self.moves.capacity() * MOVE_COST
    }
}

/// What a set takes, in bytes: its places, two counters, two pointers to it, its number, the hash
/// table's share.
fn cost(places: usize) -> usize {
    places * size_of::<Place>() + 96
}

/// What a known move takes, in bytes.
const MOVE_COST: usize = size_of::<(u64, SetId)>() + 1;

fn key(state: SetId, symbol: u32) -> u64 {
    u64::from(state) << 32 | u64::from(symbol)
}

/// Calls of rules at one point of the text, in the order of the rules.
#[derive(Default)]
struct Calls(BinaryHeap<Reverse<(u32, Place)>>);

impl Calls {
    /// Adds the call at a place.
    fn add(&mut self, program: &Program, rule: u32, place: Place) {
        let after = place.position + 1;
        let position = match program.item(after) {
            Item::Stop => ALL,
            _ => after,
        };
        let then = place.then;
        self.0.push(Reverse((rule, Place { position, then })));
    }

    /// The next rule that is called, and the set of places to go on with after it.
    fn next(&mut self, stacks: &mut Stacks, steps: &mut Steps) -> Result<Option<(u32, SetId)>, TooComplex> {
        let Some(Reverse((rule, first))) = self.0.pop() else {
            return Ok(None);
        };
        let mut callers = vec![first];
        while let Some(&Reverse((next, place))) = self.0.peek() {
            if next != rule {
                break;
            }
            self.0.pop();
            if callers.last() != Some(&place) {
                callers.push(place);
            }
        }
        if let [Place { position: ALL, then }] = callers[..] {
            return Ok(Some((rule, then)));
        }
        let mut places = Vec::with_capacity(callers.len());
        for place in callers {
            if place.position == ALL {
                let then = stacks.places(place.then);
                steps.take(then.len())?;
                places.extend_from_slice(then);
            } else {
                places.push(place);
            }
        }
        steps.take(places.len())?;
        Ok(Some((rule, stacks.number(places))))
    }
}

/// Counts what one call has done, so that it ends.
#[derive(Default)]
pub(super) struct Steps {
    call: u64,
    character: u64,
}

impl Steps {
    fn start_character(&mut self) {
        self.character = 0;
    }

    fn take(&mut self, steps: usize) -> Result<(), TooComplex> {
        let steps = steps as u64;
        self.call += steps;
        self.character += steps;
        if self.character > MAX_STEPS_PER_CHARACTER {
            Err(TooComplex::Steps(MAX_STEPS_PER_CHARACTER))
        } else if self.call > MAX_STEPS {
            Err(TooComplex::Steps(MAX_STEPS))
        } else {
            Ok(())
        }
    }

    /// Looking at a place is cheaper than following it.
    fn scan(&mut self, places: usize) -> Result<(), TooComplex> {
        self.take(1 + places / 8)
    }
}

/// Spreads the bits of the one number that it is given.
#[derive(Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(self.0 ^ u64::from(byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        let product = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = product ^ (product >> 32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
