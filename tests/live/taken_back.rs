//! What `undo` takes back of a call that is refused behind its first half, as the store has it afterwards.

use handlecheck::drive::{Reply, Revision, ask_hook};
use serde_json::{Value, json};

use super::process::{Deployment, call, runtime};

const SCENARIO: &str = r#"
title = "Two resources, of which the other is closed"
nodes = 1

[resources.own]
handle = "own"
owner = "u"
version = 1
fields = { rows = ["a", "b"], n = 5, m = 1 }

[resources.other]
handle = "other"
owner = "u"
version = 1
fields = { n = 0 }

[agents.A]
principal = "u"
work = [{ read = "own" }]
"#;

const DESIGN: &str = r#"
title = "What is refused by half is taken back"

[server.read]
transactions = [["resolve", "read"]]

[server.write]
transactions = [["resolve", "apply"], ["other", "resolve", "check-open", "apply"]]
at-end = [["undo"]]

[server.close]
transactions = [["resolve", "apply"], ["other", "resolve", "check-open", "apply"]]
at-end = [["undo"]]

[server.approve]
transactions = [["resolve", "apply"], ["other", "resolve", "check-open", "apply"]]
at-end = [["undo"]]

[server.execute]
transactions = [["resolve", "check-approval", "apply"]]

[server.mint]
transactions = [["mint"], ["other", "resolve", "check-open", "apply"]]
at-end = [["undo"]]
"#;

/// What is stored behind these calls, and how they were answered. The other resource is closed first.
fn behind(design: &str, calls: &[(&str, Value)]) -> (Vec<Reply>, Value) {
    let close = ("close", json!({ "handle": "other" }));
    let (said, store) = all(design, &[&[close], calls].concat());
    (said.into_iter().skip(1).collect(), store)
}

fn all(design: &str, calls: &[(&str, Value)]) -> (Vec<Reply>, Value) {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("the folder takes files");
        path.display().to_string()
    };
    let deployment = Deployment::new(&file("own.design.toml", design), &file("two.scenario.toml", SCENARIO));
    let (process, runtime) = (deployment.start("node-1"), runtime());
    let client = deployment.client(&process, "A", Revision::Stateless);
    let said = calls.iter().map(|(tool, arguments)| {
        let said = runtime.block_on(call(&client, tool, arguments.clone()));
        said.unwrap_or_else(|error| panic!("{tool} {arguments}: {error}"))
    });
    let said = said.collect();
    let state = runtime.block_on(ask_hook(&process.hook, &json!({ "do": "state" }))).expect("the hook answers");
    (said, state["store"].clone())
}

/// A call that also changes the other resource, which is closed.
fn by_half(tool: &'static str, arguments: &Value) -> (&'static str, Value) {
    let mut arguments = arguments.clone();
    arguments["also"] = json!({ "tool": "increment", "handle": "other", "change": { "n": 1 } });
    (tool, arguments)
}

#[test]
fn every_change_is_taken_back_as_it_was_made() {
    let (own, content) = ("own", json!({ "rows": ["a", "b"], "n": 5, "m": 1 }));
    for (tool, arguments) in [
        ("set", json!({ "handle": own, "change": { "m": 7 } })),
        ("set", json!({ "handle": own, "change": { "m": 7, "fresh": 1 } })),
        ("set", json!({ "handle": own, "content": { "rows": [], "m": 7, "fresh": 1 } })),
        ("increment", json!({ "handle": own, "change": { "n": 3 } })),
        ("append", json!({ "handle": own, "change": { "rows": "a" } })),
    ] {
        let (said, store) = behind(DESIGN, &[by_half(tool, &arguments)]);
        assert_eq!(said[0].content["outcome"], "closed", "{tool} {arguments}");
        assert_eq!((&store[own]["content"], &store[own]["version"]), (&content, &json!(3)), "{tool} {arguments}");
        assert_eq!(store["other"]["content"], json!({ "n": 0 }), "{tool} {arguments}");
    }
    // Written twice, it is as it was before the first time.
    let twice =
        DESIGN.replacen("[[\"resolve\", \"apply\"], ", "[[\"resolve\", \"apply\"], [\"resolve\", \"apply\"], ", 1);
    let (_, store) = behind(&twice, &[by_half("set", &json!({ "handle": own, "change": { "m": 7 } }))]);
    assert_eq!((&store[own]["content"], &store[own]["version"]), (&content, &json!(4)));
}

/// Each half is taken back by what was noted of it.
#[test]
fn both_halves_are_taken_back() {
    let both = DESIGN.replacen(
        "transactions = [[\"resolve\", \"apply\"], [\"other\", \"resolve\", \"check-open\", \"apply\"]]\nat-end = [[\"undo\"]]",
        "transactions = [[\"resolve\", \"apply\"], [\"other\", \"resolve\", \"apply\"], [\"check-open\"]]\nat-end = [[\"other\", \"undo\"], [\"undo\"]]",
        1,
    );
    assert_ne!(both, DESIGN);
    let close = ("close", json!({ "handle": "own" }));
    for (tool, change) in [("set", json!({ "m": 7 })), ("append", json!({ "rows": "c" }))] {
        let arguments = json!({ "handle": "own", "change": change });
        let (said, store) = all(&both, &[close.clone(), by_half(tool, &arguments)]);
        assert_eq!(said[1].content["outcome"], "closed", "{tool}");
        assert_eq!(store["own"]["content"], json!({ "rows": ["a", "b"], "n": 5, "m": 1 }), "{tool}");
        assert_eq!((&store["other"]["content"], &store["other"]["version"]), (&json!({ "n": 0 }), &json!(3)), "{tool}");
    }
}

#[test]
fn what_was_ended_approved_or_minted_by_half_is_not() {
    let (said, store) = behind(DESIGN, &[by_half("close", &json!({ "handle": "own" }))]);
    assert_eq!((&said[0].content["outcome"], &store["own"]["lifecycle"]), (&json!("closed"), &json!("open")));
    let approve = json!({ "handle": "own", "content": { "rows": ["a", "b"], "n": 5, "m": 1 } });
    let execute = ("execute", json!({ "handle": "own" }));
    let (said, store) = behind(DESIGN, &[by_half("approve", &approve), execute.clone()]);
    assert_eq!((&said[1].content["outcome"], &store["own"]["lifecycle"]), (&json!("stale-approval"), &json!("open")));
    let (said, _) = behind(DESIGN, &[("approve", approve), execute]);
    assert_eq!(said[1].content["outcome"], "ok", "approved as a whole, it can be executed");
    let (said, store) = behind(DESIGN, &[by_half("mint", &json!({ "content": { "n": 1 } }))]);
    assert_eq!(said[0].content["outcome"], "closed");
    let minted = store.as_object().expect("an object").iter().find(|(handle, _)| handle.starts_with("res_"));
    assert_eq!(minted.expect("it was minted").1["lifecycle"], "deleted");
}

/// What lags behind shows, for a while, what the call had written.
#[test]
fn a_copy_learns_late_that_something_was_taken_back() {
    let lagging = DESIGN.replacen("[server.read]", "[server]\nreads-from = \"replica\"\n\n[server.read]", 1);
    let read = ("read", json!({ "handle": "own" }));
    let (said, _) = behind(&lagging, &[by_half("set", &json!({ "handle": "own", "change": { "m": 7 } })), read]);
    let view = &said[1].content["view"];
    // The machine may be slow; then the copy has caught up.
    assert!(
        [(2, 7), (3, 1)].contains(&(view["version"].as_i64().unwrap_or(0), view["content"]["m"].as_i64().unwrap_or(0))),
        "{view}"
    );
}
