//! `drive` against servers at URLs, which the user starts, restarts and puts back with commands of the shell.

use std::process::Command;

const PROGRAM: &str = env!("CARGO_BIN_EXE_handlecheck");

/// Starts the node in `HANDLECHECK_NODE` at a port that it keeps.
const START: &str = r#"
n=$HANDLECHECK_NODE
: >"said.$n"
"$PROGRAM" serve --design "$DESIGN" --scenario "$SCENARIO" --store store.db --tokens tokens.toml --log error \
    --node "node-$n" --listen "127.0.0.1:$(cat "port.$n" 2>/dev/null || echo 0)" >"said.$n" 2>>"log.$n" &
echo $! >"pid.$n"
until grep -q url "said.$n" || ! kill -0 "$(cat "pid.$n")" 2>/dev/null; do sleep 0.01; done
sed 's/.*127.0.0.1:\([0-9]*\).*/\1/' "said.$n" >"port.$n"
"#;

const RESTART: &str = r#"
kill -9 "$(cat "pid.$HANDLECHECK_NODE")"
echo "$HANDLECHECK_NODE" >>restarted
exec sh start
"#;

const PREPARE: &str = r#"
for n in 1 2; do kill -9 "$(cat "pid.$n")"; done 2>/dev/null
rm -f store.db store.db-*
for n in 1 2; do HANDLECHECK_NODE=$n sh start; done
"#;

const STOP: &str = r#"for n in 1 2; do kill -9 "$(cat "pid.$n")"; done"#;

struct Nodes(tempfile::TempDir);

impl Nodes {
    fn sh(&self, design: &str, scenario: &str, command: &str) {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(command).current_dir(self.0.path());
        shell.env("PROGRAM", PROGRAM).env("DESIGN", design).env("SCENARIO", scenario);
        assert!(shell.status().expect("there is a shell").success(), "{command}");
    }

    fn url(&self, node: u32) -> String {
        let port = std::fs::read_to_string(self.0.path().join(format!("port.{node}"))).expect("it listens");
        format!("http://127.0.0.1:{}/mcp", port.trim())
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.path().join(name)).unwrap_or_default()
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        let _ = Command::new("sh").arg("-c").arg(STOP).current_dir(self.0.path()).status();
    }
}

/// Runs of one scenario, each from the beginning. The exit code, and what was printed.
fn drive(design: &str, scenario: &str, more: &[&str]) -> (Nodes, Option<i32>, String) {
    let nodes = Nodes(tempfile::tempdir().expect("there is room for a folder"));
    for (name, text) in [("start", START), ("restart", RESTART), ("prepare", PREPARE)] {
        std::fs::write(nodes.0.path().join(name), text).expect("it can be written");
    }
    nodes.sh(design, scenario, "sh prepare");
    let mut command = Command::new(PROGRAM);
    command.current_dir(nodes.0.path()).env("PROGRAM", PROGRAM).env("DESIGN", design).env("SCENARIO", scenario);
    command.args(["drive", scenario, "--design", design, "--node", &nodes.url(1), "--node", &nodes.url(2)]);
    command.args(["--tokens", "tokens.toml", "--log", "log.jsonl"]).args(more);
    let output = command.output().expect("the command is built");
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (nodes, output.status.code(), said)
}

/// Whether a log promises that every accepted change adds one to the version.
fn promises(log: &str) -> bool {
    log.lines().next().is_some_and(|heading| heading.contains("\"versions-count\":true"))
}

/// The tools of our servers, as a mapping file has them.
const MAPPING: &str = r#"
[tools.append]
tool = "append"
arguments = { handle = "{handle}", change = { rows = "{fields.rows}" }, key = "{key}" }

[tools.read]
tool = "read"
arguments = { handle = "{handle}" }
fields = { rows = "/view/content/rows" }
version = "/view/version"
"#;

const WHOLE: &[&str] = &["--prepare", "sh prepare", "--restart", "sh restart"];

/// Real streams are cut and real processes killed; the naive design does a thing twice, and the log shows it.
#[test]
fn servers_at_urls_are_driven_and_their_logs_judged() {
    let (nodes, code, said) = drive("naive", "import-rows", &[WHOLE, &["--runs", "60"]].concat());
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("`audit` finds in its log: no-double-write"), "{said}");
    assert!(!said.contains("does not begin where the scenario begins"), "{said}");
    let log = nodes.read("log.jsonl");
    assert!(log.contains("\"end\""), "the log of that run is kept");
    assert!(promises(&log), "servers of ours run this design, in which every change counts");
}

#[test]
fn a_design_that_holds_is_not_blamed() {
    let (nodes, code, said) = drive("versioned", "import-rows", &[WHOLE, &["--runs", "12"]].concat());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("12 runs: nothing was found"), "{said}");
    assert!(nodes.read("restarted").lines().count() > 2, "nodes were restarted");
    // On what the last run left, nothing begins where the scenario begins; and somebody has to say how a node is restarted.
    let again = |more: &[&str]| {
        let mut command = Command::new(PROGRAM);
        command.current_dir(nodes.0.path()).args([
            "drive",
            "import-rows",
            "--design",
            "versioned",
            "--tokens",
            "tokens.toml",
        ]);
        command.args(["--node", &nodes.url(1), "--node", &nodes.url(2)]).args(more);
        command.env("PROGRAM", PROGRAM).env("DESIGN", "versioned").env("SCENARIO", "import-rows");
        let output = command.output().expect("the command is built");
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.code(), said)
    };
    // Of servers that are spoken to by a mapping it is what the mapping promises.
    for promised in ["", "versions-count = true"] {
        let mapping = format!("{promised}\n{MAPPING}");
        std::fs::write(nodes.0.path().join("mapping.toml"), mapping).expect("it can be written");
        let (code, said) = again(&[WHOLE, &["--mapping", "mapping.toml", "--log", "mapped.jsonl"]].concat());
        assert_eq!(code, Some(0), "{said}");
        assert_eq!(promises(&nodes.read("mapped.jsonl")), !promised.is_empty());
    }
    let (_, said) = again(&["--restart", "sh restart"]);
    assert!(said.contains("it does not begin where the scenario begins"), "{said}");
    let (code, said) = again(&["--prepare", "sh prepare", "--runs", "30"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("say with --restart how a node is restarted"), "{said}");
}

/// Clients that expect versions never come to their work where no answer shows one: that is no pass.
#[test]
fn a_run_in_which_nothing_was_done_is_no_pass() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let mapping = folder.path().join("mapping.toml");
    std::fs::write(&mapping, MAPPING.replace("version = \"/view/version\"\n", "")).expect("it can be written");
    let mapping = mapping.to_str().expect("it is UTF-8");
    let (_, code, said) = drive("versioned", "import-rows", &[WHOLE, &["--runs", "1", "--mapping", mapping]].concat());
    assert_eq!(code, Some(3), "{said}");
    for part in [
        "1 run: nothing was done: no server accepted a change",
        "done: 0 of ",
        "still at work when a run was ended: ",
        "nothing was about: ",
        "no-double-write, no-lost-update",
        "the clients of `versioned` expect the versions that they have seen, and the mapping has no `version` for `read`",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}
