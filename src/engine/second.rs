//! The second witness of the search: the same system, explored by stateright.
//!
//! States are plain vectors of components, nothing is interned and nothing is remembered, so this witnesses the memory,
//! the numbering and the search of the first engine. It shares the system's own code.
//!
//! Known limits of stateright 0.31, worked around here: with several properties its breadth-first search overwrites a
//! shorter discovery by a longer one (so each run has one property); properties are judged on states, ours also on
//! steps (so verdicts are gathered while it expands, and a shortest length is searched in a run of its own in which
//! the state carries whether the property was violated); a property is a plain function with a static name; its own limit
//! counts states that it makes again too, and it can't be stopped (so where the search is to end, states have no successors
//! any more).

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use stateright::{Checker, Model, Property};

use super::plain::{apply, enabled, normalise};
use super::{Access, Class, Observations, Progress, Stop, System};

/// What stateright found out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Distinct states that were explored.
    pub states: usize,
    /// One bit per property that is violated.
    pub violated: u64,
    /// One bit per property whose witness was reached.
    pub witnessed: u64,
    /// Why it ended before everything was explored, if it did.
    pub stop: Option<Stop>,
}

/// Explores with stateright's breadth-first search on one thread: at most so many states. `watch` is told every few
/// milliseconds how far it has come, and stops the search by answering `true`.
pub fn explore<S: System + Send + 'static>(
    system: &Arc<S>,
    most: Option<usize>,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Report {
    let adapter = Adapter::new(system, 0, most);
    let (seen, bound) = (Arc::clone(&adapter.seen), Arc::clone(&adapter.bound));
    let checker = watched(adapter, watch);
    let (violated, witnessed) = *seen.lock().expect("no thread panicked while it held the lock");
    let stop = bound.stop();
    let states = if stop.is_some() { bound.explored() } else { checker.unique_state_count() };
    Report { states, violated, witnessed, stop }
}

/// The states on a shortest path that violates a property, searched by stateright; `None`: nothing does, or `watch` stopped it.
pub fn shortest<S: System + Send + 'static>(
    system: &Arc<S>,
    property: usize,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Option<Vec<Vec<S::Component>>> {
    let checker = watched(Adapter::new(system, 1 << property, None), watch);
    let path = checker.discovery(WATCHED)?;
    Some(path.into_states().into_iter().map(|node| node.components).collect())
}

/// Lets stateright explore, and asks now and then whether it is to stop.
fn watched<S: System + Send + 'static>(
    adapter: Adapter<S>,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> impl Checker<Adapter<S>> {
    let bound = Arc::clone(&adapter.bound);
    let checker = adapter.checker().spawn_bfs();
    let mut pause = Duration::from_micros(20);
    while !checker.is_done() {
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
        let (states, explored) = (checker.unique_state_count(), bound.explored());
        let transitions = u64::try_from(checker.state_count()).unwrap_or(u64::MAX);
        let depth = u32::try_from(checker.max_depth()).unwrap_or(u32::MAX);
        let queue = states.saturating_sub(explored);
        if watch(Progress { states, queue, transitions, depth, bytes: 0 }) {
            bound.stopped.store(true, Ordering::Relaxed);
        }
    }
    checker.join()
}

/// How far a search goes.
#[derive(Debug)]
struct Bound {
    most: usize,
    /// States whose successors were asked for, those beyond the bound too.
    asked: AtomicUsize,
    stopped: AtomicBool,
}

impl Bound {
    /// Whether one more state may be explored.
    fn admits(&self) -> bool {
        !self.stopped.load(Ordering::Relaxed) && self.asked.fetch_add(1, Ordering::Relaxed) < self.most
    }

    fn explored(&self) -> usize {
        self.asked.load(Ordering::Relaxed).min(self.most)
    }

    fn stop(&self) -> Option<Stop> {
        if self.stopped.load(Ordering::Relaxed) {
            return Some(Stop::Caller);
        }
        (self.asked.load(Ordering::Relaxed) > self.most).then_some(Stop::States)
    }
}

const WATCHED: &str = "nothing that is watched was violated";

struct Adapter<S: System> {
    system: Arc<S>,
    /// Violated and witnessed, gathered while stateright expands.
    seen: Arc<Mutex<(u64, u64)>>,
    /// The properties whose violation is part of the state.
    watched: u64,
    bound: Arc<Bound>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Node<C> {
    components: Vec<C>,
    violated: bool,
}

impl<S: System> Adapter<S> {
    fn new(system: &Arc<S>, watched: u64, most: Option<usize>) -> Self {
        let most = most.unwrap_or(usize::MAX);
        let bound = Arc::new(Bound { most, asked: AtomicUsize::new(0), stopped: AtomicBool::new(false) });
        Self { system: Arc::clone(system), seen: Arc::default(), watched, bound }
    }

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
        if self.bound.admits() {
            actions.extend(enabled(&*self.system, &state.components));
        }
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
