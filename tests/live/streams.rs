//! Streams of the revision 2025-11-25 that break: they are resumed in their own session, behind their answer too, as long
//! as the process remembers them.

use std::sync::Arc;

use handlecheck::drive::{CallError, Connection, Endpoint, Label, Reply, Revision, ask_hook};
use handlecheck::serve::Bounds;
use serde_json::{Value, json};

use super::door::{Bounded, initial_handle};
use super::process::{Deployment, runtime};

/// Sends a call, and cuts its stream once it can be resumed and the server has gone on.
async fn lose(client: &Arc<Endpoint>, name: &str, arguments: Value, hook: Option<&str>) {
    let label = Label { name: Some(name.to_owned()), ..Label::default() };
    let call = tokio::spawn(client.clone().call("read".to_owned(), arguments, label));
    client.can_resume(name).await.expect("the first event has an id");
    if let Some(hook) = hook {
        let ran = ask_hook(hook, &json!({ "do": "run", "call": name })).await.expect("it waits at its gate");
        assert_eq!(ran["is"], "answered");
    }
    call.abort();
    let _ = call.await;
}

async fn resume(client: &Arc<Endpoint>, name: &str) -> Result<Reply, CallError> {
    client.read_on(name);
    client.clone().resume(name.to_owned()).await
}

#[test]
fn a_stream_that_broke_behind_its_answer_is_resumed_in_its_own_session() {
    let deployment = Deployment::new("versioned", "foreign-handle");
    let process = deployment.start("node-1");
    let runtime = runtime();
    let handle = initial_handle(&runtime, &process);
    // Of two sessions the first calls have streams of one name.
    let [one, other] = [0, 1].map(|_| deployment.client(&process, "owner", Revision::Session));
    runtime.block_on(async {
        lose(&one, "seen", json!({ "handle": handle }), Some(&process.hook)).await;
        lose(&other, "unknown", json!({ "handle": "nothing" }), Some(&process.hook)).await;
        let seen = resume(&one, "seen").await.expect("its answer was kept");
        assert_eq!((seen.is_error, &seen.content["outcome"]), (false, &Value::from("ok")));
        let unknown = resume(&other, "unknown").await.expect("its answer was kept");
        assert_eq!((unknown.is_error, &unknown.content["outcome"]), (true, &Value::from("not-found")));
        assert_eq!(resume(&one, "seen").await, Ok(seen), "it may break again");
    });
}

#[test]
fn so_many_streams_are_remembered() {
    let runtime = runtime();
    let server = Bounded::start(&runtime, Bounds { streams: 1, ..Bounds::default() });
    let client = server.client(Revision::Session);
    runtime.block_on(async {
        lose(&client, "first", json!({ "handle": "nothing" }), None).await;
        assert!(resume(&client, "first").await.is_ok(), "one is remembered");
        // A stream is forgotten when another begins, and is over a moment after its answer.
        for number in 0..100 {
            lose(&client, &format!("further-{number}"), json!({ "handle": "nothing" }), None).await;
            if let Err(error) = resume(&client, "first").await {
                assert!(matches!(error, CallError::Broken(_)), "{error:?}");
                return;
            }
        }
        panic!("streams are forgotten");
    });
}
