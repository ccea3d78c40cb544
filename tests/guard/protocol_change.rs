//! `docs/protocol-change.md`: which shipped designs the revision 2026-07-28 of MCP breaks, which it saves, and which of its
//! changes alone does that.
//!
//! One side of the comparison is the lock of the shipped models, which another test holds. Only the other side is explored
//! here, and what lies between the two for those runs that differ.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use handlecheck::diagrams::FORMATS;
use handlecheck::input::{self, Kind, Source, library};
use handlecheck::lock::{Asked, Axis, Change, Cost, Difference, Found, Kind as How, Lock, Subject, read};
use handlecheck::model::protocol::DEFAULT_PROTOCOL;
use handlecheck::run::{Options, Report, Run, invariant_names};

use super::common::{root, same};
use super::models;

const OLD: &str = "mcp-2025-11-25";
const NEW: &str = "mcp-2026-07-28";

/// The changes between the two, one at a time: the protocol in which only this one is made, and what it is called.
const SWITCHES: [(&str, &str); 4] = [
    ("mcp-2025-11-25-never-resumed", "never resumed"),
    ("mcp-2025-11-25-closed-streams-cancel", "closed streams cancel"),
    ("mcp-2025-11-25-without-sessions", "no sessions"),
    ("mcp-2025-11-25-server-names-tasks", "the server names"),
];

const HEAD: &str = "\
<!-- Made from the product by tests/guard/protocol_change.rs. `SNAPSHOTS=overwrite cargo test` renews it. -->

# What the revision 2026-07-28 of MCP breaks, and what it saves

Every shipped design is checked in the scenarios of which something is expected, under the protocol `mcp-2025-11-25` and
under `mcp-2026-07-28`. These are the verdicts that differ. For models of your own:

```sh
handlecheck diff --protocol mcp-2025-11-25..mcp-2026-07-28
```

Four rules changed. Each is a protocol of its own that takes this step alone, so that a difference has a cause:

| change | protocol | in 2025-11-25 | in 2026-07-28 |
| --- | --- | --- | --- |
| never resumed | [`mcp-2025-11-25-never-resumed`](reference/protocols.md#mcp-2025-11-25-never-resumed) | a broken stream may be resumed by `Last-Event-ID` (basic/transports, \"Resumability and Redelivery\") | it can't be; a client that still wants the result issues the call again, as a new request with a new id (changelog; SEP-2575) |
| closed streams cancel | [`mcp-2025-11-25-closed-streams-cancel`](reference/protocols.md#mcp-2025-11-25-closed-streams-cancel) | a disconnection should not be taken for a cancellation (basic/transports) | it is one, and the server should stop as soon as is practical (basic/transports/streamable-http, basic/patterns/cancellation; SEP-2575) |
| no sessions | [`mcp-2025-11-25-without-sessions`](reference/protocols.md#mcp-2025-11-25-without-sessions) | state may be keyed by a session (basic/transports, \"Session Management\") | no request relies on an earlier one; a handle names what spans calls (basic/index, \"Statelessness\"; SEP-2567) |
| the server names | [`mcp-2025-11-25-server-names-tasks`](reference/protocols.md#mcp-2025-11-25-server-names-tasks) | the client chooses the id of a task (SEP-1686 as it was proposed; in the text that was published the receiver makes it, basic/utilities/tasks) | the server makes it (SEP-2663) |

The last column of each table says which of them alone does it to the older revision, or which two together where none does:
a call that was stopped half-way does no harm for as long as nobody sends it again, say.
";

/// A shipped run under a protocol; `None` where they do not fit, with the reason.
fn run((scenario, design): &(String, String), protocol: Option<&str>) -> Result<Run, String> {
    let source = |kind, name: &str| library::find(kind, name).expect("it is shipped");
    let scenario = input::read_scenario(&source(Kind::Scenario, scenario), &invariant_names()).expect("it can be read");
    let design = input::read_design(&source(Kind::Design, design)).expect("it can be read");
    let protocol = input::protocol_of(&scenario, protocol).expect("it is shipped");
    let first =
        |error: input::InputError| error.diagnostics.first().map_or_else(String::new, |one| one.message.clone());
    Run::new(scenario, design, protocol, &BTreeMap::new()).map_err(first)
}

fn explored(run: &Run, only: &[String], stop_early: bool) -> Report {
    let options = Options { only: only.to_vec(), stop_early, ..Options::default() };
    run.explore(&options, &mut |_| false).expect("every trace is recorded")
}

/// What these pairs come to under a protocol. What is known already is not explored again.
fn locked(pairs: &BTreeSet<(String, String)>, protocol: &str, known: &Lock) -> Lock {
    let mut lock = Lock::new(Asked::default());
    for pair in pairs {
        let (scenario, design) = pair.clone();
        let subject = Subject { scenario, design, protocol: protocol.to_owned() };
        match (known.runs.get(&subject), run(pair, Some(protocol))) {
            (Some(outcome), _) => drop(lock.runs.insert(subject, outcome.clone())),
            (None, Ok(run)) => lock.add(&run, &explored(&run, &[], false)),
            (None, Err(because)) => drop(lock.misfits.insert(subject, because)),
        }
    }
    lock
}

/// The older revision with some of the changes, as a protocol: the rules of each that are not those of the older revision.
fn switched(protocols: &[&str]) -> Source {
    let text = |name: &str| library::find(Kind::Protocol, name).expect("it is shipped").text.to_string();
    let rules = |text: &str| -> Vec<String> {
        let rules = text.lines().skip_while(|line| !line.starts_with("resumable"));
        rules.map(str::to_owned).collect()
    };
    let old = rules(&text(OLD));
    let mut merged = old.clone();
    for protocol in protocols {
        for (rule, (now, before)) in merged.iter_mut().zip(rules(&text(protocol)).into_iter().zip(&old)) {
            if now != *before {
                *rule = now;
            }
        }
    }
    Source::new("switched", "switched.toml", format!("title = \"Some of the changes\"\n{}\n", merged.join("\n")))
}

/// The changes that do the same, the fewest of them: each alone, or else each two together.
fn causes(change: &Change, old: &Lock) -> String {
    let pair = pair(change);
    let Ok(before) = run(&pair, Some(OLD)) else { return "-".to_owned() };
    let subject = change.old.as_ref().expect("it was explored under the older revision");
    let only: Vec<String> = change.property.clone().into_iter().collect();
    // Whether it is violated is known before every break is.
    let stop_early = matches!(change.kind, How::NewlyBroken | How::Fixed);
    let does_it = |protocols: &[&str]| {
        let Ok(after) = before.with_protocol(&switched(protocols)) else { return change.property.is_none() };
        let report = explored(&after, &only, stop_early);
        let mut lock = Lock::new(Asked::default());
        lock.add(&after, &report);
        let mut one = Lock::new(Asked::default());
        one.runs.insert(subject.clone(), old.runs[subject].clone());
        let difference = Difference::between(&one, &lock, Axis::Protocol);
        difference.changes.iter().any(|other| other.property == change.property && other.kind == change.kind)
    };
    let alone = SWITCHES.iter().filter(|(protocol, _)| does_it(&[protocol])).map(|(_, name)| (*name).to_owned());
    let alone: Vec<String> = alone.collect();
    if !alone.is_empty() {
        return alone.join("; or ");
    }
    let mut together = Vec::new();
    for (at, (first, name)) in SWITCHES.iter().enumerate() {
        for (second, other) in &SWITCHES[at + 1..] {
            if does_it(&[first, second]) {
                together.push(format!("none alone; {name} and {other} together"));
            }
        }
    }
    assert!(!together.is_empty(), "{change:?} takes at most two changes");
    together.join("; or ")
}

fn pair(change: &Change) -> (String, String) {
    (change.subject().scenario.clone(), change.subject().design.clone())
}

fn table(page: &mut String, title: &str, rows: &[&Change], old: &Lock) {
    assert!(!rows.is_empty(), "{title}");
    write!(page, "\n## {title}\n\n").expect("writing to a string doesn't fail");
    page.push_str("| design | scenario | invariant | 2025-11-25 | 2026-07-28 | which change alone does it |\n");
    page.push_str("| --- | --- | --- | --- | --- | --- |\n");
    for change in rows {
        let ((scenario, design), causes) = (pair(change), causes(change, old));
        let property = change.property.as_ref().map_or_else(|| "-".to_owned(), |name| format!("`{name}`"));
        let (before, after) = (&change.before, &change.after);
        writeln!(page, "| `{design}` | `{scenario}` | {property} | {before} | {after} | {causes} |")
            .expect("writing to a string doesn't fail");
    }
}

/// For each invariant, the shortest of the new counterexamples.
fn drawings(page: &mut String, rows: &[&Change], protocol: &str) {
    let mut shortest: BTreeMap<&String, (Cost, &Change)> = BTreeMap::new();
    for change in rows {
        let found = if protocol == NEW { &change.is } else { &change.was };
        let (Some(property), Some(Found::Violated(front))) = (&change.property, found) else { continue };
        let cost = *front.first().expect("it has a shortest break");
        if shortest.get(property).is_none_or(|(other, _)| cost < *other) {
            shortest.insert(property, (cost, change));
        }
    }
    let text = FORMATS.first().expect("the first is the one for terminals").item;
    for (property, (_, change)) in shortest {
        let (scenario, design) = pair(change);
        let run = run(&pair(change), Some(protocol)).expect("it fits, since it was explored");
        let report = explored(&run, std::slice::from_ref(property), true);
        let trace = report.invariants[0].breaks[0].recorded.as_deref().expect("what was found is recorded");
        let drawn = text.text(trace).expect("it is text");
        write!(page, "\n### {property}\n\n`{design}` in `{scenario}`:\n\n```text\n{drawn}```\n")
            .expect("writing to a string doesn't fail");
    }
}

#[test]
fn the_page_on_the_change_of_protocols() {
    assert_eq!(NEW, DEFAULT_PROTOCOL, "the lock of the shipped models is made under it");
    let file = root().join("models/handlecheck.lock");
    let text = std::fs::read_to_string(file).expect("there is a lock");
    let known = read(&Source::new("handlecheck", "models/handlecheck.lock", text)).expect("it can be read");
    // What breaks while something is deployed is no matter of the revision alone.
    let alone = |pair: &(String, String)| input::halves(&pair.1).is_none();
    let pairs: BTreeSet<(String, String)> = models::expected().into_keys().filter(alone).collect();
    let (old, new) = (locked(&pairs, OLD, &known), locked(&pairs, NEW, &known));
    let difference = Difference::between(&old, &new, Axis::Protocol);
    let of_kinds = |kinds: &[How]| -> Vec<&Change> {
        difference.changes.iter().filter(|change| kinds.contains(&change.kind)).collect()
    };
    let (broken, saved) =
        (of_kinds(&[How::NewlyBroken, How::CheaperToBreak]), of_kinds(&[How::Fixed, How::DearerToBreak]));
    let lost = of_kinds(&[How::NoLongerCovered]);
    assert_eq!(broken.len() + saved.len() + lost.len(), difference.changes.len(), "every change is on the page");
    let mut page = HEAD.to_owned();
    write!(page, "\n{} runs were compared, and {} of them are the same.\n", difference.compared, difference.same)
        .expect("writing to a string doesn't fail");
    table(&mut page, "What it breaks", &broken, &old);
    table(&mut page, "What can't be built any more", &lost, &old);
    table(&mut page, "What it saves", &saved, &old);
    page.push_str("\n## How it breaks\n\nFor each invariant, the shortest of the new counterexamples.\n");
    drawings(&mut page, &broken, NEW);
    page.push_str("\n## What it saves a design from\n\nFor each invariant, the shortest counterexample under the older revision.\n");
    drawings(&mut page, &saved, OLD);
    same("docs/protocol-change.md", &page);
}
