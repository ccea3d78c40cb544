//! Who gets in, and what they may bring.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use handlecheck::drive::{CallError, Endpoint, Revision, ask_hook};
use handlecheck::input::{self, Kind, library};
use handlecheck::serve::{self, Bounds, Door, Tokens};
use serde_json::{Value, json};

use super::process::{Deployment, Process, call, runtime};

/// What opens a session.
const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;

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
    let (opened, session) = reply(&process, "POST", &[("Authorization", &owner)], HELLO);
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
    // What is no message is refused as JSON-RPC has it.
    let deep = format!("{}{}", "[".repeat(60_000), "]".repeat(60_000));
    let split = r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\ud800"}}"#;
    for (body, why) in [
        ("{", "no JSON"),
        ("[]", "no message"),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, "several"),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, "an id that is none"),
        (split, "half of a character"),
        (&deep, "too deep"),
    ] {
        assert_eq!(status(&process, &with(&[]), body), 400, "{why}");
    }
    // What says who asks whom is said once: of two, something in front of the server may go by the other.
    let two = |name: &'static str, value: &'static str| status(&process, &with(&[(name, value), (name, value)]), ping);
    assert_eq!(two("Host", "localhost"), 400);
    for (name, value) in [("Mcp-Method", "server/discover"), ("Authorization", "Bearer other")] {
        assert_eq!(status(&process, &with(&[(name, value)]), ping), 400, "{name}");
    }
    assert_eq!(two("Origin", "http://evil.example"), 400);
    let absolute = |host: &str| {
        let mut head = format!("POST http://{host}/mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
        head.push_str("Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n");
        for (name, value) in with(&[]) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let authority = process.url.trim_start_matches("http://").trim_end_matches("/mcp");
        unfinished(authority, &format!("{head}Content-Length: {}\r\n\r\n{ping}", ping.len()))
    };
    assert!(absolute("evil.example").starts_with("HTTP/1.1 400 "), "for another host than it says");
    assert!(absolute("localhost").starts_with("HTTP/1.1 200 "));
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
        let condition = |condition: &Value| json!({ "handle": handle, "change": { "memory": 1 }, "if": condition });
        let wrong = [
            ("read", json!({})),
            ("read", json!({ "handle": "" })),
            ("read", json!({ "handle": "x".repeat(300) })),
            ("read", json!({ "handle": handle, "principal": "user-42" })),
            ("set", json!({ "handle": handle })),
            ("set", json!({ "handle": handle, "change": { "memory": { "nested": 1 } } })),
            ("set", json!({ "handle": handle, "change": { "memory": 1.5 } })),
            ("set", condition(&json!({ "expression": "a.b << 1", "names": { "a": handle } }))),
            ("set", condition(&json!({ "expression": "(".repeat(1000), "names": {} }))),
            ("set", condition(&json!({ "expression": "a.b < 1", "names": { "a".repeat(300): handle } }))),
            ("set", condition(&json!({ "expression": "a.b < 1", "names": { "": handle } }))),
            ("nothing", json!({})),
            ("read", json!({ "handle": handle, "name": "report" })),
        ];
        for (tool, arguments) in wrong {
            let refused = runtime.block_on(call(&owner, tool, arguments.clone()));
            assert!(matches!(refused, Err(CallError::Protocol(_))), "{tool} {arguments}: {refused:?}");
        }
    }
}

/// What the store holds from the start.
pub fn initial_handle(runtime: &tokio::runtime::Runtime, process: &Process) -> String {
    let state = runtime.block_on(ask_hook(&process.hook, &json!({ "do": "state" }))).expect("the hook answers");
    let store = state["store"].as_object().expect("there is a store");
    store.keys().next().expect("something is in it").clone()
}

/// The hook forgets the record of one scope, and leaves that of another under the same key.
#[test]
fn a_key_expires_in_one_scope() {
    let deployment = Deployment::new("dedup-only", "two-principals");
    let process = deployment.start("node-1");
    let runtime = runtime();
    let set = |agent: &str, handle: &str| {
        let client = deployment.client(&process, agent, Revision::Stateless);
        let arguments = json!({ "handle": handle, "change": { "memory": 32 }, "key": "k" });
        let reply = runtime.block_on(call(&client, "set", arguments)).expect("it answers");
        (reply.content["version"].clone(), reply.content["replayed"] == Value::Bool(true))
    };
    let both = || [set("A", "bsk_1"), set("B", "bsk_2")];
    let version = |number: i64| Value::from(number);
    assert_eq!(both(), [(version(8), false), (version(8), false)]);
    let expire = |scope: Value| {
        let ask = json!({ "do": "expire-key", "key": "k", "scope": scope });
        runtime.block_on(ask_hook(&process.hook, &ask)).expect("the hook answers")["struck"].clone()
    };
    assert_eq!(expire(json!({ "subject": "user-42" })), 0, "the scope is the whole one");
    assert_eq!(expire(json!({ "subject": "user-42", "handle": "bsk_1" })), 1);
    assert_eq!(both(), [(version(9), false), (version(8), true)]);
}

/// Whoever chooses a name that is taken is answered with what has it, or refused; among the names of another owner it is
/// free.
#[test]
fn a_name_that_a_client_chooses_is_taken_once() {
    let runtime = runtime();
    for (design, of_all) in [("names-for-all", true), ("names-by-owner", false)] {
        let deployment = Deployment::new(design, "two-principals-one-name");
        let process = deployment.start("node-1");
        let mint = |agent: &str| {
            let client = deployment.client(&process, agent, Revision::Session);
            let arguments = json!({ "name": "report", "content": { "pages": 0 } });
            let reply = runtime.block_on(call(&client, "mint", arguments)).expect("it answers");
            (reply.content["outcome"].clone(), reply.content["handle"].clone())
        };
        let [first, again, other] = ["A", "A", "B"].map(mint);
        assert_eq!(first.0, "ok");
        assert_eq!(again, if of_all { first.clone() } else { (Value::from("name-taken"), Value::Null) });
        assert_eq!((&other.0, other.1 == first.1), (&Value::from("ok"), of_all), "{design}");
    }
}

/// A server in this process, with bounds of the test's own, and a token for each agent of the scenario.
pub struct Bounded {
    url: String,
    token: String,
    stop: tokio_util::sync::CancellationToken,
    _folder: tempfile::TempDir,
}

impl Bounded {
    pub fn start(runtime: &tokio::runtime::Runtime, bounds: Bounds) -> Self {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let read = |kind, name| library::find(kind, name).expect("it is shipped");
        let design = input::read_design(&read(Kind::Design, "versioned")).expect("it can be read").value;
        let token = "0123456789abcdef".to_owned();
        let file = folder.path().join("tokens.toml");
        let entry =
            format!("[[tokens]]\ntoken = \"{token}\"\nsubject = \"user-42\"\nagent = \"A\"\ncredential = \"1\"\n");
        std::fs::write(&file, entry).expect("the folder takes files");
        let tokens = Tokens::read(&file).expect("it is a tokens file");
        let stop = tokio_util::sync::CancellationToken::new();
        let store = folder.path().join("store.db");
        let node = serve::node((design, None), "node-1".to_owned(), &store, None, false).expect("the store opens");
        let any = ([127, 0, 0, 1], 0).into();
        let (listener, at) = runtime.block_on(serve::listen(any)).expect("there is a port");
        let door = Door { tokens, bounds, ..Door::default() };
        runtime.spawn(serve::over_http(node, listener, door, None, stop.clone()));
        Self { url: format!("http://{at}{}", serve::PATH), token, stop, _folder: folder }
    }

    /// A client with the token.
    pub fn client(&self, revision: Revision) -> Arc<Endpoint> {
        Arc::new(Endpoint::new(&self.url, Some(self.token.clone()), revision).expect("it is a URL"))
    }

    fn process(&self) -> Process {
        Process::raw(&self.url)
    }
}

impl Drop for Bounded {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// A session too many is refused, and there is room for it once another is closed.
#[test]
fn there_is_room_for_so_many_sessions() {
    let runtime = runtime();
    let server = Bounded::start(&runtime, Bounds { sessions: 2, ..Bounds::default() });
    let bearer = format!("Bearer {}", server.token);
    let open = || reply(&server.process(), "POST", &[("Authorization", &bearer)], HELLO);
    let (first, second) = (open(), open());
    assert_eq!((first.0, second.0), (200, 200));
    assert_eq!(open(), (503, None), "a third finds no room");
    let session = first.1.expect("it is told the id of its session");
    let own = [("Authorization", &*bearer), ("Mcp-Session-Id", &session), ("MCP-Protocol-Version", "2025-11-25")];
    let closed = reply(&server.process(), "DELETE", &own, "").0;
    assert!((200..300).contains(&closed), "{closed}");
    assert_eq!(open().0, 200, "there is room again");
}

/// Whoever announces a body, or begins a head, and does not go on is told so or hung up on, and does not hold the server.
#[test]
fn a_request_that_does_not_arrive_is_given_up() {
    let runtime = runtime();
    let soon = std::time::Duration::from_millis(1);
    let server = Bounded::start(&runtime, Bounds { body: soon, ..Bounds::default() });
    let authority = server.url.trim_start_matches("http://").trim_end_matches("/mcp");
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {authority}\r\nAuthorization: Bearer {}\r\nContent-Length: 100\r\n\r\n{{",
        server.token
    );
    let said = unfinished(authority, &head);
    assert!(said.starts_with("HTTP/1.1 408 "), "{said}");
    let server = Bounded::start(&runtime, Bounds { head: soon, ..Bounds::default() });
    let authority = server.url.trim_start_matches("http://").trim_end_matches("/mcp");
    let said = unfinished(authority, "POST /mcp HTTP/1.1\r\nHost: ");
    assert!(!said.starts_with("HTTP/1.1 2"), "{said}");
}

/// What is said to a beginning of a request, up to the end of the connection.
fn unfinished(authority: &str, beginning: &str) -> String {
    let mut stream = TcpStream::connect(authority).expect("it listens");
    stream.write_all(beginning.as_bytes()).expect("it reads");
    let mut said = Vec::new();
    // The server waits for more, and this side for the server: only its bound ends that. Then one of them closes.
    let mut part = [0; 1024];
    while let Ok(length @ 1..) = stream.read(&mut part) {
        said.extend_from_slice(&part[..length]);
        if said.windows(4).any(|end| end == b"\r\n\r\n") {
            break;
        }
    }
    String::from_utf8_lossy(&said).into_owned()
}
