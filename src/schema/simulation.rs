//! The report of random runs.

use serde_json::{Value, json};

use super::outputs::record;
use super::{boolean, count, list, map, reference, text, words};
use crate::model::{Outcome, Verdict};

fn real(about: &str) -> Value {
    json!({ "type": "number", "description": about })
}

/// The parts of it, by name.
pub(super) fn parts(budgets: Value) -> [(&'static str, Value); 3] {
    let verdicts = Verdict::ALL.iter().map(|verdict| (verdict.name(), verdict.about().to_owned()));
    let estimate = record(
        "An estimated value: in 95 of 100 cases the true one lies between `low` and `high`.",
        vec![("mean", real("The estimate.")), ("low", real("Not below this.")), ("high", real("Not above this."))],
        Vec::new(),
    );
    let invariant = record(
        "What came out of random runs for one invariant or assertion.",
        vec![
            ("name", text("Its name.")),
            ("verdict", words("The verdict: random runs prove nothing, so it is rarely `holds`.", verdicts)),
            ("expected", json!({ "type": ["string", "null"], "description": "What the inputs expect." })),
            ("violations", count("In how many runs it was violated.")),
            (
                "interval",
                list("The probability that a run violates it lies between these in 95 of 100 cases.", real("")),
            ),
            ("reached", count("In how many runs its witness was reached.")),
        ],
        vec![
            ("run", count("The first run that violated it, from 0.")),
            ("steps", count("Steps of the trace.")),
            ("faults", count("Faults of the trace.")),
            ("trace", text("The file of the trace.")),
            ("sentence", text("What happens in the trace.")),
        ],
    );
    let spread = record(
        "Steps of a run.",
        vec![("fewest", count("The fewest.")), ("mean", real("The mean.")), ("most", count("The most."))],
        Vec::new(),
    );
    let cost = |name: &'static str, about: &str| {
        (name, json!({ "description": about, "anyOf": [{ "type": "null" }, reference("estimate")] }))
    };
    let costs = record(
        "What one finished intent costs.",
        vec![
            cost("calls", "Requests that were sent."),
            cost("round-trips", "Answers that were received."),
            cost("conflicts", "Calls that were refused."),
            cost("repeats", "Calls that were sent again."),
            cost("replans", "Calls that were sent for a new plan."),
            cost("questions", "Intents that ended in a question to the person."),
        ],
        Vec::new(),
    );
    let outcomes: Vec<&str> = Outcome::ALL.iter().map(|outcome| outcome.name()).collect();
    let simulation = record(
        "Random runs of one scenario under one design.",
        vec![
            ("scenario", text("The scenario's name.")),
            ("design", text("The design's name.")),
            ("protocol", text("The protocol's name.")),
            ("bounds", record("The budgets.", vec![("faults", budgets)], Vec::new())),
            ("agents", count("Agents.")),
            ("nodes", count("Nodes.")),
            ("runs", count("How many runs were made.")),
            ("seed", count("From which all random numbers came.")),
            ("schedule", text("Who moved next.")),
            ("rates", map("How likely each fault struck before a step.", real(""))),
            ("complete", boolean("As many runs were made as asked for.")),
            ("cut", count("Runs that were cut short.")),
            ("steps", spread),
            ("invariants", list("One for each invariant and assertion.", reference("simulated-invariant"))),
            ("costs", costs),
            ("outcomes", map(&format!("How often calls ended with {}, ..", outcomes[..2].join(", ")), count(""))),
        ],
        vec![("stopped", text("Why it is not complete."))],
    );
    [("estimate", estimate), ("simulated-invariant", invariant), ("simulation", simulation)]
}
