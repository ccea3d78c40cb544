//! What came out of many runs of one question: for people, one file a question, and for programs.

pub mod ablation;
mod chart;
pub mod repairs;
pub mod simulation;

use serde::Serialize;

/// The formats of these reports.
pub const FORMATS: [&str; 2] = ["human", "json"];

/// Reports as indented JSON, with a newline at its end.
#[must_use]
pub fn json<R: Serialize>(runs: &[R]) -> String {
    super::json::document(runs)
}
