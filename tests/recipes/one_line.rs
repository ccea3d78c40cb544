//! One line a run, and one a change.

use super::{Asked, AtTheEnd, Changes, Format, People, Reporter};
use crate::run::{Report, Run};

pub static FORMAT: Format = Format { begin, changes };

fn begin<'r>(asked: Asked, _: &'r [Run], _: People) -> Box<dyn Reporter<'r> + 'r> {
    AtTheEnd::begin(asked, lines)
}

fn lines(_: Asked, runs: &[(&Run, Report)]) -> String {
    let lines = runs.iter().map(|(_, report)| format!("{}: {}\n", report.design, report.verdict()));
    lines.collect()
}

fn changes(changes: &Changes<'_>, _: bool) -> String {
    let lines = changes.difference.changes.iter().map(|change| format!("{}: {}\n", change.subject(), change.kind));
    lines.collect()
}
