//! What a finished intent costs, in the report of `compare`.

use serde_json::{Value, json};

use super::outputs::record;
use super::{boolean, count, list, reference, words};
use crate::run::{KeyKept, LeaseKept};
use crate::step::Measure;

pub(super) fn real(about: &str) -> Value {
    json!({ "type": "number", "description": about })
}

/// The parts of it, by name. `estimate` is another's.
pub(super) fn parts() -> [(&'static str, Value); 2] {
    let cost = record(
        "What a finished intent takes of one thing.",
        vec![("name", words("What.", Measure::ALL.iter().map(|one| (one.name(), one.about().to_owned()))))],
        vec![
            ("fewest", real("The fewest, over all runs that end: exact.")),
            (
                "most",
                json!({ "description": "The most: exact.", "anyOf": [{ "type": "number" }, { "const": "unbounded" }] }),
            ),
            ("expected", reference("estimate")),
        ],
    );
    let costs = record(
        "What a finished intent costs: one whose agent was told what became of it.",
        vec![
            ("exact", boolean("Every run was looked at: else the fewest and the most are left out.")),
            ("runs", count("How many random runs the expected values are estimated from; 0: none.")),
            ("measures", list("One for each thing.", reference("cost"))),
            (
                "lease-kept",
                words(
                    "For how long a lease must be kept.",
                    LeaseKept::ALL.iter().map(|one| (one.name(), one.about().to_owned())),
                ),
            ),
        ],
        vec![(
            "key-kept",
            words(
                "For how long the record of a key must be kept.",
                KeyKept::ALL.iter().map(|one| (one.name(), one.about().to_owned())),
            ),
        )],
    );
    [("cost", cost), ("costs", costs)]
}
