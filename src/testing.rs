//! Designs in the tests of whoever designs a server: three lines say that one holds.
//!
//! ```
//! use handlecheck::testing::check;
//!
//! check("laptop-basket", "versioned").unwrap().assert_holds();
//! ```
//!
//! A scenario and a design are paths, or the names of shipped ones. When something is violated, [`Checked::assert_holds`]
//! panics with the story of the shortest way to it, as `handlecheck explain` tells it.

use std::collections::BTreeMap;

use crate::explain::explain;
use crate::input::{self, InputError, Kind};
use crate::model::Verdict;
use crate::run::{Options, PropertyReport, Report, Run, invariant_names};
use crate::trace::RecordError;

/// What a scenario comes to under a design.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Everything that is known of it.
    pub report: Report,
}

/// Why nothing could be checked.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// An input is not there, can't be read, or does not fit the others.
    #[error("{0}")]
    Input(#[from] InputError),
    /// A bug in handlecheck.
    #[error("{0}")]
    Record(#[from] RecordError),
}

/// Explores every interleaving of a scenario under a design, and the protocol that the scenario names or the default.
///
/// # Errors
///
/// When an input is not there, can't be read, or does not fit the others: the error shows the place.
pub fn check(scenario: &str, design: &str) -> Result<Checked, CheckError> {
    check_with(scenario, design, &Options::default())
}

/// As [`check`], with other bounds: budgets of faults, a limit of states, certain invariants only.
///
/// # Errors
///
/// As [`check`].
pub fn check_with(scenario: &str, design: &str, options: &Options) -> Result<Checked, CheckError> {
    let scenario = input::read_scenario(&input::resolve(Kind::Scenario, scenario, None)?, &invariant_names())?;
    let beside = scenario.source.folder.as_deref();
    let design = input::design(design, beside)?;
    let protocol = input::protocol_of(&scenario, None)?;
    let faults: BTreeMap<_, _> = options.faults.clone();
    let run = Run::new(scenario, design, protocol, &faults)?;
    Ok(Checked { report: run.explore(options, &mut |_| false)? })
}

impl Checked {
    /// Asserts that nothing is violated, and that everything was explored. What is vacuous is no violation.
    ///
    /// # Panics
    ///
    /// When something is violated, with the story of each; when a limit was hit.
    #[track_caller]
    pub fn assert_holds(&self) {
        let violated: Vec<&PropertyReport> =
            self.report.invariants.iter().filter(|property| property.verdict == Verdict::Violated).collect();
        let stories: Vec<String> = violated.iter().map(|property| story(property)).collect();
        let Report { scenario, design, .. } = &self.report;
        assert!(violated.is_empty(), "{design} does not hold in {scenario}\n\n{}", stories.join("\n"));
        let stopped = self.report.stopped.as_deref().unwrap_or_default();
        assert!(self.report.complete, "{scenario} under {design} is inconclusive: {stopped}");
    }

    /// Asserts that an invariant or assertion holds: everything was explored, what it is about was reached, and nothing
    /// violates it.
    ///
    /// # Panics
    ///
    /// When it does not, with the story where it is violated; and when there is none of this name.
    #[track_caller]
    pub fn assert_invariant_holds(&self, name: &str) {
        let property = self.property(name);
        let verdict = property.verdict;
        assert!(verdict == Verdict::Holds, "{name} is {verdict}, and should hold\n\n{}", story(property));
    }

    /// Asserts that an invariant or assertion is violated: that a test would notice.
    ///
    /// # Panics
    ///
    /// When it is not, and when there is none of this name.
    #[track_caller]
    pub fn assert_violated(&self, name: &str) {
        let verdict = self.property(name).verdict;
        assert!(verdict == Verdict::Violated, "{name} is {verdict}, and should be violated");
    }

    #[track_caller]
    fn property(&self, name: &str) -> &PropertyReport {
        let names: Vec<&str> = self.report.invariants.iter().map(|property| &*property.name).collect();
        let found = self.report.invariants.iter().find(|property| property.name == name);
        found.unwrap_or_else(|| panic!("there is no invariant or assertion `{name}` among {}", names.join(", ")))
    }
}

/// The story of the shortest break; for what has none, its name.
fn story(property: &PropertyReport) -> String {
    let trace = property.breaks.first().and_then(|shortest| shortest.recorded.as_deref());
    trace.map_or_else(|| format!("{}: no state is reached that should be\n", property.name), explain)
}
