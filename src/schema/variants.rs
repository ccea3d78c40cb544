//! What `ablate` and `repair` report: variants of a design, or of what it relies on.

use serde_json::{Value, json};

use super::costs::real;
use super::outputs::{budgets, cause, found, heading, invariant, record, texts};
use super::{boolean, count, document, list, reference, text, words};

fn who() -> Vec<(&'static str, Value)> {
    vec![
        ("scenario", text("The scenario's name.")),
        ("design", text("The design's name.")),
        ("protocol", text("The protocol's name.")),
        ("bounds", record("In which bounds.", vec![("faults", budgets())], Vec::new())),
        ("violated", texts("What is violated before anything is changed.")),
    ]
}

fn whole(title: &str, about: &str, run: Value, definitions: Value) -> Value {
    let mut always = heading();
    always.push(("runs", list("One for each design.", run)));
    document(title, record(about, always, Vec::new()), definitions)
}

pub(super) fn ablation() -> Value {
    let results = [
        ("breaks", "Something is violated with it that is not violated without."),
        ("nothing", "Nothing more is violated than before."),
        ("never-arises", "What it is about happens in no run: it did not come into question."),
        ("impossible", "With it, it is no design for this scenario."),
        ("inconclusive", "A limit was hit before this was known."),
    ];
    let change = record(
        "One change, and what it breaks.",
        vec![
            ("change", text("What is changed, in words.")),
            ("result", words("What came of it.", results.map(|(name, about)| (name, about.to_owned())))),
            ("breaks", list("What is violated with it and not without.", reference("invariant"))),
        ],
        vec![("reason", text("Why it is no design."))],
    );
    let mut always = who();
    always.extend([
        ("changes", list("One for each change.", reference("change"))),
        ("protect-nothing", texts("The steps that protect nothing in this scenario.")),
        ("complete", boolean("Every variant was explored whole.")),
    ]);
    let run = record("The changes of one design, or of what it relies on.", always, Vec::new());
    let definitions = json!({ "change": change, "invariant": invariant(), "break": found(), "cause": cause() });
    whole("handlecheck ablation", "What breaks when one thing is changed.", run, definitions)
}

pub(super) fn repairs() -> Value {
    let estimate = record(
        "An estimated value: in 95 of 100 cases the true one lies between `low` and `high`.",
        vec![("mean", real("The estimate.")), ("low", real("Not below this.")), ("high", real("Not above this."))],
        Vec::new(),
    );
    let costs = ["calls", "round-trips", "conflicts", "repeats", "replans", "questions"];
    let cost = |name| (name, json!({ "anyOf": [{ "type": "null" }, reference("estimate")] }));
    let repair = record(
        "A change of the design with which everything holds.",
        vec![
            ("changes", texts("What is changed, in words.")),
            ("patch", text("The same, as a patch of the file.")),
            ("states", count("How many states were explored to prove it.")),
            ("costs", record("What a finished intent costs with it.", costs.map(cost).into(), Vec::new())),
        ],
        vec![("vacuous", texts("What held before, and is vacuous with it."))],
    );
    let mut always = who();
    always.extend([
        ("repairs", list("The repairs, the smallest first.", reference("repair"))),
        ("tried", count("How many variants were looked at.")),
        ("undecided", count("How many of them are so large that they could not be decided.")),
        ("complete", boolean("Nothing was cut short.")),
    ]);
    let run = record("The repairs of one design.", always, Vec::new());
    let definitions = json!({ "repair": repair, "estimate": estimate });
    whole("handlecheck repairs", "The smallest changes with which everything holds.", run, definitions)
}
