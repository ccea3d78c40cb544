//! Exact breadth-first search, level by level: the first path that reaches a violation is a shortest one.
//!
//! Each level is taken in batches. The states of a batch are expanded side by side, with what is known at its beginning;
//! those that need more are expanded afterwards, one by one; and all successors are then visited in the order of their
//! parents. So everything is the same whatever the number of threads.

use std::collections::BTreeMap;
use std::ops::Range;

use super::checkpoint::{Counted, Mark};
use super::exploration::{Exploration, Found};
use super::extremes::Amounts;
use super::knowledge::Knowledge;
use super::limits::{Limits, Progress, Stop};
use super::numbering::TooManyNumbers;
use super::packing::Layout;
use super::slots::GHOSTS;
use super::store::{Origin, Store};
use super::symmetry;
use super::visited::{SHARDS, Shard, shard};
use super::worker::{Event, Ground, Worker};
use super::{Observations, System};

/// Explores a system breadth-first. `watch` is told how far it has come every few thousand states, and stops the search
/// by answering `true`.
pub fn explore<S: System>(system: &S, limits: Limits, watch: &mut dyn FnMut(Progress) -> bool) -> Exploration<S> {
    Search::new(system, limits).complete(watch)
}

/// States of one batch, at most.
const BATCH: usize = 1 << 13;

/// Below so many states of a batch, more than one thread is not worth waking.
const ALONE: usize = 1 << 10;

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
    candidates: Vec<Vec<(u64, u32)>>,
    order: Vec<(u32, u32)>,
    numbers: Vec<u32>,
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
        let mut stop = None;
        if knowledge.numbering.note_new(system, &knowledge.interner).is_err() {
            stop = Some(Stop::Numbers);
        }
        let spaces = if stop.is_none() { knowledge.numbering.all_spaces(&state) } else { Vec::new() };
        // Every symmetry maps the initial state to itself, so it is the least of its orbit.
        let state = loop {
            let mut normal = state.clone();
            let Err(renaming) = knowledge.numbering.normalise(&mut normal, &spaces, &mut Vec::new()) else {
                break normal;
            };
            let known = knowledge.numbering.learn(system, &mut knowledge.interner, renaming);
            known.expect("renaming makes numbers smaller");
        };
        let counts: Vec<usize> = (0..width).map(|slot| knowledge.interner.len(slot)).collect();
        let store = Store::new(Layout::new(&counts));
        let mut search = Self {
            knowledge,
            store,
            shards: (0..SHARDS).map(|_| Shard::new()).collect(),
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
            candidates: vec![Vec::new(); SHARDS],
            order: Vec::new(),
            numbers: Vec::new(),
            mark: None,
        };
        let mut packed = vec![0; search.store.layout.words()];
        search.store.layout.pack(&state, &mut packed);
        search.store.push(&packed, Origin { parent: 0, ordinal: 0, faults: 0 });
        let hash = search.knowledge.interner.hash(&state);
        search.shards[shard(hash)].insert(&[(hash, 0)], |_, _| false);
        search.shards[shard(hash)].settle(|index| index);
        search
    }

    /// Explores to the end, and decides what is decided there.
    pub(super) fn complete(mut self, watch: &mut dyn FnMut(Progress) -> bool) -> Exploration<S> {
        self.run(watch);
        let liveness = self.knowledge.system.liveness();
        if let Some(property) = liveness.filter(|_| self.limits.liveness && self.stop.is_none()) {
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
            let end = level_end.min(self.next + BATCH);
            // A batch that meets the limit is not taken to its end: whoever goes on begins with it again.
            let mark = self.limits.states.map(|_| self.mark());
            if self.batch(small(self.next)..small(end), most).is_err() {
                self.stop = Some(Stop::Numbers);
            }
            if self.stop == Some(Stop::States) {
                self.mark = mark;
            }
            self.next = end;
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
        self.expand(states.clone());
        let filled = self.fill_holes(states.end)?;
        self.take_events();
        self.sort(&filled);
        self.visit(most);
        Ok(())
    }

    /// The kinds of reads for witnesses of properties that are asked for, and whose witness was not reached before.
    fn interesting(&self) -> u8 {
        let witnessed = self.all_workers().fold(self.before.witnessed, |all, worker| all | worker.counters.witnessed);
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
    fn threads(&self, states: usize) -> usize {
        if states < ALONE { 1 } else { self.workers.len() }
    }

    /// Expands states side by side, with what is known.
    fn expand(&mut self, states: Range<u32>) {
        let threads = self.threads(states.len());
        let (_, interesting) = *self.batches.last().expect("this is a batch");
        let useful = self.limits.fewest.map_or(u32::MAX, |fewest| self.useful(&fewest));
        let Self { knowledge, store, shards, workers, limits, known, causes, .. } = self;
        let (expanded, reduce) = (states.end, limits.reduce);
        let causes = limits.causes.then_some(&*causes);
        let ground = Ground { causes, knowledge, store, shards, expanded, reduce, interesting, known, useful };
        let part = states.len().div_ceil(threads).max(1);
        workers.iter_mut().for_each(Worker::begin);
        let ranges = (0..threads).map(|thread| {
            let at = |thread: usize| states.start + small((thread * part).min(states.len()));
            at(thread)..at(thread + 1)
        });
        if threads == 1 {
            workers[0].expand_all(&ground, states);
        } else {
            std::thread::scope(|scope| {
                for (worker, range) in workers.iter_mut().zip(ranges) {
                    let ground = &ground;
                    scope.spawn(move || worker.expand_all(ground, range));
                }
            });
        }
    }

    /// Expands the states that needed something unknown, in their order. Answers which records are those of each.
    fn fill_holes(&mut self, expanded: u32) -> Result<Vec<Range<u32>>, TooManyNumbers> {
        self.extra.begin();
        let (_, interesting) = *self.batches.last().expect("this is a batch");
        let holes: Vec<u32> =
            self.workers.iter().flat_map(|worker| worker.holes.iter().map(|(index, _)| *index)).collect();
        let mut filled = Vec::with_capacity(holes.len());
        let mut state = vec![0; self.store.layout.width()];
        for index in holes {
            let first = small(self.extra.records.len());
            loop {
                let Self { knowledge, store, shards, limits, known, causes, .. } = self;
                let reduce = limits.reduce;
                let useful = u32::MAX;
                let causes = limits.causes.then_some(&*causes);
                let ground = Ground { causes, knowledge, store, shards, expanded, reduce, interesting, known, useful };
                let Err(miss) = self.extra.expand(&ground, index) else { break };
                self.store.unpack(index, &mut state);
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
            return;
        }
        let counts: Vec<usize> = (0..width).map(|slot| interner.len(slot)).collect();
        let (old, new) = (self.store.layout.clone(), Layout::new(&counts));
        self.store.repack(new.clone());
        for worker in self.workers.iter_mut().chain([&mut self.extra]) {
            worker.repack(&old, &new);
        }
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

    /// Puts the records of a batch into the order of their parents.
    fn sort(&mut self, filled: &[Range<u32>]) {
        self.order.clear();
        let mut filled = filled.iter();
        let extra = small(self.workers.len());
        for (at, worker) in self.workers.iter().enumerate() {
            let mut next = 0;
            for (_, before) in &worker.holes {
                self.order.extend((next..small(*before)).map(|record| (small(at), record)));
                next = small(*before);
                let range = filled.next().expect("every hole was filled").clone();
                self.order.extend(range.map(|record| (extra, record)));
            }
            self.order.extend((next..small(worker.records.len())).map(|record| (small(at), record)));
        }
    }

    /// Visits the records of a batch: those that are new get the next numbers, in their order, up to a limit.
    fn visit(&mut self, most: usize) {
        let threads = self.threads(self.order.len() / 4);
        let Self { store, shards, workers, extra, candidates, order, numbers, .. } = self;
        let all: Vec<&Worker> = workers.iter().chain([&*extra]).collect();
        let base = small(store.len());
        candidates.iter_mut().for_each(Vec::clear);
        for (candidate, &(worker, record)) in (base..).zip(order.iter()) {
            let hash = all[worker as usize].records.hashes[record as usize];
            candidates[shard(hash)].push((hash, candidate));
        }
        let layout = &store.layout;
        let record = |candidate: u32| {
            let (worker, record) = order[(candidate - base) as usize];
            all[worker as usize].records.packed(layout, record as usize)
        };
        let same = |known: u32, candidate: u32| {
            let packed = if known < base { store.packed(known) } else { record(known) };
            packed == record(candidate)
        };
        let part = SHARDS.div_ceil(threads);
        let insert = |shards: &mut [Shard], candidates: &[Vec<(u64, u32)>]| {
            for (shard, candidates) in shards.iter_mut().zip(candidates) {
                shard.insert(candidates, same);
            }
        };
        if threads == 1 {
            insert(shards, candidates);
        } else {
            std::thread::scope(|scope| {
                for (shards, candidates) in shards.chunks_mut(part).zip(candidates.chunks(part)) {
                    scope.spawn(|| insert(shards, candidates));
                }
            });
        }
        let layout = store.layout.clone();
        numbers.clear();
        numbers.resize(order.len(), 0);
        for candidate in shards.iter().flat_map(Shard::fresh) {
            numbers[(candidate - base) as usize] = 1;
        }
        for (number, &(worker, record)) in numbers.iter_mut().zip(order.iter()).filter(|(number, _)| **number != 0) {
            if store.len() >= most {
                self.stop = Some(Stop::States);
                break;
            }
            *number = small(store.len());
            let records = &all[worker as usize].records;
            store.push(records.packed(&layout, record as usize), records.origins[record as usize]);
        }
        for shard in shards.iter_mut() {
            shard.settle(|candidate| numbers[(candidate - base) as usize]);
        }
    }

    /// How many states there are.
    pub(super) fn count(&self) -> u32 {
        small(self.store.len())
    }

    /// Length of the path by which a state was found, and the faults on it.
    pub(super) fn cost(&self, index: u32) -> (u32, u32) {
        let level = self.levels.partition_point(|first| *first <= index) - 1;
        (small(level), u32::from(self.store.faults(index)))
    }

    /// Whether something is pending in a state.
    pub(super) fn is_pending(&mut self, index: u32) -> bool {
        let state = self.state_at(index);
        loop {
            match self.knowledge.pending(&state) {
                Ok(pending) => return pending,
                Err(miss) => self.knowledge.learn(&state, miss).expect("looking makes no numbers"),
            }
        }
    }

    pub(super) fn state_at(&self, index: u32) -> Vec<u32> {
        let mut state = vec![0; self.store.layout.width()];
        self.store.unpack(index, &mut state);
        state
    }

    /// The fair moves in a state that was expanded: the sources that have some, one bit each; and where those that were
    /// taken lead, each with its source.
    pub(super) fn fair_moves(&mut self, index: u32) -> (u64, Vec<(u16, u32)>) {
        let (expanded, interesting) = self.batches[self.batches.partition_point(|(end, _)| *end <= index)];
        let state = self.state_at(index);
        loop {
            let Self { knowledge, store, shards, limits, known, extra, .. } = self;
            let (reduce, useful, causes) = (limits.reduce, u32::MAX, None);
            let ground = Ground { causes, knowledge, store, shards, expanded, reduce, interesting, known, useful };
            match extra.fair_moves(&ground, index, &state) {
                Ok(moves) => return moves,
                // Whoever went on with a search did not come through here.
                Err(miss) => {
                    self.knowledge.learn(&state, miss).expect("the search before came through here");
                    self.make_room();
                }
            }
        }
    }

    /// Whether a state is quiescent, and where each of its actions leads, with what it takes by what it shows. Only of a
    /// search that left nothing out.
    pub(super) fn edges(
        &mut self,
        index: u32,
        weigh: &dyn Fn(&Observations) -> Amounts,
    ) -> (bool, Vec<(u32, Amounts)>) {
        let state = self.state_at(index);
        let Self { knowledge, store, shards, known, extra, .. } = self;
        let (expanded, interesting, useful) = (small(store.len()), 0, u32::MAX);
        let ground =
            Ground { causes: None, knowledge, store, shards, expanded, reduce: false, interesting, known, useful };
        extra.edges(&ground, index, &state, weigh).expect("the search came through here before")
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
        let mark = match self.stop {
            Some(Stop::Numbers | Stop::Enough) => None,
            Some(Stop::States) => self.mark.take(),
            None | Some(Stop::Caller) => Some(self.mark()),
        };
        let rest = mark.map(|mark| self.outline(&mark));
        let counted = self.counted(self.all_workers().map(|worker| &worker.counters));
        Exploration {
            computed: self.knowledge.computed,
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
