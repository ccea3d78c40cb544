//! The schema of what `audit` reports.

use serde_json::Value;

use super::outputs::{heading, record, texts};
use super::{count, document, list, map, reference, text, words};
use crate::audit::CHECKS;
use crate::model::Verdict;

pub(super) fn audit() -> Value {
    let malformed = record(
        "A line that could not be read.",
        vec![("line", count("Its number, from 1.")), ("what", text("What is wrong with it."))],
        Vec::new(),
    );
    let finding = record(
        "One violation.",
        vec![
            ("sentence", text("What happened, in one sentence without its full stop.")),
            ("calls", texts("The calls that show it, as the log names them.")),
            ("lines", list("The lines that show it.", count("A line's number, from 1."))),
        ],
        vec![
            ("anomaly", text("The standard name of the anomaly, where it has one.")),
            ("cycle", texts("For a cycle: why each call comes before the next, a sentence an edge.")),
        ],
    );
    let verdicts = Verdict::ALL.iter().map(|verdict| (verdict.name(), verdict.about().to_owned()));
    let check = record(
        "What came out for one check.",
        vec![
            ("name", words("Its name.", CHECKS.iter().map(|row| (row.name, row.summary())))),
            ("sentence", text("What must hold.")),
            ("verdict", words("The verdict.", verdicts)),
            ("about", count("How many calls it is about.")),
            ("judged", count("How many of these it could judge.")),
            ("unjudged", map("Why it could not judge the others, and how many of them.", count("How many."))),
            ("violations", count("How many violations there are.")),
            ("findings", list("The first violations.", reference("finding"))),
        ],
        vec![("anomaly", text("The standard name of what violates it, with a reference."))],
    );
    let mut always = heading();
    always.extend([
        ("log", text("What the log is called.")),
        ("lines", count("How many lines it has.")),
        ("calls", count("How many calls.")),
        ("resources", count("How many resources.")),
        ("left-out", count("How many lines a mapping leaves out.")),
        ("malformed", count("How many lines could not be read.")),
        ("mistakes", list("The first of these.", reference("malformed"))),
        ("checks", list("One for each check that was made.", reference("check"))),
    ]);
    let sometimes = vec![
        (
            "warnings",
            texts("What may have been meant otherwise: no call at all, or a part of the mapping that leads nowhere."),
        ),
        ("stopped", text("Why the log was not read to its end.")),
    ];
    let whole = record("What a log of calls shows, and what it can't show.", always, sometimes);
    let definitions = [("malformed", malformed), ("finding", finding), ("check", check)];
    document("handlecheck audit", whole, definitions.into_iter().map(|(name, part)| (name.to_owned(), part)).collect())
}
