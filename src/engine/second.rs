//! The second witness of the search: the same system, explored by stateright.
//!
//! States are plain vectors of components, nothing is interned and nothing is remembered, so this witnesses the memory,
//! the numbering and the search of the first engine. It shares the system's own code.
//!
//! Known limits of stateright 0.31, worked around here: with several properties its breadth-first search overwrites a
//! shorter discovery by a longer one (so each run has one property); properties are judged on states, ours also on
//! steps (so verdicts are gathered while it expands, and a shortest length is searched in a run of its own in which
//! the state carries whether the property was violated); a property is a plain function with a static name.

use std::sync::{Arc, Mutex};

use stateright::{Checker, Model, Property};

use super::plain::{apply, enabled, normalise};
use super::{Access, Class, Observations, System};

/// What stateright found out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Distinct states.
    pub states: usize,
    /// One bit per property that is violated.
    pub violated: u64,
    /// One bit per property whose witness was reached.
    pub witnessed: u64,
}

/// Explores everything with stateright's breadth-first search on one thread. `most`: give up near so many states.
pub fn explore<S: System + Send + 'static>(system: &Arc<S>, most: Option<usize>) -> Report {
    let adapter = Adapter { system: Arc::clone(system), seen: Arc::default(), watched: 0 };
    let seen = Arc::clone(&adapter.seen);
    let mut builder = adapter.checker();
    if let Some(most) = most {
        builder = builder.target_state_count(most);
    }
    let states = builder.spawn_bfs().join().unique_state_count();
    let (violated, witnessed) = *seen.lock().expect("no thread panicked while it held the lock");
    Report { states, violated, witnessed }
}

/// The states on a shortest path that violates a property, searched by stateright; `None`: nothing does.
pub fn shortest<S: System + Send + 'static>(system: &Arc<S>, property: usize) -> Option<Vec<Vec<S::Component>>> {
    let adapter = Adapter { system: Arc::clone(system), seen: Arc::default(), watched: 1 << property };
    let checker = adapter.checker().spawn_bfs().join();
    let path = checker.discovery(WATCHED)?;
    Some(path.into_states().into_iter().map(|node| node.components).collect())
}

const WATCHED: &str = "nothing that is watched was violated";

struct Adapter<S: System> {
    system: Arc<S>,
    /// Violated and witnessed, gathered while stateright expands.
    seen: Arc<Mutex<(u64, u64)>>,
    /// The properties whose violation is part of the state.
    watched: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Node<C> {
    components: Vec<C>,
    violated: bool,
}

impl<S: System> Adapter<S> {
    fn gather(&self, observations: &Observations) {
        let mut seen = self.seen.lock().expect("no thread panicked while it held the lock");
        seen.0 |= observations.violated;
        seen.1 |= observations.witnessed;
    }

    /// What is observed in the state as such.
    fn observe(&self, components: &[S::Component]) -> Observations {
        let mut actions = enabled(&*self.system, components).into_iter();
        let quiescent = actions.all(|action| self.system.class(&action) != Class::Progress);
        let observations = self.system.observe(quiescent, &Access::new(components));
        self.gather(&observations);
        observations
    }

    fn node(&self, components: Vec<S::Component>, violated: bool) -> Node<S::Component> {
        let violated = violated || self.observe(&components).violated & self.watched != 0;
        Node { components, violated }
    }
}

impl<S: System + Send + 'static> Model for Adapter<S> {
    type State = Node<S::Component>;
    type Action = S::Action;

    fn init_states(&self) -> Vec<Self::State> {
        let mut components = self.system.initial();
        normalise(&*self.system, &mut components);
        vec![self.node(components, false)]
    }

    fn actions(&self, state: &Self::State, actions: &mut Vec<Self::Action>) {
        actions.extend(enabled(&*self.system, &state.components));
    }

    fn next_state(&self, state: &Self::State, action: Self::Action) -> Option<Self::State> {
        let (mut components, observations) = apply(&*self.system, &state.components, &action);
        normalise(&*self.system, &mut components);
        self.gather(&observations);
        Some(self.node(components, state.violated || observations.violated & self.watched != 0))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always(WATCHED, |_, node: &Self::State| !node.violated)]
    }
}
