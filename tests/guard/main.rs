//! `lock` and `diff`: the lock of the shipped models, and everything that a maintainer does with a lock.

#[path = "../common/mod.rs"]
mod common;
#[path = "../models/mod.rs"]
mod models;
mod protocol_change;
mod sides;
mod whole;

use std::fs;
use std::path::Path;

use common::{Said, handlecheck, root, same};
use serde_json::Value;
use snapbox::data::Inline;
use snapbox::{IntoData as _, assert_data_eq, str};

/// Runs a command line; no argument of ours holds a space.
fn run(folder: &Path, line: &str) -> Said {
    handlecheck(folder, &line.split_whitespace().collect::<Vec<_>>())
}

#[track_caller]
fn says(folder: &Path, line: &str, code: i32, expected: Inline) {
    let Said { out, err, code: found } = run(folder, line);
    let said = if err.is_empty() { out } else { format!("{err}{out}") };
    assert_data_eq!(said, expected.raw());
    assert_eq!(found, code, "the exit code of `handlecheck {line}`");
}

/// The lock of the shipped models holds: nothing in the product changes a verdict unnoticed.
#[test]
fn the_lock_of_the_shipped_models_is_what_would_be_written() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("handlecheck.lock");
    let file = file.to_str().expect("it is UTF-8");
    let said = handlecheck(&root(), &["lock", "-q", "models", "--expected", "--output", file]);
    assert_eq!(said.code, 0, "{}", said.err);
    same("models/handlecheck.lock", &fs::read_to_string(file).expect("it was written"));
}

const SCENARIO: &str = r#"title = "Two agents, one note"
nodes = 1

[resources.note]
handle = "note_1"
owner = "user-1"
fields = { text = "old", size = 3 }

[agents.A]
principal = "user-1"
work = [{ set = "note", text = "new" }]

[agents.B]
principal = "user-1"
work = [{ set = "note", size = 4 }]

[faults]
drop-stream = 1
"#;

const CLOSING: &str = r#"title = "One agent ends a note"
nodes = 1

[resources.note]
handle = "note_1"
owner = "user-1"
fields = { text = "old" }

[agents.A]
principal = "user-1"
work = [{ mint = "copy", text = "old" }]
"#;

const DESIGN: &str = r#"title = "Checked"

[server.read]
transactions = [["resolve", "authorize", "read"]]

[server.write]
transactions = [
    ["resolve", "authorize", "find-key", "check-version", "apply", "record-key"],
]

[client]
precondition = "viewed-version"
key = "per-intent"

[client.on]
stale-view = { send = "replan" }
"#;

/// The check and the write, torn apart.
fn broken() -> String {
    DESIGN.replace("\"check-version\", \"apply\"", "\"check-version\"], [\"apply\"")
}

/// A folder of models with its lock: one scenario, one design.
fn locked() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder can be made");
    for kind in ["scenarios", "designs"] {
        fs::create_dir_all(folder.path().join("models").join(kind)).expect("a folder can be made");
    }
    write(folder.path(), "models/scenarios/notes.toml", SCENARIO);
    write(folder.path(), "models/designs/checked.toml", DESIGN);
    let said = run(folder.path(), "lock -q");
    assert_eq!((said.code, &*said.out), (0, "models/handlecheck.lock: 1 run\n"), "{}", said.err);
    folder
}

fn write(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join(name), text).expect("a file can be written");
}

fn lock(folder: &Path) -> String {
    fs::read_to_string(folder.join("models/handlecheck.lock")).expect("there is a lock")
}

#[test]
fn a_lock_says_what_every_run_comes_to() {
    assert_data_eq!(lock(locked().path()), str![[r##"
# What every run of this folder comes to: written by `handlecheck lock`, and never by hand.
# `handlecheck diff` says what has changed since.

schema = 1
handlecheck = "0.1.0"

[scenarios]
notes = "rapidhash-v3:974d026797382607"

[designs]
checked = "rapidhash-v3:d3ac7291a2f8f067"

[protocols]
mcp-2026-07-28 = "rapidhash-v3:294b21c1050d1d5e"

[[runs]]
scenario = "notes"
design = "checked"
protocol = "mcp-2026-07-28"
bounds = { drop-stream = 1 }
states = 934
transitions = 2142
depth = 27
vacuous = ["approval-covers-execution", "basis-holds", "handle-resolvable", "no-cross-principal", "no-effect-after-revocation", "no-orphan", "respects-terminal-state", "single-lease-holder"]
[runs.verdicts]
fresh-read = "holds"
no-double-write = "holds"
no-lost-update = "holds"
resolves = "holds"
truthful-outcome = "holds"
version-names-one-content = "holds"

"##]].raw());
}

#[test]
fn what_is_as_it_was_needs_one_line() {
    let folder = locked();
    says(
        folder.path(),
        "diff -q",
        0,
        str![[r#"
models/handlecheck.lock -> models: 1 run compared, 1 the same

"#]],
    );
    says(
        folder.path(),
        "lock -q --check",
        0,
        str![[r#"
models/handlecheck.lock is as it would be written: 1 run

"#]],
    );
    says(
        folder.path(),
        "lock -q",
        0,
        str![[r#"
models/handlecheck.lock: 1 run, as it was

"#]],
    );
}

#[test]
fn what_is_newly_broken_is_said_and_drawn() {
    let folder = locked();
    write(folder.path(), "models/designs/checked.toml", &broken());
    let said = run(folder.path(), "diff -q");
    assert_eq!(said.code, 1);
    let (told, drawn) = said.out.split_once("\n\nDouble write: ").expect("it is drawn");
    assert_data_eq!(
        told,
        str![[r#"
models/handlecheck.lock -> models: 1 run compared, 0 the same

newly broken
  notes x checked x mcp-2026-07-28, no-double-write: holds -> violated (13 steps, 1 fault)
    A wanted text new on note once, and it took effect twice.
    handlecheck check models/scenarios/notes.toml --design models/designs/checked.toml --invariant no-double-write
  notes x checked x mcp-2026-07-28, no-lost-update: holds -> violated (16 steps, no faults)
    B wrote back text old and erased A's change to new, which B had not seen.
    handlecheck check models/scenarios/notes.toml --design models/designs/checked.toml --invariant no-lost-update

other texts: design checked
"#]]
        .raw()
    );
    // Each property is drawn once.
    for end in ["✗ no-double-write violated at step 13\n", "✗ no-lost-update violated at step 16\n"] {
        assert_eq!(drawn.matches(end).count(), 1, "{end}{drawn}");
    }
    assert!(drawn.ends_with("\n\n`handlecheck lock models` accepts this.\n"), "{drawn}");
}

#[test]
fn a_pull_request_is_told_in_markdown() {
    let folder = locked();
    write(folder.path(), "models/designs/checked.toml", &broken());
    let said = run(folder.path(), "diff -q --format markdown --traces found");
    assert_eq!(said.code, 1);
    let mut drawn = false;
    let mut told = String::new();
    for line in said.out.lines() {
        drawn &= line != "```";
        if !drawn {
            told.push_str(&format!("{line}\n"));
        }
        drawn |= line == "```mermaid";
    }
    assert_data_eq!(told, str![[r#"
# handlecheck: 2 changes for the worse

`models/handlecheck.lock` → `models`: 1 run compared, 0 the same.

## Newly broken

| run | invariant | before | after |
| --- | --- | --- | --- |
| notes x checked x mcp-2026-07-28 | `no-double-write` | holds | violated (13 steps, 1 fault) |
| notes x checked x mcp-2026-07-28 | `no-lost-update` | holds | violated (16 steps, no faults) |

**notes x checked x mcp-2026-07-28, `no-double-write`**: A wanted text new on note once, and it took effect twice.

<details><summary>13 steps, 1 fault</summary>

```mermaid
```

</details>

```sh
handlecheck explain found/notes.checked.no-double-write.json
```

**notes x checked x mcp-2026-07-28, `no-lost-update`**: B wrote back text old and erased A's change to new, which B had not seen.

<details><summary>16 steps, no faults</summary>

```mermaid
```

</details>

```sh
handlecheck explain found/notes.checked.no-lost-update.json
```

Other texts: design checked.

`handlecheck lock models` accepts this.

"#]].raw());
    let found: Vec<String> = fs::read_dir(folder.path().join("found"))
        .expect("traces were written")
        .map(|entry| entry.expect("a file").file_name().into_string().expect("names are UTF-8"))
        .collect();
    assert!(found.contains(&"notes.checked.no-lost-update.json".to_owned()), "{found:?}");
    for file in found {
        assert_eq!(run(folder.path(), &format!("replay found/{file}")).code, 0, "{file}");
    }
}

#[test]
fn code_scanning_is_shown_the_line() {
    let folder = locked();
    write(folder.path(), "models/designs/checked.toml", &broken());
    let said = run(folder.path(), "diff -q --format sarif");
    let sarif: Value = serde_json::from_str(&said.out).expect("SARIF is JSON");
    let results = sarif["runs"][0]["results"].as_array().expect("a list");
    let lost = results.iter().find(|result| result["ruleId"] == "no-lost-update").expect("it is lost");
    let place = &lost["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "models/designs/checked.toml");
    let line = place["region"]["startLine"].as_u64().expect("a number");
    let text = broken();
    let line = text.lines().nth(usize::try_from(line).expect("a small number") - 1).expect("it is there");
    assert!(line.contains("\"apply\""), "{line}");
}

#[test]
fn junit_has_a_case_for_each_change() {
    let folder = locked();
    write(folder.path(), "models/designs/checked.toml", &broken());
    let said = run(folder.path(), "diff -q --format junit");
    let json: Value = serde_json::from_str(&run(folder.path(), "diff -q --format json").out).expect("it is JSON");
    let changes = json["changes"].as_array().expect("a list");
    let worse = changes.iter().filter(|change| change["worse"] == true).count();
    let heading = format!("tests=\"{}\" skipped=\"0\" failures=\"{worse}\" errors=\"0\"", changes.len() + 1);
    assert!(worse > 0 && said.out.contains(&heading), "{heading}\n{}", said.out);
}

#[test]
fn what_is_fixed_is_no_failure_but_the_lock_is_stale() {
    let folder = locked();
    write(folder.path(), "models/designs/checked.toml", &broken());
    assert_eq!(run(folder.path(), "lock -q").code, 0);
    write(folder.path(), "models/designs/checked.toml", DESIGN);
    let said = run(folder.path(), "diff -q");
    assert_eq!(said.code, 0, "{}", said.out);
    assert!(
        said.out.contains("\nfixed\n") && said.out.contains("`handlecheck lock models` accepts this"),
        "{}",
        said.out
    );
    assert_eq!(run(folder.path(), "lock -q --check").code, 1);
}

#[test]
fn bounds_and_covers_that_shrink_are_said() {
    let folder = locked();
    write(folder.path(), "models/scenarios/notes.toml", &SCENARIO.replace("drop-stream = 1", "drop-stream = 0"));
    says(
        folder.path(),
        "diff -q",
        1,
        str![[r#"
models/handlecheck.lock -> models: 1 run compared, 0 the same

no longer covered
  notes x checked x mcp-2026-07-28, no-double-write: holds -> vacuous

narrower bounds
  notes x checked x mcp-2026-07-28: at most drop-stream 1 -> no faults

other texts: scenario notes

`handlecheck lock models` accepts this.

"#]],
    );
    fs::rename(folder.path().join("models/designs/checked.toml"), folder.path().join("models/designs/other.toml"))
        .expect("a file can be renamed");
    says(
        folder.path(),
        "diff -q",
        1,
        str![[r#"
models/handlecheck.lock -> models: 0 runs compared, 0 the same

no longer covered
  notes x checked x mcp-2026-07-28: nothing violated -> not there

newly covered
  notes x other x mcp-2026-07-28: not there -> nothing violated

other texts: scenario notes

`handlecheck lock models` accepts this.

"#]],
    );
}

#[test]
fn a_break_that_gets_cheaper_is_said() {
    let folder = locked();
    let two =
        DESIGN.replace("[\"resolve\", \"authorize\", \"find-key\",", "[\"resolve\"], [\"authorize\"], [\"find-key\",");
    let torn = |text: &str| text.replace("\"check-version\", \"apply\"", "\"check-version\"], [\"apply\"");
    write(folder.path(), "models/designs/checked.toml", &torn(&two));
    assert_eq!(run(folder.path(), "lock -q").code, 0);
    write(folder.path(), "models/designs/checked.toml", &torn(DESIGN));
    let said = run(folder.path(), "diff -q --invariant no-lost-update");
    assert_eq!(said.code, 1);
    let cheaper = "no-lost-update: violated (20 steps, no faults) -> violated (16 steps, no faults)";
    assert!(said.out.contains("\ncheaper to break\n") && said.out.contains(cheaper), "{}", said.out);
}

#[test]
fn pairs_that_do_not_fit_are_in_the_lock() {
    let folder = locked();
    write(folder.path(), "models/scenarios/mints.toml", CLOSING);
    let design = format!("{DESIGN}\n[server.mint]\ntransactions = [[\"mint\"]]\n");
    write(folder.path(), "models/designs/mints.toml", &design);
    let said = run(folder.path(), "lock -q");
    assert_eq!(said.out, "models/handlecheck.lock: 3 runs; 1 pair does not fit together\n", "{}", said.err);
    assert!(lock(folder.path()).contains("[[misfits]]\nscenario = \"mints\"\ndesign = \"checked\"\n"));
    // A design that fits with nothing is a mistake.
    fs::remove_file(folder.path().join("models/designs/mints.toml")).expect("a file can be removed");
    assert_eq!(run(folder.path(), "lock -q").code, 2);
}

#[test]
fn two_files_of_one_name_are_refused() {
    let folder = locked();
    fs::create_dir(folder.path().join("models/more")).expect("a folder can be made");
    write(folder.path(), "models/more/checked.design.toml", &broken());
    let said = run(folder.path(), "lock -q");
    assert_eq!(said.code, 2);
    assert!(said.err.contains("two designs are called `checked`"), "{}", said.err);
}

/// What lies around in a folder is left out, and that is said.
#[test]
fn files_that_are_no_models_are_left_out() {
    let folder = locked();
    write(folder.path(), "models/Cargo.toml", "[package]\nname = \"x\"\n");
    let said = run(folder.path(), "diff");
    assert_eq!(said.code, 0);
    assert!(said.err.contains("models/Cargo.toml is no scenario, design or protocol"), "{}", said.err);
}

/// What was asked when the lock was made is asked again.
#[test]
fn a_lock_knows_what_was_asked() {
    let folder = locked();
    let line = "lock -q --faults drop-stream=0,restart-node=1 --invariant no-lost-update --max-states 50";
    let said = run(folder.path(), line);
    assert!(said.code == 3 && said.out.contains(" left something open"), "{}", said.out);
    let text = lock(folder.path());
    for part in [
        "[asked]\nfaults = { drop-stream = 0, restart-node = 1 }\ninvariants = [\"no-lost-update\"]\nmax-states = 50\n",
        "bounds = { restart-node = 1 }\n",
        "stopped = \"the limit of 50 states was reached\"\n",
        "no-lost-update = \"inconclusive\"\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let said = run(folder.path(), "lock -q --check");
    assert!(said.code == 0 && said.out.contains(" left something open"), "{}", said.out);
    // What was left open on both sides may differ.
    let said = run(folder.path(), "diff -q");
    assert!(said.code == 3 && said.out.contains("0 the same; "), "{}", said.out);
    let said = run(folder.path(), "diff -q naive..versioned --scenario laptop-basket --max-states 50");
    assert!(said.code == 3 && said.out.contains("left something open on both sides"), "{}", said.out);
    let said = run(folder.path(), "diff -q --max-states 1000000");
    assert!(said.code == 0 && said.out.contains("newly covered"), "{}", said.out);
}
