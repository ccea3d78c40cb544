//! Reports: what came out of runs, for people and for programs.
//!
//! Each format is one file of this folder; its page is the comment at the file's top. A command tells a [`Reporter`] of
//! each run when it is explored, and of the end. A reporter answers with what is to be printed then; it prints nothing
//! itself.

use crate::model::Verdict;
use crate::run::{PropertyReport, Report, Run};
use crate::table::table;

pub mod audit;
mod changes;
mod costs;
mod coverage;
pub mod matrix;
mod places;
pub mod policies;
mod words;

pub use changes::Changes;
pub use words::plural;

/// What a command asks of its runs: this decides what counts as a failure, and how a report for people is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// That nothing is violated: `check`.
    Verdicts,
    /// That everything is as expected: `test`.
    Expectations,
    /// The same, side by side: `compare`.
    Comparison,
}

/// How one property stands, by what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// As it should be.
    Passed,
    /// Violated, or not as expected.
    Failed,
    /// A limit was hit before this was known.
    Inconclusive,
    /// No run reaches the situation that the property is about, and nobody expected that.
    Vacuous,
}

impl Asked {
    /// How a property of a report stands.
    #[must_use]
    pub fn standing(self, report: &Report, property: &PropertyReport) -> Standing {
        let by_verdict = match property.verdict {
            Verdict::Holds => Standing::Passed,
            Verdict::Violated => Standing::Failed,
            Verdict::Inconclusive => Standing::Inconclusive,
            Verdict::Vacuous => Standing::Vacuous,
        };
        if self == Self::Verdicts || property.expectation.is_none() {
            return by_verdict;
        }
        if property.is_as_expected() {
            return Standing::Passed;
        }
        // A break that was expected may still be found by a search that was cut short.
        let expected_break = property.expectation.is_some_and(|expectation| expectation.is_violated());
        let cut_short = !report.complete && (property.verdict != Verdict::Violated || expected_break);
        let undecided = property.verdict == Verdict::Inconclusive || cut_short;
        if undecided { Standing::Inconclusive } else { Standing::Failed }
    }
}

/// What consumes the events of a command that explores. Each answers with what is to be printed now.
pub trait Reporter<'r> {
    /// A run was explored.
    fn explored(&mut self, run: &'r Run, report: &Report) -> String;

    /// That was the last run.
    fn finished(&mut self) -> String;
}

/// What only a report for people takes into account.
#[derive(Clone, Copy, Debug, Default)]
pub struct People {
    /// For a terminal that has colours.
    pub colour: bool,
    /// Say how often everything happened.
    pub counts: bool,
}

/// One format of reports.
#[derive(Debug)]
pub struct Format {
    /// Begins a report on these runs.
    pub begin: for<'r> fn(asked: Asked, runs: &'r [Run], people: People) -> Box<dyn Reporter<'r> + 'r>,
    /// Says what changed between two locks.
    pub changes: fn(changes: &Changes<'_>, colour: bool) -> String,
}

table! {
    /// Every format, the one for people first.
    FORMATS: Format in FORMAT {
        human,
        json,
        junit,
        markdown,
        sarif,
        csv,
        svg,
    }
}

/// A reporter that says everything at the end.
pub struct AtTheEnd<'r> {
    asked: Asked,
    runs: Vec<(&'r Run, Report)>,
    write: fn(Asked, &[(&'r Run, Report)]) -> String,
}

impl<'r> AtTheEnd<'r> {
    /// Begins; `write` says it, once all runs are there.
    #[must_use]
    pub fn begin(asked: Asked, write: fn(Asked, &[(&'r Run, Report)]) -> String) -> Box<dyn Reporter<'r> + 'r> {
        Box::new(Self { asked, runs: Vec::new(), write })
    }
}

impl<'r> Reporter<'r> for AtTheEnd<'r> {
    fn explored(&mut self, run: &'r Run, report: &Report) -> String {
        self.runs.push((run, report.clone()));
        String::new()
    }

    fn finished(&mut self) -> String {
        (self.write)(self.asked, &self.runs)
    }
}
