//! How much of something the cheapest run takes, and the dearest one: exact, over all runs of a system.
//!
//! A run counts where it ends: in a quiescent state that the caller takes for an end, and with as many shares as that state
//! says. The whole graph is explored first; then the least sum over the paths to each state is found by Dijkstra's
//! algorithm, and the greatest over the graph of strongly connected components, which has no loops. In a component that can
//! be gone round at a cost, there is no greatest: it is unbounded, there and in all that follows.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::components::components;
use super::search::Search;
use super::{Access, Limits, Observations, Progress, System};

/// So many things are measured at once.
pub const MEASURES: usize = 8;

/// How much of each thing.
pub type Amounts = [u32; MEASURES];

/// What a state counts for, in which runs may end.
#[derive(Clone, Copy, Debug, Default)]
pub struct End {
    /// The sums of a run are divided by this; not 0.
    pub shares: u32,
    /// What the state adds to the sums of runs that end in it.
    pub holds: Amounts,
}

/// A sum, and by what it is to be divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The sum.
    pub sum: u64,
    /// Its shares.
    pub shares: u32,
}

/// The most of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Most {
    /// So much.
    Share(Share),
    /// There is a run that takes more, whatever was taken.
    Unbounded,
}

/// The fewest and the most of one thing over all runs that end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extremes {
    /// The fewest.
    pub fewest: Share,
    /// The most.
    pub most: Most,
}

impl Share {
    fn cross(self, other: Self) -> std::cmp::Ordering {
        let one = u128::from(self.sum) * u128::from(other.shares);
        one.cmp(&(u128::from(other.sum) * u128::from(self.shares)))
    }
}

/// What is to be measured.
pub struct Scales<'w, C: Clone + Eq> {
    /// What a step takes, by what it shows.
    pub weigh: &'w dyn Fn(&Observations) -> Amounts,
    /// Whether runs end in a quiescent state, and what it counts for.
    pub end: &'w dyn Fn(&Access<'_, C>) -> Option<End>,
}

/// Explores a system, at most so many states of it, and measures its runs. `None`: it was cut short, or no run ends.
pub fn extremes<S: System>(
    system: &S,
    limits: Limits,
    scales: &Scales<'_, S::Component>,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Option<[Extremes; MEASURES]> {
    let limits = Limits { enough: 0, fewest: None, liveness: false, symmetry: false, reduce: false, ..limits };
    let limits = Limits { compact: None, ..limits };
    let mut search = Search::new(system, limits);
    search.run(watch);
    if search.stop.is_some() {
        return None;
    }
    let graph = Graph::of(&mut search, scales);
    (!graph.ends.is_empty()).then(|| {
        let component = components(graph.count, |state, edge| Some(graph.edges_of(state).get(edge)?.0));
        std::array::from_fn(|measure| graph.measure(measure, &component))
    })
}

/// Every transition, with what it takes.
struct Graph {
    count: u32,
    /// The first edge of each state, and the end of the last.
    first: Vec<usize>,
    edges: Vec<(u32, Amounts)>,
    ends: Vec<(u32, End)>,
}

impl Graph {
    fn of<S: System>(search: &mut Search<'_, S>, scales: &Scales<'_, S::Component>) -> Self {
        let count = search.count();
        let mut graph = Self { count, first: vec![0], edges: Vec::new(), ends: Vec::new() };
        for state in 0..count {
            let (quiescent, edges) = search.edges(state, scales.weigh);
            graph.edges.extend(edges);
            graph.first.push(graph.edges.len());
            if quiescent {
                let components = search.state_at(state);
                let access = Access::interned(&search.knowledge.interner, &components);
                graph.ends.extend((scales.end)(&access).map(|end| (state, end)));
            }
        }
        graph
    }

    fn edges_of(&self, state: u32) -> &[(u32, Amounts)] {
        &self.edges[self.first[state as usize]..self.first[state as usize + 1]]
    }

    fn measure(&self, measure: usize, component: &[u32]) -> Extremes {
        let (least, most) = (self.least(measure), self.most(measure, component));
        let share = |(state, end): &(u32, End), sums: &[Option<u64>]| {
            let sum = sums[*state as usize]? + u64::from(end.holds[measure]);
            Some(Share { sum, shares: end.shares })
        };
        let fewest = self.ends.iter().filter_map(|end| share(end, &least)).min_by(|one, other| one.cross(*other));
        let greatest: Option<Vec<Share>> = self.ends.iter().map(|end| share(end, &most)).collect();
        let greatest = greatest.and_then(|all| all.into_iter().max_by(|one, other| one.cross(*other)));
        let fewest = fewest.expect("every state was reached, and runs end in some");
        Extremes { fewest, most: greatest.map_or(Most::Unbounded, Most::Share) }
    }

    /// The least sum over the paths to each state.
    fn least(&self, measure: usize) -> Vec<Option<u64>> {
        let mut least: Vec<Option<u64>> = vec![None; self.count as usize];
        let mut open = BinaryHeap::from([Reverse((0_u64, 0_u32))]);
        least[0] = Some(0);
        while let Some(Reverse((sum, state))) = open.pop() {
            if least[state as usize] != Some(sum) {
                continue;
            }
            for (target, amounts) in self.edges_of(state) {
                let after = sum + u64::from(amounts[measure]);
                if least[*target as usize].is_none_or(|known| after < known) {
                    least[*target as usize] = Some(after);
                    open.push(Reverse((after, *target)));
                }
            }
        }
        least
    }

    /// The greatest sum over the paths to each state; `None`: there is no greatest.
    fn most(&self, measure: usize, component: &[u32]) -> Vec<Option<u64>> {
        let mut states: Vec<u32> = (0..self.count).collect();
        states.sort_by_key(|state| Reverse(component[*state as usize]));
        let components = component.iter().copied().max().map_or(0, |last| last as usize + 1);
        let mut most: Vec<Option<u64>> = vec![Some(0); components];
        // A component is complete before the states of it are looked at: edges lead to lower ones only.
        for group in states.chunk_by(|one, other| component[*one as usize] == component[*other as usize]) {
            let own = component[group[0] as usize];
            let edges = || group.iter().flat_map(|state| self.edges_of(*state));
            let inner = |target: &u32| component[*target as usize] == own;
            if edges().any(|(target, amounts)| inner(target) && amounts[measure] > 0) {
                most[own as usize] = None;
            }
            let here = most[own as usize];
            for (target, amounts) in edges().filter(|(target, _)| !inner(target)) {
                let there = &mut most[component[*target as usize] as usize];
                let after = here.map(|sum| sum + u64::from(amounts[measure]));
                *there = there.zip(after).map(|(known, after)| known.max(after));
            }
        }
        component.iter().map(|component| most[*component as usize]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Class;

    /// Goes from 0 to 3, by 1 or by 2. Each move costs one unit of the first measure; a step from 1 to 2 costs five of the
    /// second; and in 2 it may turn round once for one of the third and come back, as often as it likes.
    struct Walk;

    impl System for Walk {
        type Component = u8;
        type Action = u8;

        fn initial(&self) -> Vec<u8> {
            vec![0]
        }

        fn sources(&self) -> usize {
            1
        }

        fn actions(&self, _: usize, access: &Access<'_, u8>) -> Vec<u8> {
            match access.get(0) {
                0 => vec![1, 2],
                1 => vec![2],
                2 => vec![3, 4],
                4 => vec![2],
                _ => Vec::new(),
            }
        }

        fn parts(&self, _: &u8) -> usize {
            1
        }

        fn step(&self, action: &u8, _: usize, access: &mut Access<'_, u8>) -> Observations {
            let from = *access.get(0);
            access.set(0, *action);
            let mut tags = vec![0];
            tags.extend((from == 1).then_some(1));
            tags.extend((from == 4).then_some(2));
            Observations { tags, ..Observations::default() }
        }

        fn is_fair(&self, _: &u8) -> bool {
            true
        }

        fn class(&self, _: &u8) -> Class {
            Class::Progress
        }

        fn observe(&self, _: bool, _: &Access<'_, u8>) -> Observations {
            Observations::default()
        }
    }

    fn found(states: Option<usize>) -> Option<[Extremes; MEASURES]> {
        let weigh = |observations: &Observations| {
            let mut amounts = Amounts::default();
            for tag in &observations.tags {
                amounts[usize::from(*tag)] += if *tag == 1 { 5 } else { 1 };
            }
            amounts
        };
        let end = |access: &Access<'_, u8>| {
            let mut end = End { shares: 2, ..End::default() };
            end.holds[3] = u32::from(*access.get(0));
            Some(end)
        };
        let limits = Limits { states, ..Limits::default() };
        extremes(&Walk, limits, &Scales { weigh: &weigh, end: &end }, &mut |_| false)
    }

    #[test]
    fn the_fewest_and_the_most_are_those_of_whole_runs() {
        let found = found(None).expect("it was explored whole");
        let so_many = |sum| Share { sum, shares: 2 };
        assert_eq!(found[0], Extremes { fewest: so_many(2), most: Most::Unbounded }, "it may go round");
        assert_eq!(found[1], Extremes { fewest: so_many(0), most: Most::Share(so_many(5)) }, "that is on one way only");
        assert_eq!(found[2], Extremes { fewest: so_many(0), most: Most::Unbounded });
        assert_eq!(found[3], Extremes { fewest: so_many(3), most: Most::Share(so_many(3)) }, "what the end holds");
        assert_eq!(found[4], Extremes { fewest: so_many(0), most: Most::Share(so_many(0)) });
    }

    #[test]
    fn what_is_cut_short_is_not_measured() {
        assert_eq!(self::found(Some(3)), None);
    }
}
