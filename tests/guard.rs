//! `lock` and `diff`: the lock of the shipped models, and everything that a maintainer does with a lock.

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;

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
states = 951
transitions = 2174
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
    says(
        folder.path(),
        "diff -q",
        1,
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

Double write: Two agents, one note
Not shown, since it never changes: size 3.

        principal user-1         nodes                  store (* changed here)
        A                        node-1                 note_1
        client                                                 text
        │                        │                      ┃ v1   old
        │                        │                      ┃
1–4     ├╌ read, sees v1 ╌╌╌╌╌╌╌╌●╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌>┃
        │                        │                      ┃
        │ write text new, size 3, expects v1, key A/1   ┃
5–6     ├───────────────────────>│                      ┃
        │ wants text new         ┃                      ┃
        │     resolve, authorize, find-key,             ┃
        │     check-version      ┃                      ┃
7       │                        ╞══════════════════════╡
        │                        ┃                      ┃
8 !     │// fault: drop-stream ╌╌┤                      ┃
        │ call is orphaned: it may still run, and its   ┃
        │ answer reaches nobody  ┃                      ┃
        │                        ┃                      ┃
        │ write text new, size 3, expects v1, key A/1   ┃
9–10    ├───────────────────────>┃                      ┃
        │ wants text new         ┃                      ┃
        │ the same call as step 5, in a new request     ┃
        │     resolve, authorize, find-key,             ┃
        │     check-version      ┃                      ┃
11      │                        ╞══════════════════════╡
12      │                        ╞═ apply, record-key ══╡ v2  *new
        │                        ┃                      ┃
        │ ok, v2 (not yet received)                     ┃
        │ o╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌┤                      ┃
        │                        ┃                      ┃
        │            apply, record-key (orphaned call)  ┃
13 ✗    │                        ├╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌┤ v3   new
        ┊                        │                      ┃ second effect: text new on note
belief  ┊ A will hear v2 new; store is v3 new           ┃
        ┊                        │                      ┃
━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
✗ no-double-write violated at step 13
A wanted text new on note once, and it took effect twice.

scenario notes · design checked · protocol mcp-2026-07-28 · faults 1 drop-stream · steps 13
handlecheck replay traces/notes.checked.no-double-write.json

Lost update: Two agents, one note

        principal user-1                           nodes                  store (* changed here)
        A                 B                        node-1                 note_1
        client            client                                                 text  size
        │                 │                        │                      ┃ v1   old   3
        │                 │                        │                      ┃
1–4     ├╌ read, sees v1 ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌●╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌>┃
        │                 │                        │                      ┃
        │ write text new, size 3, expects v1, key A/1                     ┃
5–6     ├─────────────────────────────────────────>│                      ┃
        │ wants text new  │                        ┃                      ┃
        │                 │     resolve, authorize, find-key,             ┃
        │                 │     check-version      ┃                      ┃
7       │                 │                        ╞══════════════════════╡
        │                 │                        ┃                      ┃
8–11    │                 ├╌ read, sees v1 ╌╌╌╌╌╌╌╌●╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌>┃
        │                 │                        ┃                      ┃
        │                 │ write text old, size 4, expects v1, key B/1   ┃
12–13   │                 ├───────────────────────>┃                      ┃
        │                 │ wants size 4           ┃                      ┃
        │                 │     resolve, authorize, find-key,             ┃
        │                 │     check-version      ┃                      ┃
14      │                 │                        ╞══════════════════════╡
15      │                 │                        ╞═ apply, record-key ══╡ v2  *new   3
belief  │                 ┊ B believes v1 old / 3; store is v2 new / 3    ┃
        │                 ┊                        ┃                      ┃
        │ o╌ ok, v2 (not yet received) ╌╌╌╌╌╌╌╌╌╌╌╌┤                      ┃
        │                 ┊                        ┃                      ┃
16 ✗    │                 ┊                        ╞═ apply, record-key ══╡ v3  *old  *4
        ┊                 ┊                        │                      ┃ erased: A's text new
belief  ┊ A will hear v2 new / 3; store is v3 old / 4                     ┃
        ┊                 ┊                        │                      ┃
━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
✗ no-lost-update violated at step 16
B wrote back text old and erased A's change to new, which B had not seen.

scenario notes · design checked · protocol mcp-2026-07-28 · faults none · steps 16
handlecheck replay traces/notes.checked.no-lost-update.json

`handlecheck lock models` accepts this.

"#]],
    );
}

#[test]
fn a_pull_request_is_told_in_markdown() {
    let folder = locked();
    write(folder.path(), "models/designs/checked.toml", &broken());
    says(
        folder.path(),
        "diff -q --format markdown --traces found",
        1,
        str![[r#"
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
sequenceDiagram
  accTitle: Double write: Two agents, one note
  accDescr: A wanted text new on note once, and it took effect twice.
  title Double write: Two agents, one note
  box principal user-1
    participant a0 as A<br/>client
  end
  box nodes
    participant n0 as node-1
  end
  box store
    participant s0 as note_1
  end
  Note over s0: v1: text old
  a0->>n0: 1–4 read
  n0-->>a0: sees v1
  a0->>n0: 5–6 write text new, size 3, expects<br/>v1, key A/1<br/>wants text new
  n0->>s0: 7 resolve, authorize, find-key,<br/>check-version
  n0--xa0: 8 fault: drop-stream<br/>call is orphaned: it may still run,<br/>and its answer reaches nobody
  a0->>n0: 9–10 write text new, size 3, expects<br/>v1, key A/1<br/>wants text new<br/>the same call as step 5, in a new<br/>request
  n0->>s0: 11 resolve, authorize, find-key,<br/>check-version
  n0->>s0: 12 apply, record-key
  Note over s0: v2: text new (was old)
  n0--)a0: ok, v2 (not yet received)
  rect rgba(214, 69, 61, 0.18)
  n0->>s0: 13 apply, record-key (orphaned call)
  Note over s0: v3: text new<br/>second effect: text new on note
  Note over a0: A will hear v2 new<br/>store is v3 new
  Note over a0,s0: no-double-write violated at step 13<br/>A wanted text new on note once, and it took effect twice.
  end
  Note over a0,s0: scenario notes, design checked, protocol mcp-2026-07-28, faults 1 drop-stream<br/>steps 13<br/>Not shown, since it never changes: size 3.
  %% handlecheck replay traces/notes.checked.no-double-write.json
```

</details>

```sh
handlecheck explain found/notes.checked.no-double-write.json
```

**notes x checked x mcp-2026-07-28, `no-lost-update`**: B wrote back text old and erased A's change to new, which B had not seen.

<details><summary>16 steps, no faults</summary>

```mermaid
sequenceDiagram
  accTitle: Lost update: Two agents, one note
  accDescr: B wrote back text old and erased A's change to new, which B had not seen.
  title Lost update: Two agents, one note
  box principal user-1
    participant a0 as A<br/>client
    participant a1 as B<br/>client
  end
  box nodes
    participant n0 as node-1
  end
  box store
    participant s0 as note_1
  end
  Note over s0: v1: text old, size 3
  a0->>n0: 1–4 read
  n0-->>a0: sees v1
  a0->>n0: 5–6 write text new, size 3, expects<br/>v1, key A/1<br/>wants text new
  n0->>s0: 7 resolve, authorize, find-key,<br/>check-version
  a1->>n0: 8–11 read
  n0-->>a1: sees v1
  a1->>n0: 12–13 write text old, size 4,<br/>expects v1, key B/1<br/>wants size 4
  n0->>s0: 14 resolve, authorize, find-key,<br/>check-version
  n0->>s0: 15 apply, record-key
  Note over s0: v2: text new (was old)<br/>size 3
  Note over a1: B believes v1 old / 3<br/>store is v2 new / 3
  n0--)a0: ok, v2 (not yet received)
  rect rgba(214, 69, 61, 0.18)
  n0->>s0: 16 apply, record-key
  Note over s0: v3: text old (was new)<br/>size 4 (was 3)<br/>erased: A's text new
  Note over a0: A will hear v2 new / 3<br/>store is v3 old / 4
  Note over a0,s0: no-lost-update violated at step 16<br/>B wrote back text old and erased A's change to new, which B had not seen.
  end
  Note over a0,s0: scenario notes, design checked, protocol mcp-2026-07-28, faults none, steps 16
  %% handlecheck replay traces/notes.checked.no-lost-update.json
```

</details>

```sh
handlecheck explain found/notes.checked.no-lost-update.json
```

Other texts: design checked.

`handlecheck lock models` accepts this.

"#]],
    );
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

/// Of revisions only what differs is explored.
#[test]
fn git_revisions_of_a_folder_are_compared() {
    let folder = locked();
    let git = |line: &str| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]);
        let output = command.args(line.split_whitespace()).current_dir(folder.path()).output().expect("git runs");
        assert!(output.status.success(), "git {line}: {}", String::from_utf8_lossy(&output.stderr));
    };
    git("init -q -b main");
    git("add models");
    git("commit -q -m one");
    write(folder.path(), "models/designs/second.toml", DESIGN);
    write(folder.path(), "models/designs/checked.toml", &broken());
    git("add models");
    git("commit -q -m two");
    write(folder.path(), "models/designs/checked.toml", DESIGN);

    let said = run(folder.path(), "diff HEAD^..HEAD --format json");
    assert_eq!(said.code, 1, "{}", said.err);
    let json: Value = serde_json::from_str(&said.out).expect("it is JSON");
    assert_eq!((&json["old"], &json["new"]), (&"HEAD^:models".into(), &"HEAD:models".into()));
    assert_eq!(json["inputs"], Value::from(vec!["design checked"]));
    let kinds: Vec<&str> =
        json["changes"].as_array().expect("a list").iter().map(|one| one["kind"].as_str().expect("a word")).collect();
    assert!(kinds.contains(&"newly-broken") && kinds.contains(&"newly-covered"), "{kinds:?}");

    // The folder as it is now is what it was first, but for the new design: nothing but that is explored.
    let said = run(folder.path(), "diff HEAD^");
    assert_eq!(said.code, 0, "{}", said.out);
    assert!(said.out.starts_with("HEAD^:models -> models: 1 run compared, 1 the same\n"), "{}", said.out);
    assert!(said.err.starts_with("1 run, "), "{}", said.err);

    let said = run(folder.path(), "diff HEAD^:models HEAD:models");
    assert_eq!(said.code, 1);
    // A mistake in an old file is shown where it was.
    write(folder.path(), "models/designs/checked.toml", "[server]\nstate = \"stroe\"\n");
    git("commit -q -a -m three");
    write(folder.path(), "models/designs/checked.toml", DESIGN);
    let said = run(folder.path(), "diff HEAD");
    assert_eq!(said.code, 2);
    assert!(said.err.contains("HEAD:models/designs/checked.toml:2"), "{}", said.err);
    // Before there were models there were none.
    let said = run(folder.path(), "diff HEAD^:nowhere models");
    assert_eq!(said.code, 0, "{}{}", said.err, said.out);
    assert!(said.out.contains("0 runs compared") && said.out.contains("newly covered"), "{}", said.out);
}

#[test]
fn designs_and_protocols_are_compared() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    says(
        folder.path(),
        "diff -q versioned naive --scenario two-agents --invariant no-double-write --invariant no-orphan",
        1,
        str![[r#"
versioned -> naive: 1 run compared, 0 the same

newly broken
  two-agents x (versioned -> naive) x mcp-2026-07-28, no-double-write: holds -> violated (11 steps, 1 fault)
    A wanted memory 32 on basket once, and it took effect twice.
    handlecheck check two-agents --design naive --invariant no-double-write

Double write: Two agents configure one laptop
Not shown, since it never changes: storage 512.

        principal user-42        nodes                  store (* changed here)
        A                        node-1                 bsk_42
        client                                                 memory
        │                        │                      ┃ v7   16
        │                        │                      ┃
1–4     ├╌ read, sees v7 ╌╌╌╌╌╌╌╌●╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌>┃
        │                        │                      ┃
        │ write memory 32, storage 512                  ┃
5–6     ├───────────────────────>│                      ┃
        │ wants memory 32        ┃                      ┃
7       │                        ╞═ resolve, apply ═════╡ v8  *32
        │                        │                      ┃
8 !     │// fault: drop-stream ╌╌┤                      ┃
        ┊ call is orphaned: its answer (ok, v8) reaches ┃
        ┊ nobody                 │                      ┃
belief  ┊ A believes v7 16; store is v8 32              ┃
        ┊                        │                      ┃
        ┊ write memory 32, storage 512                  ┃
9–10    ├───────────────────────>│                      ┃
        ┊ wants memory 32        ┃                      ┃
        ┊ the same call as step 5, in a new request,    ┃
        ┊ without a key          ┃                      ┃
11 ✗    ┊                        ╞═ resolve, apply ═════╡ v9   32
        ┊                        │                      ┃ second effect: memory 32 on basket
        ┊                        │                      ┃
━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
✗ no-double-write violated at step 11
A wanted memory 32 on basket once, and it took effect twice.

scenario two-agents · design naive · protocol mcp-2026-07-28 · faults 1 drop-stream · steps 11
handlecheck replay traces/two-agents.naive.no-double-write.json

"#]],
    );
    let said = run(folder.path(), "diff -q --design naive..versioned --scenario two-agents");
    assert_eq!((said.code, said.out.contains("\nfixed\n")), (0, true), "{}", said.out);
    let flag =
        run(folder.path(), "diff -q --protocol mcp-2025-11-25..mcp-2026-07-28 --scenario one-importer-2026 --expected");
    assert_eq!((flag.code, flag.out.contains("\nnewly broken\n")), (1, true), "{}", flag.out);
    let words = run(folder.path(), "diff -q mcp-2025-11-25 mcp-2026-07-28 --scenario one-importer-2026 --expected");
    assert_eq!(flag, words);
    for (line, told) in [
        ("diff naive", "compare naive with what?"),
        ("diff naive mcp-2026-07-28", "a design is compared with a design"),
        ("diff --design naive", "expected OLD..NEW"),
        ("diff x naive --design naive..versioned", "there is nothing else to compare"),
        ("diff no-such-thing", "no git revision that is here"),
        ("diff", "`handlecheck lock` writes one"),
        ("lock", "there is nothing to run in ."),
        ("lock nowhere", "nowhere is no folder"),
    ] {
        let said = run(folder.path(), line);
        assert_eq!(said.code, 2, "{line}: {}", said.out);
        assert!(said.err.contains(told), "{line}: {}", said.err);
    }
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
    assert_eq!(run(folder.path(), line).code, 0);
    let text = lock(folder.path());
    for part in [
        "[asked]\nfaults = { drop-stream = 0, restart-node = 1 }\ninvariants = [\"no-lost-update\"]\nmax-states = 50\n",
        "bounds = { restart-node = 1 }\n",
        "stopped = \"the limit of 50 states was reached\"\n",
        "no-lost-update = \"inconclusive\"\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    for line in ["diff -q", "lock -q --check"] {
        let said = run(folder.path(), line);
        assert_eq!(said.code, 0, "{line}: {}", said.out);
    }
    let said = run(folder.path(), "diff -q --max-states 1000000");
    assert!(said.code == 0 && said.out.contains("newly covered"), "{}", said.out);
}

/// Whoever is stopped writes nothing: a lock holds what every machine finds.
#[test]
fn a_lock_is_not_written_by_halves() {
    let folder = locked();
    let before = lock(folder.path());
    write(folder.path(), "models/designs/checked.toml", &broken());
    let said = run(folder.path(), "lock -q --timeout 0s");
    assert_eq!((said.code, &*said.out), (3, "stopped after 0 of 1 runs: models/handlecheck.lock is as it was\n"));
    assert_eq!(lock(folder.path()), before);
    let said = run(folder.path(), "diff -q --timeout 0s");
    assert_eq!(
        (said.code, said.out.contains("0 runs compared, 0 the same; stopped before 1 other")),
        (3, true),
        "{}",
        said.out
    );
}

/// Many writers at once: at any time there is a whole lock, and no rest of one is left behind.
#[test]
fn a_lock_is_whole_at_any_time() {
    let folder = locked();
    let path = folder.path();
    let good = lock(path);
    thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    for budget in [0, 1, 0, 1] {
                        let line = format!("lock -q --faults drop-stream={budget}");
                        assert_eq!(run(path, &line).code, 0);
                    }
                })
            })
            .collect();
        while writers.iter().any(|writer| !writer.is_finished()) {
            let now = lock(path);
            assert!(now.ends_with(&good[good.len() - 20..]), "half a lock: {now}");
        }
    });
    let left: Vec<_> = fs::read_dir(path.join("models")).expect("it is there").collect();
    assert_eq!(left.len(), 3, "scenarios, designs and the lock: {left:?}");
}

#[test]
fn a_lock_that_is_broken_is_shown_with_its_place() {
    let folder = locked();
    let merged = lock(folder.path()).replace("[designs]", "<<<<<<< HEAD\n[designs]");
    write(folder.path(), "models/handlecheck.lock", &merged);
    says(
        folder.path(),
        "diff -q",
        2,
        str![[r#"
  error: `models/handlecheck.lock` is no lock that can be read
    ,-[models/handlecheck.lock:10:9]
 10 | <<<<<<< HEAD
    :         |
    :         `-- key with no value, expected `=`
    `----
  help: `handlecheck lock` writes it anew

"#]],
    );
    // Line ends of another system are no difference.
    assert_eq!(run(folder.path(), "lock -q").code, 0);
    let crlf = lock(folder.path()).replace('\n', "\r\n");
    write(folder.path(), "models/handlecheck.lock", &crlf);
    write(folder.path(), "models/scenarios/notes.toml", &SCENARIO.replace('\n', "\r\n"));
    assert_eq!(run(folder.path(), "lock -q --check").code, 0);
}
