//! One run: three inputs, explored by an engine, and what came out.
//!
//! This is the whole way from texts to a report, for the commands and for whoever uses handlecheck as a library. It
//! prints nothing, writes no file and reads no clock: the caller says when to stop.

mod cache;
mod causes;
mod checkpoint;
mod costs;
mod coverage;
mod options;
mod reducing;
mod report;
mod showing;
mod unchecked;
mod variants;

pub use cache::{Cache, question};
pub use causes::CauseReport;
pub use checkpoint::{Checkpoint, ResumeError};
pub use costs::{Cost, Costs, Expected, Greatest, KeyKept, LeaseKept};
pub use coverage::{Uncovered, uncovered};
pub use options::{Engine, Options};
pub use report::{Bounds, Break, PropertyReport, Report};
pub use showing::ShowReport;
pub use unchecked::Unchecked;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::engine::{Found, Limits, Progress, Stop, second};
use crate::input::{self, Diagnostic, Input, InputError};
use crate::invariants::INVARIANTS;
use crate::model::{Design, Expectation, Model, Protocol, Scenario, Verdict};
use crate::step::{Property, PropertyKind, Simulation};
use crate::trace::{RecordError, Sources, record};

/// Three inputs that fit together.
#[derive(Clone)]
pub struct Run {
    scenario: Input<Scenario>,
    design: Input<Design>,
    protocol: Input<Protocol>,
    model: Model,
    /// What their authors should know.
    pub warnings: Vec<Diagnostic>,
}

/// The names of all invariants.
#[must_use]
pub fn invariant_names() -> Vec<&'static str> {
    INVARIANTS.iter().map(|row| row.name).collect()
}

impl Run {
    /// Composes three inputs. `faults` replaces budgets of the scenario.
    ///
    /// # Errors
    ///
    /// When the inputs don't fit together.
    pub fn new(
        mut scenario: Input<Scenario>,
        design: Input<Design>,
        protocol: Input<Protocol>,
        faults: &BTreeMap<&'static str, u8>,
    ) -> Result<Self, InputError> {
        for (fault, budget) in faults {
            scenario.value.faults.insert(fault, *budget);
        }
        let (model, warnings) = input::compose(&scenario, &design, &protocol, &invariant_names())?;
        Ok(Self { scenario, design, protocol, model, warnings })
    }

    /// The composed model.
    #[must_use]
    pub const fn model(&self) -> &Model {
        &self.model
    }

    /// How many situations can be asked for at once.
    #[must_use]
    pub fn room(&self) -> usize {
        Simulation::new(self.model.clone()).room()
    }

    /// Explores every interleaving, or recalls what came of that ([`Options::cache`]), and records a trace for each break. `watch` is told how far the search has come and
    /// stops it by answering `true`.
    ///
    /// # Errors
    ///
    /// When a trace can't be recorded, which is a bug.
    pub fn explore(&self, options: &Options, watch: &mut dyn FnMut(Progress) -> bool) -> Result<Report, RecordError> {
        if let Some(known) = cache::recall(self, options) {
            return Ok(known);
        }
        let simulation = Arc::new(Simulation::new(self.model.clone()).showing(&options.shows));
        let report = match options.engine {
            Engine::Handlecheck => match self.with_own_engine(&simulation, options, None, watch) {
                Err(ResumeError::Record(error)) => return Err(error),
                Err(ResumeError::Unfit(_)) => unreachable!("nothing is gone on with"),
                Ok(report) => report,
            },
            Engine::Stateright => self.with_stateright(&simulation, options, watch)?,
        };
        cache::keep(self, options, &report);
        Ok(report)
    }

    /// Goes on with a run that was cut short. What comes out is what would have, had it not been.
    ///
    /// # Errors
    ///
    /// When the checkpoint is one of another run, or of other options; or when a trace can't be recorded, which is a bug.
    pub fn resume(
        &self,
        checkpoint: &Checkpoint,
        options: &Options,
        watch: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Report, ResumeError> {
        checkpoint.fits(self, options).map_err(ResumeError::Unfit)?;
        let simulation = Simulation::new(self.model.clone()).showing(&options.shows);
        self.with_own_engine(&simulation, options, Some(checkpoint), watch)
    }

    fn with_own_engine(
        &self,
        simulation: &Simulation,
        options: &Options,
        checkpoint: Option<&Checkpoint>,
        watch: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Report, ResumeError> {
        let properties = simulation.properties();
        let wanted = |property: &Property| options.wants(self, property);
        let bits = properties.iter().enumerate().filter(|(_, property)| wanted(property));
        let bits = bits.fold(0, |bits, (index, _)| bits | 1 << index);
        let enough = if options.stop_early { bits } else { 0 };
        let liveness = properties.iter().any(|property| property.name == "resolves" && wanted(property));
        let (threads, causes) = (options.threads, options.all_causes);
        let compact = options.hash_compact.then_some(reducing::FINGERPRINT);
        let limits = Limits { enough, liveness, wanted: bits, threads, causes, compact, ..Limits::default() };
        let begun = checkpoint.map_or(&[][..], |checkpoint| &checkpoint.searches);
        let explored = reducing::explore(simulation, options, limits, begun, watch)?;
        let found = &explored.decided;
        let mut invariants = Vec::new();
        let mut shows = Vec::new();
        for (index, property) in properties.iter().enumerate().filter(|(_, property)| wanted(property)) {
            let (within, places, shortest) = explored.front(index);
            let recorded = |place| self.recorded(simulation, within, place, index, shortest);
            let mut breaks = places.into_iter().map(recorded).collect::<Result<Vec<_>, _>>()?;
            // What a reduced search finds first need not be shorter when it is unfolded.
            breaks.sort_by_key(|found| (found.steps, found.faults));
            let mut fewest = u32::MAX;
            breaks.retain(|found| {
                let adds = found.faults < fewest;
                fewest = fewest.min(found.faults);
                adds
            });
            if property.kind == PropertyKind::Shown {
                shows.push(self.show(property, breaks, &options.shows));
                continue;
            }
            let witnessed = found.witnessed & (1 << index) != 0;
            let verdict = verdict(property.kind, &breaks, found.stop.is_none(), witnessed);
            let mut reported = self.property(property, breaks, verdict);
            if options.all_causes {
                reported.causes = self.causes(simulation, &explored, index)?;
            }
            invariants.push(reported);
        }
        invariants.extend(self.undecided(simulation, options));
        let mut report = self.report(Engine::Handlecheck, invariants);
        report.unchecked = self.unchecked(simulation, options);
        report.shows = shows;
        report.complete = found.stop.is_none();
        report.stopped = found.stop.map(|stop| self.reason(stop, options));
        report.unproved = explored.unproved().map(|stop| self.reason(stop, options));
        report.states = found.states();
        report.omission = options.hash_compact.then(|| explored.omission());
        report.reductions.clone_from(&explored.reductions);
        report.transitions = found.transitions;
        report.depth = found.depth;
        self.count(&mut report, found, explored.left_out());
        if options.keep {
            let begun = explored.begun();
            report.begun = (!begun.is_empty()).then(|| Box::new(Checkpoint::new(self, options, begun)));
        }
        Ok(report)
    }

    /// What was found at a place, with its trace.
    fn recorded(
        &self,
        simulation: &Simulation,
        within: reducing::Searched<'_>,
        place: Found,
        property: usize,
        shortest: bool,
    ) -> Result<Break, RecordError> {
        let (path, loops_from) = within.path(simulation, place, property);
        let steps = u32::try_from(loops_from.unwrap_or(path.len() - 1)).expect("a path is short");
        let trace = record(simulation, &path, loops_from, property, &self.sources())?;
        let recorded = Some(Box::new(trace));
        Ok(Break { steps, faults: place.faults, shortest, trace: None, recorded })
    }

    fn with_stateright(
        &self,
        simulation: &Arc<Simulation>,
        options: &Options,
        watch: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Report, RecordError> {
        let found = second::explore(simulation, options.max_states, watch);
        let mut stop = found.stop;
        let (mut invariants, mut shows) = (Vec::new(), Vec::new());
        for (index, property) in simulation.properties().iter().enumerate() {
            if !options.wants(self, property) {
                continue;
            }
            let violated = found.violated & (1 << index) != 0;
            let path = if violated { second::shortest(simulation, index, watch) } else { None };
            let mut breaks = Vec::new();
            if let Some(path) = &path {
                let trace = record(simulation, path, None, index, &self.sources())?;
                let steps = u32::try_from(path.len() - 1).expect("a path is short");
                let (faults, recorded) = (trace.faults, Some(Box::new(trace)));
                breaks.push(Break { steps, faults, shortest: true, trace: None, recorded });
            }
            // What is violated has a path, unless nobody waited for it: nothing is claimed without one.
            let sought = violated == path.is_some();
            if !sought {
                stop = Some(Stop::Caller);
            }
            if property.kind == PropertyKind::Shown {
                shows.push(self.show(property, breaks, &options.shows));
                continue;
            }
            let witnessed = found.witnessed & (1 << index) != 0;
            let verdict = verdict(property.kind, &breaks, found.stop.is_none() && sought, witnessed);
            invariants.push(self.property(property, breaks, verdict));
        }
        invariants.extend(self.undecided(simulation, options));
        let mut report = self.report(Engine::Stateright, invariants);
        report.unchecked = self.unchecked(simulation, options);
        report.shows = shows;
        report.complete = stop.is_none();
        report.stopped = stop.map(|stop| self.reason(stop, options));
        report.states = found.states;
        Ok(report)
    }

    /// The texts of the three inputs.
    #[must_use]
    pub fn sources(&self) -> Sources<'_> {
        Sources {
            scenario: &self.scenario.source,
            design: &self.design.source,
            protocol: &self.protocol.source,
            deployed_design: self.design.deployed.as_ref().map(|deployed| &deployed.source),
            deployed_protocol: self.protocol.deployed.as_ref().map(|deployed| &deployed.source),
        }
    }

    fn report(&self, engine: Engine, invariants: Vec<PropertyReport>) -> Report {
        let Model { scenario, design, protocol, .. } = &self.model;
        let faults = scenario.faults.iter().filter(|(_, budget)| **budget > 0);
        Report {
            scenario: scenario.name.clone(),
            design: design.name.clone(),
            protocol: protocol.name.clone(),
            bounds: Bounds { faults: faults.map(|(name, budget)| (*name, *budget)).collect() },
            warnings: self.warnings.iter().map(|warning| warning.message.clone()).collect(),
            complete: true,
            stopped: None,
            unproved: None,
            begun: None,
            checkpoint: None,
            states: 0,
            transitions: 0,
            depth: 0,
            engine: engine.name(),
            omission: None,
            reductions: Vec::new(),
            invariants,
            unchecked: Vec::new(),
            costs: None,
            shows: Vec::new(),
            actions: BTreeMap::new(),
            outcomes: BTreeMap::new(),
            done: BTreeSet::new(),
            steps: BTreeMap::new(),
            reactions: BTreeMap::new(),
            never: Vec::new(),
            never_refused: Vec::new(),
        }
    }

    fn property(&self, property: &Property, breaks: Vec<Break>, verdict: Verdict) -> PropertyReport {
        let expectation = self.expectation(&property.name);
        let shortest = breaks.first();
        let row = INVARIANTS.iter().find(|row| row.name == property.name);
        let anomaly = row.and_then(|row| row.anomaly).map(|anomaly| format!("{}: {}", anomaly.name, anomaly.reference));
        PropertyReport {
            name: property.name.clone(),
            verdict,
            expected: expectation.map(|expectation| expected(&expectation)),
            steps: shortest.map(|shortest| shortest.steps),
            faults: shortest.map(|shortest| shortest.faults),
            trace: None,
            anomaly: anomaly.filter(|_| verdict == Verdict::Violated),
            sentence: shortest.and_then(|shortest| Some(shortest.recorded.as_ref()?.sentence.clone())),
            breaks,
            causes: Vec::new(),
            expectation,
            kind: property.kind,
        }
    }

    /// Why a search ended before it was complete.
    fn reason(&self, stop: Stop, options: &Options) -> String {
        match stop {
            Stop::States => format!("the limit of {} states was reached", options.max_states.unwrap_or_default()),
            Stop::Numbers => {
                let numbers = "a state held more than 64 different versions, plans or claims of one kind";
                let unbounded = self.model.clients.iter().flatten().any(|client| client.attempts.is_none());
                let hint = ", as there may be without end where agents send as often as they like: `attempts` in `[client]` \
                            bounds that";
                format!("{numbers}{}", if unbounded { hint } else { "" })
            }
            Stop::Enough => "everything asked for is violated (--stop-early)".to_owned(),
            Stop::Caller => STOPPED.to_owned(),
        }
    }

    /// What the inputs expect of a property of this run, if they expect anything.
    #[must_use]
    pub fn expectation(&self, property: &str) -> Option<Expectation> {
        self.model.expectation(property)
    }

    /// Whether the inputs expect anything of this run. If they do, what they don't name must not be violated.
    #[must_use]
    pub fn has_expectations(&self) -> bool {
        let Model { scenario, design, .. } = &self.model;
        scenario.expect.contains_key(&design.name) || design.expect.contains_key(&scenario.name)
    }
}

fn verdict(kind: PropertyKind, breaks: &[Break], complete: bool, witnessed: bool) -> Verdict {
    let missing = kind == PropertyKind::Sometimes && !witnessed;
    match (breaks.is_empty(), complete, witnessed) {
        (false, ..) => Verdict::Violated,
        (true, false, _) if !(kind == PropertyKind::Sometimes && witnessed) => Verdict::Inconclusive,
        (true, true, _) if missing => Verdict::Violated,
        (true, _, true) => Verdict::Holds,
        (true, _, false) => Verdict::Vacuous,
    }
}

/// An expectation as an input writes it.
#[must_use]
pub fn expected(expectation: &Expectation) -> String {
    match expectation {
        Expectation::Verdict(verdict) => verdict.name().to_owned(),
        Expectation::Break { steps, faults } => {
            let plural = |count: u32| if count == 1 { "" } else { "s" };
            let faults =
                if *faults == 0 { "no faults".to_owned() } else { format!("{faults} fault{}", plural(*faults)) };
            format!("violated in {steps} step{} with {faults}", plural(*steps))
        }
    }
}

/// Why a run is not complete that somebody stopped.
const STOPPED: &str = "it was stopped";
