//! Locks: what every run of a folder of models comes to, in one file that people review and that programs compare.
//!
//! A lock says no more than a report, and nothing that depends on when, where or how fast it was made: the same models
//! give the same bytes. [`Difference`] is what differs between two of them.

mod difference;
mod digest;
mod read;
mod text;

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::model::Verdict;
use crate::run::{Engine, PropertyReport, Report, Run};

pub use difference::{Axis, Change, Difference, Kind, Space};
pub use digest::digest;
pub use read::read;

/// The name of a lock's file.
pub const FILE: &str = "handlecheck.lock";

/// The version of the format. It changes when a reader of the old one would misunderstand the new one.
pub const SCHEMA: u32 = 1;

/// What every run of a folder of models comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lock {
    /// The version of handlecheck that made it.
    pub handlecheck: String,
    /// What was asked: whoever compares today's models with it asks the same.
    pub asked: Asked,
    /// The digest of each scenario's text, by its name.
    pub scenarios: BTreeMap<String, String>,
    /// The digest of each design's text, by its name.
    pub designs: BTreeMap<String, String>,
    /// The digest of each protocol's text, by its name.
    pub protocols: BTreeMap<String, String>,
    /// The runs.
    pub runs: BTreeMap<Subject, Outcome>,
    /// What can't be run, since a scenario and a design don't fit together; with the reason.
    pub misfits: BTreeMap<Subject, String>,
}

/// What was asked of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Asked {
    /// Only the runs of which something is expected; else each scenario under each design.
    pub expected: bool,
    /// Under this protocol, whatever the scenarios name.
    pub protocol: Option<String>,
    /// Budgets that replace those of the scenarios.
    pub faults: BTreeMap<String, u8>,
    /// These invariants and assertions only; empty: all.
    pub invariants: Vec<String>,
    /// At most so many states in each run.
    pub max_states: Option<usize>,
}

/// Which run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subject {
    /// The scenario's name.
    pub scenario: String,
    /// The design's name.
    pub design: String,
    /// The protocol's name.
    pub protocol: String,
}

/// What a run comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The budget of each fault that has one.
    pub bounds: BTreeMap<String, u8>,
    /// Distinct states.
    pub states: usize,
    /// Transitions.
    pub transitions: u64,
    /// Length of the longest shortest path.
    pub depth: u32,
    /// The engine that explored it, where that is not our own.
    pub engine: Option<String>,
    /// The reductions that were used: where there are any, the numbers are not those of the whole graph.
    pub reductions: Vec<String>,
    /// Why not everything was explored, where that is so.
    pub stopped: Option<String>,
    /// What was found of each invariant and assertion.
    pub found: BTreeMap<String, Found>,
}

/// What was found of an invariant or assertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// It holds.
    Holds,
    /// No run reaches what it is about.
    Vacuous,
    /// A limit was hit before it was known.
    Inconclusive,
    /// It is violated, with the front of cheapest breaks, shortest first. There is none where no state is reached that
    /// should be.
    Violated(Vec<Cost>),
}

/// What a break costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// Its steps.
    pub steps: u32,
    /// Its faults.
    pub faults: u32,
}

impl Subject {
    /// Which run a report is of.
    #[must_use]
    pub fn of(report: &Report) -> Self {
        let Report { scenario, design, protocol, .. } = report;
        Self { scenario: scenario.clone(), design: design.clone(), protocol: protocol.clone() }
    }

    /// Which run it is.
    #[must_use]
    pub fn of_run(run: &Run) -> Self {
        let model = run.model();
        Self {
            scenario: model.scenario.name.clone(),
            design: model.design.name.clone(),
            protocol: model.protocol.name.clone(),
        }
    }
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} x {} x {}", self.scenario, self.design, self.protocol)
    }
}

impl Found {
    /// The verdict.
    #[must_use]
    pub const fn verdict(&self) -> Verdict {
        match self {
            Self::Holds => Verdict::Holds,
            Self::Vacuous => Verdict::Vacuous,
            Self::Inconclusive => Verdict::Inconclusive,
            Self::Violated(_) => Verdict::Violated,
        }
    }

    fn of(property: &PropertyReport) -> Self {
        match property.verdict {
            Verdict::Holds => Self::Holds,
            Verdict::Vacuous => Self::Vacuous,
            Verdict::Inconclusive => Self::Inconclusive,
            Verdict::Violated => {
                let cost = property.breaks.iter().map(|found| Cost { steps: found.steps, faults: found.faults });
                Self::Violated(cost.collect())
            }
        }
    }
}

impl Outcome {
    /// What a report says.
    #[must_use]
    pub fn of(report: &Report) -> Self {
        Self {
            bounds: report.bounds.faults.iter().map(|(fault, budget)| ((*fault).to_owned(), *budget)).collect(),
            states: report.states,
            transitions: report.transitions,
            depth: report.depth,
            engine: Some(report.engine.to_owned()).filter(|engine| engine != Engine::Handlecheck.name()),
            reductions: report.reductions.clone(),
            stopped: report.stopped.clone(),
            found: report.invariants.iter().map(|found| (found.name.clone(), Found::of(found))).collect(),
        }
    }
}

impl Lock {
    /// A lock of nothing yet.
    #[must_use]
    pub fn new(asked: Asked) -> Self {
        Self { handlecheck: env!("CARGO_PKG_VERSION").to_owned(), asked, ..Self::default() }
    }

    /// Adds the digests of a run's inputs.
    pub fn add_inputs(&mut self, run: &Run) {
        let (sources, subject) = (run.sources(), Subject::of_run(run));
        self.scenarios.insert(subject.scenario, digest(&sources.scenario.text));
        let [design, protocol] = sources.sides();
        self.designs.insert(subject.design, digest(&design));
        self.protocols.insert(subject.protocol, digest(&protocol));
    }

    /// Adds a run and what it came to.
    pub fn add(&mut self, run: &Run, report: &Report) {
        self.add_inputs(run);
        self.runs.insert(Subject::of(report), Outcome::of(report));
    }
}
