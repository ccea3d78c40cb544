//! What was meant: a file or a name of another kind, or a name that is nearly right, is answered with where it belongs.

use snapbox::str;

use crate::common::{self, handlecheck};
use crate::{folder, says, says_in, words, write};

#[test]
fn a_design_or_a_scenario_in_the_wrong_place() {
    says(
        "check laptop-basket naive",
        2,
        str![[r#"
  error: there is no scenario `naive`
  help: `naive` is a design: `--design naive`

"#]],
    );
    says(
        "check laptop-basket --design import-rows",
        2,
        str![[r#"
  error: there is no design `import-rows`
  help: `import-rows` is a scenario

"#]],
    );
    let folder = folder();
    write(folder.path(), "mine.toml", common::read("models/designs/naive.toml"));
    write(folder.path(), "laptop.toml", common::read("models/scenarios/laptop-basket.toml"));
    says_in(
        folder.path(),
        "compare laptop.toml mine.toml",
        2,
        str![[r#"
error: mine.toml is a design, and a scenario goes here: a design goes behind `--design`

"#]],
    );
    says_in(
        folder.path(),
        "check laptop.toml --design laptop.toml",
        2,
        str![[r#"
error: laptop.toml is a scenario, and a design goes here: a scenario stands alone, without an option before it

"#]],
    );
    says_in(
        folder.path(),
        "check laptop.toml --design mne.toml",
        2,
        str![[r#"
  error: `mne.toml` is not there
  help: did you mean `mine.toml`?

"#]],
    );
    says_in(
        folder.path(),
        "explain laptop.toml",
        2,
        str![[r#"
error: laptop.toml is a scenario: a trace goes here, a file that `handlecheck check` writes into the folder `traces`

"#]],
    );
}

#[test]
fn an_expectation_of_a_design_that_is_not_there() {
    let folder = folder();
    write(folder.path(), "mine.design.toml", common::read("models/designs/naive.toml"));
    let scenario = common::read("models/scenarios/import-rows.toml");
    let (head, _) = scenario.split_once("[expect.naive]").expect("it expects something");
    write(folder.path(), "rows.scenario.toml", format!("{head}[expect.mime]\nno-orphan = \"holds\"\n"));
    says_in(
        folder.path(),
        "test -q .",
        2,
        str![[r#"
  error: there is no design `mime`
    ,-[./rows.scenario.toml:27:1]
 27 | [expect.mime]
    : ^^^^^^^^^^^^^
    `----
  help: did you mean `mine`?

"#]],
    );
    let said = common::handlecheck(
        folder.path(),
        &crate::words("check rows.scenario.toml --design mine.design.toml --invariant no-orphan"),
    );
    assert!(said.err.contains("there is no design `mime`, so this expects nothing"), "{}", said.err);
    assert!(said.err.contains("did you mean `mine`?"), "{}", said.err);
}

#[test]
fn a_trace_with_a_name_that_is_nearly_right() {
    let folder = folder();
    let golden = common::read("traces/import-rows.naive.no-double-write.json");
    let misspelt = |name: &str, from: &str, to: &str| {
        assert!(golden.contains(from), "{from}");
        write(folder.path(), name, golden.replacen(from, to, 1));
    };
    misspelt("key.json", "\"steps\": [\n    {\n      \"does\"", "\"stepz\": [\n    {\n      \"does\"");
    misspelt("action.json", "\"action\": \"drop-stream\"", "\"action\": \"drop-steam\"");
    misspelt("invariant.json", "\"invariant\": \"no-double-write\"", "\"invariant\": \"no-double-wriet\"");
    misspelt("step.json", "\\\"apply\\\"", "\\\"aply\\\"");
    says_in(
        folder.path(),
        "replay key.json",
        2,
        str![[r#"
  error: at stepz: unknown key `stepz`
    ,-[key.json:52:3]
 52 |   "stepz": [
    :   ^^^^^^^
    `----
  help: did you mean `steps`?

"#]],
    );
    says_in(
        folder.path(),
        "replay action.json",
        2,
        str![[r#"
  error: step 8: there is no action and no fault `drop-steam`
     ,-[action.json:320:19]
 320 |         "action": "drop-steam",
     :                   ^^^^^^^^^^^^
     `----
  help: did you mean `drop-stream`?

"#]],
    );
    says_in(
        folder.path(),
        "diagram invariant.json",
        2,
        str![[r#"
  error: there is no invariant or assertion `no-double-wriet`
    ,-[invariant.json:23:16]
 23 |   "invariant": "no-double-wriet",
    :                ^^^^^^^^^^^^^^^^^
    `----
  help: did you mean `no-double-write`?

"#]],
    );
    says_in(
        folder.path(),
        "diagram step.json",
        2,
        str![[r#"
  error: unknown step `aply`
    ,-[design of the trace:14:29]
 14 | transactions = [["resolve", "aply"]]
    :                             ^^^^^^
    `----
  help: did you mean `apply`? expected one of resolve, authorize, check-permission, check-live, check-open,
        find-key, claim-key, record-key, release-key, check-version, check-unchanged, check-condition,
        check-approval, acquire-lease, release-lease, check-lease, check-fence, find-cached, read,
        fill-cache, fill-cache-if-newer, drop-cached, load, write-content, advance-version, save, apply,
        apply-next, call-upstream, call-upstream-with-key, mint, other, undo, answer

"#]],
    );
}

#[test]
fn a_situation_with_its_kind_before_it() {
    says(
        "check laptop-basket --design naive --show action:cancel",
        2,
        str![[r#"
  error: there is no situation `action:cancel`
   ,-[--show:1:1]
 1 | action:cancel
   : ^^^^^^^^^^^^^
   `----
  help: did you mean `cancel`?

"#]],
    );
}

#[cfg(not(feature = "live"))]
#[test]
fn a_command_of_another_build() {
    says(
        "drive laptop-basket",
        2,
        str![[r#"
error: `drive` talks to real servers, and this build can't: `cargo install --path . --features live` installs one that can

"#]],
    );
}

#[test]
fn a_word_of_several_kinds_has_several_pages() {
    let said = common::handlecheck(folder().path(), &["list", "no-double-write"]);
    assert_eq!(said.code, 0, "{}", said.err);
    for kind in ["invariants", "checks"] {
        assert!(said.out.contains(&format!("no-double-write (one of the {kind})")), "{}", said.out);
    }
}

#[test]
fn what_would_have_stopped_a_run_is_looked_for_in_the_files_that_were_named() {
    let folder = folder();
    write(folder.path(), "mine.toml", common::read("models/designs/naive.toml"));
    let check = "check -q import-rows --design mine.toml --invariant no-double-write";
    assert_eq!(common::handlecheck(folder.path(), &crate::words(check)).code, 1);
    let trace = "traces/import-rows.mine.no-double-write.json";
    let told = common::handlecheck(folder.path(), &["explain", "--no-search", trace]);
    assert!(told.out.contains("handlecheck repair import-rows --design mine.toml looks"), "{}", told.out);
    write(folder.path(), "mine.toml", common::read("models/designs/versioned.toml"));
    let told = common::handlecheck(folder.path(), &["explain", "--no-search", trace]);
    assert!(told.err.contains("the design mine.toml has changed since this trace was written"), "{}", told.err);
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let said = common::handlecheck(folder().path(), &["completions", shell]);
        assert_eq!((said.code, &*said.err), (0, ""));
        assert!(said.out.contains("compare") && said.out.contains("design"), "{shell}");
    }
}

/// What comes through a pipe can be read once, and is.
#[cfg(unix)]
#[test]
fn a_design_may_come_through_a_pipe() {
    use std::io::Write as _;
    use std::process::{Command, Stdio};
    let folder = folder();
    let mut child = Command::new(env!("CARGO_BIN_EXE_handlecheck"))
        .current_dir(folder.path())
        .args(["check", "-q", "two-agents", "--design", "/dev/stdin", "--invariant", "no-lost-update"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let text = include_bytes!("../../models/designs/naive.toml");
    child.stdin.take().expect("it has a standard input").write_all(text).expect("it reads");
    let said = child.wait_with_output().expect("it ends");
    let out = String::from_utf8(said.stdout).expect("it is UTF-8");
    assert!(out.contains("violated     no-lost-update"), "{out}");
}

#[test]
fn what_is_not_what_it_is_taken_for_is_named() {
    let folder = folder();
    write(folder.path(), "map.toml", "[call]\nsent = \"/at\"\n");
    write(folder.path(), "handlecheck.lock", "schema = 1\n");
    for (line, says) in [
        ("audit map.toml", "map.toml is TOML: a log of JSON Lines goes here, and a mapping behind `--mapping`"),
        ("replay handlecheck.lock", "handlecheck.lock is a lock, which `handlecheck diff` and"),
        ("diagram x.json --format gif", "there is no format `gif`; expected `text`, "),
    ] {
        let said = handlecheck(folder.path(), &words(line));
        assert_eq!((said.code, said.err.contains(says)), (2, true), "{line}: {}", said.err);
    }
}
