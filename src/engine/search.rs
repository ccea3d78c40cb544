//! Exact breadth-first search, level by level: the first path that reaches a violation is a shortest one.
//!
//! Each level is taken in batches. The states of a batch are expanded side by side, with what is known at its beginning;
//! those that need more are expanded afterwards, one by one; and all successors are then visited in the order of their
//! parents. So everything is the same whatever the number of threads.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use super::System;
use super::checkpoint::{Counted, Mark};
use super::exploration::{Exploration, Found};
use super::knowledge::{Knowledge, Miss};
use super::limits::{Limits, Progress, Stop};
use super::numbering::TooManyNumbers;
use super::packing::Layout;
use super::slots::GHOSTS;
use super::store::{Origin, Store};
use super::subsumption::Richer;
use super::symmetry;
use super::visited::{SHARDS, Shard, shard};
use super::visiting::Visiting;
use super::worker::{Event, Ground, Worker};

/// Explores a system breadth-first. `watch` is told how far it has come every few thousand states, and stops the search
/// by answering `true`.
pub fn explore<S: System>(system: &S, limits: Limits, watch: &mut dyn FnMut(Progress) -> bool) -> Exploration<S> {
    Search::new(system, limits).complete(watch)
}

/// States of one batch, at most, while few are known.
const BATCH: usize = 1 << 13;

/// A batch grows with what is known, up to so many states: threads that work side by side for longer wait less for each other.
const LARGEST_BATCH: usize = 1 << 15;

/// It has this part of the states that are known.
const BATCH_PART: usize = 64;

/// Below so many states of a batch, more than one thread is not worth waking.
const ALONE: usize = 1 << 10;

/// States of a batch that a thread takes at once.
const STRETCH: u32 = 1 << 7;

/// More states than these can't be numbered.
const MOST: usize = u32::MAX as usize - (1 << 28);

pub(super) struct Search<'s, S: System> {
    pub(super) knowledge: Knowledge<'s, S>,
    pub(super) store: Store,
    pub(super) shards: Vec<Shard>,
    pub(super) workers: Vec<Worker>,
    /// Expands what was left over.
    pub(super) extra: Worker,
    pub(super) limits: Limits,
    /// The first state that was not expanded.
    pub(super) next: usize,
    /// The first state of each level.
    pub(super) levels: Vec<u32>,
    /// The first state after each batch, and which reads for witnesses were of interest in it.
    pub(super) batches: Vec<(u32, u8)>,
    /// What was counted before this search went on with another one.
    pub(super) before: Counted,
    pub(super) violations: Vec<Vec<Found>>,
    pub(super) known: [u64; 64],
    pub(super) loops: Vec<(Found, Vec<(u16, u32)>)>,
    violated: u64,
    /// The first violation of each property for each cause.
    pub(super) causes: BTreeMap<(u8, u64), Found>,
    pub(super) stop: Option<Stop>,
    pub(super) depth: u32,
    pub(super) visiting: Visiting,
    /// How it was before the last batch, where that was not taken to its end.
    mark: Option<Mark>,
}

impl<'s, S: System> Search<'s, S> {
    pub(super) fn new(system: &'s S, limits: Limits) -> Self {
        let initial = system.initial();
        let width = initial.len();
        let members =
            if limits.symmetry { symmetry::members(system, limits.liveness || limits.causes) } else { Vec::new() };
        let mut knowledge = Knowledge::new(system, width, members);
        let state: Vec<u32> = initial
            .into_iter()
            .enumerate()
            .map(|(slot, component)| knowledge.interner.intern(slot, component))
            .collect();
        let budgets = system.budgets().filter(|_| limits.subsume);
        knowledge.richer = budgets.map(|budgets| Richer::new(budgets, &mut knowledge.interner));
        let mut stop = None;
        if knowledge.note_new().is_err() {
            stop = Some(Stop::Numbers);
        }
        let spaces = if stop.is_none() { knowledge.numbering.all_spaces(&state) } else { Vec::new() };
        // Every symmetry maps the initial state to itself, so it is the least of its orbit.
        let state = loop {
            let mut normal = state.clone();
            let Err(renaming) = knowledge.numbering.normalise(&mut normal, &spaces, &mut Vec::new()) else {
                break normal;
            };
            let known = knowledge.learn(&normal, Miss::Renaming(renaming));
            known.expect("renaming makes numbers smaller");
        };
        let counts: Vec<usize> = (0..width).map(|slot| knowledge.interner.len(slot)).collect();
        let store = Store::new(Layout::new(&counts));
        let mut search = Self {
            knowledge,
            store,
            shards: (0..SHARDS).map(|_| Shard::new(limits.compact)).collect(),
            workers: (0..limits.threads.max(1)).map(|_| Worker::new()).collect(),
            extra: Worker::new(),
            limits,
            next: 0,
            levels: vec![0],
            batches: Vec::new(),
            before: Counted::default(),
            violations: vec![Vec::new(); 64],
            known: [0; 64],
            loops: Vec::new(),
            violated: 0,
            causes: BTreeMap::new(),
            stop,
            depth: 0,
            visiting: Visiting::default(),
            mark: None,
        };
        let mut packed = vec![0; search.store.layout.words()];
        search.store.layout.pack(&state, &mut packed);
        search.store.push(&packed, Origin { parent: 0, ordinal: 0, faults: 0 });
        if search.is_compact() {
            search.store.keep(0, &packed);
        }
        let hash = search.knowledge.interner.hash(&state);
        let first = &mut search.shards[shard(hash)];
        first.insert(&[(hash, 0)], |_, _| false, |_| 0);
        first.settle(|index| index);
        search
    }

    /// Explores to the end, and decides what is decided there.
    pub(super) fn complete(mut self, watch: &mut dyn FnMut(Progress) -> bool) -> Exploration<S> {
        self.run(watch);
        let liveness = self.knowledge.system.liveness();
        if let Some(property) = liveness.filter(|_| self.limits.liveness && self.stop.is_none() && !self.is_compact()) {
            super::liveness::decide(&mut self, property);
        }
        self.finish()
    }

    pub(super) fn run(&mut self, watch: &mut dyn FnMut(Progress) -> bool) {
        let most = self.limits.states.unwrap_or(MOST).min(MOST);
        let mut level_end = self.level_end();
        while self.next < self.store.len() && self.stop.is_none() {
            if self.next == level_end {
                self.depth += 1;
                level_end = self.store.len();
                self.levels.push(small(self.next));
            }
            let batch = (self.store.len() / BATCH_PART).clamp(BATCH, LARGEST_BATCH);
            let end = level_end.min(self.next + batch);
            // A batch that meets the limit is not taken to its end: whoever goes on begins with it again.
            let mark = self.limits.states.map(|_| self.mark());
            if self.batch(small(self.next)..small(end), most).is_err() {
                self.stop = Some(Stop::Numbers);
            }
            if self.stop == Some(Stop::States) {
                let counters = self.all_workers().map(Worker::counters_before).collect();
                self.mark = mark.map(|mark| mark.with(counters));
            }
            self.next = end;
            if self.is_compact() {
                self.store.forget(end);
            }
            let enough = self.limits.enough;
            let fronts = self.limits.fewest.map(|fewest| self.useful(&fewest));
            if enough != 0 && self.violated & enough == enough || fronts == Some(0) {
                self.stop = Some(Stop::Enough);
            } else if self.stop.is_none() && watch(self.progress(self.next)) {
                self.stop = Some(Stop::Caller);
            }
        }
    }

    pub(super) fn progress(&self, next: usize) -> Progress {
        let shards: usize = self.shards.iter().map(Shard::bytes).sum();
        Progress {
            states: self.store.len(),
            queue: self.store.len() - next,
            transitions: self.transitions(),
            depth: self.depth,
            bytes: self.store.bytes() + shards,
        }
    }

    fn transitions(&self) -> u64 {
        self.before.transitions + self.all_workers().map(|worker| worker.counters.transitions).sum::<u64>()
    }

    pub(super) fn all_workers(&self) -> impl Iterator<Item = &Worker> {
        self.workers.iter().chain([&self.extra])
    }

    /// Expands a batch of states, and visits what they lead to.
    fn batch(&mut self, states: Range<u32>, most: usize) -> Result<(), TooManyNumbers> {
        self.batches.push((states.end, self.interesting()));
        if self.is_compact() && self.limits.reduce {
            self.note_expanded(states.clone());
        }
        self.expand(states.clone());
        let filled = self.fill_holes(states.end)?;
        self.take_events();
        self.sort(&filled);
        self.visit(most);
        Ok(())
    }

    /// The kinds of reads for witnesses of properties that are asked for, and whose witness was not reached before.
    fn interesting(&self) -> u8 {
        let known = self.before.witnessed | self.limits.witnessed;
        let witnessed = self.all_workers().fold(known, |all, worker| all | worker.counters.witnessed);
        let open = if self.limits.wanted == 0 { !witnessed } else { self.limits.wanted & !witnessed };
        let kinds = (0..GHOSTS).filter(|kind| self.knowledge.system.ghost(*kind) & open != 0);
        kinds.fold(0, |kinds, kind| kinds | 1 << kind)
    }

    /// States with so many faults or more can't add to the front of any property that is to be violated with so few.
    fn useful(&self, fewest: &[u8; 64]) -> u32 {
        let open = |(property, fewest): (usize, &u8)| {
            let found = self.violations[property].first().map_or(u32::MAX, |found| found.faults);
            if *fewest == u8::MAX || found <= u32::from(*fewest) { 0 } else { found }
        };
        fewest.iter().enumerate().map(open).max().unwrap_or(0)
    }

    /// How many threads are worth it for so many states.
    pub(super) fn threads(&self, states: usize) -> usize {
        if states < ALONE { 1 } else { self.workers.len() }
    }

    /// Expands states side by side, with what is known.
    fn expand(&mut self, states: Range<u32>) {
        let threads = self.threads(states.len());
        let (_, interesting) = *self.batches.last().expect("this is a batch");
        let useful = self.limits.fewest.map_or(u32::MAX, |fewest| self.useful(&fewest));
        let Self { knowledge, store, shards, workers, limits, known, causes, .. } = self;
        let (expanded, reduce, compact) = (states.end, limits.reduce, limits.compact.is_some());
        let causes = limits.causes.then_some(&*causes);
        let ground = Ground { causes, knowledge, store, shards, expanded, reduce, compact, interesting, known, useful };
        workers.iter_mut().for_each(Worker::begin);
        let (mut workers, next) = (workers[..threads].iter_mut(), AtomicU32::new(states.start));
        let own = workers.next().expect("there is a worker");
        if threads == 1 {
            return own.expand_all(&ground, states);
        }
        // Whoever is free takes the next stretch.
        let work = &|worker: &mut Worker| {
            loop {
                let start = next.fetch_add(STRETCH, Ordering::Relaxed);
                if start >= states.end {
                    break;
                }
                worker.expand_all(&ground, start..states.end.min(start + STRETCH));
            }
        };
        std::thread::scope(|scope| {
            for worker in workers {
                scope.spawn(move || work(worker));
            }
            work(own);
        });
    }

    /// Expands the states that needed something unknown, in their order. Answers which records are those of each.
    fn fill_holes(&mut self, expanded: u32) -> Result<Vec<Range<u32>>, TooManyNumbers> {
        self.extra.begin();
        let (_, interesting) = *self.batches.last().expect("this is a batch");
        let mut holes: Vec<u32> =
            self.workers.iter().flat_map(|worker| worker.holes.iter().map(|(index, _)| *index)).collect();
        holes.sort_unstable();
        let mut filled = Vec::with_capacity(holes.len());
        let mut state = vec![0; self.store.layout.width()];
        for index in holes {
            let first = small(self.extra.records.len());
            self.store.unpack(index, &mut state);
            self.knowledge.learn_sources(&state, self.limits.reduce)?;
            loop {
                let Self { knowledge, store, shards, limits, known, causes, .. } = self;
                let (reduce, compact, useful) = (limits.reduce, limits.compact.is_some(), u32::MAX);
                let causes = limits.causes.then_some(&*causes);
                let ground =
                    Ground { causes, knowledge, store, shards, expanded, reduce, compact, interesting, known, useful };
                let Err(miss) = self.extra.expand(&ground, index) else { break };
                self.knowledge.learn(&state, miss)?;
                self.make_room();
            }
            filled.push(first..small(self.extra.records.len()));
        }
        Ok(filled)
    }

    /// Sees to it that every component that is known has room in a packed state.
    pub(super) fn make_room(&mut self) {
        let interner = &self.knowledge.interner;
        let width = interner.width();
        let fits = |slot| self.store.layout.holds(slot, small(interner.len(slot).max(1)) - 1);
        if (0..width).all(fits) {
            return self.knowledge.pack(&self.store.layout, false);
        }
        let counts: Vec<usize> = (0..width).map(|slot| interner.len(slot)).collect();
        let (old, new) = (self.store.layout.clone(), Layout::new(&counts));
        self.store.repack(new.clone(), self.threads(self.store.len()));
        for worker in self.workers.iter_mut().chain([&mut self.extra]) {
            worker.repack(&old, &new);
        }
        self.knowledge.pack(&new, true);
    }

    /// Keeps the first violations of a batch.
    fn take_events(&mut self) {
        let mut events: Vec<Event> = self.all_workers().flat_map(|worker| worker.events.iter().copied()).collect();
        // What a state shows by itself comes before what its actions show: its path is shorter.
        events.sort_by_key(|event| (event.transition.is_some(), event.state, event.transition));
        for Event { violated, state, transition, faults } in events {
            let steps = self.depth + u32::from(transition.is_some());
            self.note(violated, Found { steps, faults: u32::from(faults), state, transition });
        }
        let mut causes: Vec<_> = self.all_workers().flat_map(|worker| worker.causes.iter().copied()).collect();
        causes.sort_by_key(|(_, _, state, transition, _)| (*state, *transition));
        for (property, cause, state, transition, faults) in causes {
            let (steps, transition) = (self.depth + 1, Some(transition));
            let found = Found { steps, faults: u32::from(faults), state, transition };
            self.causes.entry((property, cause)).or_insert(found);
        }
    }

    /// Keeps the first violation of each property for each number of faults.
    pub(super) fn note(&mut self, violated: u64, found: Found) {
        self.violated |= violated;
        let mut rest = violated;
        while rest != 0 {
            let property = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            self.known[property] |= 1 << found.faults.min(63);
            let known = &mut self.violations[property];
            match known.binary_search_by_key(&found.faults, |other| other.faults) {
                Ok(at) => {
                    if found.steps < known[at].steps {
                        known[at] = found;
                    }
                }
                Err(at) => known.insert(at, found),
            }
        }
    }

    fn finish(mut self) -> Exploration<S> {
        if self.is_compact() {
            self.keep_paths();
        }
        let mark = match self.stop {
            Some(Stop::Numbers | Stop::Enough) => None,
            Some(Stop::States) => self.mark.take(),
            None | Some(Stop::Caller) => Some(self.last_mark()),
        };
        let rest = mark.filter(|_| !self.is_compact()).map(|mark| self.outline(&mark));
        let counted = self.counted(self.all_workers().map(|worker| &worker.counters));
        Exploration {
            computed: self.knowledge.computed,
            compact: self.limits.compact,
            amounts: self.knowledge.richer.as_ref().map_or(0, Richer::most),
            members: self.knowledge.orbits.members,
            interner: self.knowledge.interner,
            store: self.store,
            stop: self.stop,
            transitions: counted.transitions,
            depth: self.depth,
            violations: self.violations,
            loops: self.loops,
            causes: self.causes.into_iter().collect(),
            witnessed: counted.witnessed,
            kinds: counted.kinds.into_iter().collect(),
            tags: counted.tags.into_iter().collect(),
            rest,
        }
    }
}

/// States and records are numbered in 32 bits: a search gives up before there are more.
pub(super) fn small(number: usize) -> u32 {
    u32::try_from(number).expect("a search gives up before it has 2^32 states")
}
