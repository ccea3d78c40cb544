//! One line a run.

use super::{Asked, AtTheEnd, Format, People, Reporter};
use crate::run::{Report, Run};

pub static FORMAT: Format = Format { begin };

fn begin<'r>(asked: Asked, _: &'r [Run], _: People) -> Box<dyn Reporter<'r> + 'r> {
    AtTheEnd::begin(asked, lines)
}

fn lines(_: Asked, runs: &[(&Run, Report)]) -> String {
    let lines = runs.iter().map(|(_, report)| format!("{}: {}\n", report.design, report.verdict()));
    lines.collect()
}
