//! Where the states of a batch lead: which of these states are new, and their numbers.

use std::ops::Range;
use std::sync::Mutex;

use super::System;
use super::limits::Stop;
use super::packing::Layout;
use super::search::{Search, small};
use super::visited::{SHARDS, Shard, shard};
use super::worker::Worker;

/// What it takes to visit the records of a batch, kept from one to the next.
#[derive(Default)]
pub(super) struct Visiting {
    /// The records in the order of their parents: whose, and which.
    order: Vec<(u32, u32)>,
    /// Parts of the order, each by shards: the hash of a record and its provisional number.
    parts: Vec<Vec<Vec<(u64, u32)>>>,
    /// The number that each record gets, if it is new.
    numbers: Vec<u32>,
}

impl<S: System> Search<'_, S> {
    /// Puts the records of a batch into the order of their parents. `filled`: the records of the states that were left over.
    pub(super) fn sort(&mut self, filled: &[Range<u32>]) {
        let order = &mut self.visiting.order;
        order.clear();
        let mut filled = filled.iter();
        let extra = small(self.workers.len());
        let stretches = self.workers.iter().enumerate().flat_map(|(at, worker)| {
            let own = worker.stretches.iter();
            let ends = worker.stretches.iter().skip(1).map(|(_, records, holes)| (*records, *holes));
            let ends = ends.chain([(worker.records.len(), worker.holes.len())]);
            own.zip(ends).map(move |((state, records, holes), ends)| (*state, at, *records..ends.0, *holes..ends.1))
        });
        let mut stretches: Vec<_> = stretches.collect();
        stretches.sort_by_key(|(state, ..)| *state);
        for (_, at, records, holes) in stretches {
            let mut next = records.start;
            for (_, before) in &self.workers[at].holes[holes] {
                order.extend((next..*before).map(|record| (small(at), small(record))));
                next = *before;
                let range = filled.next().expect("every hole was filled").clone();
                order.extend(range.map(|record| (extra, record)));
            }
            order.extend((next..records.end).map(|record| (small(at), small(record))));
        }
    }

    /// Visits the records of a batch: those that are new get the next numbers, in their order, up to a limit.
    pub(super) fn visit(&mut self, most: usize) {
        let threads = self.threads(self.visiting.order.len() / 4);
        let Self { store, shards, workers, extra, visiting, .. } = self;
        let Visiting { order, parts, numbers } = visiting;
        let all: Vec<&Worker> = workers.iter().chain([&*extra]).collect();
        let base = small(store.len());
        parts.resize_with(threads.max(parts.len()), || vec![Vec::new(); SHARDS]);
        parts.iter_mut().flatten().for_each(Vec::clear);
        let length = order.len().div_ceil(threads).max(1);
        let part = (0..).step_by(length).map(small).zip(order.chunks(length)).zip(parts.iter_mut());
        side_by_side(threads, part, |((first, order), part)| {
            for (candidate, &(worker, record)) in (base + first..).zip(order) {
                let hash = all[worker as usize].records.hashes[record as usize];
                part[shard(hash)].push((hash, candidate));
            }
        });
        let layout = &store.layout;
        let record = |candidate: u32| {
            let (worker, record) = order[(candidate - base) as usize];
            all[worker as usize].records.packed(layout, record as usize)
        };
        let same = |known: u32, candidate: u32| {
            let packed = if known < base { store.packed(known) } else { record(known) };
            Layout::same(packed, record(candidate))
        };
        let touch = |known: u32| if known < base { store.packed(known)[0] } else { 0 };
        side_by_side(threads, shards.iter_mut().enumerate(), |(at, shard)| {
            shard.begin(parts.iter().map(|part| part[at].len()).sum());
            for part in parts.iter() {
                shard.insert(&part[at], same, touch);
            }
        });
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
        side_by_side(threads, shards.iter_mut(), |shard| {
            shard.settle(|candidate| numbers[(candidate - base) as usize]);
        });
    }
}

/// Does some things by so many threads: whoever is free takes the next.
fn side_by_side<T: Send>(threads: usize, things: impl Iterator<Item = T> + Send, each: impl Fn(T) + Sync) {
    if threads == 1 {
        return things.for_each(each);
    }
    let things = Mutex::new(things);
    let next = || things.lock().expect("nobody panics while it takes one").next();
    let work = || {
        while let Some(thing) = next() {
            each(thing);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
}
