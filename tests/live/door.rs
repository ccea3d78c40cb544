//! Who gets in, and what they may bring.

use std::io::{Read, Write};
use std::net::TcpStream;

use handlecheck::drive::{CallError, Revision, ask_hook};
use serde_json::{Value, json};

use super::process::{Deployment, Process, call, runtime};

/// The status of the reply to a raw POST.
fn status(process: &Process, headers: &[(&str, &str)], body: &str) -> u16 {
    reply(process, "POST", headers, body).0
}

/// The status of the reply to a raw request, and the session that it names.
fn reply(process: &Process, method: &str, headers: &[(&str, &str)], body: &str) -> (u16, Option<String>) {
    let authority = process.url.trim_start_matches("http://").trim_end_matches("/mcp");
    let mut stream = TcpStream::connect(authority).expect("it listens");
    let mut head = format!("{method} /mcp HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    head.push_str("Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n");
    let host = ("Host", authority);
    let named = headers.iter().any(|(name, _)| *name == "Host");
    for (name, value) in headers.iter().chain((!named).then_some(&host)) {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{head}\r\n{body}").as_bytes()).expect("it reads");
    let mut reply = Vec::new();
    let _ = stream.read_to_end(&mut reply);
    let text = String::from_utf8_lossy(&reply);
    let line = text.lines().next().unwrap_or_default();
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    let session = text.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).map(str::to_owned);
    (status.unwrap_or_else(|| panic!("{line:?} has a status")), session)
}

/// The id of a session opens it to nobody but the principal that opened it.
#[test]
fn a_session_is_its_principals() {
    let deployment = Deployment::new("versioned", "foreign-handle");
    let process = deployment.start("node-1");
    let [owner, foreign] = ["owner", "mallory"].map(|agent| format!("Bearer {}", deployment.token(agent)));
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
    let (opened, session) = reply(&process, "POST", &[("Authorization", &owner)], hello);
    let session = session.expect("it is told the id of its session");
    assert_eq!(opened, 200);
    let with = |bearer: &str, method: &str, body: &str| {
        let headers = [("Authorization", bearer), ("Mcp-Session-Id", &session), ("MCP-Protocol-Version", "2025-11-25")];
        reply(&process, method, &headers, body).0
    };
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    assert_eq!(with(&owner, "POST", ready), 202);
    assert_eq!(with(&foreign, "POST", list), 404, "another's session can't be used");
    assert_eq!(with(&foreign, "GET", ""), 404, "nor listened to");
    assert_eq!(with(&foreign, "DELETE", ""), 404, "nor closed");
    let unknown = [("Authorization", &*owner), ("Mcp-Session-Id", "nobody-opened-this")];
    assert_eq!(reply(&process, "POST", &unknown, list).0, 404);
    assert!((200..300).contains(&with(&owner, "DELETE", "")), "it was there all the time");
}

#[test]
fn the_door_is_closed_to_what_has_no_business_there() {
    let deployment = Deployment::new("versioned", "foreign-handle");
    let process = deployment.start("node-1");
    let bearer = format!("Bearer {}", deployment.token("owner"));
    let own = ("Authorization", bearer.as_str());
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let version = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "server/discover")];
    let with = |more: &[(&'static str, &'static str)]| [&[own][..], &version, more].concat();
    assert_eq!(status(&process, &with(&[]), ping), 200);
    assert_eq!(status(&process, &version, ping), 401, "without a token");
    assert_eq!(status(&process, &[("Authorization", "Bearer nobody-has-this-token")], ping), 401);
    assert_eq!(status(&process, &with(&[("Host", "evil.example")]), ping), 403, "by another name");
    assert_eq!(status(&process, &with(&[("Origin", "http://evil.example")]), ping), 403, "from a page");
    let long = format!("{{\"x\":\"{}\"}}", "x".repeat(200_000));
    assert_eq!(status(&process, &with(&[]), &long), 413);
    assert!((400..500).contains(&status(&process, &with(&[]), "{")), "no JSON");
    // The hook is no page's business either.
    let hook = Process::raw(&process.hook);
    assert_eq!(status(&hook, &[("Origin", "http://evil.example")], r#"{"do":"state"}"#), 400);
}

#[test]
fn both_revisions_are_spoken_and_the_token_alone_says_who_calls() {
    let deployment = Deployment::new("versioned", "foreign-handle");
    let process = deployment.start("node-1");
    let runtime = runtime();
    for revision in [Revision::Stateless, Revision::Session] {
        let (owner, foreign) =
            (deployment.client(&process, "owner", revision), deployment.client(&process, "mallory", revision));
        let handle = initial_handle(&runtime, &process);
        let read = json!({ "handle": handle });
        let seen = runtime.block_on(call(&owner, "read", read.clone())).expect("it answers");
        assert_eq!((seen.is_error, &seen.content["outcome"]), (false, &Value::from("ok")));
        let refused = runtime.block_on(call(&foreign, "read", read)).expect("it answers");
        assert_eq!((refused.is_error, &refused.content["outcome"]), (true, &Value::from("not-found")));
        let wrong = [
            ("read", json!({})),
            ("read", json!({ "handle": "" })),
            ("read", json!({ "handle": "x".repeat(300) })),
            ("read", json!({ "handle": handle, "principal": "user-42" })),
            ("set", json!({ "handle": handle })),
            ("set", json!({ "handle": handle, "change": { "memory": { "nested": 1 } } })),
            ("set", json!({ "handle": handle, "change": { "memory": 1.5 } })),
            ("nothing", json!({})),
        ];
        for (tool, arguments) in wrong {
            let refused = runtime.block_on(call(&owner, tool, arguments.clone()));
            assert!(matches!(refused, Err(CallError::Protocol(_))), "{tool} {arguments}: {refused:?}");
        }
    }
}

fn initial_handle(runtime: &tokio::runtime::Runtime, process: &Process) -> String {
    let state = runtime.block_on(ask_hook(&process.hook, &json!({ "do": "state" }))).expect("the hook answers");
    let store = state["store"].as_object().expect("there is a store");
    store.keys().next().expect("something is in it").clone()
}
