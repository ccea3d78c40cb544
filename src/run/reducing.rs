//! How a model is explored: whole where it is small, and else reduced, with the shortest breaks searched afterwards.
//!
//! A reduction keeps every verdict and the fewest faults of each break, but not its length. So what it finds is searched
//! again, with every interleaving, until each front is decided: as soon as a property was violated with as few faults as it
//! can be, nothing longer can be on its front. (Up to symmetry, which keeps lengths.)

use super::Options;
use super::checkpoint::Stage;
use crate::engine::{self, Changed, Exploration, Found, Limits, Progress, Stop};
use crate::step::Simulation;
use crate::world::Component;

/// States up to which a model is explored as a whole: that takes a fraction of a second, and then every count is that of
/// the whole graph.
const WHOLE: usize = 200_000;

/// What the searches of one run found.
pub(super) struct Explored {
    /// What decides verdicts, witnesses and coverage.
    pub decided: Exploration<Simulation>,
    /// The model with late routing, where that is what decides.
    late: Option<Simulation>,
    /// Where shortest breaks were searched for themselves.
    shortest: Option<Exploration<Simulation>>,
    /// The reductions that were used.
    pub reductions: Vec<String>,
    liveness: Option<usize>,
}

/// One of the searches of a run, and what it explored.
#[derive(Clone, Copy)]
pub(super) struct Searched<'e> {
    found: &'e Exploration<Simulation>,
    late: Option<&'e Simulation>,
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
    let mut search =
        |simulation: &Simulation, stage: Stage, limits: Limits| match begun.iter().find(|(there, _)| *there == stage) {
            Some((_, begun)) => engine::resume(simulation, limits, begun, watch),
            None => Ok(engine::explore(simulation, limits, watch)),
        };
    let goes_on = begun.iter().any(|(stage, _)| *stage == Stage::Reduced);
    let states = match (reducible, goes_on) {
        (false, _) => options.max_states,
        (true, false) => Some(most.min(WHOLE)),
        // What was reduced then is made anew from what the same states witness.
        (true, true) => Some(WHOLE),
    };
    let whole = search(simulation, Stage::Whole, Limits { states, ..limits })?;
    if !goes_on && (!reducible || whole.stop != Some(Stop::States) || most <= WHOLE) {
        return Ok(Explored { decided: whole, late: None, shortest: None, reductions: Vec::new(), liveness });
    }
    let witnessed = whole.witnessed;
    drop(whole);
    let late = Simulation::reduced(simulation.setting().model.clone(), witnessed);
    let late = Some(late).filter(Simulation::routes_late);
    let reduced = late.as_ref().unwrap_or(simulation);
    let mut decided = search(
        reduced,
        Stage::Reduced,
        Limits { states: options.max_states, witnessed, reduce: true, symmetry: true, subsume: true, ..limits },
    )?;
    decided.witnessed |= witnessed;
    let mut reductions = vec!["partial order".to_owned()];
    if late.is_some() {
        reductions.extend(["late routing", "dead values"].map(str::to_owned));
    }
    if reduced.budgets().is_some() {
        reductions.push("subsumption".to_owned());
    }
    for exchangeable in reduced.exchangeable() {
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
        let only =
            Limits { liveness: false, causes: false, fewest: Some(fewest), symmetry: true, subsume: true, ..limits };
        search(simulation, Stage::Shortest, Limits { states: options.max_states, ..only })
    });
    Ok(Explored { decided, late, shortest: shortest.transpose()?, reductions, liveness })
}

/// The bits of a hash by which a state is known, where it is by its hash alone.
pub(super) const FINGERPRINT: u32 = 64;

impl Explored {
    /// At most so probable is it that a search left out a state.
    pub fn omission(&self) -> f64 {
        (self.decided.omission() + self.shortest.as_ref().map_or(0.0, Exploration::omission)).min(1.0)
    }

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

    /// Why the search of the shortest breaks was cut short, if it was.
    pub fn unproved(&self) -> Option<Stop> {
        self.shortest.as_ref()?.stop.filter(|stop| *stop != Stop::Enough)
    }

    /// The search that decides.
    pub const fn decider(&self) -> Searched<'_> {
        Searched { found: &self.decided, late: self.late.as_ref() }
    }

    /// What happens in some run of the model by the way, and is left out by a reduction: by name.
    pub fn left_out(&self) -> Option<&'static str> {
        self.late.as_ref().and_then(Simulation::left_out)
    }

    /// The front of a property's breaks, in the search that found it; and whether that is proved: no shorter one was missed.
    pub fn front(&self, property: usize) -> (Searched<'_>, Vec<Found>, bool) {
        let found = self.decided.front(property);
        if self.reductions.is_empty() {
            return (self.decider(), found, true);
        }
        let Some(shortest) = self.shortest.as_ref().filter(|_| Some(property) != self.liveness) else {
            return (self.decider(), found, false);
        };
        let front = shortest.front(property);
        let fewest = |front: &[Found]| front.last().map(|found| found.faults);
        if fewest(&front) == fewest(&found) {
            return (Searched { found: shortest, late: None }, front, true);
        }
        let certain = shortest.stop.is_none() && shortest.omission() == 0.0;
        assert!(!certain, "what a reduction finds is found without it");
        (self.decider(), found, false)
    }
}

impl Searched<'_> {
    /// The states of a real run to what was found, the initial one first; and, where it then goes round for ever, the state,
    /// counted from 0, to which the last one comes back.
    pub fn path(&self, simulation: &Simulation, place: Found, property: usize) -> (Vec<Vec<Component>>, Option<usize>) {
        let explored = self.late.unwrap_or(simulation);
        let mut path = self.found.path(explored, place);
        let round = self.found.round(explored, place);
        let Some(late) = self.late else {
            let loops_from = round.is_some().then(|| path.len() - 1);
            path.extend(round.into_iter().flatten());
            return (path, loops_from);
        };
        let mut real =
            late.unfolded(simulation, &path, property).expect("a run with late routing stands for a real one");
        let Some(round) = round else { return (real, None) };
        let lap: Vec<_> = path.pop().into_iter().chain(round).collect();
        let start = real.len() - 1;
        let unfolded = late.unfolded_round(simulation, &real[start], &lap);
        let (rest, back) = unfolded.expect("a loop with late routing stands for a real one");
        real.extend(rest);
        (real, Some(start + back))
    }
}
