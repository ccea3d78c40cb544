//! JSON, for programs: everything that a report for people says, and more.
//!
//! `handlecheck schema report` is its schema. It says the same whatever command was asked: one object for each run.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Asked, AtTheEnd, Format, People, Reporter};
use crate::run::{Report, Run, Uncovered, uncovered};

pub static FORMAT: Format = Format { begin };

fn begin<'r>(asked: Asked, _: &'r [Run], _: People) -> Box<dyn Reporter<'r> + 'r> {
    AtTheEnd::begin(asked, json)
}

/// The version of the JSON report. It changes when a reader of the old one would misunderstand the new one.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Document<'r, R> {
    handlecheck: &'static str,
    schema: u32,
    runs: &'r [R],
    /// Of each design, what never happened in any of its runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    uncovered: Option<BTreeMap<String, Uncovered>>,
}

fn json(_: Asked, runs: &[(&Run, Report)]) -> String {
    let runs: Vec<&Report> = runs.iter().map(|(_, report)| report).collect();
    written(&runs, Some(uncovered(&runs)))
}

/// Whatever came out of runs, as indented JSON, with a newline at its end.
pub(super) fn document<R: Serialize>(runs: &[R]) -> String {
    written(runs, None)
}

fn written<R: Serialize>(runs: &[R], uncovered: Option<BTreeMap<String, Uncovered>>) -> String {
    let document = Document { handlecheck: env!("CARGO_PKG_VERSION"), schema: SCHEMA, runs, uncovered };
    let mut text = serde_json::to_string_pretty(&document).expect("a report has string keys only");
    text.push('\n');
    text
}
