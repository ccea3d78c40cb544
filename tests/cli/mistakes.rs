//! Bad usage and bad files: misspelt names, files that are not there, traces that are none.

use snapbox::str;

use crate::common::{self, handlecheck};
use crate::{folder, says, says_in, words, write};

#[test]
fn a_misspelt_command() {
    says(
        "chekc",
        2,
        str![[r#"
error: unrecognized subcommand 'chekc'

  tip: a similar subcommand exists: 'check'

Usage: handlecheck [OPTIONS] <COMMAND>

For more information, try '--help'.

"#]],
    );
}

#[test]
fn a_command_without_what_it_needs() {
    says(
        "check",
        2,
        str![[r#"
error: the following required arguments were not provided:
  <SCENARIO>...

Usage: handlecheck check <SCENARIO>...

For more information, try '--help'.

"#]],
    );
}

#[test]
fn a_misspelt_scenario() {
    says(
        "check laptop-baskte",
        2,
        str![[r#"
  error: there is no scenario `laptop-baskte`
  help: did you mean `laptop-basket`?

"#]],
    );
}

#[test]
fn a_misspelt_design() {
    says(
        "check laptop-basket --design niave",
        2,
        str![[r#"
  error: there is no design `niave`
  help: did you mean `naive`?

"#]],
    );
}

#[test]
fn a_misspelt_protocol() {
    says(
        "check laptop-basket --protocol mcp-2026-07-82",
        2,
        str![[r#"
  error: there is no protocol `mcp-2026-07-82`
  help: did you mean `mcp-2026-07-28`?

"#]],
    );
}

#[test]
fn misspelt_faults() {
    says(
        "check laptop-basket --faults drop-steam=1",
        2,
        str![[r#"
error: --faults drop-steam=1: there is no fault `drop-steam`; did you mean `drop-stream`?

"#]],
    );
    says(
        "check laptop-basket --faults drop-stream",
        2,
        str![[r#"
error: --faults drop-stream: expected FAULT=N

"#]],
    );
    says(
        "check laptop-basket --faults drop-stream=many",
        2,
        str![[r#"
error: --faults drop-stream=many: expected a number from 0 to 15

"#]],
    );
}

#[test]
fn a_misspelt_invariant() {
    says(
        "check laptop-basket --invariant no-lost-updat",
        2,
        str![[r#"
error: --invariant no-lost-updat: there is no such invariant or assertion; did you mean `no-lost-update`?

"#]],
    );
    says(
        "check laptop-basket --invariant both-upgrade",
        2,
        str![[r#"
error: --invariant both-upgrade: there is no such invariant or assertion; did you mean `both-upgrades`?

"#]],
    );
}

#[test]
fn a_misspelt_engine() {
    says(
        "check laptop-basket --engine sateright",
        2,
        str![[r#"
error: invalid value 'sateright' for '--engine <ENGINE>': expected handlecheck or stateright

For more information, try '--help'.

"#]],
    );
}

#[test]
fn a_misspelt_format_of_reports() {
    says(
        "check laptop-basket --format jsn",
        2,
        str![[r#"
error: invalid value 'jsn' for '--format <FORMAT>'
  [possible values: human, json, junit, markdown, sarif, csv, svg]

  tip: a similar value exists: 'json'

For more information, try '--help'.

"#]],
    );
}

#[test]
fn a_misspelt_format_of_pictures() {
    says(
        "diagram trace.json --format mermiad",
        2,
        str![[r#"
error: there is no format `mermiad`; did you mean `mermaid`?

"#]],
    );
}

#[test]
fn a_misspelt_thing_to_list() {
    says(
        "list stpes",
        2,
        str![[r#"
error: there is no kind and no word `stpes`; did you mean `steps`?

"#]],
    );
    says(
        "list steps chek-version",
        2,
        str![[r#"
error: there is no `chek-version` among the steps; did you mean `check-version`?

"#]],
    );
}

#[test]
fn a_misspelt_shell() {
    says(
        "completions fihs",
        2,
        str![[r#"
error: invalid value 'fihs' for '<SHELL>'
  [possible values: bash, elvish, fish, powershell, zsh]

  tip: a similar value exists: 'fish'

For more information, try '--help'.

"#]],
    );
}

#[test]
fn a_time_that_is_none() {
    says(
        "check laptop-basket --timeout soon",
        2,
        str![[r#"
error: invalid value 'soon' for '--timeout <TIME>': expected number at 0

For more information, try '--help'.

"#]],
    );
}

#[test]
fn arguments_that_exclude_each_other() {
    says(
        "compare --all --design naive",
        2,
        str![[r#"
error: the argument '--all' cannot be used with '--design <DESIGN>'

Usage: handlecheck compare --all [SCENARIO]...

For more information, try '--help'.

"#]],
    );
}

#[test]
fn files_that_are_not_there() {
    says(
        "check ./nowhere.toml",
        2,
        str![[r#"
  error: `./nowhere.toml` is not there

"#]],
    );
    says(
        "explain nowhere.json",
        2,
        str![[r#"
  error: `nowhere.json` is not there

"#]],
    );
    says(
        "diagram nowhere.json",
        2,
        str![[r#"
  error: `nowhere.json` is not there

"#]],
    );
    says(
        "replay nowhere.json",
        2,
        str![[r#"
  error: `nowhere.json` is not there

"#]],
    );
}

#[test]
fn an_input_that_is_not_utf_8() {
    let folder = folder();
    write(folder.path(), "latin.toml", b"title = \"caf\xe9\"\n");
    says_in(
        folder.path(),
        "check ./latin.toml",
        2,
        str![[r#"
  error: `./latin.toml` is not UTF-8 in line 1

"#]],
    );
}

#[test]
fn an_input_with_mistakes() {
    let folder = folder();
    let text =
        "title = \"Mine\"\n\n[server.read]\ntransactions = [[\"resolve\", \"raed\"]]\n\n[clinet]\nkey = \"none\"\n";
    write(folder.path(), "mine.toml", text);
    says_in(
        folder.path(),
        "check laptop-basket --design ./mine.toml",
        2,
        str![[r#"
  error: unknown step `raed`
   ,-[./mine.toml:4:29]
 4 | transactions = [["resolve", "raed"]]
   :                             ^^^^^^
   `----
  help: did you mean `read`? expected one of resolve, authorize, check-permission, check-live, check-open,
        find-key, claim-key, record-key, release-key, check-version, check-unchanged, check-condition,
        check-approval, acquire-lease, release-lease, check-lease, check-fence, find-cached, read,
        fill-cache, fill-cache-if-newer, drop-cached, load, write-content, advance-version, save, apply,
        apply-next, call-upstream, call-upstream-with-key, mint, other, undo, answer

  error: unknown key `clinet`
   ,-[./mine.toml:6:2]
 6 | [clinet]
   :  ^^^|^^
   :     `-- expected `title`, `about`, `server`, `client` or `expect`
   `----
  help: did you mean `client`?

"#]],
    );
}

#[test]
fn traces_that_are_none() {
    let folder = folder();
    write(folder.path(), "latin.json", b"{ \"handlecheck\": \"caf\xe9\" }");
    write(folder.path(), "cut.json", "{ \"handlecheck\": \"0.1.0\"");
    write(folder.path(), "number.json", "{ \"handlecheck\": 1 }");
    write(folder.path(), "empty.json", "");
    says_in(
        folder.path(),
        "replay latin.json",
        2,
        str![[r#"
error: latin.json: it is not UTF-8: invalid utf-8 sequence of 1 bytes from index 21

"#]],
    );
    says_in(
        folder.path(),
        "replay cut.json",
        2,
        str![[r#"
  error: EOF while parsing an object
   ,-[cut.json:1:24]
 1 | { "handlecheck": "0.1.0"
   :                        ^
   `----

"#]],
    );
    says_in(
        folder.path(),
        "explain number.json",
        2,
        str![[r#"
  error: at handlecheck: invalid type: integer `1`, expected a string
   ,-[number.json:1:18]
 1 | { "handlecheck": 1 }
   :                  ^
   `----

"#]],
    );
    says_in(
        folder.path(),
        "diagram empty.json",
        2,
        str![[r#"
  error: EOF while parsing a value
   ,-[empty.json:1:1]
 1 |
   : ^
   `----

"#]],
    );
}

#[test]
fn a_trace_of_another_schema() {
    let folder = folder();
    let golden = common::read("traces/laptop-basket.naive.no-lost-update.json");
    write(folder.path(), "later.json", golden.replacen("\"schema\": 1", "\"schema\": 1000", 1));
    says_in(
        folder.path(),
        "replay later.json",
        2,
        str![[r#"
  error: later.json: the trace has schema 1000, and this handlecheck reads schema 1

"#]],
    );
}

#[test]
fn a_folder_without_anything_to_test() {
    says(
        "test -q .",
        2,
        str![[r#"
error: nothing in these files expects anything

"#]],
    );
}

#[test]
fn a_file_to_test_that_is_not_there() {
    says(
        "test -q nowhere.toml",
        2,
        str![[r#"
  error: `nowhere.toml` is not there

"#]],
    );
}

#[test]
fn a_folder_that_can_not_be_written() {
    let folder = folder();
    write(folder.path(), "taken", "a file where a folder should be");
    let said = handlecheck(folder.path(), &words("check -q laptop-basket --design naive --traces taken"));
    assert_eq!((said.code, &*said.out), (2, ""));
    assert!(said.err.starts_with("error: can't make the folder taken"), "{}", said.err);
}

const SMALL: &str = "title = \"x\"\nnodes = 1\n[resources.a]\nhandle = \"a1\"\nowner = \"u\"\nfields = { x = 1 }\n\
                     [agents.A]\nprincipal = \"u\"\nwork = [{ read = \"a\" }]\n";

/// Runs of one name would write one trace, and fill one column.
#[test]
fn two_scenarios_of_one_name() {
    let folder = folder();
    for (name, more) in [("d1", ""), ("d2", "[faults]\ndrop-stream = 1\n")] {
        std::fs::create_dir(folder.path().join(name)).expect("a folder can be made");
        write(folder.path(), &format!("{name}/s.toml"), format!("{SMALL}{more}"));
    }
    for command in ["check", "compare"] {
        let said = handlecheck(folder.path(), &words(&format!("{command} -q d1/s.toml d2/s.toml --design naive")));
        assert_eq!(said.code, 2, "{}", said.out);
        let expected = "two scenarios are called `s`: d1/s.toml and d2/s.toml; rename one";
        assert!(said.err.contains(expected), "{}", said.err);
    }
}

#[test]
fn what_is_not_there_is_said_with_what_might_be_meant() {
    let folder = folder();
    write(folder.path(), "nowhere.json", "{}");
    let err = |line: &str| handlecheck(folder.path(), &words(line)).err;
    let explained = err("explain nowhre.json");
    assert!(explained.contains("`nowhre.json` is not there"), "{explained}");
    assert!(explained.contains("did you mean `nowhere.json`?"), "{explained}");
    let tested = err("test nowhere");
    assert!(tested.contains("there is no file and no folder `nowhere`, nor a shipped scenario or design"), "{tested}");
    let tested = err("test two-agents-no-fault");
    assert!(tested.contains("did you mean `two-agents-no-faults`?"), "{tested}");
    write(folder.path(), "s.toml", SMALL);
    let documents = err("docs check s.toml");
    assert!(documents.contains("`s.toml` is no document"), "{documents}");
}

/// What is to be done about a lock is said once, however much of it is broken.
#[test]
fn a_lock_with_several_mistakes() {
    let folder = folder();
    let work = SMALL.replace("{ read", "{ set = \"a\", x = 2 }, { read");
    let more = "[faults]\ndrop-stream = 1\n[expect.naive]\nresolves = \"holds\"\n";
    write(folder.path(), "s.toml", format!("{work}{more}"));
    let locked = handlecheck(folder.path(), &["lock", "-q", "."]);
    assert_eq!(locked.code, 0, "{}", locked.err);
    let lock = std::fs::read_to_string(folder.path().join("handlecheck.lock")).expect("it is written");
    let broken = lock.replace("\"holds\"", "\"hold\"");
    assert!(broken.matches("\"hold\"").count() > 1, "{broken}");
    write(folder.path(), "handlecheck.lock", broken);
    let said = handlecheck(folder.path(), &["diff", "-q", "."]).err;
    assert!(said.matches("did you mean `holds`?").count() > 1, "{said}");
    assert_eq!(said.matches("writes it anew").count(), 1, "{said}");
}
