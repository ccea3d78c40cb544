//! The schemas of locks, and of what differs between two of them.

use serde_json::{Value, json};

use super::outputs::{budgets, heading, record, texts};
use super::{boolean, count, document, list, map, number, object, reference, text, words};
use crate::lock::{Kind, SCHEMA};
use crate::model::Verdict;

/// Which run it is.
fn subject() -> Vec<(&'static str, Value)> {
    vec![
        ("scenario", text("The scenario's name.")),
        ("design", text("The design's name.")),
        ("protocol", text("The protocol's name.")),
    ]
}

fn cost() -> Value {
    let numbers = vec![("steps", count("Its steps.")), ("faults", count("Its faults."))];
    record("What a break costs.", numbers, Vec::new())
}

pub(super) fn lock() -> Value {
    let digests = |about: &str| map(about, text("The digest of its text."));
    let asked = object(
        "What was asked of the folder, where it is not the default.",
        &[],
        vec![
            ("expected", boolean("Only the runs of which something is expected.")),
            ("protocol", text("The protocol, whatever the scenarios name.")),
            ("faults", budgets()),
            ("invariants", texts("These invariants and assertions only.")),
            ("max-states", number("At most so many states in each run.", 0, i64::MAX)),
        ],
    );
    let verdict = json!({
        "description": "The verdict; where it is violated, the front of cheapest breaks.",
        "anyOf": [
            { "enum": ["holds", "violated", "inconclusive"] },
            list("The breaks, shortest first.", reference("break")),
        ],
    });
    let mut always = subject();
    always.extend([
        ("bounds", budgets()),
        ("states", count("Distinct states.")),
        ("transitions", count("Transitions.")),
        ("depth", count("Length of the longest shortest path.")),
        ("verdicts", map("What was found of each invariant and assertion that is not vacuous.", verdict)),
    ]);
    let sometimes = vec![
        ("engine", text("The engine, where it is not handlecheck's own.")),
        ("reductions", texts("The reductions that were used: then the numbers are not those of the whole graph.")),
        ("stopped", text("Why not everything was explored.")),
        ("vacuous", texts("The invariants and assertions that are vacuous.")),
    ];
    let run = record("What a run comes to.", always, sometimes);
    let mut misfit = subject();
    misfit.push(("because", text("Why.")));
    let misfit = record("A scenario and a design that don't fit together.", misfit, Vec::new());
    let always = vec![
        ("schema", json!({ "const": SCHEMA, "description": "The version of the format." })),
        ("handlecheck", text("The version of handlecheck that wrote it.")),
        ("scenarios", digests("The scenarios.")),
        ("designs", digests("The designs.")),
        ("protocols", digests("The protocols.")),
    ];
    let sometimes = vec![
        ("asked", asked),
        ("runs", list("The runs.", reference("run"))),
        ("misfits", list("What can't be run.", reference("misfit"))),
    ];
    let definitions = json!({ "run": run, "misfit": misfit, "break": cost() });
    document("handlecheck lock", record("What every run of a folder comes to.", always, sometimes), definitions)
}

pub(super) fn difference() -> Value {
    let nullable = |name: &str| json!({ "anyOf": [reference(name), { "type": "null" }] });
    let side = record(
        "One side of a change.",
        vec![("words", text("In words."))],
        vec![
            (
                "verdict",
                words("The verdict.", Verdict::ALL.iter().map(|verdict| (verdict.name(), verdict.about().to_owned()))),
            ),
            ("breaks", list("The front of cheapest breaks.", reference("break"))),
        ],
    );
    let kinds = Kind::ALL.iter().map(|kind| (kind.name(), kind.about().to_owned()));
    let change = record(
        "One change.",
        vec![
            ("kind", words("How it changed.", kinds)),
            ("worse", boolean("It is a change for the worse.")),
            ("old", nullable("run")),
            ("new", nullable("run")),
            (
                "invariant",
                json!({ "type": ["string", "null"], "description": "The invariant or assertion; null where the run as a whole changed." }),
            ),
            ("before", reference("side")),
            ("after", reference("side")),
        ],
        vec![
            ("sentence", text("What happens in the new counterexample.")),
            ("command", text("The command that shows it.")),
            ("trace", text("The file of its trace.")),
        ],
    );
    let mut space = subject();
    space.extend([("before", count("States before.")), ("after", count("States now."))]);
    let mut always = heading();
    always.extend([
        ("old", text("What the old side is called.")),
        ("new", text("What the new side is called.")),
        ("worse", boolean("Something changed for the worse.")),
        ("compared", count("Runs that are on both sides.")),
        ("same", count("Those of them with the same verdicts in the same bounds.")),
        (
            "open",
            count("Those of them in which nothing changed that is known, and something was left open on both sides."),
        ),
        ("unfinished", count("Runs that were not compared, since it was stopped.")),
        ("changes", list("The changes, the worst first.", reference("change"))),
        (
            "spaces",
            list(
                "Runs with the same verdicts and another state space.",
                record("A run and its states.", space, Vec::new()),
            ),
        ),
        ("inputs", texts("The inputs whose texts differ.")),
        ("hint", text("What to do about it; empty where there is nothing.")),
    ]);
    let run = record("Which run.", subject(), Vec::new());
    let definitions = json!({ "run": run, "side": side, "change": change, "break": cost() });
    document("handlecheck difference", record("What changed between two locks.", always, Vec::new()), definitions)
}
