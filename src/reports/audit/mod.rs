//! Reports of an audit: what a log of calls shows, and what it can't show.

mod human;
mod markdown;

use crate::audit::report::{Checked, Report};
use crate::reports::words::count;

/// The formats.
pub const FORMATS: [&str; 3] = ["human", "json", "markdown"];

/// A report in one of the [`FORMATS`].
#[must_use]
pub fn report(format: &str, report: &Report, colour: bool) -> String {
    match format {
        "json" => json(report),
        "markdown" => markdown::report(report),
        _ => human::report(report, colour),
    }
}

/// As JSON.
fn json(report: &Report) -> String {
    #[derive(serde::Serialize)]
    struct Whole<'r> {
        handlecheck: &'static str,
        schema: u32,
        #[serde(flatten)]
        report: &'r Report,
    }
    let whole = Whole { handlecheck: env!("CARGO_PKG_VERSION"), schema: 1, report };
    serde_json::to_string_pretty(&whole).expect("a report has string keys only") + "\n"
}

/// So many of something.
fn count_of(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// On how many calls a check could judge, where so many lines could not be read.
fn extent(check: &Checked, unread: u64) -> String {
    match (check.judged, check.about) {
        (_, 0) if unread > 0 => {
            format!("nothing is about it in what could be read; {} could not be", count_of(unread, "line"))
        }
        (_, 0) => "nothing in the log is about it".to_owned(),
        (0, about) => format!("can't be judged ({about} in question)"),
        (judged, about) if judged == about => format!("judged on {about}"),
        (judged, about) => format!("judged on {judged} of {about}"),
    }
}

/// The log in a line.
fn heading(report: &Report) -> String {
    let Report { log, lines, calls, resources, left_out, .. } = report;
    let (calls, resources) = (count(*calls, "call"), count(*resources, "resource"));
    let lines = count_of(*lines, "line");
    let left_out = match left_out {
        0 => String::new(),
        some => format!(", {} left out by the mapping", count_of(*some, "line")),
    };
    format!("{log}: {calls} on {resources} in {lines}{left_out}")
}
