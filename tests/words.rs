//! Words of the language that few shipped models use: the engine and the plain reference interpreter mean the same by
//! each, on small models, and what must come out does.

mod reference;

use handlecheck::engine::{Limits, explore};
use handlecheck::faults::FAULTS;
use handlecheck::handler::STEPS;
use handlecheck::input::{Kind, library, settings};
use handlecheck::step::Simulation;
use reference::assertions::check_all;
use reference::examples::{CAREFUL_CLIENT, NEW_PROTOCOL, READ, design, model, one_agent, two_agents};

const CONTINUES: &str = r#"
title = "Closed streams continue"
resumable = "never"
sessions = false
closed-stream = "continues"
task-ids = "server"
reissue = "new-request-id"
"#;

/// The front of breaks of one property, `None` where it is vacuous.
type Found = Option<Vec<(u32, u32)>>;

/// Explores a model with the engine and the reference interpreter, which must agree on states, transitions and every
/// property; and answers what they found of these.
#[track_caller]
fn found<const N: usize>(scenario: &str, design: &str, protocol: &str, properties: [&str; N]) -> [Found; N] {
    let (found, ours, theirs) = fronts(scenario, design, protocol, properties);
    assert_eq!(ours, theirs, "states, transitions");
    found
}

type Counts = (usize, u64);

/// The same, with the counts of both.
#[track_caller]
fn fronts<const N: usize>(
    scenario: &str,
    design: &str,
    protocol: &str,
    properties: [&str; N],
) -> ([Found; N], Counts, Counts) {
    let model = model(scenario, design, protocol);
    let simulation = Simulation::new(model.clone());
    let ours = explore(&simulation, Limits { liveness: true, ..Limits::default() }, &mut |_| false);
    let theirs = check_all(&model, usize::MAX);
    let all: Vec<(String, Found)> = simulation
        .properties()
        .iter()
        .enumerate()
        .map(|(index, property)| {
            let front: Vec<_> = ours.front(index).iter().map(|found| (found.steps, found.faults)).collect();
            let vacuous = front.is_empty() && ours.witnessed & (1 << index) == 0;
            let finding = &theirs.findings[&property.name];
            assert_eq!(front, finding.front, "{}", property.name);
            let theirs = finding.verdict == handlecheck::model::Verdict::Vacuous;
            assert_eq!(vacuous, theirs, "witness of {}", property.name);
            (property.name.clone(), (!vacuous).then_some(front))
        })
        .collect();
    let found = properties.map(|name| all.iter().find(|(other, _)| other == name).expect("it is judged").1.clone());
    (found, (ours.states(), ours.transitions), (theirs.states, theirs.transitions as u64))
}

fn holds() -> Found {
    Some(Vec::new())
}

fn breaks(steps: u32, faults: u32) -> Found {
    Some(vec![(steps, faults)])
}

#[test]
fn a_handler_compares_with_what_it_loaded_itself() {
    let unchanged = |client| {
        let write = r#"[["resolve", "authorize", "load"], ["check-unchanged", "save"]]"#;
        design(READ, write, "", client)
    };
    let blind_to_others = r#"
        [client.on]
        stale-view = { send = "same" }"#;
    // The handler's own read and write are one step now; the agent's read came long before.
    assert_eq!(
        found(&two_agents(""), &unchanged(blind_to_others), NEW_PROTOCOL, ["no-lost-update", "resolves"]),
        [breaks(16, 0), holds()]
    );
    let changes = "payload = \"change\"\n".to_owned() + blind_to_others;
    assert_eq!(
        found(&two_agents(""), &unchanged(&changes), NEW_PROTOCOL, ["no-lost-update", "resolves"]),
        [holds(), holds()]
    );
    // A clock that stands still hides the change in between.
    let write = r#"[["resolve", "authorize", "load"], ["check-unchanged", "save"]]"#;
    let clock = design(READ, write, "versions = \"coarse-clock\"", &changes);
    assert_eq!(fronts(&two_agents(""), &clock, NEW_PROTOCOL, ["no-lost-update"]).0, [breaks(16, 0)]);
}

#[test]
fn a_claim_that_names_its_attempt_is_known_again() {
    let claims = |names: &str, error: &str| {
        let write = r#"[["resolve", "authorize", "claim-key"], ["find-key", "apply", "record-key"]]"#;
        let server = format!("on-store-error = {error}\nkeys = {{ claim-names = \"{names}\" }}");
        design(READ, write, &server, "key = \"per-intent\"")
    };
    let scenario = one_agent("ambiguous-commit = 1");
    let both = ["no-double-write", "resolves"];
    let retried = r#"["retry", "keep-claim"]"#;
    let found = |names: &str| fronts(&scenario, &claims(names, retried), NEW_PROTOCOL, both).0;
    assert_eq!(found("attempt"), [None, holds()]);
    assert_eq!(found("nothing"), [None, breaks(9, 1)]);
}

#[test]
fn a_claim_that_names_nothing_is_released_by_whoever_comes() {
    let claims = |names: &str| {
        let write = r#"[["resolve", "authorize", "claim-key"], ["apply"], ["record-key"]]"#;
        let keys = format!("keys = {{ claim-names = \"{names}\" }}\n");
        design(READ, write, &keys, "key = \"per-intent\"") + "[server.write]\nat-end = [[\"release-key\"]]\n"
    };
    let at_end = |names: &str| claims(names).replace("[server.write]\nat-end", "at-end");
    let moved = |names: &str| {
        let text = at_end(names);
        let (text, line) = text.rsplit_once("at-end").expect("the line is the last one");
        text.replace("[client]", &format!("at-end{line}[client]"))
    };
    let scenario = one_agent("drop-stream = 1");
    let found = |names: &str| found(&scenario, &moved(names), CONTINUES, ["no-double-write"]);
    assert_eq!(found("attempt"), [holds()]);
    // The repeat is refused, and on its way out releases the claim of the first attempt; the next repeat gets through.
    assert_eq!(found("nothing"), [breaks(18, 1)]);
}

#[test]
fn an_upstream_that_is_told_the_key_does_the_work_once() {
    let calls = |step: &str| {
        let write = format!(r#"[["resolve", "authorize"], ["{step}"], ["apply"]]"#);
        design(READ, &write, "", "payload = \"change\"\nkey = \"per-intent\"")
    };
    let scenario = one_agent("drop-stream = 1\nrestart-node = 1");
    assert_eq!(found(&scenario, &calls("call-upstream"), CONTINUES, ["no-double-write"]), [breaks(13, 1)]);
    let with_key = calls("call-upstream-with-key").replace("[\"apply\"]", "[\"read\"]");
    assert_eq!(found(&scenario, &with_key, CONTINUES, ["no-double-write"]), [holds()]);
}

#[test]
fn assertions_at_rest_do_not_ask_what_was_told() {
    let write = r#"[["resolve", "authorize", "check-version", "apply"]]"#;
    let refused = design(READ, write, "", CAREFUL_CLIENT.split("[client.on]").next().expect("it has settings"));
    let scenario = two_agents("")
        + r#"
        [at-rest]
        nobody-fails = "!('failure' in told.A) && !('failure' in told.B)"
        [finally]
        both = "basket.memory == 32 && basket.storage == 1024"
        "#;
    let found = found(&scenario, &refused, NEW_PROTOCOL, ["nobody-fails", "both"]);
    assert_eq!(found, [breaks(16, 0), holds()]);
}

#[test]
fn calls_that_outlive_their_node_start_again_or_go_on() {
    let calls = |calls: &str, step: &str| {
        let write = format!(r#"[["resolve", "authorize"], ["{step}"], ["read"]]"#);
        design(READ, &write, &format!("calls = \"{calls}\""), "payload = \"change\"\nkey = \"per-intent\"")
    };
    let scenario = one_agent("restart-node = 1").replace("nodes = 2", "nodes = 1");
    let found = |kept: &str, step: &str| {
        let properties = ["no-double-write", "truthful-outcome", "resolves"];
        found(&scenario, &calls(kept, step), NEW_PROTOCOL, properties)
    };
    assert_eq!(found("memory", "call-upstream"), [breaks(13, 1), holds(), holds()]);
    // A queue that delivers again what was not answered: the client sends once, and the work is done twice.
    assert_eq!(found("redelivered", "call-upstream"), [breaks(12, 1), None, holds()]);
    assert_eq!(found("redelivered", "call-upstream-with-key"), [holds(), None, holds()]);
    // A journal: what was done is not done again.
    assert_eq!(found("resumed", "call-upstream"), [None, None, holds()]);
}

#[test]
fn orphans_that_outlive_their_node_may_be_taken_up_again() {
    for calls in ["redelivered", "resumed"] {
        let write = r#"[["resolve", "authorize"], ["claim-key"], ["apply", "record-key"]]"#;
        let text = design(READ, write, &format!("calls = \"{calls}\""), "payload = \"change\"\nkey = \"per-intent\"");
        let scenario = one_agent("restart-node = 1\ndrop-stream = 1").replace("nodes = 2", "nodes = 1");
        assert_eq!(found(&scenario, &text, CONTINUES, ["no-double-write"]), [holds()], "{calls}");
    }
}

#[test]
fn an_answer_without_an_address_goes_nowhere_or_to_the_default() {
    let scenario = r#"
title = "A desk, and somebody who asks"
nodes = 1
[resources.one]
handle = "bsk_1"
owner = "user-7"
version = 7
fields = { memory = 16 }
[resources.two]
handle = "bsk_2"
owner = "user-42"
version = 7
fields = { memory = 16 }
[agents.desk]
principal = "user-7"
work = [{ read = "one" }]
[agents.A]
principal = "user-42"
work = [{ set = "two", memory = 32 }]
[faults]
restart-node = 1
"#;
    let write = r#"[["resolve", "authorize", "find-key", "apply", "record-key"]]"#;
    let replies = |replies: &str| {
        let server = format!("replies = \"{replies}\"\ncalls = \"redelivered\"");
        design(READ, write, &server, "payload = \"change\"\nkey = \"per-intent\"")
    };
    let lost = "lost-reply = \"first-agent\"\nreplies";
    let found = |text: &str| found(scenario, text, CONTINUES, ["no-cross-principal", "resolves"]);
    assert_eq!(found(&replies("per-request")), [None, holds()]);
    // Without a call that outlives its node there is nothing to lose.
    assert_eq!(found(&replies("by-task-id").replace("calls = \"redelivered\"", "")), [None, holds()]);
    assert_eq!(found(&replies("by-task-id")), [None, breaks(9, 1)]);
    let to_desk = replies("by-task-id").replace("replies", lost);
    assert_eq!(found(&to_desk), [breaks(7, 1), breaks(7, 1)]);
}

/// Two principals on one node, each with a resource that it mints.
fn two_minters(faults: &str) -> String {
    format!(
        r#"
title = "Two principals, a draft each"
nodes = 1
[agents.A]
principal = "user-42"
work = [{{ mint = "one", text = "a" }}, {{ set = "one", text = "b" }}]
[agents.B]
principal = "user-7"
work = [{{ mint = "two", text = "x" }}]
[faults]
{faults}
"#
    )
}

#[test]
fn whatever_looks_the_caller_up_late_may_take_another_for_it() {
    let minting = |identity: &str, mint: &str| {
        let write = r#"[["resolve", "authorize", "find-key", "apply", "record-key"]]"#;
        let server = format!("identity = \"{identity}\"\nkeys = {{ scope = [\"principal\"] }}");
        design(READ, write, &server, "payload = \"change\"\nkey = \"per-intent\"")
            + &format!("[server.mint]\ntransactions = {mint}\n")
    };
    let sectioned = |text: String| {
        let (design, mint) = text.split_once("[server.mint]").expect("it has a handler of mint");
        design.replace("[client]", &format!("[server.mint]{mint}[client]"))
    };
    // A's draft is filed under B, whose request came last: A is refused its own.
    let mint = r#"[["find-key", "mint", "record-key"]]"#;
    let late = sectioned(minting("node-memory", mint));
    let properties = ["handle-resolvable", "no-double-write"];
    assert_eq!(found(&two_minters(""), &late, CONTINUES, properties), [breaks(10, 0), None]);
    let fine = sectioned(minting("per-request", mint));
    assert_eq!(found(&two_minters(""), &fine, CONTINUES, properties), [None, None]);
    // The record of A's mint stands under B's name, and a repeat does not find it there.
    let found = |text: &str| found(&two_minters("drop-stream = 1"), text, CONTINUES, ["no-double-write"]);
    assert_eq!(found(&late), [breaks(9, 1)]);
    assert_eq!(found(&fine), [holds()]);
}

/// Every word of the language stands in some shipped model, or is what a file says that says nothing.
#[test]
fn every_word_is_used_by_a_shipped_model() {
    let texts: Vec<String> = Kind::ALL
        .iter()
        .flat_map(|kind| library::names(*kind).into_iter().map(|name| (*kind, name)))
        .map(|(kind, name)| library::find(kind, name).expect("it is shipped").text.to_string())
        .collect();
    let said = |what: &str| texts.iter().any(|text| text.contains(what));
    let mut missing = Vec::new();
    let lists = [settings::server(), settings::keys(), settings::client(), settings::protocol()];
    for setting in lists.into_iter().flatten() {
        let words = setting.takes.choices().into_iter().map(|choice| format!("\"{}\"", choice.name));
        missing.extend(words.filter(|word| !said(word) && !setting.default.contains(word.as_str())));
    }
    missing.extend(STEPS.iter().map(|step| format!("\"{}\"", step.name)).filter(|step| !said(step)));
    missing.extend(FAULTS.iter().map(|fault| format!("\n{} = ", fault.name)).filter(|fault| !said(fault)));
    missing.extend(settings::VERBS.iter().map(|verb| format!("{{ {verb} = ")).filter(|verb| !said(verb)));
    missing.extend(settings::SEND.iter().map(|send| format!("send = \"{send}\"")).filter(|send| !said(send)));
    let tables = ["finally", "at-rest", "sometimes", "faults", "client.on", "server.keys"];
    missing.extend(tables.map(|table| format!("[{table}]")).into_iter().filter(|table| !said(table)));
    assert_eq!(missing, Vec::<String>::new(), "no shipped model says this");
}
