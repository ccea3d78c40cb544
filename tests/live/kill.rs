//! What was acknowledged survives any death of a process.

use std::collections::BTreeSet;
use std::time::Duration;

use handlecheck::drive::{Connection, Label, Revision, ask_hook};
use serde_json::json;

use super::process::{Deployment, call, runtime};

/// Four clients append rows while the process is killed, again and again, between two instructions of its own. Every row
/// whose append was answered is there afterwards, once; and what was not answered is there once or not at all.
#[test]
fn nothing_acknowledged_is_lost_by_a_kill() {
    let deployment = Deployment::new("append-with-key", "append");
    let runtime = runtime();
    let mut process = deployment.start("node-1");
    let mut acknowledged = BTreeSet::new();
    for round in 0..4_u64 {
        let client = deployment.client(&process, "A", Revision::Stateless);
        let rows = runtime.block_on(async {
            let workers: Vec<_> = (0..4)
                .map(|worker| {
                    let client = client.clone();
                    tokio::spawn(async move {
                        let mut rows = Vec::new();
                        for number in 0.. {
                            let row = format!("{round}-{worker}-{number}");
                            let arguments = json!({ "handle": "bsk_42", "change": { "rows": row }, "key": row });
                            match call(&client, "append", arguments).await {
                                Ok(reply) if !reply.is_error => rows.push(row),
                                Ok(reply) => panic!("{reply:?}"),
                                Err(_) => return rows,
                            }
                        }
                        rows
                    })
                })
                .collect();
            tokio::time::sleep(Duration::from_millis(60 + 17 * round)).await;
            process.kill();
            let mut rows = Vec::new();
            for worker in workers {
                rows.extend(worker.await.expect("no client panics"));
            }
            rows
        });
        acknowledged.extend(rows);
        process = deployment.start("node-1");
    }
    let client = deployment.client(&process, "A", Revision::Session);
    let view = runtime.block_on(call(&client, "read", json!({ "handle": "bsk_42" }))).expect("it answers");
    let stored = view.content["view"]["content"]["rows"].as_array().expect("rows are a list").clone();
    let stored: Vec<String> = stored.iter().map(|row| row.as_str().unwrap_or_default().to_owned()).collect();
    let once: BTreeSet<String> = stored.iter().cloned().collect();
    assert_eq!(stored.len(), once.len(), "no row is there twice");
    assert!(acknowledged.len() > 20, "the test did something: {}", acknowledged.len());
    let lost: Vec<&String> = acknowledged.difference(&once).collect();
    assert!(lost.is_empty(), "acknowledged, and lost: {lost:?}");
}

/// What is left of a call that was answered before its work was done is in the journal: the next process of that name does it, once.
#[test]
fn what_was_answered_first_is_done_behind_a_kill() {
    let deployment = Deployment::new("answered-before-stored-repaired-journal", "answered-before-stored");
    let mut process = deployment.start("node-1");
    let lines = |state: &serde_json::Value| state["store"]["notes_1"]["content"]["lines"].clone();
    let stored = |hook: &str| runtime().block_on(ask_hook(hook, &json!({ "do": "state" }))).expect("it says");
    runtime().block_on(async {
        let client = deployment.client(&process, "writer", Revision::Stateless);
        let arguments = json!({ "handle": "notes_1", "change": { "lines": "tea" }, "key": "one" });
        let label = Label { name: Some("note".to_owned()), ..Label::default() };
        let answer = tokio::spawn(client.call("append".to_owned(), arguments, label));
        ask_hook(&process.hook, &json!({ "do": "look", "call": "note" })).await.expect("it arrives");
        let ran = ask_hook(&process.hook, &json!({ "do": "run", "call": "note" })).await.expect("it runs");
        assert_eq!(ran["is"], "waiting", "half of its work is to be done");
        assert_eq!(answer.await.expect("it does not panic").expect("it is answered").content["outcome"], "ok");
    });
    assert_eq!(lines(&stored(&process.hook)), json!([]), "it is acknowledged, and not there");
    process.kill();
    let watching = deployment.start("node-2");
    assert_eq!(lines(&stored(&watching.hook)), json!([]), "nor does a process of another name do it");
    let _next = deployment.start_with("node-1", &[]);
    let is_there = |_: u32| {
        std::thread::sleep(Duration::from_millis(20));
        lines(&stored(&watching.hook)) == json!(["tea"])
    };
    assert!((0..100).any(is_there), "the next process of its name does");
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(lines(&stored(&watching.hook)), json!(["tea"]), "once");
}

/// Two processes have one call before its second transaction: whichever runs it, the other goes on behind it, what happens outside of
/// the store happens once, and both answer alike. Another call that takes its name is refused, and leaves it as it is.
#[test]
fn a_call_that_two_processes_go_on_with_is_answered_alike() {
    let deployment = Deployment::new("calls-resumed", "one-agent-restart");
    let (one, other) = (deployment.start("node-1"), deployment.start_with("node-2", &[]));
    let set = |memory: u64| json!({ "handle": "bsk_42", "change": { "memory": memory } });
    let label = || Label { name: Some("order".to_owned()), redelivered: true, ..Label::default() };
    let (answers, stolen) = runtime().block_on(async {
        let (here, there) =
            (deployment.client(&one, "A", Revision::Stateless), deployment.client(&other, "A", Revision::Stateless));
        let run = json!({ "do": "run", "call": "order" });
        let first = tokio::spawn(here.call("set".to_owned(), set(32), label()));
        ask_hook(&one.hook, &json!({ "do": "look", "call": "order" })).await.expect("it arrives");
        ask_hook(&one.hook, &run).await.expect("it runs");
        let stolen = there.clone().call("set".to_owned(), set(64), label()).await;
        let second = there.call("set".to_owned(), set(32), label()).await;
        let ran = ask_hook(&one.hook, &run).await.expect("it runs");
        assert_eq!(ran["is"], "answered", "the other has done the rest");
        ([first.await.expect("it does not panic"), second], stolen)
    });
    let refused = stolen.expect_err("the name is taken").to_string();
    assert!(refused.contains("another call has had this name (-32602)"), "{refused}");
    let [first, second] = answers.map(|answer| answer.expect("it is answered").content);
    assert_eq!((&first, &first["outcome"]), (&second, &json!("ok")));
    let state = runtime().block_on(ask_hook(&one.hook, &json!({ "do": "state" }))).expect("it says");
    assert_eq!(state["store"]["bsk_42"]["version"], first["version"], "it was changed once");
    let upstream = rusqlite::Connection::open(deployment.store().with_extension("upstream")).expect("it is there");
    let effects = upstream.query_row("SELECT count(*) FROM effects", [], |row| row.get::<_, i64>(0));
    assert_eq!(effects, Ok(1), "it was called once");
}
