//! The formats of reports: whole outputs where they are short, and what programs that read them need.

use std::collections::BTreeSet;

use serde_json::Value;
use snapbox::str;

use super::{folder, says, says_in, words, write};
use crate::common::{handlecheck, read};

#[test]
fn junit_has_a_suite_for_each_run_and_a_case_for_each_invariant() {
    says(
        "check -q two-agents-drop --design versioned --invariant no-double-write --invariant no-orphan --format junit",
        0,
        str![[r#"
<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="handlecheck" tests="2" skipped="1" failures="0" errors="0">
    <testsuite name="two-agents-drop x versioned x mcp-2026-07-28" tests="2" skipped="1" errors="0" failures="0">
        <properties>
            <property name="explored" value="explored all: 2510 states, 7182 transitions, depth 27 (at most drop-stream 1; engine handlecheck)"/>
        </properties>
        <testcase name="no-double-write" classname="two-agents-drop x versioned x mcp-2026-07-28"/>
        <testcase name="no-orphan" classname="two-agents-drop x versioned x mcp-2026-07-28">
            <skipped message="no run reaches the situation that it is about, so it can&apos;t be violated"/>
        </testcase>
    </testsuite>
</testsuites>

"#]],
    );
}

#[test]
fn junit_says_what_happened_and_how_to_see_it() {
    says(
        "check -q one-agent-drop --design naive --invariant no-double-write --format junit",
        1,
        str![[r#"
<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="handlecheck" tests="1" skipped="0" failures="1" errors="0">
    <testsuite name="one-agent-drop x naive x mcp-2026-07-28" tests="1" skipped="0" errors="0" failures="1">
        <properties>
            <property name="explored" value="explored all: 57 states, 96 transitions, depth 12 (at most drop-stream 1; engine handlecheck)"/>
        </properties>
        <testcase name="no-double-write" classname="one-agent-drop x naive x mcp-2026-07-28">
            <failure message="A wanted memory 32 on basket once, and it took effect twice" type="violated">11 steps, 1 fault: handlecheck explain traces/one-agent-drop.naive.no-double-write.json
  1  A sends a read of bsk_42 (request A-1).
  2  The balancer brings A-1 to node-1.
  3  node-1 executes A-1: resolve, read. The answer shows v7 16 / 512.
  4  A receives the answer of A-1: v7 16 / 512.
  5  A sends a write of bsk_42 with memory 32, storage 512 (request A-2).
  6  The balancer brings A-2 to node-1.
  7  node-1 executes A-2: resolve, apply. A&apos;s change takes effect: bsk_42 is now v8 32 / 512.
  8  The response stream of A-2 breaks: A learns that, and no more.
  9  A sends a write of bsk_42 with memory 32, storage 512 again (request A-3).
 10  The balancer brings A-3 to node-1.
 11  node-1 executes A-3: resolve, apply. A&apos;s change takes effect, for the second time: bsk_42 is now v9 32 / 512.
</failure>
        </testcase>
    </testsuite>
</testsuites>

"#]],
    );
}

#[test]
fn what_was_not_decided_is_an_error_in_junit() {
    says(
        "check -q two-agents-drop --design versioned --invariant no-double-write --max-states 100 --format junit",
        3,
        str![[r#"
<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="handlecheck" tests="1" skipped="0" failures="0" errors="1">
    <testsuite name="two-agents-drop x versioned x mcp-2026-07-28" tests="1" skipped="0" errors="1" failures="0">
        <properties>
            <property name="explored" value="cut short, since the limit of 100 states was reached: 100 states, 272 transitions, depth 6 (at most drop-stream 1; engine handlecheck)"/>
        </properties>
        <testcase name="no-double-write" classname="two-agents-drop x versioned x mcp-2026-07-28">
            <error message="cut short, since the limit of 100 states was reached: 100 states, 272 transitions, depth 6 (at most drop-stream 1; engine handlecheck)" type="inconclusive"/>
        </testcase>
    </testsuite>
</testsuites>

"#]],
    );
}

#[test]
fn markdown_has_a_table_and_folds_its_drawings() {
    says(
        "check -q one-agent-drop --design naive --invariant no-double-write --format markdown",
        1,
        str![[r#"
# What holds, and what breaks

## one-agent-drop x naive x mcp-2026-07-28

| invariant | verdict | cheapest break |
| --- | --- | --- |
| `no-double-write` | **violated** | 11 steps, 1 fault |

**`no-double-write`**: A wanted memory 32 on basket once, and it took effect twice.

<details><summary>11 steps, 1 fault</summary>

```mermaid
sequenceDiagram
  accTitle: Double write: One agent: one dropped stream
  accDescr: A wanted memory 32 on basket once, and it took effect twice.
  title Double write: One agent: one dropped stream
  box principal user-42
    participant a0 as A<br/>client
  end
  box nodes
    participant n0 as node-1
  end
  box store
    participant s0 as bsk_42
  end
  Note over s0: v7: memory 16
  a0->>n0: 1–4 read
  n0-->>a0: sees v7
  a0->>n0: 5–6 write memory 32, storage 512<br/>wants memory 32
  n0->>s0: 7 resolve, apply
  Note over s0: v8: memory 32 (was 16)
  n0--xa0: 8 fault: drop-stream<br/>call is orphaned: its answer (ok,<br/>v8) reaches nobody
  Note over a0: A believes v7 16<br/>store is v8 32
  a0->>n0: 9–10 write memory 32, storage 512<br/>wants memory 32<br/>the same call as step 5, in a new<br/>request, without a key
  rect rgba(214, 69, 61, 0.18)
  n0->>s0: 11 resolve, apply
  Note over s0: v9: memory 32<br/>second effect: memory 32 on basket
  Note over a0,s0: no-double-write violated at step 11<br/>A wanted memory 32 on basket once, and it took effect twice.
  end
  Note over a0,s0: scenario one-agent-drop, design naive, protocol mcp-2026-07-28, faults 1 drop-stream<br/>steps 11<br/>Left out of contents, since it never changes: storage 512.
  %% handlecheck replay traces/one-agent-drop.naive.no-double-write.json
```

</details>

Explored: 57 states, 96 transitions, depth 12 (at most drop-stream 1; engine handlecheck).

"#]],
    );
}

const SCENARIO: &str = r#"
title = "One agent, one write"
nodes = 1

[resources.basket]
handle = "bsk_1"
owner = "user-1"
fields = { memory = 16 }

[agents.A]
principal = "user-1"
work = [{ set = "basket", memory = 32 }]

[faults]
drop-stream = 1

[expect]
own = { no-double-write = "holds", truthful-outcome = "violated" }
"#;

const DESIGN: &str = r#"title = "No key"

[server.read]
transactions = [["resolve", "read"]]

[server.write]
transactions = [
    ["resolve"],
    ["apply"],
]
"#;

/// A folder with a design that is not as its scenario expects.
fn unexpected() -> tempfile::TempDir {
    let folder = folder();
    write(folder.path(), "one.scenario.toml", SCENARIO);
    write(folder.path(), "own.design.toml", DESIGN);
    folder
}

#[test]
fn what_is_not_as_expected_is_said_in_markdown() {
    says_in(
        unexpected().path(),
        "test -q . --format markdown",
        1,
        str![[r#"
# 1 run, 1 not as expected

| run | invariant | |
| --- | --- | --- |
| one x own x mcp-2026-07-28 | `no-double-write` | expected holds, found violated in 13 steps with 1 fault |
| one x own x mcp-2026-07-28 | `truthful-outcome` | expected violated, found holds |

**one x own x mcp-2026-07-28, `no-double-write`**: A wanted memory 32 on basket once, and it took effect twice.

<details><summary>13 steps, 1 fault</summary>

```mermaid
sequenceDiagram
  accTitle: Double write: One agent, one write
  accDescr: A wanted memory 32 on basket once, and it took effect twice.
  title Double write: One agent, one write
  box principal user-1
    participant a0 as A<br/>client
  end
  box nodes
    participant n0 as node-1
  end
  box store
    participant s0 as bsk_1
  end
  Note over s0: v1: memory 16
  a0->>n0: 1–4 read
  n0-->>a0: sees v1
  a0->>n0: 5–6 write memory 32
  n0->>s0: 7 resolve
  n0->>s0: 8 apply
  Note over s0: v2: memory 32 (was 16)
  n0--xa0: 9 fault: drop-stream<br/>call is orphaned: its answer (ok,<br/>v2) reaches nobody
  Note over a0: A believes v1 16<br/>store is v2 32
  a0->>n0: 10–11 write memory 32<br/>the same call as step 5, in a new<br/>request, without a key
  n0->>s0: 12 resolve
  rect rgba(214, 69, 61, 0.18)
  n0->>s0: 13 apply
  Note over s0: v3: memory 32<br/>second effect: memory 32 on basket
  Note over a0,s0: no-double-write violated at step 13<br/>A wanted memory 32 on basket once, and it took effect twice.
  end
  Note over a0,s0: scenario one, design own, protocol mcp-2026-07-28, faults 1 drop-stream, steps 13
  %% handlecheck replay traces/one.own.no-double-write.json
```

</details>

"#]],
    );
}

#[test]
fn what_is_as_expected_needs_few_words_in_markdown() {
    let folder = folder();
    write(
        folder.path(),
        "one.scenario.toml",
        SCENARIO
            .replace("drop-stream = 1", "drop-stream = 0")
            .replace(", truthful-outcome = \"violated\"", "")
            .replace("\"holds\"", "\"vacuous\""),
    );
    write(folder.path(), "own.design.toml", DESIGN);
    says_in(
        folder.path(),
        "test -q . --format markdown",
        0,
        str![[r#"
# 1 run, 0 not as expected

"#]],
    );
}

/// The text of a file between two positions as SARIF gives them.
fn region(text: &str, region: &Value) -> String {
    let number = |key: &str| usize::try_from(region[key].as_u64().expect("a number")).expect("a small one");
    let lines: Vec<&str> = text.lines().collect();
    let (start, end) = (number("startLine"), number("endLine"));
    let cut: String = lines[start - 1..end].join("\n");
    let after = lines[end - 1].chars().count() - (number("endColumn") - 1);
    let kept = cut.chars().count() - after;
    cut.chars().take(kept).skip(number("startColumn") - 1).collect()
}

/// Level, rule, file and underlined text of each result.
fn results(sarif: &Value) -> Vec<(String, String, String, String)> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let results = sarif["runs"][0]["results"].as_array().expect("a list").iter();
    results
        .map(|result| {
            let place = &result["locations"][0]["physicalLocation"];
            let uri = text(&place["artifactLocation"]["uri"]);
            let file = match &*uri {
                "own.design.toml" => DESIGN.to_owned(),
                "one.scenario.toml" => SCENARIO.to_owned(),
                shipped => read(&shipped.replace("built-in", "models")),
            };
            (text(&result["level"]), text(&result["ruleId"]), uri, region(&file, &place["region"]))
        })
        .collect()
}

#[test]
fn sarif_points_at_the_line_that_is_to_blame() {
    let folder = unexpected();
    let said = handlecheck(folder.path(), &words("test -q . --format sarif"));
    assert_eq!(said.code, 1);
    let sarif: Value = serde_json::from_str(&said.out).expect("SARIF is JSON");
    let expected = [
        // The second effect is committed by the second transaction of `write`.
        ("error", "no-double-write", "own.design.toml", "[\"apply\"]"),
        // What was expected and is not there can only be shown where it was expected.
        ("error", "truthful-outcome", "one.scenario.toml", "truthful-outcome = \"violated\""),
    ];
    let found = results(&sarif);
    let errors = found.iter().filter(|(level, ..)| level == "error");
    let errors: Vec<_> = errors.map(|(level, rule, uri, text)| (&**level, &**rule, &**uri, &**text)).collect();
    assert_eq!(errors, expected);
    assert!(found.iter().all(|(level, ..)| level == "error" || level == "note"), "{found:?}");
}

/// What code scanning asks of a file: each rule once, each result of a rule, a flow of places in files.
#[test]
fn sarif_is_whole() {
    let said =
        handlecheck(folder().path(), &words("check -q two-agents-drop foreign-handle --design naive --format sarif"));
    let sarif: Value = serde_json::from_str(&said.out).expect("SARIF is JSON");
    assert_eq!(sarif["version"], "2.1.0");
    let rules = sarif["runs"][0]["tool"]["driver"]["rules"].as_array().expect("a list");
    let ids: BTreeSet<&str> = rules.iter().map(|rule| rule["id"].as_str().expect("a name")).collect();
    assert_eq!(ids.len(), rules.len(), "each rule once");
    let mut fingerprints = BTreeSet::new();
    for result in sarif["runs"][0]["results"].as_array().expect("a list") {
        assert!(ids.contains(result["ruleId"].as_str().expect("a name")));
        assert!(fingerprints.insert(result["partialFingerprints"].to_string()), "each result once: {result}");
        if result["level"] == "error" {
            let steps = result["codeFlows"][0]["threadFlows"][0]["locations"].as_array().expect("a flow");
            assert!(steps.len() > 3 && steps.iter().all(|step| !step["location"]["message"]["text"].is_null()));
        }
    }
    for (level, rule, uri, text) in results(&sarif) {
        assert!(!text.is_empty(), "{level} {rule} {uri}");
    }
}

#[test]
fn further_reports_go_to_files_and_say_the_same() {
    let folder = folder();
    let line = "check -q two-agents-drop --design naive";
    let said = handlecheck(folder.path(), &words(&format!("{line} --report sarif=x.sarif --report junit=x.xml")));
    let human = handlecheck(folder.path(), &words(line));
    assert_eq!((said.code, &said.out), (1, &human.out));
    for (format, file) in [("sarif", "x.sarif"), ("junit", "x.xml")] {
        let alone = handlecheck(folder.path(), &words(&format!("{line} --format {format}")));
        assert_eq!(std::fs::read_to_string(folder.path().join(file)).expect("it was written"), alone.out);
    }
}

#[test]
fn an_unknown_format_is_bad_usage() {
    says(
        "check two-agents --format junti",
        2,
        str![[r#"
error: invalid value 'junti' for '--format <FORMAT>'
  [possible values: human, json, junit, markdown, sarif, csv, svg]

  tip: a similar value exists: 'junit'

For more information, try '--help'.

"#]],
    );
    says(
        "check two-agents --report sarif",
        2,
        str![[r#"
error: invalid value 'sarif' for '--report <FORMAT=FILE>': expected FORMAT=FILE

For more information, try '--help'.

"#]],
    );
    says(
        "check two-agents --design versioned -q --report sarif=no/where.sarif",
        2,
        str![[r#"
error: invalid value 'sarif=no/where.sarif' for '--report <FORMAT=FILE>': there is no folder no

For more information, try '--help'.

"#]],
    );
}

/// A step is shown in the design that its node ran then: the old one, or once it has changed over, the new one.
#[test]
fn sarif_points_at_the_design_that_a_node_runs() {
    let line = "check -q deploy-keys --design keys-in-node-memory-sticky --deploy dedup-only --invariant no-double-write --format sarif";
    let report: Value = serde_json::from_str(&handlecheck(folder().path(), &words(line)).out).expect("it is JSON");
    let file = |location: &Value| {
        let uri = location["physicalLocation"]["artifactLocation"]["uri"].as_str().expect("it has a file");
        uri.rsplit('/').next().unwrap_or_default().to_owned()
    };
    let result = &report["runs"][0]["results"][0];
    let steps = result["codeFlows"][0]["threadFlows"][0]["locations"].as_array().expect("it has steps");
    let ran: Vec<String> = steps
        .iter()
        .map(|step| &step["location"])
        .filter(|location| location["message"]["text"].as_str().is_some_and(|text| text.contains(" executes ")))
        .map(file)
        .collect();
    let (old, new) = ("keys-in-node-memory-sticky.toml", "dedup-only.toml");
    assert_eq!(ran, [old, old, new]);
    assert_eq!(file(&result["locations"][0]), new);
}
