//! What a search found out.

use super::System;
use super::checkpoint::Outline;
use super::intern::Interner;
use super::limits::Stop;
use super::store::Store;
use super::symmetry::Lift;

/// The first occurrence of something, with so many faults on its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Actions on the path.
    pub steps: u32,
    /// Faults among them.
    pub faults: u32,
    pub(super) state: u32,
    /// The transition from `state` that shows it; `None`: the state itself does.
    pub(super) transition: Option<u16>,
}

/// What a search found out.
pub struct Exploration<S: System> {
    pub(super) interner: Interner<S::Component>,
    pub(super) store: Store,
    /// Why it is not complete; `None`: every reachable state was expanded.
    pub stop: Option<Stop>,
    /// Transitions taken.
    pub transitions: u64,
    /// Length of the longest shortest path.
    pub depth: u32,
    /// For each property, the first violation for each number of faults, fewest faults first.
    pub violations: Vec<Vec<Found>>,
    /// The loops of the violations of liveness that are loops: the source of each move, and the state after it.
    pub(super) loops: Vec<(Found, Vec<(u16, u32)>)>,
    /// The first violation of each property for each of its causes, where these were asked for: property and cause, and where.
    pub causes: Vec<((u8, u64), Found)>,
    /// States were known by so many bits of their hashes alone.
    pub(super) compact: Option<u32>,
    /// In how many ways more may have been left to spend in a state, at most; 0 where nobody asked.
    pub(super) amounts: usize,
    /// The symmetries up to which it was explored.
    pub(super) members: Vec<usize>,
    /// For each property, whether its witness was reached: one bit each.
    pub witnessed: u64,
    /// How often actions of each kind were taken, sorted by kind.
    pub kinds: Vec<(u16, u64)>,
    /// How often each tag was observed, sorted by tag.
    pub tags: Vec<(u16, u64)>,
    /// How many results of the system's functions were computed rather than remembered.
    pub computed: u64,
    /// Where whoever goes on begins; `None`: that would lead nowhere.
    pub(super) rest: Option<Outline>,
}

impl<S: System> Exploration<S> {
    /// How many distinct states were found.
    #[must_use]
    pub const fn states(&self) -> usize {
        self.store.len()
    }

    /// The breaks of a property that are cheapest in steps or in faults: the Pareto front, shortest first.
    #[must_use]
    pub fn front(&self, property: usize) -> Vec<Found> {
        let mut front: Vec<Found> = Vec::new();
        for &found in &self.violations[property] {
            if front.last().is_none_or(|best| found.steps < best.steps) {
                front.push(found);
            }
        }
        front.reverse();
        front
    }

    /// The states on a shortest path to what was found, the initial one first. Each is one action from the one before.
    #[must_use]
    pub fn path(&self, system: &S, found: Found) -> Vec<Vec<S::Component>> {
        let mut indices = vec![found.state];
        let mut at = found.state;
        while at != 0 {
            at = self.store.origin(at).parent;
            indices.push(at);
        }
        indices.reverse();
        let mut path: Vec<Vec<S::Component>> = indices.into_iter().map(|index| self.state(index)).collect();
        let last = found.transition.map(|ordinal| {
            let last = path.last().expect("a path has an initial state");
            let successors = super::plain::successors(system, last);
            successors.into_iter().nth(usize::from(ordinal)).expect("the transition was taken")
        });
        if self.members.is_empty() {
            path.extend(last.map(|last| last.state));
            return path;
        }
        let lift = Lift { system, members: &self.members };
        let mut real = lift.path(&path);
        let last = last.map(|last| lift.last(real.last().expect("a path has an initial state"), &last));
        real.extend(last);
        real
    }

    /// The states of the loop that a violation of liveness runs round for ever, from the one after the found one to the
    /// found one itself; `None`: nothing moves any more.
    #[must_use]
    pub fn round(&self, system: &S, found: Found) -> Option<Vec<Vec<S::Component>>> {
        let (_, moves) = self.loops.iter().find(|(other, _)| *other == found)?;
        let lap: Vec<_> = moves.iter().map(|(source, index)| (*source, self.state(*index))).collect();
        if self.members.is_empty() {
            return Some(lap.into_iter().map(|(_, state)| state).collect());
        }
        let path = self.path(system, found);
        let lift = Lift { system, members: &self.members };
        Some(lift.round(path.last().expect("a path has an initial state"), &lap))
    }

    fn state(&self, index: u32) -> Vec<S::Component> {
        let mut state = vec![0; self.interner.width()];
        self.store.unpack(index, &mut state);
        state.iter().enumerate().map(|(slot, &id)| self.interner.get(slot, id).clone()).collect()
    }
}
