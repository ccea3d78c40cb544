//! The schema of a mapping: which part of each line of somebody else's log plays which part of a call.

use serde_json::{Value, json};

use super::outputs::record;
use super::{boolean, document, list, map, reference, text, words};
use crate::log::{Ended, Operation};
use crate::model::Outcome;

pub(super) fn mapping() -> Value {
    let times = [
        ("numbers", "Whole numbers, in any unit."),
        ("seconds", "Seconds, with a fraction; read to the microsecond."),
        ("dates", "RFC 3339, as `2026-07-28T10:00:00.5Z`; read to the microsecond."),
    ];
    let ended = Outcome::ALL.iter().map(|outcome| (outcome.name(), outcome.about().to_owned()));
    let ended =
        ended.chain([(Ended::REFUSED, "Refused for a reason that has no word here; nothing happened.".to_owned())]);
    let wanted = |about: &str| map(about, json!({ "description": "A value, or a list of such; `*` is any." }));
    let join = record(
        "For logs with a line for each request and another for each answer, which then stand under /request and /answer.",
        vec![
            ("by", list("What is equal in both.", reference("pointer"))),
            ("request", wanted("What a request has.")),
            ("answer", wanted("What an answer has.")),
        ],
        Vec::new(),
    );
    let whole = record(
        "Which part of each line of somebody else's log plays which part of a call.",
        vec![("call", call()), ("tools", map("What each tool does, and where its parts are.", reference("tool")))],
        vec![
            ("title", text("In words.")),
            ("times", words("How times are written.", times.map(|(word, about)| (word, about.to_owned())))),
            ("whole", boolean("Every call that was sent to these servers in its time is in the log.")),
            ("versions-count", boolean("Every accepted change adds one to the version of its resource.")),
            ("takes-back", boolean("The servers may take back what a call did that was then refused or cancelled.")),
            ("only", wanted("The lines that count: what stands at each pointer. Others are left out.")),
            ("join", join),
            ("outcomes", map("What the words of the log mean.", words("An outcome.", ended))),
        ],
    );
    let pointer = json!({
        "type": "string",
        "description": "A JSON pointer (RFC 6901), in which `*` stands for every element.",
        "pattern": "^(/|$)",
    });
    let constant = record("The same for every call.", vec![("is", json!({ "description": "A value." }))], Vec::new());
    let part = json!({
        "description": "A pointer, a list of which the first counts that leads somewhere, or the same for every call.",
        "anyOf": [reference("pointer"), list("The first that leads somewhere counts.", reference("pointer")), constant],
    });
    let fields = json!({
        "description": "A pointer to an object, or each field by itself.",
        "anyOf": [reference("pointer"), map("Each field.", reference("part"))],
    });
    let handles = json!({
        "description": "A pointer to a handle or to a list of handles, or a list of such, of which all count.",
        "anyOf": [reference("pointer"), list("All of these.", reference("part")), constant],
    });
    document(
        "A mapping for handlecheck audit",
        whole,
        json!({ "pointer": pointer, "part": part, "fields": fields, "handles": handles, "tool": tool() }),
    )
}

fn call() -> Value {
    let part = |name| (name, reference("part"));
    let optional = [
        "id",
        "received",
        "cut",
        "principal",
        "node",
        "key",
        "request",
        "intent",
        "repeats",
        "outcome",
        "error",
        "replayed",
    ];
    record(
        "Where the parts are that any call has.",
        ["sent", "agent", "tool"].map(part).into(),
        optional.map(part).into(),
    )
}

fn tool() -> Value {
    let operations = |operations: &[Operation]| {
        let all = operations.iter().map(|operation| (operation.name(), operation.about().to_owned()));
        words("What it does.", all.collect::<Vec<_>>())
    };
    let besides = [Operation::Set, Operation::Append, Operation::Increment, Operation::Read];
    let also = record(
        "What it does to another resource besides.",
        vec![("does", operations(&besides)), ("handle", reference("part"))],
        vec![
            ("fields", reference("fields")),
            ("expects", reference("part")),
            ("saw", reference("part")),
            ("version", reference("part")),
            ("shows", reference("fields")),
        ],
    );
    let condition = record(
        "Under which condition its caller wants it.",
        vec![
            ("expression", reference("part")),
            ("names", map("What each name in it stands for: a handle.", reference("part"))),
        ],
        Vec::new(),
    );
    record(
        "What a tool does, and where its parts are.",
        vec![("does", operations(Operation::ALL))],
        vec![
            ("handle", reference("part")),
            ("fields", reference("fields")),
            ("expects", reference("part")),
            ("saw", reference("part")),
            ("given", reference("handles")),
            ("if", condition),
            ("also", also),
            ("version", reference("part")),
            ("answer-handle", reference("part")),
            ("shows", reference("fields")),
        ],
    )
}
