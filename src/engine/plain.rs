//! States as plain vectors of components: no interning, no memory, everything computed afresh.
//!
//! The second engine and the recording of traces run on these; the tests hold the first engine to them.

use std::collections::BTreeSet;

use super::{Access, Observations, System};

/// One successor of a state.
#[derive(Clone, Debug)]
pub struct Successor<S: System> {
    /// The action that leads to it.
    pub action: S::Action,
    /// What the action showed.
    pub observations: Observations,
    /// The state after it, normalised.
    pub state: Vec<S::Component>,
}

/// The actions that are enabled in a state, in the order of exploration.
pub fn enabled<S: System>(system: &S, state: &[S::Component]) -> Vec<S::Action> {
    (0..system.sources()).flat_map(|source| system.actions(source, &Access::new(state))).collect()
}

/// Every successor of a state, in the order of exploration, computed afresh.
pub fn successors<S: System>(system: &S, state: &[S::Component]) -> Vec<Successor<S>> {
    let successor = |action| {
        let (mut state, observations) = apply(system, state, &action);
        normalise(system, &mut state);
        Successor { action, observations, state }
    };
    enabled(system, state).into_iter().map(successor).collect()
}

/// The state after an enabled action, not normalised, and what the action showed.
pub fn apply<S: System>(system: &S, state: &[S::Component], action: &S::Action) -> (Vec<S::Component>, Observations) {
    let mut next = state.to_vec();
    let mut all = Observations::default();
    for part in 0..system.parts(action) {
        let mut access = Access::new(state);
        let observations = system.step(action, part, &mut access);
        all.violated |= observations.violated;
        all.witnessed |= observations.witnessed;
        all.tags.extend(observations.tags);
        all.causes.extend(observations.causes);
        for (slot, component) in access.finish().1 {
            next[usize::from(slot)] = component;
        }
    }
    (next, all)
}

/// Renames the numbers of every space to 0, 1, 2, ... in their order.
pub fn normalise<S: System>(system: &S, state: &mut [S::Component]) {
    let mut used: BTreeSet<(u16, u16)> = BTreeSet::new();
    for component in state.iter() {
        system.numbers(component, &mut |space, number| {
            used.insert((space, number));
        });
    }
    let spaces: BTreeSet<u16> = used.iter().map(|(space, _)| *space).collect();
    for space in spaces {
        let numbers: Vec<u16> = used.range((space, 0)..=(space, u16::MAX)).map(|(_, number)| *number).collect();
        let rank = |number: u16| {
            let rank = numbers.binary_search(&number).expect("every number of the state was collected");
            u16::try_from(rank).expect("there are fewer ranks than numbers")
        };
        for component in state.iter_mut() {
            system.renumber(component, space, &rank);
        }
    }
}
