//! `check --hash-compact`: what it says, and what it refuses.

use snapbox::str;

use crate::common::handlecheck;
use crate::{folder, says, words};

#[test]
fn hashes_alone_are_kept_where_that_is_asked_for_and_the_report_says_so() {
    let line = "check -q two-agents-no-faults --design versioned --hash-compact";
    says(
        line,
        0,
        str![[r#"
two-agents-no-faults x versioned x mcp-2026-07-28
  holds        no-lost-update
  vacuous      no-double-write
  vacuous      no-cross-principal
  holds        truthful-outcome
  vacuous      respects-terminal-state
  vacuous      approval-covers-execution
  vacuous      basis-holds
  holds        handle-resolvable
  vacuous      no-orphan
  vacuous      single-lease-holder
  vacuous      no-effect-after-revocation
  holds        version-names-one-content
  holds        fresh-read
  holds        both-upgrades

  explored all: 298 states, 594 transitions, depth 23 (no faults; engine handlecheck)
  states were known by 64-bit hashes: what holds, is vacuous or never happens is so unless two had the same, and the probability of that is at most 2.5e-15
  not checked: resolves, since whether a run goes on for ever needs the states, not their hashes alone
  steps that never refused or replayed a call: resolve, authorize, check-live, find-key
  vacuous: no run reaches the situation that the invariant is about, so it can't be violated

"#]],
    );
    let json = handlecheck(folder().path(), &words(&format!("{line} --format json"))).out;
    let report: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    let states = report["runs"][0]["states"].as_f64().expect("a number");
    let bound = report["runs"][0]["omission-probability"].as_f64().expect("a number");
    assert!((bound * 2.0_f64.powi(64) - states * (states + 1.0) / 2.0).abs() < 0.01, "{bound} of {states} states");
    says(
        &format!("{line} --invariant resolves"),
        2,
        str![[r#"
error: --hash-compact can't decide `resolves`: whether a run goes on for ever needs the states, not their hashes alone

"#]],
    );
    says(
        &format!("{line} --engine stateright"),
        2,
        str![[r#"
error: --hash-compact is of the engine handlecheck: stateright keeps what it keeps

"#]],
    );
    says(
        &format!("{line} --resume traces/some.checkpoint"),
        2,
        str![[r#"
error: the argument '--hash-compact' cannot be used with '--resume <FILE>'

Usage: handlecheck check --quiet --design <DESIGN> --hash-compact <SCENARIO>...

For more information, try '--help'.

"#]],
    );
}
