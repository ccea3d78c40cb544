//! What was acknowledged survives any death of a process.

use std::collections::BTreeSet;
use std::time::Duration;

use handlecheck::drive::Revision;
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
