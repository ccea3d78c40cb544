//! Text, for people.
//!
//! `check` says its verdicts first, one line each; then what happens in each break, and the command that shows it. `test`
//! has a line for each run, and says what is not as expected. `compare` draws a matrix of designs and invariants.

mod expectations;
mod verdicts;

use super::{Asked, AtTheEnd, Format, Reporter, matrix};
use crate::run::{Report, Run};

pub static FORMAT: Format = Format { begin };

fn begin<'r>(asked: Asked, _: &'r [Run], colour: bool) -> Box<dyn Reporter<'r> + 'r> {
    match (asked, colour) {
        (Asked::Verdicts, _) => Box::new(Verdicts { colour, any: false }),
        (Asked::Expectations, _) => Box::<expectations::Expectations>::default(),
        (Asked::Comparison, true) => AtTheEnd::begin(asked, |_, runs| matrix::matrix(runs, true)),
        (Asked::Comparison, false) => AtTheEnd::begin(asked, |_, runs| matrix::matrix(runs, false)),
    }
}

/// Verdicts as they come, with an empty line between two runs.
struct Verdicts {
    colour: bool,
    any: bool,
}

impl<'r> Reporter<'r> for Verdicts {
    fn explored(&mut self, _: &'r Run, report: &Report) -> String {
        let space = if std::mem::replace(&mut self.any, true) { "\n" } else { "" };
        format!("{space}{}", verdicts::report(report, self.colour))
    }

    fn finished(&mut self) -> String {
        String::new()
    }
}
