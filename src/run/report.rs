//! Reports: what came out of a run.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{CauseReport, Checkpoint, Costs, ShowReport, Unchecked};
use crate::model::{Expectation, Tool, Verdict};
use crate::step::PropertyKind;
use crate::trace::Trace;

/// What came out of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The scenario's name.
    pub scenario: String,
    /// The design's name.
    pub design: String,
    /// The protocol's name.
    pub protocol: String,
    /// In which bounds.
    pub bounds: Bounds,
    /// What the inputs say that can't matter, or will not do what it looks like.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Every reachable state was explored.
    pub complete: bool,
    /// Why it is not complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// Why the search of the shortest breaks ended before they were proved the shortest; verdicts don't depend on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unproved: Option<String>,
    /// What it takes to go on, where it was asked for and that leads somewhere.
    #[serde(skip)]
    pub begun: Option<Box<Checkpoint>>,
    /// The file that holds it, where one was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
    /// Distinct states.
    pub states: usize,
    /// Transitions taken; 0 where the engine does not count them.
    pub transitions: u64,
    /// Length of the longest shortest path; 0 where the engine does not count it.
    pub depth: u32,
    /// The engine.
    pub engine: &'static str,
    /// Where states were known by their hashes alone: at most so probable is it that one was left out.
    #[serde(rename = "omission-probability", skip_serializing_if = "Option::is_none")]
    pub omission: Option<f64>,
    /// The reductions that were used.
    pub reductions: Vec<String>,
    /// One for each invariant and assertion.
    pub invariants: Vec<PropertyReport>,
    /// What was asked for, and not checked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unchecked: Vec<Unchecked>,
    /// What a finished intent costs, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub costs: Option<Costs>,
    /// One for each situation that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shows: Vec<ShowReport>,
    /// How often each action was taken.
    pub actions: BTreeMap<String, u64>,
    /// How often calls ended with each outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// The tools about whose work some agent was told `ok` in some run.
    #[serde(skip)]
    pub done: BTreeSet<Tool>,
    /// For each step of the handlers that can end a call, how often it did, and how: 0 where it never did.
    pub steps: BTreeMap<String, BTreeMap<String, u64>>,
    /// For each event, how often a harness reacted to it, and how.
    pub reactions: BTreeMap<String, BTreeMap<String, u64>>,
    /// The actions that could have happened in this run, and the reactions that its files speak of, which never happened.
    pub never: Vec<String>,
    /// The steps of the design's handlers that can end a call, and never did in this run.
    #[serde(rename = "never-refused")]
    pub never_refused: Vec<String>,
}

/// The bounds of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Bounds {
    /// The budget of each fault that has one.
    pub faults: BTreeMap<&'static str, u8>,
}

/// What came out for one invariant or assertion.
#[derive(Clone, Debug, Serialize)]
pub struct PropertyReport {
    /// Its name.
    pub name: String,
    /// The verdict.
    #[serde(serialize_with = "named_verdict")]
    pub verdict: Verdict,
    /// What the inputs expect, as they write it.
    pub expected: Option<String>,
    /// Steps of the shortest break.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
    /// Faults of the shortest break.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults: Option<u32>,
    /// The file of the shortest break's trace, where one was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// Every break that is cheapest in steps or in faults, shortest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub breaks: Vec<Break>,
    /// The shortest break for each pair that races, shortest first, where these were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<CauseReport>,
    /// The standard name of the anomaly, with a reference, where it is violated and there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anomaly: Option<String>,
    /// What happens in the shortest break, in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sentence: Option<String>,
    /// What the inputs expect.
    #[serde(skip)]
    pub expectation: Option<Expectation>,
    /// What kind of property it is.
    #[serde(skip)]
    pub kind: PropertyKind,
}

/// One break.
#[derive(Clone, Debug, Serialize)]
pub struct Break {
    /// Its steps.
    pub steps: u32,
    /// Its faults.
    pub faults: u32,
    /// Whether no shorter one has as few faults. A search that was cut short may have missed one.
    #[serde(skip_serializing_if = "is_true")]
    pub shortest: bool,
    /// The file of its trace, where one was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// The trace itself.
    #[serde(skip)]
    pub recorded: Option<Box<Trace>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_true(shortest: &bool) -> bool {
    *shortest
}

fn named_verdict<S: serde::Serializer>(verdict: &Verdict, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(verdict.name())
}

impl Report {
    /// The worst verdict first: what the run as a whole says.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let has = |verdict: Verdict| self.invariants.iter().any(|property| property.verdict == verdict);
        let worst = [Verdict::Violated, Verdict::Inconclusive, Verdict::Vacuous];
        worst.into_iter().find(|verdict| has(*verdict)).unwrap_or(Verdict::Holds)
    }

    /// The properties that are not as expected.
    pub fn surprises(&self) -> impl Iterator<Item = &PropertyReport> {
        self.invariants.iter().filter(|property| !property.is_as_expected())
    }
}

impl PropertyReport {
    /// Whether the verdict is the expected one, or is not `violated` where nothing is expected.
    #[must_use]
    pub fn is_as_expected(&self) -> bool {
        match self.expectation {
            None => matches!(self.verdict, Verdict::Holds | Verdict::Vacuous),
            Some(Expectation::Verdict(verdict)) => self.verdict == verdict,
            Some(Expectation::Break { steps, faults }) => {
                self.breaks.iter().any(|found| (found.steps, found.faults) == (steps, faults))
            }
        }
    }
}
