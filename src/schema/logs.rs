//! The schema of one line of a log of calls.

use serde_json::{Value, json};

use super::outputs::{record, texts};
use super::{boolean, count, document, map, name, reference, text, words};
use crate::log::{Ended, Lifecycle, Operation, SCHEMA};
use crate::model::{Outcome, Told};

/// One kind of line: its `type`, and the rest.
fn line(kind: &str, about: &str, mut always: Vec<(&str, Value)>, sometimes: Vec<(&str, Value)>) -> Value {
    always.insert(0, ("type", json!({ "const": kind })));
    record(about, always, sometimes)
}

fn time(about: &str) -> Value {
    count(about)
}

fn contents(about: &str) -> Value {
    map(about, json!({}))
}

fn versions(about: &str) -> Value {
    map(about, reference("version"))
}

pub(super) fn log() -> Value {
    let operations = Operation::ALL.iter().map(|operation| (operation.name(), operation.about().to_owned()));
    let ended = Outcome::ALL.iter().map(|outcome| (outcome.name(), outcome.about().to_owned()));
    let ended =
        ended.chain([(Ended::REFUSED, "Refused for a reason that has no word here; nothing happened.".to_owned())]);
    let answer = record(
        "What a call was answered.",
        vec![("outcome", words("How the call ended.", ended))],
        vec![
            ("replayed", boolean("It says that it was answered from a record of an earlier call.")),
            ("handle", text("The handle that it is about, where it says so; for `mint`, the new one.")),
            ("version", reference("version")),
            ("also-version", reference("version")),
            ("also-fields", contents("The content that it shows of the other resource.")),
            ("fields", contents("The content that it shows.")),
            ("error", text("What a refusal says, in the server's words.")),
        ],
    );
    let heading = line(
        "log",
        "What the log is about: the first line, where there is one.",
        vec![("schema", json!({ "const": SCHEMA, "description": "The version of the format." }))],
        vec![
            ("handlecheck", text("The version of handlecheck that wrote it.")),
            ("scenario", text("The scenario that was run.")),
            ("design", text("The design that was run.")),
            ("protocol", text("The protocol that was spoken.")),
            ("seed", count("From which all random choices came.")),
            ("versions-count", boolean("Every accepted change adds one to the version of its resource.")),
            ("takes-back", boolean("The servers may take back what a call did that was then refused or cancelled.")),
            ("about", text("Anything else worth saying.")),
        ],
    );
    let condition = record(
        "Under which condition its author wants it, whether the request says so or not.",
        vec![
            ("expression", text("An expression over fields: `quota.used < 10`.")),
            ("names", map("What the names in it stand for: a handle each.", json!({ "type": "string" }))),
        ],
        Vec::new(),
    );
    let besides = [Operation::Set, Operation::Append, Operation::Increment, Operation::Read];
    let besides = besides.iter().map(|operation| (operation.name(), operation.about().to_owned()));
    let also = record(
        "What it changes besides, in another resource; for a read, what it reads besides.",
        vec![
            ("tool", words("What it asks for: a read, `read`, and every other a change.", besides)),
            ("handle", text("The handle of the other resource.")),
        ],
        vec![("fields", contents("What it carries for it."))],
    );
    let call = line(
        "call",
        "A call, as its client saw it.",
        vec![
            ("sent", time("When it was sent, in any unit, on the one clock of this log.")),
            ("agent", name("Who sent it. An agent waits for at most one call at a time.")),
            ("tool", words("What it asks for.", operations)),
        ],
        vec![
            ("id", text("Its name in this log; by default the number of its line.")),
            ("received", time("When its answer was received.")),
            ("cut", time("When its client learned that the stream was broken, or gave up.")),
            ("principal", text("For whom the agent acts; by default the agent itself.")),
            ("node", text("Which server it was sent to.")),
            ("called", text("The tool's name on the wire, where that is another word.")),
            ("handle", text("The handle that it names; none for `mint`.")),
            ("fields", contents("What it carries.")),
            ("expects", versions("The versions that the request says it expects, by handle.")),
            ("saw", versions("The versions that its author had seen when it planned the call, by handle.")),
            (
                "given",
                texts("The handles of what its plan rests on; by default what `saw` and `expects` name besides."),
            ),
            ("if", condition),
            ("also", also),
            ("key", text("Its idempotency key, or operation id.")),
            ("request", json!({ "description": "The request id on the wire." })),
            ("intent", text("The piece of work that it serves, which should take effect once.")),
            ("repeats", text("The call that it sends again, by its `id`.")),
            ("answer", reference("answer")),
        ],
    );
    let lifecycles = Lifecycle::ALL.iter().map(|lifecycle| (lifecycle.name(), lifecycle.about().to_owned()));
    let state = line(
        "state",
        "What an observer found a resource to be.",
        vec![("at", time("When the observer asked.")), ("handle", text("The handle."))],
        vec![
            ("owner", text("The principal that owns it.")),
            ("shared-with", texts("The principals that may use it too.")),
            ("version", reference("version")),
            ("fields", contents("Its content.")),
            ("lifecycle", words("Whether it has ended.", lifecycles)),
        ],
    );
    let told = Told::ALL.iter().map(|told| (told.name(), told.about().to_owned()));
    let told = line(
        "told",
        "What an agent finally told about an intent.",
        vec![
            ("at", time("When.")),
            ("agent", text("The agent.")),
            ("intent", text("The intent.")),
            ("told", words("What it told.", told)),
        ],
        Vec::new(),
    );
    let event = line(
        "event",
        "Something that was done to the servers, or that happened to them.",
        vec![("at", time("When.")), ("event", text("What, by the name of the fault where it is one."))],
        vec![
            ("node", text("To which node.")),
            ("agent", text("To which agent.")),
            ("handle", text("To which resource.")),
            ("about", text("In words.")),
        ],
    );
    let about = "The log is whole: every call that was sent to these servers in its time is in it.";
    let end = line("end", about, vec![("at", time("When it was closed."))], Vec::new());
    let version = json!({
        "description": "A number that grows with each change, or a name that tells contents apart.",
        "anyOf": [count("A number."), { "type": "string", "description": "A name, which has no order." }],
    });
    let kinds = json!({ "log": heading, "call": call, "state": state, "told": told, "event": event, "end": end });
    let kinds_of = ["log", "call", "state", "told", "event", "end"].map(reference);
    let mut definitions = kinds;
    definitions["answer"] = answer;
    definitions["version"] = version;
    let whole = json!({ "type": "object", "description": "One line of a log of calls.", "oneOf": kinds_of });
    document("handlecheck log", whole, definitions)
}
