//! What the commands say: whole outputs and exit codes, of good and of bad usage.
//!
//! The help of every command is in `docs/reference/commands.md`, which `tests/pages.rs` compares.

mod common;

use std::fs;
use std::path::Path;

use common::{Said, handlecheck};
use snapbox::data::Inline;
use snapbox::{IntoData as _, assert_data_eq, str};

/// A command line as one text; no argument of ours holds a space.
fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder can be made")
}

fn write(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) {
    fs::write(folder.join(name), bytes).expect("a file can be written");
}

/// Asserts what a command says, in a folder, by standard error, exit code and standard output.
#[track_caller]
fn says_in(folder: &Path, line: &str, code: i32, expected: Inline) {
    let Said { out, err, code: found } = handlecheck(folder, &words(line));
    let said = if err.is_empty() { out } else { format!("{err}{out}") };
    assert_data_eq!(said, expected.raw());
    assert_eq!(found, code, "the exit code of `handlecheck {line}`");
}

/// The same, in an empty folder.
#[track_caller]
fn says(line: &str, code: i32, expected: Inline) {
    says_in(folder().path(), line, code, expected);
}

#[test]
fn without_a_command_there_is_help_and_it_is_bad_usage() {
    let (plain, asked) = (handlecheck(folder().path(), &[]), handlecheck(folder().path(), &["--help"]));
    assert_eq!((plain.code, asked.code), (2, 0));
    assert_eq!((plain.err, plain.out), (asked.out, String::new()));
}

#[test]
fn the_version_is_the_one_of_the_package() {
    let said = handlecheck(folder().path(), &["--version"]);
    assert_eq!((said.code, said.out), (0, format!("handlecheck {}\n", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn everything_holds() {
    says("check -q two-agents-drop --design versioned --invariant no-lost-update", 0, str![]);
}

#[test]
fn something_is_violated() {
    says("check -q two-agents-drop --design naive --invariant no-double-write", 1, str![]);
}

#[test]
fn a_limit_makes_it_inconclusive() {
    says("check -q laptop-basket --design versioned --invariant no-lost-update --max-states 100", 3, str![]);
}

#[test]
fn what_is_violated_within_a_limit_is_violated_all_the_same() {
    says("check -q laptop-basket --design naive --invariant no-lost-update --max-states 5000", 1, str![]);
}

#[test]
fn vacuous_is_a_remark_unless_it_is_denied() {
    let line = "check -q two-agents-no-faults --design versioned --invariant no-cross-principal";
    says(line, 0, str![]);
    says(&format!("{line} --deny-vacuous"), 4, str![]);
}

#[test]
fn the_second_engine_says_the_same() {
    says("check -q two-agents-drop --design naive --invariant no-double-write --engine stateright", 1, str![]);
}

#[test]
fn a_report_is_json_too() {
    says("check -q two-agents-drop --design naive --invariant no-double-write --format json", 1, str![]);
}

#[test]
fn compare_finds_what_is_expected() {
    says("compare -q two-agents-drop --design naive --invariant no-double-write", 1, str![]);
    says("compare -q laptop-basket --design naive --invariant no-double-write", 0, str![]);
}

#[test]
fn faults_of_the_command_line_replace_those_of_the_scenario() {
    says("check -q laptop-basket --design naive --invariant no-double-write --faults drop-stream=0", 0, str![]);
}

#[test]
fn a_misspelt_command() {
    says("chekc", 2, str![]);
}

#[test]
fn a_command_without_what_it_needs() {
    says("check", 2, str![]);
}

#[test]
fn a_misspelt_scenario() {
    says("check laptop-baskte", 2, str![]);
}

#[test]
fn a_misspelt_design() {
    says("check laptop-basket --design niave", 2, str![]);
}

#[test]
fn a_misspelt_protocol() {
    says("check laptop-basket --protocol mcp-2026-07-82", 2, str![]);
}

#[test]
fn misspelt_faults() {
    says("check laptop-basket --faults drop-steam=1", 2, str![]);
    says("check laptop-basket --faults drop-stream", 2, str![]);
    says("check laptop-basket --faults drop-stream=many", 2, str![]);
}

#[test]
fn a_misspelt_invariant() {
    says("check laptop-basket --invariant no-lost-updat", 2, str![]);
    says("check laptop-basket --invariant both-upgrade", 2, str![]);
}

#[test]
fn a_misspelt_engine() {
    says("check laptop-basket --engine sateright", 2, str![]);
}

#[test]
fn a_misspelt_format_of_reports() {
    says("check laptop-basket --format jsn", 2, str![]);
}

#[test]
fn a_misspelt_format_of_pictures() {
    says("diagram trace.json --format mermiad", 2, str![]);
}

#[test]
fn a_misspelt_thing_to_list() {
    says("list stpes", 2, str![]);
    says("list steps chek-version", 2, str![]);
}

#[test]
fn a_misspelt_shell() {
    says("completions fihs", 2, str![]);
}

#[test]
fn a_time_that_is_none() {
    says("check laptop-basket --timeout soon", 2, str![]);
}

#[test]
fn arguments_that_exclude_each_other() {
    says("compare --all --design naive", 2, str![]);
}

#[test]
fn files_that_are_not_there() {
    says("check ./nowhere.toml", 2, str![]);
    says("explain nowhere.json", 2, str![]);
    says("diagram nowhere.json", 2, str![]);
    says("replay nowhere.json", 2, str![]);
}

#[test]
fn an_input_that_is_not_utf_8() {
    let folder = folder();
    write(folder.path(), "latin.toml", b"title = \"caf\xe9\"\n");
    says_in(folder.path(), "check ./latin.toml", 2, str![]);
}

#[test]
fn an_input_with_mistakes() {
    let folder = folder();
    let text =
        "title = \"Mine\"\n\n[server.read]\ntransactions = [[\"resolve\", \"raed\"]]\n\n[clinet]\nkey = \"none\"\n";
    write(folder.path(), "mine.toml", text);
    says_in(folder.path(), "check laptop-basket --design ./mine.toml", 2, str![]);
}

#[test]
fn traces_that_are_none() {
    let folder = folder();
    write(folder.path(), "latin.json", b"{ \"handlecheck\": \"caf\xe9\" }");
    write(folder.path(), "cut.json", "{ \"handlecheck\": \"0.1.0\"");
    write(folder.path(), "number.json", "{ \"handlecheck\": 1 }");
    write(folder.path(), "empty.json", "");
    says_in(folder.path(), "replay latin.json", 2, str![]);
    says_in(folder.path(), "replay cut.json", 2, str![]);
    says_in(folder.path(), "explain number.json", 2, str![]);
    says_in(folder.path(), "diagram empty.json", 2, str![]);
}

#[test]
fn a_trace_of_another_schema() {
    let folder = folder();
    let golden = common::read("traces/laptop-basket.naive.no-lost-update.json");
    write(folder.path(), "later.json", golden.replacen("\"schema\": 1", "\"schema\": 1000", 1));
    says_in(folder.path(), "replay later.json", 2, str![]);
}

#[test]
fn a_trace_that_does_not_replay_any_more() {
    let folder = folder();
    let golden = common::read("traces/laptop-basket.naive.no-lost-update.json");
    // Under this design the write that erased an update is refused.
    let (from, to) = (r#"[[\"resolve\", \"apply\"]]"#, r#"[[\"resolve\", \"check-version\", \"apply\"]]"#);
    assert_eq!(golden.matches(from).count(), 1);
    let payload = r#"precondition = \"none\""#;
    assert_eq!(golden.matches(payload).count(), 1);
    let fixed = golden.replace(from, to).replace(payload, r#"precondition = \"viewed-version\""#);
    write(folder.path(), "fixed.json", fixed);
    says_in(folder.path(), "replay fixed.json", 1, str![]);
}

#[test]
fn a_trace_replays() {
    let folder = folder();
    write(folder.path(), "lost.json", common::read("traces/laptop-basket.naive.no-lost-update.json"));
    says_in(folder.path(), "replay lost.json", 0, str![]);
}

#[test]
fn tests_of_a_folder() {
    let folder = folder();
    fs::create_dir(folder.path().join("designs")).expect("a folder can be made");
    let design = |steps: u32| {
        format!(
            "title = \"Mine\"\n\n[server.read]\ntransactions = [[\"resolve\", \"read\"]]\n\n[server.write]\n\
             transactions = [[\"resolve\", \"apply\"]]\n\n[expect.two-agents-no-faults]\n\
             no-lost-update = {{ steps = {steps}, faults = 0 }}\nboth-upgrades = \"violated\"\n"
        )
    };
    write(folder.path(), "designs/mine.toml", design(14));
    says_in(folder.path(), "test -q designs", 0, str![]);
    write(folder.path(), "designs/mine.toml", design(13));
    says_in(folder.path(), "test -q designs", 1, str![]);
    says_in(folder.path(), "test -q designs --max-states 10", 3, str![]);
}

#[test]
fn a_folder_without_anything_to_test() {
    says("test -q .", 2, str![]);
}

#[test]
fn a_file_to_test_that_is_not_there() {
    says("test -q nowhere.toml", 2, str![]);
}

#[test]
fn a_folder_that_can_not_be_written() {
    let folder = folder();
    write(folder.path(), "taken", "a file where a folder should be");
    let said = handlecheck(folder.path(), &words("check -q laptop-basket --design naive --traces taken"));
    assert_eq!((said.code, &*said.out), (2, ""));
    assert!(said.err.starts_with("error: can't write taken"), "{}", said.err);
}

#[test]
fn what_there_is() {
    says("list", 0, str![]);
    says("list faults drop-stream", 0, str![]);
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let said = handlecheck(folder().path(), &["completions", shell]);
        assert_eq!((said.code, &*said.err), (0, ""));
        assert!(said.out.contains("compare") && said.out.contains("--design"), "{shell}");
    }
}

/// Colour codes are for terminals, or for whoever asks.
#[test]
fn colour_is_for_terminals() {
    let folder = folder();
    let line = "check -q two-agents-no-faults --design naive";
    let plain = handlecheck(folder.path(), &words(line));
    let coloured = handlecheck(folder.path(), &words(&format!("{line} --color always")));
    assert!(!plain.out.contains('\u{1b}'));
    assert!(coloured.out.contains('\u{1b}'));
    assert_eq!(uncoloured(&coloured.out), plain.out);
}

/// The text without its colour codes.
fn uncoloured(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = after.split_once('m').map_or("", |(_, rest)| rest);
    }
    plain + rest
}
