//! Liveness on hand-made graphs with known answers, among them those on which a search for paths without the wanted state
//! passes falsely: a cycle, and a join that is reached on a good path first.

use handlecheck::engine::{Access, Class, Limits, Observations, System, explore};

/// A graph: node 0 is the initial state, and each edge belongs to a source. Something is pending in all nodes but those
/// that are done.
struct Graph {
    edges: &'static [(u8, u8, usize)],
    /// Edges that are not fair: they may never be taken.
    unfair: &'static [(u8, u8)],
    done: &'static [u8],
    sources: usize,
}

impl System for Graph {
    type Component = u8;
    type Action = (u8, u8);

    fn initial(&self) -> Vec<u8> {
        vec![0]
    }

    fn sources(&self) -> usize {
        self.sources
    }

    fn actions(&self, source: usize, access: &Access<'_, u8>) -> Vec<(u8, u8)> {
        let at = *access.get(0);
        let from_here = self.edges.iter().filter(|(from, _, of)| *from == at && *of == source);
        from_here.map(|(from, to, _)| (*from, *to)).collect()
    }

    fn parts(&self, _: &(u8, u8)) -> usize {
        1
    }

    fn step(&self, (_, to): &(u8, u8), _: usize, access: &mut Access<'_, u8>) -> Observations {
        access.set(0, *to);
        Observations::default()
    }

    fn class(&self, _: &(u8, u8)) -> Class {
        Class::Progress
    }

    fn is_fair(&self, action: &(u8, u8)) -> bool {
        !self.unfair.contains(action)
    }

    fn liveness(&self) -> Option<usize> {
        Some(0)
    }

    fn is_pending(&self, access: &Access<'_, u8>) -> bool {
        !self.done.contains(access.get(0))
    }

    fn observe(&self, _: bool, _: &Access<'_, u8>) -> Observations {
        Observations::default()
    }

    fn numbers(&self, _: &u8, _: &mut dyn FnMut(u16, u16)) {}

    fn renumber(&self, _: &mut u8, _: u16, _: &dyn Fn(u16) -> u16) {}
}

/// The shortest break: the length of the path, and the nodes of the loop behind it; `None` in place of a loop: stuck.
fn verdict(graph: &Graph) -> Option<(u32, Option<Vec<u8>>)> {
    let found = explore(graph, Limits { liveness: true, ..Limits::default() }, &mut |_| false);
    let first = *found.front(0).first()?;
    let round = found.round(graph, first).map(|states| states.into_iter().map(|state| state[0]).collect());
    Some((first.steps, round))
}

const PLAIN: Graph = Graph { edges: &[], unfair: &[], done: &[], sources: 1 };

#[test]
fn a_path_to_the_end_resolves() {
    assert_eq!(verdict(&Graph { edges: &[(0, 1, 0), (1, 2, 0)], done: &[2], ..PLAIN }), None);
}

#[test]
fn a_dead_end_is_a_break() {
    let graph = Graph { edges: &[(0, 1, 0), (1, 2, 0), (0, 3, 0)], done: &[2], ..PLAIN };
    assert_eq!(verdict(&graph), Some((1, None)));
}

#[test]
fn a_cycle_is_a_break_though_no_path_ends() {
    // A search that judges paths only where they end never sees this one.
    let graph = Graph { edges: &[(0, 1, 0), (1, 2, 0), (2, 1, 0)], ..PLAIN };
    assert_eq!(verdict(&graph), Some((1, Some(vec![2, 1]))));
}

#[test]
fn a_loop_of_one_state_is_a_cycle() {
    assert_eq!(verdict(&Graph { edges: &[(0, 0, 0)], ..PLAIN }), Some((0, Some(vec![0]))));
}

#[test]
fn a_join_hides_nothing() {
    // Node 3 is reached through 1, where all is done, and through 2, where it is not: what counts is the state itself.
    let graph = Graph { edges: &[(0, 1, 0), (0, 2, 0), (1, 3, 0), (2, 4, 0), (4, 2, 0)], done: &[1, 3], ..PLAIN };
    assert_eq!(verdict(&graph), Some((1, Some(vec![4, 2]))));
}

#[test]
fn a_loop_that_a_fair_source_can_always_leave_is_none() {
    // Source 1 can move in both states of the loop and never does in it: the run would not be fair.
    let edges = &[(0, 1, 0), (1, 0, 0), (0, 2, 1), (1, 2, 1)];
    assert_eq!(verdict(&Graph { edges, done: &[2], sources: 2, ..PLAIN }), None);
}

#[test]
fn a_loop_in_which_the_other_source_is_sometimes_unable_to_move_is_fair() {
    // Source 1 can leave from 0 only: it may miss its chance for ever (fairness is weak).
    let edges = &[(0, 1, 0), (1, 0, 0), (0, 2, 1)];
    assert_eq!(verdict(&Graph { edges, done: &[2], sources: 2, ..PLAIN }), Some((0, Some(vec![1, 0]))));
}

#[test]
fn a_loop_needs_the_moves_of_every_source_that_can_always_move() {
    // Both sources can move everywhere; the loop 0-1 is source 0's alone, but 0-1-2-0 has moves of both.
    let edges = &[(0, 1, 0), (1, 0, 0), (1, 2, 1), (2, 0, 0), (0, 3, 1), (2, 3, 1)];
    assert_eq!(verdict(&Graph { edges, done: &[3], sources: 2, ..PLAIN }), Some((0, Some(vec![1, 2, 0]))));
}

#[test]
fn an_unfair_move_ends_nothing() {
    // The only way out need never be taken.
    let graph = Graph { edges: &[(0, 1, 0), (1, 2, 0)], unfair: &[(1, 2)], done: &[2], ..PLAIN };
    assert_eq!(verdict(&graph), Some((1, None)));
}
