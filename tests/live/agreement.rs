//! The model and the server do the same: along every trace of the repository, and at random.

use std::path::Path;

use handlecheck::drive::agreement::{agree, pairs};
use handlecheck::drive::run::along;
use handlecheck::run::invariant_names;
use handlecheck::trace::Trace;

use super::process::runtime;

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_handlecheck"))
}

/// Every violation of which the repository keeps a trace happens on the real server, step by step.
#[test]
fn every_trace_of_the_repository_happens_for_real() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("traces");
    let runtime = runtime();
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the folder can be read").path();
        if path.extension().is_none_or(|end| end != "json") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a trace can be read");
        let trace = Trace::from_json(&text).expect("it is a trace");
        let driven = runtime.block_on(along(program(), &trace));
        let driven = driven.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(driven.steps, trace.steps.len());
        count += 1;
    }
    assert!(count > 5, "there are traces");
}

/// A part of all pairs, for the time that it takes: along every violation, and one random walk. `handlecheck drive --all`
/// takes all.
#[test]
fn for_a_part_of_what_is_shipped_the_server_does_what_the_model_does() {
    let (runtime, invariants) = (runtime(), invariant_names());
    let mut differences = Vec::new();
    let (mut violations, mut walks) = (0, 0);
    for pair in pairs(&invariants).expect("what is shipped can be read").iter().skip(3).step_by(11) {
        let agreement = runtime.block_on(agree(program(), pair, &invariants, true, 0..1)).expect("they can be read");
        violations += agreement.violations;
        walks += agreement.walks;
        let named = |difference| format!("{} x {}: {difference}", pair.scenario, pair.design);
        differences.extend(agreement.differences.into_iter().map(named));
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(violations > 5 && walks > 10, "the test did something: {violations}, {walks}");
}
