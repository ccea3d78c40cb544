//! A search that was cut short, as little as it takes to go on.
//!
//! States are not kept, only how each was found: from which state, by which of its transitions. That is about two bytes a
//! state, and says nothing of how the engine represents one. To go on, each state is made again from the one before it, once
//! and without looking anything up, and the sum of all their hashes must be what it was.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::System;
use super::exploration::{Exploration, Found};
use super::limits::{Limits, Progress};
use super::search::{Search, small};
use super::store::Origin;
use super::visited::shard;
use super::worker::{Counters, Ground};

/// A search as it was between two batches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// For each state but the initial one: how many states its parent lies behind that of the state before, and which of the
    /// parent's transitions leads to it.
    origins: Vec<u8>,
    /// The sum over all states of a mix of number and content.
    sum: u64,
    pub(super) outline: Outline,
}

/// Everything but the states.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Outline {
    /// How many states had been found, and how many of them expanded.
    states: u32,
    expanded: u32,
    /// The first state of each level.
    pub levels: Vec<u32>,
    /// The first state after each batch, and which reads for witnesses were of interest in it.
    pub batches: Vec<(u32, u8)>,
    /// For each property, the first violation for each number of faults: steps, faults, state, transition.
    pub violations: Vec<(u8, u32, u32, u32, Option<u16>)>,
    /// For each property and cause, the first violation.
    causes: Vec<(u8, u64, u32, u32, u32, Option<u16>)>,
    pub counted: Counted,
}

/// What was counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Counted {
    pub transitions: u64,
    pub witnessed: u64,
    pub kinds: BTreeMap<u16, u64>,
    pub tags: BTreeMap<u16, u64>,
}

/// How far a search was before a batch.
pub(super) struct Mark {
    next: usize,
    states: usize,
    levels: usize,
    batches: usize,
    violations: Vec<Vec<Found>>,
    causes: BTreeMap<(u8, u64), Found>,
    counters: Vec<Counters>,
}

impl Mark {
    /// The same, with what was counted by then.
    pub(super) fn with(self, counters: Vec<Counters>) -> Self {
        Self { counters, ..self }
    }
}

/// The system is not the one that was explored: a state can't be made again, or is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the states that it tells of are not those of today's model")]
pub struct Changed;

impl<S: System> Exploration<S> {
    /// What it takes to go on; `None`: going on would lead nowhere.
    #[must_use]
    pub fn checkpoint(&self) -> Option<Checkpoint> {
        let outline = self.rest.as_ref()?;
        let mut origins = Vec::new();
        let (mut parent, mut sum) = (0, 0);
        let mut state = vec![0; self.interner.width()];
        for index in 0..outline.states {
            self.store.unpack(index, &mut state);
            sum = added(sum, index, self.interner.hash(&state));
            if index == 0 {
                continue;
            }
            let origin = self.store.origin(index);
            let step = (origin.parent - parent, origin.ordinal);
            origins = postcard::to_extend(&step, origins).expect("a vector has room");
            parent = origin.parent;
        }
        Some(Checkpoint { origins, sum, outline: outline.clone() })
    }
}

/// Adds a state to the sum: it matters which number it has.
const fn added(sum: u64, index: u32, hash: u64) -> u64 {
    sum.wrapping_add((hash ^ (hash >> 31)).wrapping_mul(2 * index as u64 + 1))
}

/// Goes on with a search that was cut short: with the same limits, but for how far it may go, it ends as one that was not.
///
/// # Errors
///
/// When the system is another one.
pub fn resume<S: System>(
    system: &S,
    limits: Limits,
    checkpoint: &Checkpoint,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Exploration<S>, Changed> {
    let mut search = Search::new(system, limits);
    search.regain(checkpoint, watch)?;
    Ok(search.complete(watch))
}

/// States that are made again between two looks at the watch.
const STRETCH: u32 = 1 << 14;

impl<S: System> Search<'_, S> {
    /// Makes every state again.
    fn regain(&mut self, checkpoint: &Checkpoint, watch: &mut dyn FnMut(Progress) -> bool) -> Result<(), Changed> {
        let Checkpoint { origins, sum: wanted, outline } = checkpoint;
        let Outline { states, expanded, .. } = outline;
        if *expanded > *states || self.stop.is_some() {
            return Err(Changed);
        }
        let mut rest = &**origins;
        let (mut parent, mut sum) = (0_u32, added(0, 0, self.hash_of(0)));
        for index in 1..*states {
            let ((behind, ordinal), more) = postcard::take_from_bytes::<(u32, u16)>(rest).map_err(|_| Changed)?;
            rest = more;
            parent = parent.checked_add(behind).filter(|parent| *parent < index).ok_or(Changed)?;
            let (hash, faults) = self.again(parent, ordinal).ok_or(Changed)?;
            sum = added(sum, index, hash);
            self.push_known(hash, Origin { parent, ordinal, faults });
            if index % STRETCH == 0 {
                // Whoever stops it now stops it before the first new state: what there is already is not lost.
                let _ = watch(self.progress(index as usize));
            }
        }
        let holds = sum == *wanted && rest.is_empty();
        let listed = outline.levels.iter().chain(outline.batches.iter().map(|(end, _)| end));
        if !holds || listed.into_iter().any(|listed| listed > states) {
            return Err(Changed);
        }
        self.next = *expanded as usize;
        self.levels.clone_from(&outline.levels);
        self.batches.clone_from(&outline.batches);
        self.depth = small(self.levels.len().saturating_sub(1));
        self.before.clone_from(&outline.counted);
        for &(property, steps, faults, state, transition) in &outline.violations {
            if property >= 64 || state >= *states {
                return Err(Changed);
            }
            self.note(1 << property, Found { steps, faults, state, transition });
        }
        for &(property, cause, steps, faults, state, transition) in &outline.causes {
            if state >= *states {
                return Err(Changed);
            }
            self.causes.insert((property, cause), Found { steps, faults, state, transition });
        }
        Ok(())
    }

    /// How far it is, between two batches, but for what was counted: that can be told afterwards too.
    pub(super) fn mark(&self) -> Mark {
        Mark {
            next: self.next,
            states: self.store.len(),
            levels: self.levels.len(),
            batches: self.batches.len(),
            violations: self.violations.clone(),
            causes: self.causes.clone(),
            counters: Vec::new(),
        }
    }

    /// How far it is now that it has ended, with what was counted.
    pub(super) fn last_mark(&self) -> Mark {
        Mark { counters: self.all_workers().map(|worker| worker.counters.clone()).collect(), ..self.mark() }
    }

    /// What was counted, by counters of this search and before it.
    pub(super) fn counted<'c>(&self, counters: impl Iterator<Item = &'c Counters>) -> Counted {
        let mut counted = self.before.clone();
        for counters in counters {
            counted.transitions += counters.transitions;
            counted.witnessed |= counters.witnessed;
            for (leaf, seen) in self.knowledge.leaves.iter().zip(&counters.seen).filter(|(_, seen)| **seen > 0) {
                for &tag in &leaf.observations.tags {
                    *counted.tags.entry(tag).or_default() += seen;
                }
            }
            for (action, taken) in self.knowledge.actions.iter().zip(&counters.taken).filter(|(_, taken)| **taken > 0) {
                *counted.kinds.entry(action.kind).or_default() += taken;
            }
        }
        counted
    }

    /// Everything but the states, as it was at a mark.
    pub(super) fn outline(&self, mark: &Mark) -> Outline {
        let violations = (0..).zip(&mark.violations).flat_map(|(property, found)| {
            found.iter().map(move |found| (property, found.steps, found.faults, found.state, found.transition))
        });
        let causes = mark.causes.iter().map(|(&(property, cause), found)| {
            (property, cause, found.steps, found.faults, found.state, found.transition)
        });
        Outline {
            states: small(mark.states),
            expanded: small(mark.next),
            levels: self.levels[..mark.levels].to_vec(),
            batches: self.batches[..mark.batches].to_vec(),
            violations: violations.collect(),
            causes: causes.collect(),
            counted: self.counted(mark.counters.iter()),
        }
    }

    /// The first state behind the level that is being expanded. Levels follow their parents' levels.
    pub(super) fn level_end(&self) -> usize {
        let first = *self.levels.last().expect("there is a first level");
        let parent = |index: usize| self.store.origin(small(index)).parent;
        let (mut low, mut high) = (first as usize + 1, self.store.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if parent(middle) < first { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// Makes a transition of a state again, by its place among all that it has: the hash of where it leads, and the faults
    /// on the way there. `None`: it has none there.
    pub(super) fn again(&mut self, index: u32, ordinal: u16) -> Option<(u64, u8)> {
        loop {
            let Self { knowledge, store, shards, known, extra, .. } = self;
            let (expanded, reduce, compact, interesting, useful, causes) = (0, false, false, 0, u32::MAX, None);
            let ground =
                Ground { causes, knowledge, store, shards, expanded, reduce, compact, interesting, known, useful };
            match extra.again(&ground, index, ordinal) {
                Ok(made) => return made,
                Err(miss) => {
                    let state = self.state_at(index);
                    self.knowledge.learn(&state, miss).ok()?;
                    self.make_room();
                }
            }
        }
    }

    /// Adds the state that was just made again.
    fn push_known(&mut self, hash: u64, origin: Origin) {
        let index = small(self.store.len());
        self.store.push(self.extra.made(), origin);
        let shard = &mut self.shards[shard(hash)];
        shard.begin(1);
        shard.insert(&[(hash, index)], |_, _| false, |_| 0);
        shard.settle(|index| index);
    }

    /// The hash of a state.
    fn hash_of(&self, index: u32) -> u64 {
        self.knowledge.interner.hash(&self.state_at(index))
    }
}
