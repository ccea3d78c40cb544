//! Calls that change two resources, and conditions, as clients send them.

use handlecheck::drive::agreement::{Pair, agree, pairs};
use handlecheck::drive::{CallError, Reply, Revision, ask_hook};
use handlecheck::run::invariant_names;
use serde_json::{Value, json};

use super::process::{Deployment, call, runtime};

/// An order of one item, which goes into a basket.
fn order(item: &str) -> Value {
    let also = json!({ "tool": "append", "handle": "bsk_1", "change": { "items": item } });
    json!({ "handle": "sku_9", "change": { "items": -1 }, "key": item, "also": also })
}

/// What is stored, behind a few calls of one agent.
fn stored(
    design: &str,
    scenario: &str,
    agent: &str,
    calls: &[(&str, Value)],
) -> (Vec<Result<Reply, CallError>>, Value) {
    let (deployment, runtime) = (Deployment::new(design, scenario), runtime());
    let process = deployment.start("node-1");
    let client = deployment.client(&process, agent, Revision::Stateless);
    let said = calls.iter().map(|(tool, arguments)| runtime.block_on(call(&client, tool, arguments.clone())));
    let said = said.collect();
    let state = runtime.block_on(ask_hook(&process.hook, &json!({ "do": "state" }))).expect("the hook answers");
    (said, state)
}

#[test]
fn both_resources_are_changed_and_both_versions_answered() {
    let (said, state) = stored("compensation-lost-broken", "compensation-lost", "buyer", &[("increment", order("a"))]);
    let answer = said[0].as_ref().expect("it is answered");
    assert_eq!(answer.content["outcome"], "ok");
    assert_eq!(
        (&answer.content["version"], &answer.content["also"]),
        (&json!(2), &json!({ "handle": "bsk_1", "version": 2 }))
    );
    assert_eq!(held(&state, "sku_9"), json!({ "items": 4 }));
    assert_eq!(held(&state, "bsk_1"), json!({ "items": ["a"] }));
}

#[test]
fn what_is_refused_by_half_is_taken_back_where_the_design_says_so() {
    let calls = [("close", json!({ "handle": "bsk_1" })), ("increment", order("a"))];
    for (design, left) in [("compensation-lost-broken", 5), ("compensation-lost-broken-none", 4)] {
        let (said, state) = stored(design, "compensation-lost", "buyer", &calls);
        assert_eq!(said[1].as_ref().expect("it is answered").content["outcome"], "closed", "{design}");
        assert_eq!(held(&state, "sku_9"), json!({ "items": left }), "{design}");
        assert_eq!(held(&state, "bsk_1"), json!({ "items": [] }), "{design}");
    }
}

#[test]
fn a_handler_without_the_step_changes_one_resource() {
    let also = json!({ "tool": "set", "handle": "other", "change": { "memory": 1 } });
    let set = json!({ "handle": "bsk_42", "change": { "memory": 32 }, "also": also });
    let (said, state) = stored("naive", "laptop-basket", "A", &[("set", set)]);
    let error = said[0].as_ref().expect_err("it is refused").to_string();
    assert!(error.contains("its handler has no step `other` (-32602)"), "{error}");
    assert_eq!(held(&state, "bsk_42"), json!({ "memory": 16, "storage": 512 }));
}

#[test]
fn a_condition_is_judged_on_what_is_stored() {
    let take = |expression: &str, name: &str| {
        let condition = json!({ "expression": expression, "names": { name: "quo_1" } });
        ("increment", json!({ "handle": "quo_1", "change": { "used": 1 }, "if": condition }))
    };
    let calls = [
        take("quota.used < 10", "quota"),
        take("quota.used < 10", "quota"),
        take("quota.used < 10", "quoat"),
        take("quota.used <", "quota"),
        ("read", json!({ "handle": "quo_1", "if": { "expression": "true", "names": {} } })),
    ];
    let (said, state) = stored("quota-checked-then-counted-repaired", "quota-checked-then-counted", "A", &calls);
    let outcome = |place: usize| said[place].as_ref().expect("it is answered").content["outcome"].clone();
    assert_eq!((outcome(0), outcome(1)), (json!("ok"), json!("condition-not-met")));
    for (place, part) in [(2, "`quota`"), (3, "the expression ends too early"), (4, "`read` has no condition")] {
        let error = said[place].as_ref().expect_err("it is refused").to_string();
        assert!(error.contains(part) && error.contains("-32602"), "{error}");
    }
    assert_eq!(held(&state, "quo_1"), json!({ "used": 10 }));
}

fn held(state: &Value, handle: &str) -> Value {
    state["store"][handle]["content"].clone()
}

/// Every shipped pair in which a call changes two resources: along every violation, and several random walks.
#[test]
fn the_server_changes_two_resources_as_the_model_does() {
    let scenarios = ["compensation-lost", "half-a-transfer", "locks-taken-crosswise", "owner-of-one-of-two"];
    let (runtime, invariants) = (runtime(), invariant_names());
    let (mut differences, mut walks, mut found) = (Vec::new(), 0, 0);
    let pairs = pairs(&invariants).expect("what is shipped can be read");
    for pair in pairs.iter().filter(|pair| scenarios.contains(&&*pair.scenario)) {
        let Pair { scenario, design } = pair;
        let program = std::path::Path::new(env!("CARGO_BIN_EXE_handlecheck"));
        let agreement = runtime.block_on(agree(program, pair, &invariants, true, 0..12)).expect("they can be read");
        assert_eq!(agreement.unserved, None, "{scenario} x {design}");
        walks += agreement.walks;
        found += agreement.found.values().sum::<usize>();
        differences.extend(agreement.differences.into_iter().map(|what| format!("{scenario} x {design}: {what}")));
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(walks > 100 && found > 10, "{walks} walks, {found} found");
}
