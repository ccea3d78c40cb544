//! What the commands say: whole outputs and exit codes, of good and of bad usage.
//!
//! The help of every command is in `docs/reference/commands.md`, which `tests/pages.rs` compares.

mod cache;
#[path = "../common/mod.rs"]
mod common;
mod compaction;
mod meant;
mod mistakes;
mod reports;
mod stopped;
mod told;

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
    says(
        "check -q two-agents-drop --design versioned --invariant no-lost-update",
        0,
        str![[r#"
two-agents-drop x versioned x mcp-2026-07-28
  holds        no-lost-update

  explored all: 2510 states, 7182 transitions, depth 27 (at most drop-stream 1; engine handlecheck)
  never happened: cancel
  steps that never refused or replayed a call: resolve, authorize, check-live

"#]],
    );
}

#[test]
fn something_is_violated() {
    says(
        "check -q two-agents-drop --design naive --invariant no-double-write",
        1,
        str![[r#"
two-agents-drop x naive x mcp-2026-07-28
  violated     no-double-write  11 steps, 1 fault

  no-double-write: A wanted memory 32 on basket once, and it took effect twice.
    anomaly: duplicate execution (double spend): RFC 9110 section 9.2.2; AIP-155
    11 steps, 1 fault: handlecheck explain traces/two-agents-drop.naive.no-double-write.json

  explored all: 2026 states, 5392 transitions, depth 20 (at most drop-stream 1; engine handlecheck)
  never happened: cancel
  steps that never refused or replayed a call: resolve

"#]],
    );
}

#[test]
fn a_limit_makes_it_inconclusive() {
    says(
        "check -q laptop-basket --design versioned --invariant no-lost-update --max-states 100",
        3,
        str![[r#"
laptop-basket x versioned x mcp-2026-07-28
  inconclusive no-lost-update  (expected holds)

  cut short, since the limit of 100 states was reached: 100 states, 420 transitions, depth 6 (at most drop-stream 1, restart-node 1; engine handlecheck)
  to go on: the same command with --resume traces/laptop-basket.versioned.checkpoint, and a higher limit where one was reached
  never happened: cancel, on:stale-view:replan
  steps that never refused or replayed a call: resolve, authorize, check-live, find-key, check-version

"#]],
    );
}

#[test]
fn what_is_violated_within_a_limit_is_violated_all_the_same() {
    says(
        "check -q laptop-basket --design naive --invariant no-lost-update --max-states 5000",
        1,
        str![[r#"
laptop-basket x naive x mcp-2026-07-28
  violated     no-lost-update  15 steps, no faults

  no-lost-update: B wrote back memory 16 and erased A's change to 32, which B had not seen.
    anomaly: lost update (P4): Berenson et al., A Critique of ANSI SQL Isolation Levels, 1995
    15 steps, no faults: handlecheck explain traces/laptop-basket.naive.no-lost-update.json

  cut short, since the limit of 5000 states was reached: 5000 states, 19094 transitions, depth 18 (at most drop-stream 1, restart-node 1; engine handlecheck)
  to go on: the same command with --resume traces/laptop-basket.naive.checkpoint, and a higher limit where one was reached
  never happened: cancel
  steps that never refused or replayed a call: resolve

"#]],
    );
}

#[test]
fn all_causes_of_a_violation() {
    let line = "check -q laptop-basket --design naive --invariant no-lost-update";
    says(
        &format!("{line} --all-causes"),
        1,
        str![[r#"
laptop-basket x naive x mcp-2026-07-28
  violated     no-lost-update  15 steps, no faults

  no-lost-update: B wrote back memory 16 and erased A's change to 32, which B had not seen.
    anomaly: lost update (P4): Berenson et al., A Critique of ANSI SQL Isolation Levels, 1995
    15 steps, no faults: handlecheck explain traces/laptop-basket.naive.no-lost-update.json
    cause 1 of 4: A's memory 32 on basket, against B's change of storage
      15 steps, no faults: handlecheck explain traces/laptop-basket.naive.no-lost-update.2.json
    cause 2 of 4: B's storage 1024 on basket, against A's change of memory
      15 steps, no faults: handlecheck explain traces/laptop-basket.naive.no-lost-update.json
    cause 3 of 4: A's memory 32 on basket, in a call for which it no longer waits, against B's change of storage
      16 steps, 1 fault: handlecheck explain traces/laptop-basket.naive.no-lost-update.3.json
    cause 4 of 4: B's storage 1024 on basket, in a call for which it no longer waits, against A's change of memory
      16 steps, 1 fault: handlecheck explain traces/laptop-basket.naive.no-lost-update.4.json

  explored all: 11866 states, 38126 transitions, depth 28 (at most drop-stream 1, restart-node 1; engine handlecheck)
  never happened: cancel
  steps that never refused or replayed a call: resolve

"#]],
    );
    says(
        "check -q two-agents-drop --design naive --invariant no-double-write --all-causes",
        1,
        str![[r#"
two-agents-drop x naive x mcp-2026-07-28
  violated     no-double-write  11 steps, 1 fault

  no-double-write: A wanted memory 32 on basket once, and it took effect twice.
    anomaly: duplicate execution (double spend): RFC 9110 section 9.2.2; AIP-155
    11 steps, 1 fault: handlecheck explain traces/two-agents-drop.naive.no-double-write.json
    cause 1 of 4: A's memory 32 on basket, against its own earlier effect
      11 steps, 1 fault: handlecheck explain traces/two-agents-drop.naive.no-double-write.json
    cause 2 of 4: A's memory 32 on basket, in a call for which it no longer waits, against its own earlier effect
      11 steps, 1 fault: handlecheck explain traces/two-agents-drop.naive.no-double-write.2.json
    cause 3 of 4: B's storage 1024 on basket, against its own earlier effect
      11 steps, 1 fault: handlecheck explain traces/two-agents-drop.naive.no-double-write.3.json
    cause 4 of 4: B's storage 1024 on basket, in a call for which it no longer waits, against its own earlier effect
      11 steps, 1 fault: handlecheck explain traces/two-agents-drop.naive.no-double-write.4.json

  explored all: 2026 states, 5392 transitions, depth 20 (at most drop-stream 1; engine handlecheck)
  never happened: cancel
  steps that never refused or replayed a call: resolve

"#]],
    );
    says(
        &format!("{line} --all-causes --stop-early"),
        2,
        str![[r#"
error: --stop-early can't be combined with --all-causes: it stops at the first break of each invariant, and others may have other causes

"#]],
    );
}

#[test]
fn vacuous_is_a_remark_unless_it_is_denied() {
    let line = "check -q two-agents-no-faults --design versioned --invariant no-cross-principal";
    says(
        line,
        0,
        str![[r#"
two-agents-no-faults x versioned x mcp-2026-07-28
  vacuous      no-cross-principal

  explored all: 298 states, 594 transitions, depth 23 (no faults; engine handlecheck)
  steps that never refused or replayed a call: resolve, authorize, check-live, find-key
  vacuous: no run reaches the situation that the invariant is about, so it can't be violated

"#]],
    );
    says(
        &format!("{line} --deny-vacuous"),
        4,
        str![[r#"
two-agents-no-faults x versioned x mcp-2026-07-28
  vacuous      no-cross-principal

  explored all: 298 states, 594 transitions, depth 23 (no faults; engine handlecheck)
  steps that never refused or replayed a call: resolve, authorize, check-live, find-key
  vacuous: no run reaches the situation that the invariant is about, so it can't be violated

"#]],
    );
}

#[test]
fn the_second_engine_says_the_same() {
    says(
        "check -q two-agents-drop --design naive --invariant no-double-write --engine stateright",
        1,
        str![[r#"
two-agents-drop x naive x mcp-2026-07-28
  violated     no-double-write  11 steps, 1 fault

  no-double-write: A wanted memory 32 on basket once, and it took effect twice.
    anomaly: duplicate execution (double spend): RFC 9110 section 9.2.2; AIP-155
    11 steps, 1 fault: handlecheck explain traces/two-agents-drop.naive.no-double-write.json

  explored all: 2026 states (at most drop-stream 1; engine stateright)

"#]],
    );
}

#[test]
fn a_report_is_json_too() {
    says(
        "check -q two-agents-drop --design naive --invariant no-double-write --format json",
        1,
        str![[r#"
{
  "handlecheck": "0.1.0",
  "schema": 1,
  "runs": [
    {
      "scenario": "two-agents-drop",
      "design": "naive",
      "protocol": "mcp-2026-07-28",
      "bounds": {
        "faults": {
          "drop-stream": 1
        }
      },
      "complete": true,
      "states": 2026,
      "transitions": 5392,
      "depth": 20,
      "engine": "handlecheck",
      "reductions": [],
      "invariants": [
        {
          "name": "no-double-write",
          "verdict": "violated",
          "expected": null,
          "steps": 11,
          "faults": 1,
          "trace": "traces/two-agents-drop.naive.no-double-write.json",
          "breaks": [
            {
              "steps": 11,
              "faults": 1,
              "trace": "traces/two-agents-drop.naive.no-double-write.json"
            }
          ],
          "anomaly": "duplicate execution (double spend): RFC 9110 section 9.2.2; AIP-155",
          "sentence": "A wanted memory 32 on basket once, and it took effect twice"
        }
      ],
      "actions": {
        "deliver": 1476,
        "drop-stream": 350,
        "execute": 1476,
        "receive": 1648,
        "send": 442
      },
      "outcomes": {
        "ok": 1476
      },
      "steps": {
        "resolve": {
          "not-found": 0
        }
      },
      "reactions": {
        "broken-stream": {
          "same": 350
        }
      },
      "never": [
        "cancel"
      ],
      "never-refused": [
        "resolve"
      ]
    }
  ],
  "uncovered": {
    "naive": {
      "never": [
        "cancel"
      ],
      "never-refused": [
        "resolve"
      ]
    }
  }
}

"#]],
    );
}

#[test]
fn compare_finds_what_is_expected() {
    says(
        "compare -q two-agents-drop --design naive --invariant no-double-write",
        1,
        str![[r#"
|                 | naive                  |
|-----------------|------------------------|
| no-double-write | violated 11+1          |
| calls           | 2 to 2.5; 2.24 ± 0.02  |
| round trips     | 2; 2.00 ± 0.00         |
| conflicts       | 0; 0.00 ± 0.00         |
| repeats         | 0 to 0.5; 0.09 ± 0.01  |
| replans         | 0; 0.00 ± 0.00         |
| questions       | 0; 0.00 ± 0.00         |
| records         | 0                      |
| a key is kept   | never                  |
| a write costs   | 1 transaction, 2 steps |
| states explored | 2026                   |

Over the scenarios two-agents-drop.
A cell is the worst verdict over the scenarios. Violated: steps + faults of the shortest break, and
of those that need fewer faults; the scenario is named when it is not the first.
Calls to records are for each finished intent: conflicts are calls that are refused, replans calls
for a new plan, questions intents that end with one to the person, records those of keys that are
left behind. Fewest to most is exact, over every run in the bounds of all scenarios; with ± is what
to expect, by 1000 random runs of each scenario, in 95 of 100 cases.

Never, in any run of the design:
  naive  cancel; a refusal or replay by resolve

"#]],
    );
    says(
        "compare -q laptop-basket --design naive --invariant no-double-write",
        0,
        str![[r#"
|                 | naive                  |
|-----------------|------------------------|
| no-double-write | violated 12+1          |
| calls           | 2 to 3.5; 2.37 ± 0.02  |
| round trips     | 2; 2.00 ± 0.00         |
| conflicts       | 0; 0.00 ± 0.00         |
| repeats         | 0 to 1.5; 0.14 ± 0.02  |
| replans         | 0; 0.00 ± 0.00         |
| questions       | 0; 0.00 ± 0.00         |
| records         | 0                      |
| a key is kept   | never                  |
| a write costs   | 1 transaction, 2 steps |
| states explored | 11866                  |

Over the scenarios laptop-basket.
A cell is the worst verdict over the scenarios. Violated: steps + faults of the shortest break, and
of those that need fewer faults; the scenario is named when it is not the first.
Calls to records are for each finished intent: conflicts are calls that are refused, replans calls
for a new plan, questions intents that end with one to the person, records those of keys that are
left behind. Fewest to most is exact, over every run in the bounds of all scenarios; with ± is what
to expect, by 1000 random runs of each scenario, in 95 of 100 cases.

Never, in any run of the design:
  naive  cancel; a refusal or replay by resolve

"#]],
    );
}

#[test]
fn faults_of_the_command_line_replace_those_of_the_scenario() {
    says(
        "check -q laptop-basket --design naive --invariant no-double-write --faults drop-stream=0,restart-node=0",
        0,
        str![[r#"
laptop-basket x naive x mcp-2026-07-28
  vacuous      no-double-write  (expected violated in 12 steps with 1 fault)

  explored all: 233 states, 467 transitions, depth 17 (no faults; engine handlecheck)
  steps that never refused or replayed a call: resolve
  vacuous: no run reaches the situation that the invariant is about, so it can't be violated

"#]],
    );
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
    says_in(
        folder.path(),
        "replay fixed.json",
        1,
        str![[r#"
fixed.json: does not replay: step 10 (`send`) does something else now: its call was Some(CallNote { tool: "write", resource: "basket", handle: Some("bsk_42"), payload: "memory 32, storage 512", also: None, change: "memory 32", expects: [], key: None, attempt: Some("first"), entry: 2 }) and is Some(CallNote { tool: "write", resource: "basket", handle: Some("bsk_42"), payload: "memory 32, storage 512", also: None, change: "memory 32", expects: [Expected { handle: "bsk_42", version: 7 }], key: None, attempt: Some("first"), entry: 2 })

"#]],
    );
}

#[test]
fn a_trace_replays() {
    let folder = folder();
    write(folder.path(), "lost.json", common::read("traces/laptop-basket.naive.no-lost-update.json"));
    says_in(
        folder.path(),
        "replay lost.json",
        0,
        str![[r#"
lost.json: 15 steps replayed, no-lost-update is violated

"#]],
    );
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
    says_in(
        folder.path(),
        "test -q designs",
        0,
        str![[r#"
ok    two-agents-no-faults x mine x mcp-2026-07-28
1 passed, 0 failed
steps that never refused or replayed a call: in 1 of 1 design (--coverage names them)

"#]],
    );
    write(folder.path(), "designs/mine.toml", design(13));
    says_in(
        folder.path(),
        "test -q designs",
        1,
        str![[r#"
FAIL  two-agents-no-faults x mine x mcp-2026-07-28
      no-lost-update: expected violated in 13 steps with no faults, found violated in 14 steps with no faults
0 passed, 1 failed
steps that never refused or replayed a call: in 1 of 1 design (--coverage names them)

"#]],
    );
    says_in(
        folder.path(),
        "test -q designs --max-states 10",
        3,
        str![[r#"
FAIL  two-agents-no-faults x mine x mcp-2026-07-28
      no-lost-update: expected violated in 13 steps with no faults, found inconclusive
      no-double-write: expected not violated, found inconclusive
      no-cross-principal: expected not violated, found inconclusive
      truthful-outcome: expected not violated, found inconclusive
      respects-terminal-state: expected not violated, found inconclusive
      approval-covers-execution: expected not violated, found inconclusive
      basis-holds: expected not violated, found inconclusive
      handle-resolvable: expected not violated, found inconclusive
      no-orphan: expected not violated, found inconclusive
      single-lease-holder: expected not violated, found inconclusive
      no-effect-after-revocation: expected not violated, found inconclusive
      version-names-one-content: expected not violated, found inconclusive
      fresh-read: expected not violated, found inconclusive
      resolves: expected not violated, found inconclusive
      both-upgrades: expected violated, found inconclusive
0 passed, 1 failed

"#]],
    );
}

#[test]
fn what_there_is() {
    says(
        "list",
        0,
        str![[r#"
steps            what a handler's transactions are made of
faults           what may go wrong, within a budget
invariants       what must never happen
actions          what can happen that is no fault
outcomes         how a call ends, and how that is put on the wire
designs          shipped designs: how a server handles calls, and how its clients behave
scenarios        shipped scenarios: who is there, what they want, what may go wrong
protocols        shipped protocols: what happens to calls, streams and ids
checks           what `audit` looks for in a log of calls
formats          what a trace can be drawn as
reports          how `check`, `test` and `compare` can report
situations       what `check --show` can be asked for
server-settings  the settings of [server] in a design
handler-keys     what a table [server.TOOL] of a design holds
key-settings     the settings of [server.keys] in a design
client-settings  the settings of [client] in a design or at an agent
reactions        what [client.on] can answer an event with
deploy-settings  the settings of [deploy] in a scenario
protocol-rules   the keys of a protocol
tools            what a client can ask of a server
entries          what an agent's work is made of
resource-keys    what a table under [resources] holds
agent-keys       what a table under [agents] holds

"#]],
    );
    says(
        "list faults drop-stream",
        0,
        str![[r#"
drop-stream

A response stream breaks, at any point after sending.

Before the request arrives, between two transactions, after the commit: the agent is told that the stream broke, and no
more than that. The call becomes an orphan: it may still arrive, run and commit, at any later time, and its answer
goes nowhere. Where the protocol lets a stream be resumed, the agent resumes it instead, and the call stays its own.

MCP revision 2026-07-28 (basic/transports/streamable-http): a closed stream can't be resumed, and the server must take
it for a cancellation, which it can't tell from a broken connection.

"#]],
    );
}

/// Colour codes are for terminals, or for whoever asks.
#[test]
fn colour_is_for_terminals() {
    let folder = folder();
    for line in ["check -q two-agents-no-faults --design naive", "demo"] {
        let plain = handlecheck(folder.path(), &words(line));
        let coloured = handlecheck(folder.path(), &words(&format!("{line} --color always")));
        assert!(!plain.out.contains('\u{1b}'));
        assert!(coloured.out.contains('\u{1b}'));
        assert_eq!(uncoloured(&coloured.out), plain.out);
    }
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
