//! Numbers that are only ever compared: states that differ by an order-preserving renaming of them are one state.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::System;
use super::intern::Interner;

/// Numbers of one space that a normal state may hold: 0 to 63.
const NUMBERS: u16 = 64;

/// A state holds more than 64 different numbers of one space.
#[derive(Debug)]
pub struct TooManyNumbers;

/// One renaming of one component that is not known yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Renaming {
    slot: u16,
    id: u32,
    space: u16,
    /// The numbers of the space in the whole state, one bit each.
    all: u64,
}

/// Brings states into the form in which the numbers of each space are 0, 1, 2, ...
#[derive(Default)]
pub struct Numbering {
    /// For each slot and component, its pattern.
    used: Vec<Vec<u32>>,
    /// The spaces that occur in a component, and one bit per number. Patterns are stored once.
    patterns: Vec<Box<[(u16, u64)]>>,
    known: HashMap<Box<[(u16, u64)]>, u32, FxBuildHasher>,
    renamed: HashMap<Renaming, u32, FxBuildHasher>,
}

impl Numbering {
    /// The spaces of a successor of a normal state in which there may be a gap: where a component lost a number, or
    /// gained one that need not follow the greatest.
    #[inline]
    pub fn disturbed(&self, before: &[u32], changes: &[(u16, u32)], spaces: &mut Vec<u16>) {
        spaces.clear();
        for &(slot, after) in changes {
            let used = &self.used[usize::from(slot)];
            let (before, after) = (used[before[usize::from(slot)] as usize], used[after as usize]);
            if before != after {
                self.compare(before, after, spaces);
                self.compare(after, before, spaces);
            }
        }
        if spaces.len() > 1 {
            spaces.sort_unstable();
            spaces.dedup();
        }
    }

    /// Adds the spaces of which the first pattern has a number that the second one lacks.
    fn compare(&self, one: u32, other: u32, spaces: &mut Vec<u16>) {
        let other = &self.patterns[other as usize];
        for &(space, numbers) in &self.patterns[one as usize] {
            let there = other.iter().find(|(theirs, _)| *theirs == space).map_or(0, |(_, numbers)| *numbers);
            if numbers & !there != 0 {
                spaces.push(space);
            }
        }
    }

    /// Every space that occurs in a state.
    pub fn all_spaces(&self, state: &[u32]) -> Vec<u16> {
        let patterns = self.used.iter().zip(state).map(|(used, &id)| &self.patterns[used[id as usize] as usize]);
        let mut spaces: Vec<u16> = patterns.flat_map(|pattern| pattern.iter().map(|(space, _)| *space)).collect();
        spaces.sort_unstable();
        spaces.dedup();
        spaces
    }

    /// Renames the numbers of these spaces in a state.
    ///
    /// # Errors
    ///
    /// When a renaming is not known yet.
    pub fn normalise(&self, state: &mut [u32], spaces: &[u16]) -> Result<(), Renaming> {
        for &space in spaces {
            let all = (0..state.len()).fold(0, |all, slot| all | self.numbers_of(slot, state[slot], space));
            if all & all.wrapping_add(1) == 0 {
                continue;
            }
            for (slot, id) in state.iter_mut().enumerate() {
                if self.numbers_of(slot, *id, space) != 0 {
                    let slot = u16::try_from(slot).expect("a state has fewer than 65,536 slots");
                    let renaming = Renaming { slot, id: *id, space, all };
                    *id = *self.renamed.get(&renaming).ok_or(renaming)?;
                }
            }
        }
        Ok(())
    }

    /// Gets to know a renaming.
    pub fn learn<S: System>(
        &mut self,
        system: &S,
        interner: &mut Interner<S::Component>,
        renaming: Renaming,
    ) -> Result<(), TooManyNumbers> {
        let Renaming { slot, id, space, all } = renaming;
        let slot = usize::from(slot);
        let mut component = interner.get(slot, id).clone();
        let rank = |number: u16| {
            let below = all & ((1_u64 << number) - 1);
            u16::try_from(below.count_ones()).expect("a rank is below 64")
        };
        system.renumber(&mut component, space, &rank);
        let renamed = interner.intern(slot, component);
        self.note_new(system, interner)?;
        self.renamed.insert(renaming, renamed);
        Ok(())
    }

    #[inline]
    fn numbers_of(&self, slot: usize, id: u32, space: u16) -> u64 {
        let pattern = &self.patterns[self.used[slot][id as usize] as usize];
        pattern.iter().find(|(other, _)| *other == space).map_or(0, |(_, numbers)| *numbers)
    }

    /// Looks at each component once, when it is new.
    pub fn note_new<S: System>(&mut self, system: &S, interner: &Interner<S::Component>) -> Result<(), TooManyNumbers> {
        self.used.resize_with(interner.width(), Vec::new);
        for slot in 0..interner.width() {
            while self.used[slot].len() < interner.len(slot) {
                let id = u32::try_from(self.used[slot].len()).expect("component ids are 32 bits");
                let pattern = pattern(system, interner.get(slot, id))?;
                let index = self.pattern_index(pattern);
                self.used[slot].push(index);
            }
        }
        Ok(())
    }

    fn pattern_index(&mut self, pattern: Box<[(u16, u64)]>) -> u32 {
        if let Some(&index) = self.known.get(&pattern) {
            return index;
        }
        let index = u32::try_from(self.patterns.len()).expect("fewer than 2^32 patterns fit in memory");
        self.patterns.push(pattern.clone());
        self.known.insert(pattern, index);
        index
    }
}

/// The numbers in a component: its spaces in order, and one bit per number.
fn pattern<S: System>(system: &S, component: &S::Component) -> Result<Box<[(u16, u64)]>, TooManyNumbers> {
    let mut used: Vec<(u16, u64)> = Vec::new();
    let mut too_many = false;
    system.numbers(component, &mut |space, number| {
        if number >= NUMBERS {
            too_many = true;
            return;
        }
        match used.binary_search_by_key(&space, |(other, _)| *other) {
            Ok(at) => used[at].1 |= 1 << number,
            Err(at) => used.insert(at, (space, 1 << number)),
        }
    });
    if too_many { Err(TooManyNumbers) } else { Ok(used.into_boxed_slice()) }
}
