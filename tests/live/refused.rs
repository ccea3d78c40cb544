//! Designs that the server can't do are refused, with what it can't do.

use std::process::Stdio;

use handlecheck::input::{self, Kind, library};
use handlecheck::serve;

use super::process::command;

/// The shipped designs that are refused without a scenario, each with the setting. All others can be served.
const REFUSED: &[(&str, &str)] = &[
    ("answered-before-stored-repaired-journal", "`server.calls = \"resumed\"`"),
    ("calls-redelivered", "`server.calls = \"redelivered\"`"),
    ("calls-resumed", "`server.calls = \"resumed\"`"),
    ("old-client-drops-new-field-broken-server", "`server.new-fields = \"dropped\"`"),
    ("permission-checked-before", "`server.state = \"handle\"`"),
    ("permission-in-transaction", "`server.state = \"handle\"`"),
    ("replies-by-request-id", "`server.replies = \"by-request-id\"`"),
    ("reply-to-a-default-address-broken", "`server.calls = \"redelivered\"`"),
    ("reply-to-a-default-address-broken", "`server.replies = \"by-task-id\"`"),
    ("reply-to-a-default-address-broken", "`server.lost-reply = \"first-agent\"`"),
    ("reply-to-a-default-address-broken-dropped", "`server.calls = \"redelivered\"`"),
    ("reply-to-a-default-address-broken-dropped", "`server.replies = \"by-task-id\"`"),
    ("reply-to-a-default-address-repaired", "`server.calls = \"redelivered\"`"),
    ("shared-reply-table-broken", "`server.replies = \"by-request-id\"`"),
    ("signed-handle", "`server.state = \"handle\"`"),
    ("state-in-handle", "`server.state = \"handle\"`"),
];

#[test]
fn the_shipped_designs_that_can_not_be_served_are_these() {
    let mut refused = Vec::new();
    for name in library::names(Kind::Design) {
        let source = library::find(Kind::Design, name).expect("a listed name is there");
        let design = input::read_design(&source).expect("a shipped design can be read").value;
        let why: Vec<String> = serve::refusals(&design, None);
        refused.extend(why.iter().map(|why| (name, why.split(':').next().unwrap_or_default().to_owned())));
    }
    let expected: Vec<(&str, String)> = REFUSED.iter().map(|(name, why)| (*name, (*why).to_owned())).collect();
    assert_eq!(refused, expected);
}

#[test]
fn a_refusal_names_what_can_not_be_served() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mut command = command("state-in-handle", &folder.path().join("store.db"), &folder.path().join("tokens.toml"));
    let output = command.stdin(Stdio::null()).output().expect("the command is built");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("server.state = \"handle\""), "{said}");
    assert!(!folder.path().join("store.db").exists(), "nothing is made for it");
}
