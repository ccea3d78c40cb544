//! JSON, for programs: everything that a report for people says, and more.
//!
//! `handlecheck schema report` is its schema. It says the same whatever command was asked: one object for each run. What
//! `diff` reports has the schema `handlecheck schema difference`.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::{Asked, AtTheEnd, Changes, Format, People, Reporter};
use crate::lock::{Change, Found, Subject};
use crate::run::{Report, Run, Uncovered, uncovered};

pub static FORMAT: Format = Format { begin, changes };

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

fn changes(changes: &Changes<'_>, _: bool) -> String {
    let difference = &changes.difference;
    let spaces = difference.spaces.iter().map(|space| {
        let mut value = who(&space.subject);
        value["before"] = json!(space.before);
        value["after"] = json!(space.after);
        value
    });
    let document = json!({
        "handlecheck": env!("CARGO_PKG_VERSION"),
        "schema": SCHEMA,
        "old": changes.old,
        "new": changes.new,
        "worse": difference.is_worse(),
        "compared": difference.compared,
        "same": difference.same,
        "open": difference.open,
        "unfinished": changes.unfinished,
        "changes": difference.changes.iter().map(|change| one(changes, change)).collect::<Vec<_>>(),
        "spaces": spaces.collect::<Vec<_>>(),
        "inputs": difference.inputs,
        "hint": changes.hint,
    });
    let mut text = serde_json::to_string_pretty(&document).expect("a document has string keys only");
    text.push('\n');
    text
}

fn who(subject: &Subject) -> Value {
    let Subject { scenario, design, protocol } = subject;
    json!({ "scenario": scenario, "design": design, "protocol": protocol })
}

fn one(changes: &Changes<'_>, change: &Change) -> Value {
    let mut value = json!({
        "kind": change.kind.name(),
        "worse": change.kind.is_worse(),
        "old": change.old.as_ref().map(who),
        "new": change.new.as_ref().map(who),
        "invariant": change.property,
        "before": side(&change.before, change.was.as_ref()),
        "after": side(&change.after, change.is.as_ref()),
    });
    if let Some((found, trace)) = changes.counterexample(change) {
        value["sentence"] = json!(trace.sentence);
        value["command"] = json!(changes.command(change));
        if let Some(file) = &found.trace {
            value["trace"] = json!(file);
        }
    }
    value
}

/// One side of a change: in words, and what was found, where it is one of a property.
fn side(words: &str, found: Option<&Found>) -> Value {
    let mut value = json!({ "words": words });
    if let Some(found) = found {
        value["verdict"] = json!(found.verdict().name());
    }
    if let Some(Found::Violated(front)) = found {
        let breaks = front.iter().map(|cost| json!({ "steps": cost.steps, "faults": cost.faults }));
        value["breaks"] = json!(breaks.collect::<Vec<_>>());
    }
    value
}
