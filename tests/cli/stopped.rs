//! What stops a command before it is done, a limit or somebody, and what it still says then.

use crate::common::handlecheck;
use crate::{folder, words, write};

/// Random runs end at the time limit too, and the report says how many were made.
#[test]
fn the_time_limit_ends_random_runs() {
    let folder = folder();
    let line = "compare -q laptop-basket --design naive --runs 1000000000 --timeout 2s";
    let said = handlecheck(folder.path(), &words(line));
    assert!(said.out.contains("random runs") && !said.out.contains("1000000000"), "{}{}", said.out, said.err);
}

/// Of all shipped designs those are compared that can serve the scenario, and the others are named. One that was asked for by its
/// name is an error.
#[test]
fn a_design_that_cannot_serve_a_scenario_is_left_out_of_all() {
    let folder = folder();
    let line = "compare one-agent-drop --runs 0 --max-states 100 --invariant no-double-write";
    let all = handlecheck(folder.path(), &words(&format!("{line} --all")));
    assert!(all.code == 1 || all.code == 3, "{}", all.err);
    let left = all
        .err
        .lines()
        .find(|line| line.starts_with("left out, since they can't serve the scenario `one-agent-drop`: "));
    let left = left.unwrap_or_else(|| panic!("{}", all.err));
    assert!(left.contains("answered-before-stored-broken") && !left.contains("naive"), "{left}");
    assert!(all.out.contains("naive") && !all.out.contains("answered-before-stored-broken"), "{}", all.out);
    let named = handlecheck(folder.path(), &words(&format!("{line} --design answered-before-stored-broken")));
    assert_eq!(named.code, 2, "{}", named.out);
}

#[test]
fn a_repair_that_is_cut_short_at_once_does_not_know_what_is_violated() {
    let said = handlecheck(folder().path(), &words("repair -q laptop-basket --design naive --timeout 0s"));
    assert_eq!(said.code, 3);
    assert!(said.out.contains("what is violated is not known: the search was cut short"), "{}", said.out);
}

/// What was said and expected of the broken design is not true of the one that is written.
#[test]
fn a_repaired_design_says_nothing_of_the_broken_one() {
    let folder = folder();
    let text = include_str!("../../models/designs/check-then-write.toml");
    assert!(text.contains("about = ") && text.contains("[expect."));
    write(folder.path(), "mine.toml", text);
    let said = handlecheck(folder.path(), &words("repair -q two-agents-no-faults --design mine.toml -o new.toml"));
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let new = std::fs::read_to_string(folder.path().join("new.toml")).expect("it is written");
    assert!(new.contains(", repaired\"\n") && !new.contains("about") && !new.contains("expect"), "{new}");
    let again = handlecheck(folder.path(), &words("check -q two-agents-no-faults --design new.toml"));
    assert_eq!(again.code, 0, "{}{}", again.out, again.err);
}

#[cfg(unix)]
mod by_a_signal {
    use std::path::Path;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use super::{folder, handlecheck, words};

    /// Starts a command, sends it a signal a second later, and tells what it says and its exit code.
    fn signalled(folder: &Path, line: &str, signal: &str) -> (String, Option<i32>) {
        let child = Command::new(env!("CARGO_BIN_EXE_handlecheck"))
            .current_dir(folder)
            .args(words(line))
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        std::thread::sleep(Duration::from_secs(1));
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("there is a `kill`");
        assert!(sent.success(), "it has not ended yet");
        let said = child.wait_with_output().expect("it ends");
        (String::from_utf8(said.stdout).expect("it is UTF-8"), said.status.code())
    }

    /// `timeout` and CI end a program with SIGTERM: that is an interrupt like any other.
    #[test]
    fn both_signals_leave_a_partial_report_and_a_checkpoint() {
        for signal in ["-TERM", "-INT"] {
            let folder = folder();
            let line = "check -q laptop-basket --design versioned --faults drop-stream=9,restart-node=9 --traces here";
            let (out, code) = signalled(folder.path(), line, signal);
            assert_eq!(code, Some(3), "{signal}: {out}");
            assert!(out.contains("it was interrupted"), "{signal}: {out}");
            let kept = std::fs::read_dir(folder.path().join("here")).expect("a checkpoint is written").count();
            assert_eq!(kept, 1, "{signal}: {out}");
        }
    }

    /// A search for what would have stopped a run ends at once, and does not say that there is nothing.
    #[test]
    fn a_story_says_that_its_search_was_interrupted() {
        let folder = folder();
        let line =
            "check -q deploy-keys --design keys-in-node-memory-sticky --deploy dedup-only --invariant no-double-write";
        handlecheck(folder.path(), &words(line));
        let trace = std::fs::read_dir(folder.path().join("traces")).expect("it breaks").next().expect("it breaks");
        let trace = trace.expect("it can be read").file_name().into_string().expect("it is UTF-8");
        let (out, code) = signalled(folder.path(), &format!("explain -q traces/{trace}"), "-INT");
        let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(code, Some(3), "{out}");
        assert!(out.contains("is not known: the search was interrupted after"), "{out}");
        assert!(!out.contains("was not found"), "{out}");
    }
}
