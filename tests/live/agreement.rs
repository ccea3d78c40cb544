//! The model and the server do the same: along every trace of the repository, and at random; and what `audit` finds in the
//! logs of these runs is what the model knows of them.

use std::collections::BTreeMap;
use std::path::Path;

use handlecheck::audit::CHECKS;
use handlecheck::drive::agreement::{Pair, agree, pairs};
use handlecheck::drive::audited::{Audited, audited};
use handlecheck::drive::run::{along, at_random};
use handlecheck::input::{self, Kind, Source, library};
use handlecheck::run::invariant_names;
use handlecheck::trace::Trace;

use super::process::runtime;

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_handlecheck"))
}

/// Every violation of which the repository keeps a trace happens on the real server, step by step, and its log shows it.
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
        let Audited { found, differences, .. } = audited(&driven).expect("its log can be read");
        assert!(differences.is_empty(), "{}: {differences:?}", path.display());
        let is_a_check = CHECKS.iter().any(|check| check.name == trace.invariant);
        assert!(!is_a_check || found.contains(&&*trace.invariant), "{}: {found:?}", path.display());
        count += 1;
    }
    assert!(count > 5, "there are traces");
}

/// Where the audit of a driven log and the model once differed: two intents with the same words, answers that were under way
/// at the end, a handle that was another's or leaked before anybody had heard it, a version that came back, an effect upstream
/// alone.
const ONCE_DIFFERENT: &[(&str, &str)] = &[
    ("append-twice", "hash-of-arguments"),
    ("checkpoint-without-result", "checkpoint-without-result-broken-result-first"),
    ("finish-over-cancel", "finish-over-cancel-broken"),
    ("owner-checked-on-some-verbs", "owner-checked-on-some-verbs-broken"),
    ("one-unnamed-browser", "one-unnamed-browser-broken"),
    ("timestamp-as-version", "timestamp-as-version-broken"),
];

/// What is deployed of which, so that the node's process changes: each pair is driven.
const DEPLOYS: &[(&str, &str)] = &[
    ("deploy-keys", "keys-in-node-memory-sticky..dedup-only"),
    ("deploy-keys", "dedup-only..scope-without-handle-refuse"),
    ("deploy-keys", "claim-released-at-end..dedup-only"),
    ("deploy-versions", "dedup-only..versioned"),
];

/// Streams that are resumed, names that clients choose, state by session, a copy that lags, a batch in parts; answers that
/// leave before the work is done, handlers that clean up when they are cancelled, programs of an older schema; calls that outlive their node, tables of
/// who asked, state in signed handles, conditions that are judged in a transaction: each pair is driven.
const DRIVEN: &[(&str, &str)] = &[
    ("one-importer-2025", "import-without-key"),
    ("two-principals-one-name", "names-for-all"),
    ("mint-and-set-session", "state-in-session"),
    ("two-reads-one-change", "reads-from-replica"),
    ("batch-commits-in-parts", "batch-commits-in-parts-broken-recorded"),
    ("answered-before-stored", "answered-before-stored-broken"),
    ("answered-before-stored", "answered-before-stored-repaired"),
    ("cancelled-without-clean-up", "cancelled-without-clean-up-repaired"),
    ("old-client-drops-new-field", "old-client-drops-new-field-broken"),
    ("old-client-drops-new-field", "old-client-drops-new-field-broken-server"),
    ("answered-before-stored", "answered-before-stored-repaired-journal"),
    ("one-agent-restart", "calls-redelivered"),
    ("one-agent-restart", "calls-resumed"),
    ("reissued-call", "replies-by-request-id"),
    ("shared-reply-table", "shared-reply-table-broken"),
    ("reply-to-a-default-address", "reply-to-a-default-address-broken"),
    ("reply-to-a-default-address", "reply-to-a-default-address-broken-dropped"),
    ("two-agents-no-faults", "state-in-handle"),
    ("revoke", "permission-checked-before"),
    ("quota-checked-then-counted", "quota-checked-then-counted-broken-in-the-handler"),
    ("trashed-row-is-edited", "trashed-row-is-edited-repaired"),
];

/// A part of all pairs, for the time that it takes: along every violation, and one random walk. `handlecheck drive --all`
/// takes all. Those in which the audit and the model once differed, and the deploys, are always taken.
#[test]
fn for_a_part_of_what_is_shipped_the_server_does_what_the_model_does() {
    let (runtime, invariants) = (runtime(), invariant_names());
    let mut differences = Vec::new();
    let (mut violations, mut walks) = (0, 0);
    let mut found = BTreeMap::new();
    let pairs = pairs(&invariants).expect("what is shipped can be read");
    let once = |pair: &Pair| ONCE_DIFFERENT.contains(&(&*pair.scenario, &*pair.design));
    let deploys = |pair: &Pair| DEPLOYS.contains(&(&*pair.scenario, &*pair.design));
    let driven = |pair: &Pair| deploys(pair) || DRIVEN.contains(&(&*pair.scenario, &*pair.design));
    let some = pairs.iter().enumerate().filter(|(number, pair)| number % 13 == 3 || once(pair) || driven(pair));
    for (_, pair) in some {
        let agreement = runtime.block_on(agree(program(), pair, &invariants, true, 0..2)).expect("they can be read");
        assert!(!driven(pair) || agreement.unserved.is_none(), "{pair:?}: {:?}", agreement.unserved);
        agreement.found.iter().for_each(|(check, count)| *found.entry(*check).or_insert(0) += count);
        violations += agreement.violations;
        walks += agreement.walks;
        let named = |difference| format!("{} x {}: {difference}", pair.scenario, pair.design);
        differences.extend(agreement.differences.into_iter().map(named));
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(violations > 5 && walks > 10, "the test did something: {violations}, {walks}");
    let each = [
        "no-lost-update",
        "no-double-write",
        "truthful-outcome",
        "strictly-serializable",
        "no-stale-commit",
        "basis-holds",
    ];
    assert!(each.iter().all(|check| found.contains_key(check)), "the audits found something: {found:?}");
    assert_eq!(pairs.iter().filter(|pair| once(pair)).count(), ONCE_DIFFERENT.len(), "they are still shipped");
    let named = DEPLOYS.len() + DRIVEN.len();
    assert_eq!(pairs.iter().filter(|pair| driven(pair)).count(), named, "they are still shipped");
}

/// A stream breaks behind its answer, the model's client resumes it, and the driver's too.
#[test]
fn a_lost_answer_is_resumed() {
    let (runtime, invariants) = (runtime(), invariant_names());
    let read = |name| library::find(Kind::Scenario, name).expect("it is shipped");
    let scenario = input::read_scenario(&read("one-importer-2025"), &invariants).expect("it can be read");
    let design = input::design("append-with-key", None).expect("it is shipped");
    let protocol = input::protocol_of(&scenario, None).expect("it is shipped");
    let found = (0..40).any(|seed| {
        let driven = runtime.block_on(at_random(program(), (&scenario, &design, &protocol), &invariants, seed));
        let driven = driven.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let actions: Vec<&str> = driven.run.steps.iter().map(|step| &*step.does.action).collect();
        actions.windows(4).any(|four| matches!(four, ["execute", "drop-stream", "resume", "receive"]))
    });
    assert!(found, "some walk loses an answer");
}

/// A node that changes over as it is keeps its memory, and ends what it began as it began it.
#[test]
fn a_node_changes_over_without_a_restart_too() {
    let (runtime, invariants) = (runtime(), invariant_names());
    let shipped = library::find(Kind::Scenario, "deploy-keys").expect("it is shipped");
    let text = shipped.text.replace("restart = true", "restart = false");
    assert_ne!(*text, *shipped.text);
    let source = Source::new("deploy-keys-in-place", "the test", &*text);
    let scenario = input::read_scenario(&source, &invariants).expect("it can be read");
    let design = input::design("keys-in-node-memory-sticky..dedup-only", None).expect("both are shipped");
    let protocol = input::protocol_of(&scenario, None).expect("it is shipped");
    let mut deploys = 0;
    for seed in 0..4 {
        let driven = runtime.block_on(at_random(program(), (&scenario, &design, &protocol), &invariants, seed));
        let driven = driven.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let Audited { differences, .. } = audited(&driven).expect("its log can be read");
        assert!(differences.is_empty(), "seed {seed}: {differences:?}");
        deploys += driven.run.steps.iter().filter(|step| step.does.action == "deploy").count();
    }
    assert!(deploys > 1, "nodes changed over: {deploys}");
}
