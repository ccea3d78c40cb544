//! How a model is explored: whole where it is small, and else reduced, with the shortest breaks searched afterwards.
//!
//! A reduction keeps every verdict and the fewest faults of each break, but not its length. So what it finds is searched
//! again, unreduced, until each front is decided: as soon as a property was violated with as few faults as it can be,
//! nothing longer can be on its front.

use super::Options;
use super::checkpoint::Stage;
use crate::engine::{self, Changed, Exploration, Found, Limits, Progress, Stop};
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

/// Explores a model as the options say. `limits`: what to look for. `begun`: the searches of a run to go on with.
///
/// # Errors
///
/// When the run is to go on with another one, of a model that has changed.
pub(super) fn explore(
    simulation: &Simulation,
    options: &Options,
    limits: Limits,
    begun: &[(Stage, engine::Checkpoint)],
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Explored, Changed> {
    use crate::engine::System;
    let liveness = simulation.liveness();
    let most = options.max_states.unwrap_or(usize::MAX);
    let reducible = !options.no_reduction && options.shows.is_empty() && limits.enough == 0;
    let mut search = |stage: Stage, limits: Limits| match begun.iter().find(|(there, _)| *there == stage) {
        Some((_, begun)) => engine::resume(simulation, limits, begun, watch),
        None => Ok(engine::explore(simulation, limits, watch)),
    };
    if begun.iter().all(|(stage, _)| *stage != Stage::Reduced) {
        let states = if reducible { Some(most.min(WHOLE)) } else { options.max_states };
        let decided = search(Stage::Whole, Limits { states, ..limits })?;
        if !reducible || decided.stop != Some(Stop::States) || most <= WHOLE {
            return Ok(Explored { decided, shortest: None, reductions: Vec::new(), liveness });
        }
    }
    let decided =
        search(Stage::Reduced, Limits { states: options.max_states, reduce: true, symmetry: true, ..limits })?;
    let mut reductions = vec!["partial order".to_owned()];
    for exchangeable in simulation.exchangeable() {
        // Fairness is fairness to each agent, and causes name agents: where these count, agents are not exchanged.
        if !((limits.liveness || limits.causes) && exchangeable == "agents") {
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
        let limits =
            Limits { states: options.max_states, liveness: false, causes: false, fewest: Some(fewest), ..limits };
        search(Stage::Shortest, limits)
    });
    Ok(Explored { decided, shortest: shortest.transpose()?, reductions, liveness })
}

impl Explored {
    /// What it takes to go on with what was cut short; empty: nothing was, or going on would lead nowhere.
    pub fn begun(&self) -> Vec<(Stage, engine::Checkpoint)> {
        let first = if self.reductions.is_empty() { Stage::Whole } else { Stage::Reduced };
        let searches = [(first, Some(&self.decided)), (Stage::Shortest, self.shortest.as_ref())];
        let short = |search: &Exploration<Simulation>| matches!(search.stop, Some(Stop::States | Stop::Caller));
        if !searches.iter().any(|(_, search)| search.is_some_and(short)) {
            return Vec::new();
        }
        let begun = searches.into_iter().filter_map(|(stage, search)| Some((stage, search?.checkpoint()?)));
        begun.collect()
    }

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
