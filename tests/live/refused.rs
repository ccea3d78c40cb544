//! Designs that the server can't do are refused, with what it can't do.

use std::process::{Command, Stdio};

use handlecheck::input::{self, Kind, library};
use handlecheck::serve;

use super::process::command;

/// The shipped designs that are refused without a scenario, each with the step or setting. All others can be served.
const REFUSED: &[(&str, &str)] = &[("old-client-drops-new-field-broken-server", "`server.new-fields = \"dropped\"`")];

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
    let mut command = command(
        "old-client-drops-new-field-broken-server",
        &folder.path().join("store.db"),
        &folder.path().join("tokens.toml"),
    );
    let output = command.stdin(Stdio::null()).output().expect("the command is built");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("server.new-fields = \"dropped\""), "{said}");
    assert!(!folder.path().join("store.db").exists(), "nothing is made for it");
}

#[test]
fn every_mistake_of_a_mapping_has_its_place_and_what_may_be_meant() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let text = "[tools.raed]\ntool = 'show'\n\n[tools.append]\ntool = 'add'\nversion = 'etag'\n\
                argumnets = { row = '{fields.rows}' }\narguments = { key = '{kye}' }\nrefusals = { gone = 'not-fuond' }\n";
    std::fs::write(folder.path().join("mapping.toml"), text).expect("it can be written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_handlecheck"));
    command.current_dir(folder.path()).args(["drive", "import-rows", "--design", "naive", "--stdio", "exit 1"]);
    let output = command.args(["--mapping", "mapping.toml"]).output().expect("the command is built");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    for part in [
        "there is no tool `raed`",
        "did you mean `read`?",
        "`etag` is no JSON pointer",
        "expected `/etag`",
        "unknown key `argumnets`",
        "did you mean `arguments`?",
        "`{kye}` stands for nothing",
        "did you mean `key`?",
        "there is no outcome `not-fuond`",
        "did you mean `not-found`?",
        "mapping.toml:7",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

/// Processes that are no servers, or no more, end a drive with what is wrong, and none holds it up for long.
#[test]
fn what_is_no_server_is_named() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mapping = "[tools.append]\ntool = 'add'\n\n[tools.read]\ntool = 'show'\nfields = { rows = '/rows' }\n";
    std::fs::write(folder.path().join("mapping.toml"), mapping).expect("it can be written");
    for process in ["exit 3", "echo this is no JSON", "true"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_handlecheck"));
        command.current_dir(folder.path()).args(["drive", "import-rows", "--design", "naive", "--stdio", process]);
        let output = command.args(["--mapping", "mapping.toml"]).output().expect("the command is built");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(&format!("`{process}`: ")), "{said}");
    }
}
