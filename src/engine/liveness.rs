//! Liveness: fair runs in which something pending stays so for ever.
//!
//! A run is infinite, or ends where no fair move is possible. It is fair if no source whose move stays possible waits for
//! ever. Faults have budgets, so an infinite run has a last one; after it only fair moves and idle ones are left, and idle
//! ones come to an end too. So a fair infinite run ends up in one strongly connected component of the graph of fair moves,
//! and runs round in it. A component is a counterexample if something is pending in it and each source either moves in it
//! or is, somewhere in it, unable to move: for a source that could move everywhere in it and never does, the run would
//! not be fair. (A source that moves in the component moves in a loop that passes through all of it.)
//!
//! This is exact on cycles and joins, where a search for a path without the wanted state is not.

use std::collections::BTreeMap;

use super::System;
use super::components::components;
use super::exploration::Found;
use super::search::Search;

/// Decides the liveness property, on a graph that was explored to its end.
pub(super) fn decide<S: System>(search: &mut Search<'_, S>, property: usize) {
    let mut graph = Graph::of(search);
    let mut found: Vec<(Found, Option<u32>)> = Vec::new();
    for state in 0..graph.count() {
        if graph.pending[state as usize] && graph.able[state as usize] == 0 {
            found.push((at(search, state), None));
        }
    }
    for component in graph.components() {
        if graph.is_fair(&component) {
            found.extend(component.iter().map(|state| (at(search, *state), Some(*state))));
        }
    }
    found.sort_by_key(|(found, _)| (found.steps, found.faults, found.state));
    let mut fewest = u32::MAX;
    for (place, looping) in found {
        // Only what is on the front of cheapest breaks needs its loop.
        if place.faults >= fewest {
            continue;
        }
        fewest = place.faults;
        search.note(1 << property, place);
        if let Some(state) = looping {
            search.loops.push((place, graph.round(state)));
        }
    }
}

fn at<S: System>(search: &Search<'_, S>, state: u32) -> Found {
    let (steps, faults) = search.cost(state);
    Found { steps, faults, state, transition: None }
}

/// The graph of fair moves between states in which something is pending.
struct Graph {
    pending: Vec<bool>,
    /// The sources that have a fair move in a state, one bit each, be it taken or not.
    able: Vec<u64>,
    /// Every fair move of a pending state that was taken: its source, and where it leads.
    moves: Vec<Vec<(u16, u32)>>,
    component: Vec<u32>,
}

impl Graph {
    fn of<S: System>(search: &mut Search<'_, S>) -> Self {
        let count = search.count();
        let pending: Vec<bool> = (0..count).map(|state| search.is_pending(state)).collect();
        let fair = |state| if pending[state as usize] { search.fair_moves(state) } else { Default::default() };
        let (able, moves) = (0..count).map(fair).unzip();
        let component = vec![u32::MAX; pending.len()];
        Self { pending, able, moves, component }
    }

    fn count(&self) -> u32 {
        u32::try_from(self.pending.len()).expect("states are numbered in 32 bits")
    }

    /// The strongly connected components that hold a loop, each in the order of its states.
    fn components(&mut self) -> Vec<Vec<u32>> {
        // A move to where nothing is pending leads nowhere: it is left out by leading back.
        let target = |state: u32, edge: usize| {
            let (_, target) = self.moves[state as usize].get(edge)?;
            Some(if self.pending[*target as usize] { *target } else { state })
        };
        self.component = components(self.count(), target);
        let mut found: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for state in (0..self.count()).filter(|state| self.pending[*state as usize]) {
            found.entry(self.component[state as usize]).or_default().push(state);
        }
        let loops = |states: &Vec<u32>| {
            let round = |state: &u32| self.moves[*state as usize].iter().any(|(_, target)| target == state);
            states.len() > 1 || states.iter().any(round)
        };
        found.into_values().filter(loops).collect()
    }

    /// Whether a run may stay in a component for ever and be fair.
    fn is_fair(&self, states: &[u32]) -> bool {
        let all = states.iter().fold(0, |met, state| met | self.met_at(*state) | self.met_by_moves(*state));
        all == u64::MAX
    }

    /// The sources that can't move in a state, one bit each.
    fn met_at(&self, state: u32) -> u64 {
        !self.able[state as usize]
    }

    /// The sources that move from a state to one of its component.
    fn met_by_moves(&self, state: u32) -> u64 {
        let component = self.component[state as usize];
        let inner =
            self.moves[state as usize].iter().filter(|(_, target)| self.component[*target as usize] == component);
        inner.fold(0, |met, (source, _)| met | bit(*source))
    }

    /// A shortest fair loop through a state of a fair component: the source of each move, and the state after it, up to the
    /// state itself.
    fn round(&self, start: u32) -> Vec<(u16, u32)> {
        let component = self.component[start as usize];
        let mut seen: Vec<(u32, u64)> = vec![(start, self.met_at(start))];
        let mut parents: Vec<(usize, u16)> = vec![(0, 0)];
        let mut known = std::collections::BTreeSet::from([(start, self.met_at(start))]);
        let mut next = 0;
        while next < seen.len() {
            let (state, met) = seen[next];
            for (source, target) in &self.moves[state as usize] {
                if self.component[*target as usize] != component {
                    continue;
                }
                let now = met | bit(*source) | self.met_at(*target);
                if *target == start && now == u64::MAX {
                    let mut round = vec![(*source, start)];
                    let mut at = next;
                    while at != 0 {
                        let (parent, source) = parents[at];
                        round.push((source, seen[at].0));
                        at = parent;
                    }
                    round.reverse();
                    return round;
                }
                if known.insert((*target, now)) {
                    seen.push((*target, now));
                    parents.push((next, *source));
                }
            }
            next += 1;
        }
        unreachable!("a fair component has a fair loop through each of its states")
    }
}

/// The bit of a source. Sources beyond the 63rd are taken together, which can only make a loop unfair.
pub(super) fn bit(source: u16) -> u64 {
    1 << source.min(63)
}
