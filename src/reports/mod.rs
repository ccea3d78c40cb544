//! Reports: what came out of runs, for people and for programs.

pub mod human;
pub mod matrix;

use serde::Serialize;

use crate::run::Report;

/// The formats of a report.
pub const FORMATS: [&str; 2] = ["human", "json"];

/// The version of the JSON report. It changes when a reader of the old one would misunderstand the new one.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Document<'r> {
    handlecheck: &'static str,
    schema: u32,
    runs: &'r [Report],
}

/// Reports as indented JSON, with a newline at its end.
#[must_use]
pub fn json(runs: &[Report]) -> String {
    let document = Document { handlecheck: env!("CARGO_PKG_VERSION"), schema: SCHEMA, runs };
    let mut text = serde_json::to_string_pretty(&document).expect("a report has string keys only");
    text.push('\n');
    text
}
