//! `audit`: what a log shows is found, what it can't show is not claimed.

mod bases;
mod besides;
mod brute;
mod by_hand;
mod commands;
#[path = "../common/mod.rs"]
mod common;
mod gone;
mod lines;
mod traces;
mod unclaimed;

use handlecheck::audit::history::History;
use handlecheck::audit::report::{Checked, Report, audit};
use handlecheck::log::Line;

/// What comes out for a log.
fn audited(log: &str) -> Report {
    let history = History::read(log.as_bytes(), None, &mut |_| None).expect("a text can be read");
    audit("log", &history, &[])
}

/// What comes out for lines.
fn audited_lines(lines: &[Line]) -> Report {
    let text: Vec<String> = lines.iter().map(Line::to_json).collect();
    audited(&text.join("\n"))
}

fn check<'r>(report: &'r Report, name: &str) -> &'r Checked {
    report.checks.iter().find(|check| check.name == name).expect("there is such a check")
}
