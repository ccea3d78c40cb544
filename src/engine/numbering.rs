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

/// Brings states into the form in which the numbers of each space are 0, 1, 2, ...
#[derive(Default)]
pub struct Numbering {
    /// For each component, the spaces that occur in it and one bit per number.
    used: Vec<Box<[(u16, u64)]>>,
    renamed: HashMap<(u32, u16, u64), u32, FxBuildHasher>,
    affected: Vec<u16>,
}

impl Numbering {
    /// Normalises all spaces of a state.
    pub fn normalise_all<S: System>(
        &mut self,
        system: &S,
        interner: &mut Interner<S::Component>,
        state: &mut [u32],
    ) -> Result<(), TooManyNumbers> {
        self.note_new(system, interner)?;
        let mut spaces = std::mem::take(&mut self.affected);
        spaces.clear();
        spaces.extend(state.iter().flat_map(|&id| self.used[id as usize].iter().map(|(space, _)| *space)));
        self.normalise(system, interner, state, spaces)
    }

    /// Normalises a successor of a normal state, of which only the slots in `writes` differ.
    pub fn normalise_after<S: System>(
        &mut self,
        system: &S,
        interner: &mut Interner<S::Component>,
        before: &[u32],
        state: &mut [u32],
        writes: &[(u16, u32)],
    ) -> Result<(), TooManyNumbers> {
        self.note_new(system, interner)?;
        let mut spaces = std::mem::take(&mut self.affected);
        spaces.clear();
        for &(slot, after) in writes {
            // A gap arises where a component lost a number, or gained one that does not follow the greatest.
            for (space, numbers) in &self.used[before[usize::from(slot)] as usize] {
                if numbers & !self.numbers_of(after, *space) != 0 {
                    spaces.push(*space);
                }
            }
            for (space, numbers) in &self.used[after as usize] {
                if numbers & !self.numbers_of(before[usize::from(slot)], *space) != 0 {
                    spaces.push(*space);
                }
            }
        }
        self.normalise(system, interner, state, spaces)
    }

    fn normalise<S: System>(
        &mut self,
        system: &S,
        interner: &mut Interner<S::Component>,
        state: &mut [u32],
        mut spaces: Vec<u16>,
    ) -> Result<(), TooManyNumbers> {
        spaces.sort_unstable();
        spaces.dedup();
        for &space in &spaces {
            let all = state.iter().fold(0, |all, &id| all | self.numbers_of(id, space));
            if all & all.wrapping_add(1) == 0 {
                continue;
            }
            for id in state.iter_mut() {
                if self.numbers_of(*id, space) != 0 {
                    *id = self.rename(system, interner, *id, space, all)?;
                }
            }
        }
        self.affected = spaces;
        Ok(())
    }

    fn rename<S: System>(
        &mut self,
        system: &S,
        interner: &mut Interner<S::Component>,
        id: u32,
        space: u16,
        all: u64,
    ) -> Result<u32, TooManyNumbers> {
        if let Some(&renamed) = self.renamed.get(&(id, space, all)) {
            return Ok(renamed);
        }
        let mut component = interner.get(id).clone();
        let rank = |number: u16| {
            let below = all & ((1_u64 << number) - 1);
            u16::try_from(below.count_ones()).expect("a rank is below 64")
        };
        system.renumber(&mut component, space, &rank);
        let renamed = interner.intern(component);
        self.note_new(system, interner)?;
        self.renamed.insert((id, space, all), renamed);
        Ok(renamed)
    }

    fn numbers_of(&self, id: u32, space: u16) -> u64 {
        let used = &self.used[id as usize];
        used.iter().find(|(other, _)| *other == space).map_or(0, |(_, numbers)| *numbers)
    }

    /// Looks at each component once, when it is new.
    fn note_new<S: System>(&mut self, system: &S, interner: &Interner<S::Component>) -> Result<(), TooManyNumbers> {
        while self.used.len() < interner.len() {
            let id = u32::try_from(self.used.len()).expect("component ids are 32 bits");
            let mut used: Vec<(u16, u64)> = Vec::new();
            let mut too_many = false;
            system.numbers(interner.get(id), &mut |space, number| {
                if number >= NUMBERS {
                    too_many = true;
                    return;
                }
                match used.iter_mut().find(|(other, _)| *other == space) {
                    Some((_, numbers)) => *numbers |= 1 << number,
                    None => used.push((space, 1 << number)),
                }
            });
            if too_many {
                return Err(TooManyNumbers);
            }
            self.used.push(used.into_boxed_slice());
        }
        Ok(())
    }
}
