//! Random runs of a [`System`], the same on every machine and for every number of threads.
//!
//! Each run has its own streams of random numbers, one for each purpose, so it depends on the seed and its number alone.
//! What is drawn from them is computed here, by integers: no library can change it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

use super::System;
use super::walk::Walk;

/// What is simulated, and how.
pub struct Plan<'p, A> {
    /// From which all random numbers come.
    pub seed: u64,
    /// How many runs.
    pub runs: u64,
    /// Who moves next.
    pub schedule: Schedule,
    /// How readily an action that is no fault is taken, where the schedule looks at that; at least 1.
    pub weigh: &'p (dyn Fn(&A) -> u32 + Sync),
    /// The faults: how likely each strikes before a step. The sum of the chances is at most 1.
    pub faults: Vec<Fault>,
    /// A run that has not ended after so many steps is cut short.
    pub most_steps: u32,
}

/// A kind of fault.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The sources of its actions.
    pub sources: Vec<usize>,
    /// Its chance before each step, of 2^32.
    pub chance: u64,
    /// A run in which it strikes so often is cut short; `None`: it has a budget, and strikes no more when that is spent.
    pub most: Option<u32>,
}

/// Who moves next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// Any source, in proportion to the weight of what it can do.
    Weighted,
    /// Whoever moved last goes on, in seven of eight cases.
    Bursts,
    /// Whoever has the highest of random priorities; and so many times in a run, at random steps, the one that moves falls
    /// behind all others.
    Priorities {
        /// How often.
        changes: u32,
        /// In the first so many steps of the run.
        within: u32,
    },
}

/// What came out of one run.
#[derive(Clone, Copy, Debug)]
pub struct Run<'r> {
    /// Its number, from 0.
    pub number: u64,
    /// Its steps.
    pub steps: u32,
    /// It was cut short.
    pub cut: bool,
    /// One bit per property that was violated in it.
    pub violated: u64,
    /// One bit per property whose witness was reached in it.
    pub witnessed: u64,
    /// How often each tag below 256 was observed.
    pub tags: &'r [u32; TAGS],
}

/// Tags that are counted in each run.
pub const TAGS: usize = 256;

/// What is kept of the runs.
pub trait Tally: Default + Send {
    /// Notes a run. Runs come in the order of their numbers.
    fn note(&mut self, run: &Run<'_>);
    /// Adds what was kept of the runs after these.
    fn append(&mut self, later: Self);
}

/// Simulates the runs of a plan. `watch` is told from time to time how many are done, and ends the simulation by answering
/// `true`. Answers what was kept, and of how many runs: without an end by `watch` of all, else of the first ones.
pub fn simulate<S: System, T: Tally>(
    system: &S,
    plan: &Plan<'_, S::Action>,
    threads: usize,
    watch: &(dyn Fn(u64) -> bool + Sync),
) -> (T, u64) {
    let block = (plan.runs / 64).clamp(1, 1024);
    let next = AtomicU64::new(0);
    let done = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let blocks: Mutex<Vec<(u64, u64, T)>> = Mutex::new(Vec::new());
    let work = || {
        let mut runner = Runner::new(system, plan);
        while !stop.load(Ordering::Relaxed) {
            let first = next.fetch_add(block, Ordering::Relaxed);
            if first >= plan.runs {
                break;
            }
            let end = (first + block).min(plan.runs);
            let mut tally = T::default();
            let mut number = first;
            while number < end && !stop.load(Ordering::Relaxed) {
                tally.note(&runner.run(number, None));
                number += 1;
                let all = done.fetch_add(1, Ordering::Relaxed) + 1;
                if all.is_multiple_of(64) && watch(all) {
                    stop.store(true, Ordering::Relaxed);
                }
            }
            blocks.lock().expect("no thread panicked while it held the lock").push((first, number, tally));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.max(1) {
            scope.spawn(work);
        }
        work();
    });
    let mut blocks = blocks.into_inner().expect("no thread panicked while it held the lock");
    blocks.sort_by_key(|(first, ..)| *first);
    let mut all = T::default();
    let mut reached = 0;
    for (first, end, tally) in blocks {
        // Behind a gap nothing counts: what came out is that of the first runs, without a hole.
        if first != reached {
            break;
        }
        all.append(tally);
        reached = end;
    }
    (all, reached)
}

/// One step of a run: which source did what.
pub type Step<A> = (usize, A);

/// The steps of one run of a plan, again.
#[must_use]
pub fn steps<S: System>(system: &S, plan: &Plan<'_, S::Action>, number: u64) -> Vec<Step<S::Action>> {
    let mut taken = Vec::new();
    Runner::new(system, plan).run(number, Some(&mut taken));
    taken
}

/// A shorter run that violates a property, made of the steps of one that does, in their order: no single step can be left
/// out. Steps that are not enabled where their turn comes are passed over.
#[must_use]
pub fn shrink<S: System>(system: &S, steps: Vec<Step<S::Action>>, property: usize) -> Vec<Step<S::Action>> {
    let mut walk = Walk::new(system, &|_| 1);
    let Some(mut shortest) = replay(&mut walk, &steps, property) else { return steps };
    loop {
        let before = shortest.len();
        // First whatever one source did, all of it, then ever smaller pieces.
        let sources: std::collections::BTreeSet<usize> = shortest.iter().map(|(source, _)| *source).collect();
        for source in sources {
            let without: Vec<Step<S::Action>> =
                shortest.iter().filter(|(other, _)| *other != source).cloned().collect();
            if let Some(found) = replay(&mut walk, &without, property) {
                shortest = found;
            }
        }
        let mut size = shortest.len() / 2;
        while size > 0 {
            let mut end = shortest.len();
            while end > 0 {
                let start = end.saturating_sub(size);
                let mut without = shortest.clone();
                without.drain(start..end);
                if let Some(found) = replay(&mut walk, &without, property) {
                    shortest = found;
                }
                end = start.min(shortest.len());
            }
            size /= 2;
        }
        if shortest.len() == before {
            return shortest;
        }
    }
}

/// The states on the way of a run, the initial one first.
#[must_use]
pub fn path<S: System>(system: &S, steps: &[Step<S::Action>]) -> Vec<Vec<S::Component>> {
    let mut states = vec![system.initial()];
    for (_, action) in steps {
        let last = states.last().expect("there is an initial state");
        let (next, _) = super::plain::apply(system, last, action);
        states.push(next);
    }
    for state in &mut states {
        super::plain::normalise(system, state);
    }
    states
}

/// The steps that were taken until a property was violated; `None`: it was not.
fn replay<S: System>(
    walk: &mut Walk<'_, S>,
    steps: &[Step<S::Action>],
    property: usize,
) -> Option<Vec<Step<S::Action>>> {
    let mut taken = Vec::new();
    let mut violated = 0;
    walk.start();
    let mut next = steps.iter();
    loop {
        violated |= walk.observe().violated;
        if Some(property) == walk.system().liveness() && walk.is_stuck() {
            violated |= 1 << property;
        }
        if violated & (1 << property) != 0 {
            return Some(taken);
        }
        let (source, action, id) =
            next.by_ref().find_map(|(source, action)| Some((source, action, walk.find(*source, action)?)))?;
        walk.take(id, &mut |observations| violated |= observations.violated);
        taken.push((*source, action.clone()));
    }
}

struct Runner<'r, S: System> {
    walk: Walk<'r, S>,
    plan: &'r Plan<'r, S::Action>,
    tags: [u32; TAGS],
    /// With [`Schedule::Priorities`]: of each source, the higher the sooner.
    priorities: Vec<u32>,
}

/// One stream of random numbers for each.
#[derive(Clone, Copy)]
enum Purpose {
    Schedule = 0,
    Faults = 1,
}

const PURPOSES: u64 = 2;

/// A source that moves so often in a row under [`Schedule::Priorities`] is waiting for others: it falls behind them.
const PATIENCE: u32 = 64;

impl<'r, S: System> Runner<'r, S> {
    fn new(system: &'r S, plan: &'r Plan<'r, S::Action>) -> Self {
        Self { walk: Walk::new(system, plan.weigh), plan, tags: [0; TAGS], priorities: Vec::new() }
    }

    fn run(&mut self, number: u64, mut written: Option<&mut Vec<Step<S::Action>>>) -> Run<'_> {
        let mut schedule = stream(self.plan.seed, number, Purpose::Schedule);
        let mut faults = stream(self.plan.seed, number, Purpose::Faults);
        self.walk.start();
        self.tags.fill(0);
        let mut falls = self.fall_points(&mut schedule);
        let liveness = self.walk.system().liveness();
        let (mut violated, mut witnessed) = (0, 0);
        let (mut steps, mut cut) = (0, false);
        let (mut last, mut in_a_row) = (usize::MAX, 0);
        let mut struck = vec![0; self.plan.faults.len()];
        loop {
            let observations = self.walk.observe();
            violated |= observations.violated;
            witnessed |= observations.witnessed;
            if let Some(property) = liveness
                && self.walk.is_stuck()
            {
                violated |= 1 << property;
            }
            let quiescent = self.walk.is_quiescent();
            let (_, total) = self.walk.weights();
            // What may come when all is quiet may also never come.
            if quiescent && (total == 0 || schedule.next_u32() & 1 == 0) {
                break;
            }
            let spent = |(fault, struck): (&Fault, &u32)| fault.most.is_some_and(|most| *struck >= most);
            if steps == self.plan.most_steps || self.plan.faults.iter().zip(&struck).any(spent) {
                cut = true;
                break;
            }
            let (source, action) = match self.fault(&mut faults) {
                Some((fault, source, action)) => {
                    struck[fault] += 1;
                    (source, action)
                }
                None => {
                    let source = self.source(&mut schedule, last, in_a_row, &mut falls, steps);
                    in_a_row = if source == last { in_a_row + 1 } else { 0 };
                    last = source;
                    (source, self.action(&mut schedule, source))
                }
            };
            if let Some(written) = &mut written {
                written.push((source, self.walk.action(action).clone()));
            }
            let tags = &mut self.tags;
            self.walk.take(action, &mut |observations| {
                violated |= observations.violated;
                witnessed |= observations.witnessed;
                for &tag in &observations.tags {
                    if let Some(count) = tags.get_mut(usize::from(tag)) {
                        *count += 1;
                    }
                }
            });
            steps += 1;
        }
        Run { number, steps, cut, violated, witnessed, tags: &self.tags }
    }

    /// With [`Schedule::Priorities`]: draws the priorities, and the steps at which whoever moves falls behind.
    fn fall_points(&mut self, random: &mut ChaCha8Rng) -> Vec<u32> {
        let Schedule::Priorities { changes, within } = self.plan.schedule else { return Vec::new() };
        let sources = self.walk.weights().0.len();
        // All priorities are above the number of changes: who falls behind gets one below.
        let lowest = changes.saturating_mul(2).saturating_add(1 << 16);
        self.priorities.clear();
        self.priorities.extend((0..sources).map(|_| lowest | (random.next_u32() >> 1)));
        (0..changes).map(|_| small(below(random, u64::from(within.max(1))))).collect()
    }

    fn source(
        &mut self,
        random: &mut ChaCha8Rng,
        last: usize,
        in_a_row: u32,
        falls: &mut Vec<u32>,
        step: u32,
    ) -> usize {
        let (weights, total) = self.walk.weights();
        match self.plan.schedule {
            Schedule::Weighted => draw(random, weights, total),
            Schedule::Bursts => {
                let goes_on = weights.get(last).is_some_and(|weight| *weight > 0) && random.next_u32() & 7 != 0;
                if goes_on { last } else { draw(random, weights, total) }
            }
            Schedule::Priorities { .. } => {
                let highest = |priorities: &[u32]| {
                    let able = (0..weights.len()).filter(|source| weights[*source] > 0);
                    able.max_by_key(|source| (priorities[*source], usize::MAX - source)).expect("somebody can move")
                };
                let source = highest(&self.priorities);
                let before = falls.len();
                falls.retain(|at| *at != step);
                if falls.len() < before || source == last && in_a_row >= PATIENCE {
                    // Behind everybody, also behind those that fell before.
                    let lowest = self.priorities.iter().min().copied().unwrap_or(0);
                    self.priorities[source] = lowest.saturating_sub(1);
                    return highest(&self.priorities);
                }
                source
            }
        }
    }

    /// One of the actions of a source that are no faults, in proportion to their weights.
    fn action(&self, random: &mut ChaCha8Rng, source: usize) -> u32 {
        let choices = self.walk.choices(source);
        if choices == 1 {
            return self.walk.choice(source, 0);
        }
        let weight = |number: usize| u64::from(self.walk.weight(self.walk.choice(source, number)));
        let mut at = below(random, (0..choices).map(weight).sum());
        for number in 0..choices {
            if at < weight(number) {
                return self.walk.choice(source, number);
            }
            at -= weight(number);
        }
        unreachable!("what is drawn is below the sum of the weights")
    }

    /// The fault that strikes before this step, if one does and can: which, by which source and action.
    fn fault(&self, random: &mut ChaCha8Rng) -> Option<(usize, usize, u32)> {
        if self.plan.faults.is_empty() {
            return None;
        }
        let mut at = u64::from(random.next_u32());
        for (index, fault) in self.plan.faults.iter().enumerate() {
            if at >= fault.chance {
                at -= fault.chance;
                continue;
            }
            let choices = |source: &usize| self.walk.choices(*source) as u64;
            let all = fault.sources.iter().map(choices).sum();
            if all == 0 {
                return None;
            }
            let mut number = below(random, all);
            for source in &fault.sources {
                if number < choices(source) {
                    let number = usize::try_from(number).expect("it is below the length of a menu");
                    return Some((index, *source, self.walk.choice(*source, number)));
                }
                number -= choices(source);
            }
        }
        None
    }
}

/// The stream of random numbers of one run, for one purpose.
fn stream(seed: u64, number: u64, purpose: Purpose) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    let mut random = ChaCha8Rng::from_seed(key);
    random.set_stream(number * PURPOSES + purpose as u64);
    random
}

/// A number below another, each about as likely: the difference is less than 1 in 2^32.
fn below(random: &mut ChaCha8Rng, end: u64) -> u64 {
    let product = u128::from(random.next_u64()) * u128::from(end);
    u64::try_from(product >> 64).expect("the upper half of 128 bits")
}

fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// A place in a list, in proportion to the weights there.
fn draw(random: &mut ChaCha8Rng, weights: &[u32], total: u64) -> usize {
    let mut at = below(random, total);
    for (place, weight) in weights.iter().enumerate() {
        if at < u64::from(*weight) {
            return place;
        }
        at -= u64::from(*weight);
    }
    unreachable!("what is drawn is below the sum of the weights")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Golden vectors: what a seed means must never change.
    #[test]
    fn a_seed_means_the_same_for_ever() {
        let mut random = stream(7, 3, Purpose::Schedule);
        let drawn: Vec<u64> = (0..6).map(|_| below(&mut random, 100)).collect();
        let mut faults = stream(7, 3, Purpose::Faults);
        let others: Vec<u64> = (0..6).map(|_| below(&mut faults, 100)).collect();
        assert_eq!((drawn, others), (vec![78, 81, 65, 92, 37, 88], vec![4, 18, 87, 62, 0, 18]));
    }

    #[test]
    fn what_weighs_nothing_is_never_drawn() {
        let mut random = stream(1, 0, Purpose::Schedule);
        let mut seen = [0; 4];
        for _ in 0..4000 {
            seen[draw(&mut random, &[0, 1, 0, 3], 4)] += 1;
        }
        assert_eq!((seen[0], seen[2]), (0, 0));
        assert!((900..1100).contains(&seen[1]), "{seen:?}");
    }
}
