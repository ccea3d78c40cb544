//! The same question gets the same bytes: twice, in two processes, in reports and in traces.

#[path = "../common/mod.rs"]
mod common;
mod compaction;
#[path = "../models/mod.rs"]
mod models;
#[path = "../random/mod.rs"]
mod random;
mod resuming;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use common::{Said, handlecheck};

/// What a command said on standard output, its exit code, and the files that it wrote. (Durations go to standard error.)
fn everything(arguments: &[&str]) -> (String, i32, BTreeMap<String, Vec<u8>>) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let Said { out, code, .. } = handlecheck(folder.path(), arguments);
    (out, code, written(&folder.path().join("traces")))
}

fn written(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let Ok(entries) = fs::read_dir(folder) else { return BTreeMap::new() };
    entries
        .map(|entry| {
            let entry = entry.expect("a folder can be read");
            (entry.file_name().into_string().expect("names are UTF-8"), fs::read(entry.path()).expect("a file"))
        })
        .collect()
}

#[track_caller]
fn twice(arguments: &[&str]) -> (String, BTreeMap<String, Vec<u8>>) {
    let (first, second) = (everything(arguments), everything(arguments));
    assert_eq!(first.1, second.1, "exit codes of {arguments:?}");
    assert!(first.0 == second.0, "two reports of {arguments:?} differ");
    assert!(first.2 == second.2, "two sets of traces of {arguments:?} differ");
    (first.0, first.2)
}

#[test]
fn check_writes_the_same_bytes() {
    let arguments = ["check", "laptop-basket", "import-rows", "foreign-handle"];
    let (human, traces) = twice(&arguments);
    assert!(human.contains("violated") && traces.len() > 5);
    let (json, same) = twice(&[&arguments[..], &["--format", "json"]].concat());
    assert!(json.starts_with('{'));
    assert!(traces == same, "the format of the report does not change the traces");
}

#[test]
fn compare_writes_the_same_bytes() {
    twice(&["compare"]);
    let (json, traces) = twice(&["compare", "--format", "json", "--traces", "traces"]);
    assert!(json.starts_with('{') && !traces.is_empty());
}

#[test]
fn the_second_engine_writes_the_same_bytes() {
    twice(&["check", "two-agents-no-faults", "--design", "naive", "--engine", "stateright", "--format", "json"]);
}

#[test]
fn a_run_that_is_cut_short_is_cut_at_the_same_state() {
    let (json, _) = twice(&["check", "laptop-basket", "--max-states", "5000", "--format", "json"]);
    assert!(json.contains(r#""complete": false"#));
}

#[test]
fn drawings_and_stories_are_the_same_bytes() {
    let scenario = common::root().join("models/scenarios/laptop-basket.toml").display().to_string();
    for arguments in [vec!["demo"], vec!["list", "steps", "find-key"], vec!["test", &scenario]] {
        twice(&arguments);
    }
}
