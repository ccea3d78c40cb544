//! `--cache`: what is recalled is what would have come out, byte for byte, whatever happened to the folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use handlecheck::input::{self, Kind, Source};
use handlecheck::run::{Cache, Options, Run, invariant_names};

use super::{folder, words, write};
use crate::common::{self, Said, handlecheck};

/// Every file of a folder, by its name.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let Ok(entries) = fs::read_dir(folder) else { return BTreeMap::new() };
    let entries = entries.map(|entry| entry.expect("it can be listed").path());
    entries.map(|path| (path.display().to_string(), fs::read(&path).expect("it is a file"))).collect()
}

/// What a command prints and which traces it writes, without the line that tells how long it took.
fn comes_to(at: &Path, line: &str) -> (Said, BTreeMap<String, Vec<u8>>) {
    let _ = fs::remove_dir_all(at.join("traces"));
    let mut said = handlecheck(at, &words(line));
    said.err = said.err.lines().filter(|line| !line.ends_with(" s")).collect::<Vec<_>>().join("\n");
    (said, files(&at.join("traces")))
}

const COMMANDS: [&str; 4] = [
    "check two-agents-drop --design naive --design versioned --all-causes --format json",
    "check two-agents-drop --design naive --max-states 500 --stop-early --hash-compact",
    "check one-agent-drop --design claim-for-ever",
    "ablate one-agent-drop --design naive --format json",
];

#[test]
fn what_is_recalled_is_what_would_have_come_out() {
    let folder = folder();
    for line in COMMANDS {
        let plain = comes_to(folder.path(), line);
        let cached = format!("{line} --cache kept");
        for threads in [1, 2] {
            let again = comes_to(folder.path(), &format!("{cached} --threads {threads}"));
            assert!(again == plain, "{line}, {threads} threads: {} {}", again.0.out, again.0.err);
        }
        let told = handlecheck(folder.path(), &words(&cached)).err;
        assert!(!told.contains(", 0 recalled"), "{line}: {told}");
    }
}

/// A verdict is of what was composed, and its trace of the files that are there now.
#[test]
fn a_trace_holds_the_texts_of_today() {
    let folder = folder();
    let text = common::read("models/designs/naive.toml");
    write(folder.path(), "mine.toml", &text);
    let line = "check one-agent-drop --design mine.toml --cache kept";
    comes_to(folder.path(), line);
    write(folder.path(), "mine.toml", format!("# Mine.\n{text}"));
    let (_, traces) = comes_to(folder.path(), line);
    let told = handlecheck(folder.path(), &words(line)).err;
    assert!(told.contains("1 recalled"), "{told}");
    assert!(!traces.is_empty() && traces.values().all(|trace| String::from_utf8_lossy(trace).contains("# Mine.")));
    // And a change that matters is a question of its own.
    write(folder.path(), "mine.toml", text.replace("send = \"same\"", "tell = \"unknown\""));
    let told = handlecheck(folder.path(), &words(line)).err;
    assert!(told.contains("0 recalled"), "{told}");
}

#[test]
fn what_is_damaged_is_explored_anew_and_said() {
    let folder = folder();
    let line = "check one-agent-drop --design naive --design versioned";
    let plain = comes_to(folder.path(), line);
    let cached = format!("{line} --cache kept");
    comes_to(folder.path(), &cached);
    let kept = files(&folder.path().join("kept"));
    assert_eq!(kept.len(), 2);
    let flipped = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        bytes
    };
    for damage in ["flipped", "cut off", "empty", "no text"] {
        for (path, bytes) in &kept {
            let damaged = match damage {
                "flipped" => flipped(bytes),
                "cut off" => bytes[..bytes.len() - 1].to_vec(),
                "empty" => Vec::new(),
                _ => vec![0xff; 64],
            };
            fs::write(path, damaged).expect("it can be written");
        }
        let mut again = comes_to(folder.path(), &cached);
        assert!(again.0.err.contains("--cache kept: 2 verdicts could not be used; that was explored anew"));
        again.0.err.clone_from(&plain.0.err);
        assert!(again == plain, "{}", again.0.out);
        assert!(files(&folder.path().join("kept")) == kept, "they are whole again");
    }
    // Whole, and of something else.
    let (mut paths, bytes): (Vec<_>, Vec<_>) = kept.iter().unzip();
    paths.reverse();
    for (path, bytes) in paths.iter().zip(bytes) {
        fs::write(path, bytes).expect("it can be written");
    }
    assert!(comes_to(folder.path(), &cached) == plain);
}

#[test]
fn commands_may_share_a_folder_at_the_same_time() {
    let folder = folder();
    let line = "check one-agent-drop --design naive --design versioned --traces none --format json --cache kept";
    let alone = handlecheck(folder.path(), &words(line)).out;
    fs::remove_dir_all(folder.path().join("kept")).expect("it is there");
    let said: Vec<String> = std::thread::scope(|scope| {
        let commands: Vec<_> = (0..4)
            .map(|number| {
                let line = line.replace("none", &format!("traces-{number}"));
                let at = folder.path();
                scope.spawn(move || handlecheck(at, &words(&line)).out.replace(&format!("traces-{number}"), "none"))
            })
            .collect();
        commands.into_iter().map(|command| command.join().expect("it ends")).collect()
    });
    assert!(said.iter().all(|said| *said == alone));
    assert_eq!(files(&folder.path().join("kept")).len(), 2);
}

#[test]
fn a_run_that_was_cut_short_can_still_be_gone_on_with() {
    let folder = folder();
    let line = "check two-agents-drop --design naive --cache kept";
    for _ in 0..2 {
        let said = handlecheck(folder.path(), &words(&format!("{line} --max-states 300")));
        assert_eq!(said.code, 3, "{}", said.err);
        let checkpoint = "traces/two-agents-drop.naive.checkpoint";
        assert!(said.out.contains(checkpoint) && folder.path().join(checkpoint).is_file(), "{}", said.out);
        fs::remove_file(folder.path().join(checkpoint)).expect("it is there");
    }
}

#[test]
fn what_can_be_no_folder_is_bad_usage() {
    let folder = folder();
    write(folder.path(), "kept", "");
    let said = handlecheck(folder.path(), &words("check one-agent-drop --design naive --cache kept"));
    assert_eq!(said.code, 2);
    assert!(said.err.starts_with("error: --cache kept: "), "{}", said.err);
}

/// Answers what it was told last, whatever is asked.
#[derive(Debug, Default)]
struct Told {
    answer: Mutex<Option<String>>,
    spoilt: Mutex<usize>,
}

impl Cache for Told {
    fn recall(&self, _: &str) -> Option<String> {
        self.answer.lock().expect("nobody panicked").clone()
    }

    fn keep(&self, _: &str, answer: &str) {
        *self.answer.lock().expect("nobody panicked") = Some(answer.to_owned());
    }

    fn spoilt(&self) {
        *self.spoilt.lock().expect("nobody panicked") += 1;
    }
}

/// A break is walked again before it is believed: one of another design, or one that breaks nothing, is no answer.
#[test]
fn a_break_that_is_none_is_not_believed() {
    let run = |design: &str| {
        let source = input::resolve(Kind::Scenario, "one-agent-drop", None).expect("it is shipped");
        let scenario = input::read_scenario(&source, &invariant_names()).expect("it is readable");
        let design = input::resolve(Kind::Design, design, None).expect("it is shipped");
        let design = input::read_design(&Source { asked: None, ..design }).expect("it is readable");
        let protocol = input::protocol_of(&scenario, None).expect("it is readable");
        Run::new(scenario, design, protocol, &BTreeMap::new()).expect("they fit")
    };
    let told = Arc::new(Told::default());
    let options = Options { cache: Some(Arc::clone(&told) as Arc<dyn Cache>), ..Options::default() };
    let found = |run: &Run, options: &Options| {
        let report = run.explore(options, &mut |_| false).expect("it can be recorded");
        serde_json::to_string(&report).expect("it is JSON")
    };
    let right = [found(&run("naive"), &Options::default()), found(&run("versioned"), &Options::default())];
    assert_eq!(found(&run("naive"), &options), right[0]);
    let answer = told.answer.lock().expect("nobody panicked").clone().expect("it was told");
    assert_eq!(found(&run("versioned"), &options), right[1], "a break of another design");
    let shorter =
        answer.replace(",{\"action\":\"execute\",\"agent\":\"A\",\"request\":\"A-3\",\"node\":\"node-1\"}", "");
    assert_ne!(shorter, answer);
    for wrong in
        [shorter, answer.replace("\"node-1\"", "\"node-7\""), answer.replace("resolves", "resolved"), "{}".to_owned()]
    {
        *told.answer.lock().expect("nobody panicked") = Some(wrong);
        assert_eq!(found(&run("naive"), &options), right[0]);
    }
    assert_eq!(*told.spoilt.lock().expect("nobody panicked"), 5);
}
