//! The plain reference interpreter, and that it is one: its state counts, and breaks whose length can be counted by hand.

mod reference;

use handlecheck::model::{Value, Verdict};
use reference::examples::{
    CAREFUL_CLIENT, NEW_PROTOCOL, OLD_PROTOCOL, READ, breaks, check_then_write, dedup_only, design, explore,
    explore_under, key_apply_record, model, naive, one_agent, owner_and_stranger, two_agents, two_principals, verdict,
    versioned,
};
use reference::judge;
use reference::search::{Assertions, check};
use reference::state::State;

/// One transaction with everything that `versioned` checks.
const VERSIONED_WRITE: &str =
    r#"[["resolve", "authorize", "find-key", "check-live", "check-version", "apply", "record-key"]]"#;

/// The states of a design with these budgets of dropped streams and restarts.
fn states(design: &str, drops: u8, restarts: u8) -> usize {
    explore(&two_agents(&format!("drop-stream = {drops}\nrestart-node = {restarts}")), design).states
}

#[test]
fn counts_of_naive() {
    assert_eq!(
        [(0, 0), (1, 0), (1, 1)].map(|(drops, restarts)| states(&naive(), drops, restarts)),
        [232, 2026, 11_864]
    );
}

#[test]
fn counts_of_dedup_only() {
    let counts = [(0, 0), (1, 0), (1, 1)].map(|(drops, restarts)| states(&dedup_only(), drops, restarts));
    assert_eq!(counts, [232, 1800, 8536]);
}

#[test]
fn counts_of_versioned() {
    let counts = [(0, 0), (1, 0), (1, 1)].map(|(drops, restarts)| states(&versioned(), drops, restarts));
    assert_eq!(counts, [298, 2510, 10_876]);
}

#[test]
fn counts_of_check_and_write_in_two_transactions() {
    let counts = [(0, 0), (1, 0), (1, 1)].map(|(drops, restarts)| states(&check_then_write(), drops, restarts));
    assert_eq!(counts, [396, 6300, 29_428]);
}

#[test]
fn counts_of_key_apply_record_in_three_transactions() {
    let counts = [(0, 0), (1, 0)].map(|(drops, restarts)| states(&key_apply_record(), drops, restarts));
    assert_eq!(counts, [574, 19_166]);
}

#[test]
fn counts_of_key_apply_record_with_all_faults() {
    assert_eq!(states(&key_apply_record(), 1, 1), 276_770);
}

#[test]
fn a_snapshot_erases_what_its_author_has_not_seen() {
    // Two reads of four actions, one write of four, and another up to its commit: 4 + 4 + 3 + 3, for neither write
    // need be answered.
    let report = explore(&two_agents(""), &naive());
    assert_eq!(breaks(&report, judge::NO_LOST_UPDATE), [(14, 0)]);
    assert_eq!(verdict(&report, judge::NO_DOUBLE_WRITE), Verdict::Vacuous);
    assert_eq!(report.findings[judge::NO_LOST_UPDATE].path.len(), 14);
}

#[test]
fn a_repeat_without_a_key_counts_twice() {
    let report = explore(&two_agents("drop-stream = 1\nrestart-node = 1"), &naive());
    assert_eq!(breaks(&report, judge::NO_DOUBLE_WRITE), [(11, 1)]);
    let report = explore(&two_agents("duplicate-call = 1"), &naive());
    assert_eq!(breaks(&report, judge::NO_DOUBLE_WRITE), [(10, 1)]);
}

#[test]
fn versions_and_keys_in_one_transaction_hold() {
    let report = explore(&two_agents("drop-stream = 1\nrestart-node = 1"), &versioned());
    for invariant in [judge::NO_LOST_UPDATE, judge::NO_DOUBLE_WRITE, judge::TRUTHFUL_OUTCOME, judge::RESOLVES] {
        assert_eq!(verdict(&report, invariant), Verdict::Holds, "{invariant}");
    }
    assert!(report.findings.values().all(|finding| finding.verdict != Verdict::Violated));
}

#[test]
fn a_search_that_was_cut_short_never_says_holds() {
    let model = model(&two_agents("drop-stream = 1"), &versioned(), NEW_PROTOCOL);
    let report = check(&model, 100, &Assertions::default());
    assert!(!report.complete);
    assert_eq!(report.states, 100);
    assert!(report.findings.values().all(|finding| finding.verdict == Verdict::Inconclusive));
}

#[test]
fn assertions_are_judged_in_quiescent_states() {
    let memory = |state: &State| state.latest(0).map(|basket| basket.content[0].value.clone());
    let kept = move |state: &State| memory(state) == Some(Value::Number(32));
    let touched = move |state: &State| memory(state) != Some(Value::Number(16));
    let assertions = Assertions {
        finally: vec![("kept", &kept)],
        at_rest: vec![("kept-at-rest", &kept)],
        sometimes: vec![("touched", &touched)],
    };
    let report = check(&model(&two_agents(""), &naive(), NEW_PROTOCOL), 1000, &assertions);
    assert_eq!(breaks(&report, "kept"), [(16, 0)]);
    assert_eq!(breaks(&report, "kept-at-rest"), [(16, 0)]);
    assert_eq!(verdict(&report, "touched"), Verdict::Holds);
}

#[test]
fn a_claim_that_nobody_releases_is_in_progress_for_ever() {
    let write = r#"[["resolve", "authorize", "claim-key"], ["check-version", "apply"], ["record-key"]]"#;
    let claims = design(READ, write, "", CAREFUL_CLIENT);
    // A restart leaves the claim at once; a dropped call must be cancelled, since it would go on otherwise.
    assert_eq!(breaks(&explore(&one_agent("restart-node = 1"), &claims), judge::RESOLVES), [(8, 1)]);
    assert_eq!(breaks(&explore(&one_agent("drop-stream = 1"), &claims), judge::RESOLVES), [(9, 1)]);
    let continues = NEW_PROTOCOL.replace("cancels", "continues");
    let report = explore_under(&one_agent("drop-stream = 1"), &claims, &continues);
    assert_eq!(verdict(&report, judge::RESOLVES), Verdict::Holds);
}

#[test]
fn a_stream_that_is_resumed_needs_no_repeat() {
    let report = explore_under(&one_agent("drop-stream = 1"), &naive(), OLD_PROTOCOL);
    assert_eq!(verdict(&report, judge::NO_DOUBLE_WRITE), Verdict::Vacuous);
    let report = explore_under(&one_agent("restart-node = 1"), &naive(), OLD_PROTOCOL);
    assert_eq!(breaks(&report, judge::NO_DOUBLE_WRITE), [(11, 1)]);
}

#[test]
fn an_effect_upstream_is_not_rolled_back() {
    let write = r#"[["resolve", "find-key", "call-upstream", "check-version", "apply", "record-key"]]"#;
    // Two reads, a commit, a refusal with its effect, a new read, and the second effect: 8 + 3 + 4 + 4 + 3.
    let report = explore(&two_agents(""), &design(READ, write, "", CAREFUL_CLIENT));
    assert_eq!(breaks(&report, judge::NO_DOUBLE_WRITE), [(22, 0)]);
}

#[test]
fn a_coarse_clock_names_two_contents() {
    let clock = design(READ, VERSIONED_WRITE, r#"versions = "coarse-clock""#, CAREFUL_CLIENT);
    let report = explore(&two_agents(""), &clock);
    assert_eq!(breaks(&report, judge::VERSION_NAMES_ONE_CONTENT), [(7, 0)]);
    assert_eq!(breaks(&report, judge::NO_LOST_UPDATE), [(14, 0)]);
}

#[test]
fn copies_that_lag_present_what_was_superseded() {
    let replica = design(READ, VERSIONED_WRITE, r#"reads-from = "replica""#, CAREFUL_CLIENT);
    // A copy lags only when the fault strikes, and the store itself never does.
    assert_eq!(breaks(&explore(&two_agents(""), &replica), judge::FRESH_READ), []);
    assert_eq!(breaks(&explore(&two_agents("stale-read = 1"), &replica), judge::FRESH_READ), [(11, 1)]);
    assert_eq!(breaks(&explore(&two_agents("stale-read = 1"), &versioned()), judge::FRESH_READ), []);
}

#[test]
fn a_cache_must_know_who_asks_for_what() {
    let cache = |scope: &str| {
        let server = format!("reads-from = \"node-cache\"\ncache-scope = {scope}");
        design(r#"[["read"]]"#, VERSIONED_WRITE, &server, CAREFUL_CLIENT)
    };
    let report = explore(&two_principals(), &cache("[]"));
    assert_eq!(breaks(&report, judge::NO_CROSS_PRINCIPAL), [(7, 0)]);
    assert_eq!(breaks(&report, judge::TRUTHFUL_OUTCOME), [(7, 0)]);
    let report = explore(&two_principals(), &cache(r#"["principal", "handle"]"#));
    assert_eq!(verdict(&report, judge::NO_CROSS_PRINCIPAL), Verdict::Holds);
}

#[test]
fn request_ids_of_two_clients_may_be_equal() {
    let by_id = design(READ, VERSIONED_WRITE, r#"replies = "by-request-id""#, CAREFUL_CLIENT);
    let report = explore(&two_principals(), &by_id);
    assert_eq!(breaks(&report, judge::NO_CROSS_PRINCIPAL), [(6, 0)]);
    assert_eq!(breaks(&report, judge::RESOLVES), [(10, 0)]);
}

#[test]
fn an_identity_in_node_memory_is_that_of_the_latest_request() {
    let memory = design(READ, VERSIONED_WRITE, r#"identity = "node-memory""#, CAREFUL_CLIENT);
    // The handle leaks, the stranger's call arrives, then the owner's, then the stranger's executes and is answered.
    assert_eq!(breaks(&explore(&owner_and_stranger(""), &memory), judge::NO_CROSS_PRINCIPAL), [(7, 1)]);
    let report = explore(&owner_and_stranger(""), &versioned());
    assert_eq!(verdict(&report, judge::NO_CROSS_PRINCIPAL), Verdict::Holds);
}

#[test]
fn a_key_in_the_scope_of_a_credential_does_not_survive_its_rotation() {
    let write = r#"[["resolve", "authorize", "find-key", "apply", "record-key"]]"#;
    let server = r#"keys = { scope = ["credential", "handle"] }"#;
    let scoped = design(READ, write, server, r#"key = "per-intent""#);
    let report = explore(&one_agent("drop-stream = 1\nrotate-credential = 1"), &scoped);
    assert_eq!(breaks(&report, judge::NO_DOUBLE_WRITE), [(12, 2)]);
}

#[test]
fn a_store_error_after_a_commit_is_told_as_a_failure() {
    let server = r#"on-store-error = ["answer-unknown", "keep-claim"]"#;
    let unknown = design(READ, VERSIONED_WRITE, server, CAREFUL_CLIENT);
    let report = explore(&one_agent("ambiguous-commit = 1"), &unknown);
    assert_eq!(breaks(&report, judge::TRUTHFUL_OUTCOME), [(8, 1)]);
    let server = r#"on-store-error = ["retry", "keep-claim"]"#;
    let retried = design(READ, VERSIONED_WRITE, server, CAREFUL_CLIENT);
    let report = explore(&one_agent("ambiguous-commit = 1"), &retried);
    assert!(report.findings.values().all(|finding| finding.verdict != Verdict::Violated));
}

#[test]
fn an_agent_that_was_stopped_need_not_end() {
    let report = explore(&two_agents("stop-agent = 1"), &versioned());
    assert!(report.findings.values().all(|finding| finding.verdict != Verdict::Violated));
}
