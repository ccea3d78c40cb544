//! How a model is explored: whole where it is small, and else reduced, with the shortest breaks searched afterwards.
//!
//! A reduction keeps every verdict and the fewest faults of each break, but not its length. So what it finds is searched
//! again, unreduced, until each front is decided: as soon as a property was violated with as few faults as it can be,
//! nothing longer can be on its front.

use super::Options;
use crate::engine::{self, Exploration, Found, Limits, Progress, Stop};
use crate::step::Simulation;

/// States up to which a model is explored as a whole: that takes a fraction of a second, and then every count is that of
/// the whole graph.
const WHOLE: usize = 200_000;

/// What the searches of one run found.
pub(super) struct Explored {
    /// What decides verdicts, witnesses and coverage.
    pub decided: Exploration<Simulation>,
    /// Where shortest breaks were searched for themselves.
    shortest: Option<Exploration<Simulation>>,
    /// The reductions that were used.
    pub reductions: Vec<String>,
    liveness: Option<usize>,
}

/// Explores a model as the options say. `limits`: what to look for.
pub(super) fn explore(
    simulation: &Simulation,
    options: &Options,
    limits: Limits,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Explored {
    use crate::engine::System;
    let most = options.max_states.unwrap_or(usize::MAX);
    let reducible = !options.no_reduction && options.shows.is_empty() && limits.enough == 0;
    let whole = Limits { states: if reducible { Some(most.min(WHOLE)) } else { options.max_states }, ..limits };
    let decided = engine::explore(simulation, whole, watch);
    let liveness = simulation.liveness();
    if !reducible || decided.stop != Some(Stop::States) || most <= WHOLE {
        return Explored { decided, shortest: None, reductions: Vec::new(), liveness };
    }
    drop(decided);
    let reduced = Limits { states: options.max_states, reduce: true, symmetry: true, ..limits };
    let decided = engine::explore(simulation, reduced, watch);
    let mut reductions = vec!["partial order".to_owned()];
    for exchangeable in simulation.exchangeable() {
        // Fairness is fairness to each agent: where it counts, agents are not exchanged.
        if !(limits.liveness && exchangeable == "agents") {
            reductions.push(format!("symmetry of {exchangeable}"));
        }
    }
    let mut fewest = [u8::MAX; 64];
    for (property, found) in decided
        .violations
        .iter()
        .enumerate()
        .filter(|(property, _)| Some(*property) != liveness && limits.wanted & (1 << property) != 0)
    {
        if let Some(first) = found.first() {
            fewest[property] = u8::try_from(first.faults).unwrap_or(u8::MAX - 1);
        }
    }
    let any = decided.stop.is_none() && fewest.iter().any(|faults| *faults != u8::MAX);
    let shortest = any.then(|| {
        let limits = Limits { states: options.max_states, liveness: false, fewest: Some(fewest), ..limits };
        engine::explore(simulation, limits, watch)
    });
    Explored { decided, shortest, reductions, liveness }
}

impl Explored {
    /// The front of a property's breaks, in the search that found it; and whether that is proved: no shorter one was missed.
    pub fn front(&self, property: usize) -> (&Exploration<Simulation>, Vec<Found>, bool) {
        if self.reductions.is_empty() {
            return (&self.decided, self.decided.front(property), true);
        }
        let found = self.decided.front(property);
        let Some(shortest) = self.shortest.as_ref().filter(|_| Some(property) != self.liveness) else {
            return (&self.decided, found, false);
        };
        let front = shortest.front(property);
        let fewest = |front: &[Found]| front.last().map(|found| found.faults);
        if fewest(&front) == fewest(&found) {
            return (shortest, front, true);
        }
        assert!(shortest.stop.is_some(), "what a reduction finds is found without it");
        (&self.decided, found, false)
    }
}
