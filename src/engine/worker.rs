//! Expands states: takes every action of each, and gathers where they lead and what they showed.

use std::collections::BTreeMap;

use super::System;
use super::closure::Closure;
use super::exploration::Found;
use super::filter::Filter;
use super::knowledge::{Knowledge, Miss, Move};
use super::packing::Layout;
use super::store::{Origin, Store};
use super::visited::{Shard, shard};

mod moves;

/// What all workers look at and none of them changes.
pub(super) struct Ground<'g, 's, S: System> {
    pub knowledge: &'g Knowledge<'s, S>,
    pub store: &'g Store,
    pub shards: &'g [Shard],
    /// States before this one have been expanded, or are being expanded.
    pub expanded: u32,
    /// Take only as many actions as are needed.
    pub reduce: bool,
    /// States are known by their hashes alone, once they were expanded.
    pub compact: bool,
    /// The kinds of reads for witnesses that are still of interest.
    pub interesting: u8,
    /// States with so many faults or more are not worth expanding.
    pub useful: u32,
    /// The causes that are known; `None`: nobody asks for them.
    pub causes: Option<&'g BTreeMap<(u8, u64), Found>>,
    /// For each property, the numbers of faults with which a violation is known, one bit each.
    pub known: &'g [u64; 64],
}

impl<S: System> Ground<'_, '_, S> {
    /// The index of a state that was found in an earlier batch.
    pub fn index_of(&self, hash: u64, packed: &[u64]) -> Option<u32> {
        self.shards[shard(hash)].find(hash, |index| Layout::same(self.store.packed(index), packed))
    }

    /// Whether a state was found in an earlier batch.
    pub fn is_found(&self, hash: u64, packed: &[u64]) -> bool {
        if self.compact { self.shards[shard(hash)].knows(hash) } else { self.index_of(hash, packed).is_some() }
    }

    /// Whether a state was found in an earlier batch and has been expanded, or is being expanded.
    fn is_expanded(&self, hash: u64, packed: &[u64]) -> bool {
        if self.compact {
            return self.shards[shard(hash)].is_expanded(hash);
        }
        self.index_of(hash, packed).is_some_and(|found| found < self.expanded)
    }
}

/// Successors, packed, in the order in which they were found.
#[derive(Default)]
pub(super) struct Records {
    words: Vec<u64>,
    pub hashes: Vec<u64>,
    pub origins: Vec<Origin>,
}

impl Records {
    pub const fn len(&self) -> usize {
        self.hashes.len()
    }

    #[inline]
    pub fn packed(&self, layout: &Layout, record: usize) -> &[u64] {
        let words = layout.words();
        &self.words[record * words..(record + 1) * words]
    }

    fn truncate(&mut self, layout: &Layout, len: usize) {
        self.words.truncate(len * layout.words());
        self.hashes.truncate(len);
        self.origins.truncate(len);
    }

    pub fn clear(&mut self) {
        self.words.clear();
        self.hashes.clear();
        self.origins.clear();
    }

    /// Moves the successors into another layout.
    pub fn repack(&mut self, old: &Layout, new: &Layout) {
        old.repack(new, &mut self.words);
    }
}

/// A violation that was seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub violated: u64,
    pub state: u32,
    /// The transition that shows it; `None`: the state itself does.
    pub transition: Option<u16>,
    pub faults: u8,
}

/// One transition, being made.
#[derive(Default)]
struct Step {
    renamed: Vec<(u16, u32, u32)>,
    after: Vec<u32>,
    least: Vec<u32>,
    spaces: Vec<u16>,
    packed: Vec<u64>,
}

/// What a worker counts.
#[derive(Clone, Default)]
pub(super) struct Counters {
    pub witnessed: u64,
    pub transitions: u64,
    /// How often each result was met, and each action taken.
    pub seen: Vec<u64>,
    pub taken: Vec<u64>,
}

/// What a batch added to the counters.
#[derive(Default)]
struct Journal {
    witnessed_before: u64,
    leaves: Vec<u32>,
    acted: Vec<u32>,
}

/// Workers that stand side by side share no line of a cache.
#[repr(align(128))]
pub(super) struct Worker {
    pub records: Records,
    /// The stretches of the batch that were its own, in their order: the first state of each, and how many records and holes
    /// were there before it.
    pub stretches: Vec<(u32, usize, usize)>,
    /// The states that need something that is not known yet, and how many records were there before theirs.
    pub holes: Vec<(u32, usize)>,
    pub events: Vec<Event>,
    /// Violations by cause: property, cause, state, transition, faults.
    pub causes: Vec<(u8, u64, u32, u16, u8)>,
    pub counters: Counters,
    journal: Journal,
    filter: Filter,
    closure: Closure,
    state: Vec<u32>,
    step: Step,
    /// The menus of a state, source by source.
    menus: Vec<u32>,
    leaves: Vec<u32>,
    acted: Vec<u32>,
}

impl Worker {
    pub fn new() -> Self {
        Self {
            records: Records::default(),
            stretches: Vec::new(),
            holes: Vec::new(),
            events: Vec::new(),
            causes: Vec::new(),
            counters: Counters::default(),
            journal: Journal::default(),
            filter: Filter::default(),
            closure: Closure::default(),
            state: Vec::new(),
            step: Step::default(),
            menus: Vec::new(),
            leaves: Vec::new(),
            acted: Vec::new(),
        }
    }

    /// Forgets the last batch.
    pub fn begin(&mut self) {
        self.records.clear();
        self.stretches.clear();
        self.holes.clear();
        self.events.clear();
        self.causes.clear();
        self.journal.leaves.clear();
        self.journal.acted.clear();
        self.journal.witnessed_before = self.counters.witnessed;
    }

    /// The counters as they were before the batch.
    pub fn counters_before(&self) -> Counters {
        let mut counters = self.counters.clone();
        let Journal { witnessed_before, leaves, acted } = &self.journal;
        counters.witnessed = *witnessed_before;
        counters.transitions -= acted.len() as u64;
        leaves.iter().for_each(|leaf| counters.seen[*leaf as usize] -= 1);
        acted.iter().for_each(|action| counters.taken[*action as usize] -= 1);
        counters
    }

    /// Expands a stretch of the batch, state after state; those that need something unknown are left as holes.
    pub fn expand_all<S: System>(&mut self, ground: &Ground<'_, '_, S>, indices: std::ops::Range<u32>) {
        self.stretches.push((indices.start, self.records.len(), self.holes.len()));
        for index in indices {
            let useful = u32::from(ground.store.faults(index)) < ground.useful;
            if useful && self.expand(ground, index).is_err() {
                self.holes.push((index, self.records.len()));
            }
        }
    }

    /// Expands one state. If something is not known, nothing has happened.
    pub fn expand<S: System>(&mut self, ground: &Ground<'_, '_, S>, index: u32) -> Result<(), Miss> {
        let (records, events, causes) = (self.records.len(), self.events.len(), self.causes.len());
        self.leaves.clear();
        self.acted.clear();
        let result = self.try_expand(ground, index);
        if result.is_err() {
            self.records.truncate(&ground.store.layout, records);
            self.events.truncate(events);
            self.causes.truncate(causes);
            return result;
        }
        let knowledge = ground.knowledge;
        let counters = &mut self.counters;
        counters.seen.resize(knowledge.leaves.len(), 0);
        counters.taken.resize(knowledge.actions.len(), 0);
        for &leaf in &self.leaves {
            let seen = &mut counters.seen[leaf as usize];
            if *seen == 0 {
                counters.witnessed |= knowledge.leaves[leaf as usize].observations.witnessed;
            }
            *seen += 1;
        }
        for &action in &self.acted {
            counters.taken[action as usize] += 1;
        }
        counters.transitions += self.acted.len() as u64;
        self.journal.leaves.extend_from_slice(&self.leaves);
        self.journal.acted.extend_from_slice(&self.acted);
        for record in records..self.records.len() {
            self.filter.remember(self.records.hashes[record], self.records.packed(&ground.store.layout, record));
        }
        Ok(())
    }

    fn try_expand<S: System>(&mut self, ground: &Ground<'_, '_, S>, index: u32) -> Result<(), Miss> {
        let Ground { knowledge, store, .. } = ground;
        let width = store.layout.width();
        let mut state = std::mem::take(&mut self.state);
        state.resize(width, 0);
        store.unpack(index, &mut state);
        let result = self.expand_state(ground, index, &state);
        self.state = state;
        let quiescent = result?;
        let leaf = knowledge.observation(quiescent, &self.state)?;
        let violated = knowledge.effects[leaf as usize].violated;
        self.leaves.push(leaf);
        if violated != 0 {
            let faults = store.faults(index);
            self.event(ground.known, Event { violated, state: index, transition: None, faults });
        }
        Ok(())
    }

    /// Takes the actions of a state. Answers whether it is quiescent.
    fn expand_state<S: System>(&mut self, ground: &Ground<'_, '_, S>, index: u32, state: &[u32]) -> Result<bool, Miss> {
        let knowledge = ground.knowledge;
        let mut quiescent = true;
        self.menus.clear();
        for source in 0..knowledge.sources() {
            let menu = knowledge.menu_id(source, state)?;
            quiescent &= !knowledge.menus[menu as usize].progress;
            self.menus.push(menu);
        }
        let before = Before { packed: ground.store.packed(index), state, hash: knowledge.interner.hash(state) };
        if ground.reduce && !quiescent {
            let mut closure = std::mem::take(&mut self.closure);
            let chosen = closure.choose(knowledge, state, &self.menus, ground.interesting);
            let records = self.records.len();
            let (leaves, acted, events) = (self.leaves.len(), self.acted.len(), self.events.len());
            let causes = self.causes.len();
            let kept = match chosen {
                Ok(true) => self.take(ground, index, &before, Some(&closure.chosen)),
                Ok(false) => Ok(false),
                Err(miss) => Err(miss),
            };
            self.closure = closure;
            if kept? {
                return Ok(quiescent);
            }
            self.records.truncate(&ground.store.layout, records);
            self.leaves.truncate(leaves);
            self.acted.truncate(acted);
            self.events.truncate(events);
            self.causes.truncate(causes);
        }
        self.take(ground, index, &before, None)?;
        Ok(quiescent)
    }

    /// Takes the actions of a state: of the chosen sources, or of all. Of the chosen ones, answers whether that was enough:
    /// none of them may lead to a state that was expanded before.
    fn take<S: System>(
        &mut self,
        ground: &Ground<'_, '_, S>,
        index: u32,
        before: &Before<'_>,
        chosen: Option<&[bool]>,
    ) -> Result<bool, Miss> {
        let knowledge = ground.knowledge;
        let mut ordinal: u16 = 0;
        let faults = ground.store.faults(index);
        for source in 0..knowledge.sources() {
            let menu = &knowledge.menus[self.menus[source] as usize];
            if chosen.is_some_and(|chosen| !chosen[source]) {
                ordinal += menu.len();
                continue;
            }
            for act in knowledge.moves(menu) {
                let first = self.leaves.len();
                let hash = self.step.make(ground, act, before, &mut self.leaves)?;
                self.acted.push(act.action);
                let violated =
                    self.leaves[first..].iter().fold(0, |all, leaf| all | knowledge.effects[*leaf as usize].violated);
                let faults = faults.saturating_add(u8::from(act.fault));
                if violated != 0 {
                    self.event(ground.known, Event { violated, state: index, transition: Some(ordinal), faults });
                    if let Some(known) = ground.causes {
                        let leaves = self.leaves[first..].iter().map(|leaf| &knowledge.leaves[*leaf as usize]);
                        let causes = leaves.flat_map(|leaf| &leaf.observations.causes);
                        let new = causes.filter(|cause| !known.contains_key(cause));
                        self.causes.extend(new.map(|&(property, cause)| (property, cause, index, ordinal, faults)));
                    }
                }
                // A fault can't be taken for ever: it spends.
                if chosen.is_some() && !act.fault && ground.is_expanded(hash, &self.step.packed) {
                    return Ok(false);
                }
                if !self.filter.knows(hash, &self.step.packed) && !ground.is_subsumed(hash, &mut self.step.packed) {
                    self.records.words.extend_from_slice(&self.step.packed);
                    self.records.hashes.push(hash);
                    self.records.origins.push(Origin { parent: index, ordinal, faults });
                }
                ordinal += 1;
            }
        }
        Ok(true)
    }

    /// Keeps a violation, if none is known with so many faults.
    fn event(&mut self, known: &[u64; 64], event: Event) {
        let bit = 1_u64 << event.faults.min(63);
        let mut rest = event.violated;
        while rest != 0 {
            let property = rest.trailing_zeros();
            rest &= rest - 1;
            if known[property as usize] & bit == 0 {
                let same = |other: &Event| other.faults == event.faults && other.violated & (1 << property) != 0;
                if !self.events.iter().any(same) {
                    self.events.push(Event { violated: 1 << property, ..event });
                }
            }
        }
    }

    /// Makes one transition of a state, by its place among all that it has, and leaves where it leads in [`Self::made`]: its
    /// hash, and the faults on the way there. `None`: the state has none there.
    pub fn again<S: System>(
        &mut self,
        ground: &Ground<'_, '_, S>,
        index: u32,
        ordinal: u16,
    ) -> Result<Option<(u64, u8)>, Miss> {
        let Ground { knowledge, store, .. } = ground;
        let mut state = std::mem::take(&mut self.state);
        state.resize(store.layout.width(), 0);
        store.unpack(index, &mut state);
        self.leaves.clear();
        let before = Before { packed: store.packed(index), hash: knowledge.interner.hash(&state), state: &state };
        let mut left = usize::from(ordinal);
        let mut made = Ok(None);
        for source in 0..knowledge.sources() {
            match knowledge.menu(source, &state) {
                Err(miss) => {
                    made = Err(miss);
                    break;
                }
                Ok(menu) => {
                    if let Some(act) = knowledge.moves(menu).get(left) {
                        let faults = store.faults(index).saturating_add(u8::from(act.fault));
                        made = self.step.make(ground, act, &before, &mut self.leaves).map(|hash| Some((hash, faults)));
                        break;
                    }
                    left -= usize::from(menu.len());
                }
            }
        }
        self.state = state;
        made
    }

    /// The state to which the last transition that was made leads, packed.
    pub fn made(&self) -> &[u64] {
        &self.step.packed
    }

    /// What was packed before is worth nothing in a new layout.
    pub fn repack(&mut self, old: &Layout, new: &Layout) {
        self.records.repack(old, new);
        self.filter = Filter::default();
    }
}

/// The state before a transition.
struct Before<'b> {
    packed: &'b [u64],
    state: &'b [u32],
    hash: u64,
}

impl Step {
    /// Makes one transition: leaves the packed successor in `packed`, and answers its hash.
    fn make<S: System>(
        &mut self,
        ground: &Ground<'_, '_, S>,
        act: &Move,
        before: &Before<'_>,
        leaves: &mut Vec<u32>,
    ) -> Result<u64, Miss> {
        let Ground { knowledge, store, .. } = ground;
        let Before { packed, state, mut hash } = *before;
        let first = leaves.len();
        self.spaces.clear();
        self.packed.resize(packed.len(), 0);
        self.packed.iter_mut().zip(packed).for_each(|(to, from)| *to = *from);
        for part in 0..act.parts {
            let leaf = knowledge.part(act, part, state)?;
            leaves.push(leaf);
            let effect = &knowledge.effects[leaf as usize];
            hash = hash.wrapping_add(effect.hash);
            let words = self.packed.iter_mut().zip(knowledge.difference(leaf));
            words.for_each(|(word, difference)| *word ^= difference);
            self.spaces.extend_from_slice(knowledge.spaces(effect));
        }
        let orbits = !knowledge.orbits.members.is_empty();
        if self.spaces.is_empty() && !orbits {
            return Ok(hash);
        }
        self.after.clear();
        self.after.extend_from_slice(state);
        for leaf in &leaves[first..] {
            for &(slot, _, after) in knowledge.writes(&knowledge.effects[*leaf as usize]) {
                self.after[usize::from(slot)] = after;
            }
        }
        if act.parts > 1 {
            self.spaces.sort_unstable();
            self.spaces.dedup();
        }
        let interner = &knowledge.interner;
        self.renamed.clear();
        let normal = knowledge.numbering.normalise(&mut self.after, &self.spaces, &mut self.renamed);
        normal.map_err(Miss::Renaming)?;
        if orbits && knowledge.orbits.bring(interner, &mut self.after, &mut self.least).map_err(Miss::Turn)? {
            store.layout.pack(&self.after, &mut self.packed);
            return Ok(interner.hash(&self.after));
        }
        for &(slot, old, new) in &self.renamed {
            let slot = usize::from(slot);
            store.layout.put(&mut self.packed, slot, new);
            hash = hash.wrapping_sub(interner.share(slot, old)).wrapping_add(interner.share(slot, new));
        }
        Ok(hash)
    }
}
