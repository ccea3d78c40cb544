//! What `diff` compares: git revisions, designs, protocols.

use std::process::Command;

use serde_json::Value;

use super::{DESIGN, broken, locked, run, write};

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
    let line = "diff -q versioned naive --scenario two-agents --invariant no-double-write --invariant no-orphan";
    let said = run(folder.path(), line);
    let change =
        "two-agents x (versioned -> naive) x mcp-2026-07-28, no-double-write: holds -> violated (11 steps, 1 fault)";
    assert_eq!((said.code, said.out.matches(change).count()), (1, 1), "{}", said.out);
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
