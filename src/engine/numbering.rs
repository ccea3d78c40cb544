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
    /// The space, as it is numbered here.
    space: u16,
    /// The numbers of the space in the whole state, up to the greatest in the component, one bit each.
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
    /// The spaces that were met, each of them a number from here on.
    spaces: Vec<u16>,
    /// For each space, the slots in which it was met, with the numbers that each component there has.
    held: Vec<Vec<(u16, Vec<u64>)>>,
    renamed: HashMap<Renaming, u32, FxBuildHasher>,
}

impl Numbering {
    /// The spaces in which there may be a gap after these changes of a normal state: where a component lost a number, or
    /// gained one that need not follow the greatest.
    pub fn disturbed(&self, before: &[u32], changes: &[(u16, u32)]) -> Vec<u16> {
        let mut spaces = Vec::new();
        for &(slot, after) in changes {
            let used = &self.used[usize::from(slot)];
            let (before, after) = (used[before[usize::from(slot)] as usize], used[after as usize]);
            if before != after {
                self.compare(before, after, &mut spaces);
                self.compare(after, before, &mut spaces);
            }
        }
        spaces.sort_unstable();
        spaces.dedup();
        spaces
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

    /// Renames the numbers of these spaces in a state, and adds what it changes to `changes`: slots, what stood there,
    /// and what stands there now.
    ///
    /// # Errors
    ///
    /// When a renaming is not known yet.
    #[inline]
    pub fn normalise(
        &self,
        state: &mut [u32],
        spaces: &[u16],
        changes: &mut Vec<(u16, u32, u32)>,
    ) -> Result<(), Renaming> {
        for &space in spaces {
            let held = &self.held[usize::from(space)];
            let numbers = |slot: u16, id: u32, masks: &[u64]| {
                debug_assert_eq!(masks.get(id as usize).copied().unwrap_or(0), self.numbers_of(slot, id, space));
                masks.get(id as usize).copied().unwrap_or(0)
            };
            let all = held.iter().fold(0, |all, (slot, masks)| all | numbers(*slot, state[usize::from(*slot)], masks));
            let gap = !all & all.wrapping_add(1);
            if all < gap {
                continue;
            }
            for (slot, masks) in held {
                let id = state[usize::from(*slot)];
                // What lies below the gap stays as it is.
                let own = numbers(*slot, id, masks);
                if own > gap {
                    // Nor does what lies above matter.
                    let renaming = Renaming { slot: *slot, id, space, all: all & (u64::MAX >> own.leading_zeros()) };
                    let renamed = *self.renamed.get(&renaming).ok_or(renaming)?;
                    state[usize::from(*slot)] = renamed;
                    changes.push((*slot, id, renamed));
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
        system.renumber(&mut component, self.spaces[usize::from(space)], &rank);
        let renamed = interner.intern(slot, component);
        self.note_new(system, interner)?;
        self.renamed.insert(renaming, renamed);
        Ok(())
    }

    fn numbers_of(&self, slot: u16, id: u32, space: u16) -> u64 {
        let pattern = &self.patterns[self.used[usize::from(slot)][id as usize] as usize];
        pattern.iter().find(|(other, _)| *other == space).map_or(0, |(_, numbers)| *numbers)
    }

    /// Looks at each component once, when it is new.
    pub fn note_new<S: System>(&mut self, system: &S, interner: &Interner<S::Component>) -> Result<(), TooManyNumbers> {
        self.used.resize_with(interner.width(), Vec::new);
        for slot in 0..interner.width() {
            while self.used[slot].len() < interner.len(slot) {
                let id = u32::try_from(self.used[slot].len()).expect("component ids are 32 bits");
                let mut pattern = pattern(system, interner.get(slot, id))?;
                for (space, numbers) in &mut pattern {
                    *space = self.space_index(*space);
                    self.hold(slot, id, *space, *numbers);
                }
                let index = self.pattern_index(pattern);
                self.used[slot].push(index);
            }
        }
        Ok(())
    }

    fn space_index(&mut self, space: u16) -> u16 {
        let known = self.spaces.iter().position(|other| *other == space);
        let index = known.unwrap_or_else(|| {
            self.spaces.push(space);
            self.held.push(Vec::new());
            self.spaces.len() - 1
        });
        u16::try_from(index).expect("spaces are 16 bits")
    }

    /// Notes which numbers of a space a component has.
    fn hold(&mut self, slot: usize, id: u32, space: u16, numbers: u64) {
        let slot = u16::try_from(slot).expect("a state has fewer than 65,536 slots");
        let held = &mut self.held[usize::from(space)];
        let at = held.iter().position(|(other, _)| *other == slot).unwrap_or_else(|| {
            held.push((slot, Vec::new()));
            held.len() - 1
        });
        let masks = &mut held[at].1;
        masks.resize(id as usize, 0);
        masks.push(numbers);
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
