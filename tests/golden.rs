//! The shortest breaks that everything else rests on, kept in `traces/` with their drawings.
//!
//! Each is strictly replayed, and is byte for byte what `check` and `diagram` write today. What changes one of them
//! changes what users are told: read the drawing before it is renewed.

mod common;

use std::collections::BTreeSet;
use std::fs;

use common::{files, handlecheck, read, same};
use handlecheck::diagrams::FORMATS;
use handlecheck::trace::{Trace, replay};

/// Scenario, design, invariant or assertion.
const GOLDEN: &[(&str, &str, &str)] = &[
    ("foreign-handle", "naive", "no-cross-principal"),
    ("import-rows", "naive", "no-double-write"),
    ("laptop-basket", "dedup-only", "no-lost-update"),
    ("laptop-basket", "naive", "both-upgrades"),
    ("laptop-basket", "naive", "no-double-write"),
    ("laptop-basket", "naive", "no-lost-update"),
    ("two-agents-drop", "broken-stream-is-failure", "truthful-outcome"),
    ("two-agents-drop", "check-then-write", "no-double-write"),
    ("two-agents-drop", "check-then-write", "no-lost-update"),
    ("two-agents-no-faults", "resend-under-new-version", "no-lost-update"),
    ("two-agents-restart", "three-transactions", "no-double-write"),
];

#[test]
fn check_and_diagram_write_the_golden_traces_and_drawings() {
    let mut expected = BTreeSet::new();
    for (scenario, design, invariant) in GOLDEN {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let said = handlecheck(folder.path(), &["check", scenario, "--design", design, "--invariant", invariant]);
        assert_eq!(said.code, 1, "{scenario} x {design}: {invariant} is violated\n{}{}", said.out, said.err);
        let written = fs::read_dir(folder.path().join("traces")).expect("traces were written");
        for entry in written {
            let name = entry.expect("a folder can be read").file_name().into_string().expect("names are UTF-8");
            let text = fs::read_to_string(folder.path().join("traces").join(&name)).expect("a trace is text");
            let path = format!("traces/{name}");
            same(&path, &text);
            let stem = path.strip_suffix(".json").expect("a trace is JSON");
            for format in FORMATS.iter().filter(|format| KEPT.contains(&format.name)) {
                let drawing = format!("{stem}.{}", format.extension);
                let said = handlecheck(folder.path(), &["diagram", &path, "--format", format.name]);
                assert_eq!((said.code, &*said.err), (0, ""));
                same(&drawing, &said.out);
                expected.insert(drawing);
            }
            expected.insert(path);
        }
    }
    let there: BTreeSet<String> = files("traces", "").into_iter().collect();
    assert_eq!(there, expected, "traces/ holds the golden traces and their drawings, and nothing else");
}

/// The formats in which drawings are kept: those that read as text.
const KEPT: [&str; 3] = ["text", "mermaid", "svg"];

#[test]
fn every_golden_trace_replays_strictly() {
    for path in files("traces", ".json") {
        let trace = Trace::from_json(&read(&path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        let steps = replay(&trace).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert_eq!(steps.len(), trace.steps.len());
    }
}

/// The canary of this file: a trace that tells another story must not replay.
#[test]
fn an_altered_trace_does_not_replay() {
    let text = read("traces/laptop-basket.naive.no-lost-update.json");
    let trace = Trace::from_json(&text).expect("it is a trace");

    let mut shorter = trace.clone();
    shorter.steps.pop();
    assert!(replay(&shorter).is_err(), "without its last step nothing is violated");

    let mut swapped = trace.clone();
    let last = swapped.steps.len() - 1;
    swapped.steps.swap(0, last);
    assert!(replay(&swapped).is_err(), "its last step can't come first");

    let mut other = trace;
    other.invariant = "no-double-write".to_owned();
    assert!(replay(&other).is_err(), "it violates nothing else");
}
