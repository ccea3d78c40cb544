//! Text, for people.
//!
//! `check` says its verdicts first, one line each; then what happens in each break, and the command that shows it. `test`
//! has a line for each run, and says what is not as expected. `compare` draws a matrix of designs and invariants. `diff`
//! has the worst changes first, and draws the new counterexamples.

mod changes;
mod expectations;
mod verdicts;

use super::{Asked, Format, People, Reporter, coverage, matrix};
use crate::run::{Report, Run};

pub static FORMAT: Format = Format { begin, changes: changes::changes };

fn begin<'r>(asked: Asked, _: &'r [Run], people: People) -> Box<dyn Reporter<'r> + 'r> {
    match asked {
        Asked::Verdicts => Box::new(Verdicts { people, reports: Vec::new() }),
        Asked::Expectations => Box::new(expectations::Expectations::new(people)),
        Asked::Comparison => Box::new(Matrix { people, runs: Vec::new() }),
    }
}

/// Verdicts as they come, with an empty line between two runs; and at the end, what never happened in any of them.
struct Verdicts {
    people: People,
    reports: Vec<Report>,
}

impl<'r> Reporter<'r> for Verdicts {
    fn explored(&mut self, _: &'r Run, report: &Report) -> String {
        let space = if self.reports.is_empty() { "" } else { "\n" };
        self.reports.push(coverage::kept(report));
        let counts = if self.people.counts { coverage::counts(&[report]) } else { String::new() };
        format!("{space}{}{counts}", verdicts::report(report, self.people.colour))
    }

    fn finished(&mut self) -> String {
        // Of a design with one run, that run has said it.
        let across = coverage::across(&self.reports, 2);
        if across.is_empty() { across } else { format!("\n{across}") }
    }
}

/// The matrix, and what never happened in any of its runs.
struct Matrix<'r> {
    people: People,
    runs: Vec<(&'r Run, Report)>,
}

impl<'r> Reporter<'r> for Matrix<'r> {
    fn explored(&mut self, run: &'r Run, report: &Report) -> String {
        self.runs.push((run, report.clone()));
        String::new()
    }

    fn finished(&mut self) -> String {
        let reports: Vec<Report> = self.runs.iter().map(|(_, report)| coverage::kept(report)).collect();
        let coverage = if self.people.counts { coverage::by_design(&reports) } else { coverage::across(&reports, 1) };
        let gap = if coverage.is_empty() { "" } else { "\n" };
        format!("{}{gap}{coverage}", matrix::matrix(&self.runs, self.people.colour))
    }
}
