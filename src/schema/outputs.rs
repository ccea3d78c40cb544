//! The schemas of traces and of reports.

use serde_json::{Map, Value, json};

use super::{boolean, count, document, list, map, number, object, reference, text, words};
use crate::faults::FAULTS;
use crate::handler::STEPS;
use crate::model::{Outcome, Told, Tool, Verdict};

/// What is there only sometimes comes behind what is always there.
pub(super) fn record(about: &str, always: Vec<(&str, Value)>, sometimes: Vec<(&str, Value)>) -> Value {
    let required: Vec<&str> = always.iter().map(|(key, _)| *key).collect();
    object(about, &required, always.into_iter().chain(sometimes).collect())
}

pub(super) fn texts(about: &str) -> Value {
    list(about, json!({ "type": "string" }))
}

/// The version of handlecheck, and that of the format.
pub(super) fn heading() -> Vec<(&'static str, Value)> {
    vec![
        ("handlecheck", text("The version of handlecheck that wrote it.")),
        ("schema", json!({ "const": 1, "description": "The version of the format." })),
    ]
}

/// The budget of each fault that has one.
pub(super) fn budgets() -> Value {
    let budget = |name: &'static str| (name, number("At most so often in one run.", 0, u8::MAX.into()));
    object("The budget of each fault that has one.", &[], FAULTS.iter().map(|row| budget(row.name)).collect())
}

fn outcomes() -> Value {
    words("How a call ended.", Outcome::ALL.iter().map(|outcome| (outcome.name(), outcome.about().to_owned())))
}

pub(super) fn trace() -> Value {
    let input = record(
        "One of the three inputs.",
        vec![("name", text("Its name.")), ("title", text("Its title.")), ("text", text("The text of its file."))],
        vec![
            ("file", text("Its file, by the path or the name by which it was asked for; a shipped one has none.")),
            ("deployed", reference("input")),
        ],
    );
    let content = record(
        "What a handle names, or what an agent believes of it.",
        vec![("handle", text("The handle."))],
        vec![
            ("version", count("The version, where it is known.")),
            ("values", texts("The values, in the order of the resource's fields.")),
        ],
    );
    let agent = record(
        "An agent.",
        vec![("name", text("Its name.")), ("principal", text("For whom it acts."))],
        vec![("parent", text("The agent that started it."))],
    );
    let resource = record(
        "A resource.",
        vec![("name", text("Its name.")), ("owner", text("Its owner.")), ("fields", texts("The names of its fields."))],
        vec![("shared-with", texts("The principals with whom it is shared.")), ("initial", reference("content"))],
    );
    let definitions: Map<String, Value> = [
        ("input", input),
        ("content", content),
        ("agent", agent),
        ("resource", resource),
        ("does", does()),
        ("call", call()),
        ("transaction", transaction()),
        ("answer", answer()),
        ("commit", commit()),
        ("step", step()),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect();
    let mut always = heading();
    always.extend([
        ("scenario", reference("input")),
        ("design", reference("input")),
        ("protocol", reference("input")),
        ("bounds", budgets()),
        ("sentence", text("What happened, in one sentence.")),
        ("faults", count("How many of the steps are faults.")),
        ("agents", list("Who is there.", reference("agent"))),
        ("nodes", texts("The names of the nodes.")),
        ("resources", list("The resources, as they are at the start.", reference("resource"))),
        ("steps", list("The steps. The last one shows the violation or the situation.", reference("step"))),
    ]);
    let sometimes = vec![
        ("invariant", text("The invariant or assertion that is violated.")),
        ("shows", text("The situation that is reached, where it shows one and violates nothing.")),
        ("kind", text("The kind of violation, where the invariant has several.")),
        ("loops-from", count("How many steps lead to the loop, for a run that goes round for ever.")),
    ];
    let about = "A run, step by step, from the initial state to a violation, or to a situation that was asked for.";
    let mut trace = record(about, always, sometimes);
    trace["oneOf"] = json!([{ "required": ["invariant"] }, { "required": ["shows"] }]);
    document("handlecheck trace", trace, Value::Object(definitions))
}

fn does() -> Value {
    record(
        "What happens: the name of an action or a fault, and its operands.",
        vec![("action", text("The action, or the fault."))],
        vec![
            ("agent", text("The agent that acts or is struck, or whose call it is.")),
            ("request", text("The request, by its agent and a number.")),
            ("node", text("The node.")),
            ("to", texts("The receivers of a hand-off.")),
            ("handle", text("The handle.")),
            ("principal", text("The principal.")),
            ("leaked-key", text("The leaked key that is presented.")),
            ("key", text("The key.")),
            ("client", text("What a client chose, as a design would write it.")),
            ("same-id-as", text("The request at the node, another agent's, whose id is equal.")),
            ("to-run", text("What a node runs from now on, when something is deployed.")),
            ("restarts", boolean("The node restarts, and loses its memory and its calls.")),
            ("clock-stands", boolean("The clock that versions are taken from does not tick.")),
            ("fault", boolean("It is a fault.")),
            ("orphan", boolean("Nobody waits for the call's answer.")),
        ],
    )
}

fn call() -> Value {
    let expected = record(
        "A version that it expects.",
        vec![("handle", text("Of which handle.")), ("version", count("The version."))],
        Vec::new(),
    );
    let besides = record(
        "What it changes besides, in another resource.",
        vec![("handle", text("The other handle.")), ("change", text("The change."))],
        Vec::new(),
    );
    record(
        "A call, as its request says it.",
        vec![
            ("tool", words("The tool.", Tool::ALL.iter().map(|tool| (tool.name(), tool.about().to_owned())))),
            ("resource", text("The resource, by its name in the scenario.")),
            ("entry", number("The entry of the agent's work that it serves.", 1, i64::from(u32::MAX))),
        ],
        vec![
            ("handle", text("The handle that it names.")),
            ("payload", text("What it carries.")),
            ("also", besides),
            ("change", text("What the agent wants changed.")),
            ("expects", list("The versions that it expects.", expected)),
            ("key", text("Its key.")),
            ("attempt", text("How it came about.")),
        ],
    )
}

fn transaction() -> Value {
    let step = || json!({ "enum": STEPS.iter().map(|row| row.name).collect::<Vec<_>>() });
    record(
        "One transaction of a handler.",
        vec![("steps", list("Its steps.", step())), ("number", number("Its number.", 1, i64::from(u32::MAX)))],
        vec![
            ("ended-by", step()),
            ("at-end", boolean("It is one of the `at-end` transactions.")),
            ("writes", boolean("It left something behind.")),
        ],
    )
}

fn answer() -> Value {
    record(
        "An answer.",
        vec![("outcome", outcomes())],
        vec![
            ("replayed", boolean("It was answered from a record.")),
            ("handle", text("The handle that it is about.")),
            ("version", count("The version that it tells.")),
            ("view", reference("content")),
            ("other-view", reference("content")),
            ("reaches", reaches()),
        ],
    )
}

fn reaches() -> Value {
    json!({
        "description": "Where it goes, for the step that makes it; to its caller where nothing is said.",
        "oneOf": [
            { "const": "caller", "description": "Out of the stream of its own call." },
            { "const": "nobody", "description": "Nowhere, though its caller waits for it." },
            record("Out of the stream of another request.", vec![("stream-of", text("That request: `B-1`."))], vec![]),
        ],
    })
}

fn commit() -> Value {
    let erased = record(
        "A change that was erased.",
        vec![("field", text("The field.")), ("of", texts("Whose changes."))],
        Vec::new(),
    );
    record(
        "A change that was accepted.",
        vec![
            ("agent", text("Whose.")),
            ("intent", text("The intent, in words.")),
            ("content", reference("content")),
            ("shows", list("For each field, the agents whose changes it shows.", texts("Agents."))),
            ("changed", texts("The fields whose values changed.")),
            (
                "effects",
                number("How often the intent has taken effect; 2 for twice or more, 0 where it was taken back.", 0, 2),
            ),
        ],
        vec![
            (
                "erased",
                list("The changes that it erased, which its author had not seen: of others, and its own.", erased),
            ),
            ("taken-back", boolean("It takes back what the call had changed before.")),
        ],
    )
}

fn step() -> Value {
    let told = record(
        "What an agent is told about an intent.",
        vec![
            ("agent", text("The agent.")),
            ("about", text("The intent, in words.")),
            ("told", words("What it is told.", Told::ALL.iter().map(|told| (told.name(), told.about().to_owned())))),
        ],
        Vec::new(),
    );
    let change = record(
        "A fact that changed.",
        vec![("fact", text("What it is about.")), ("before", text("Before.")), ("after", text("After."))],
        Vec::new(),
    );
    let belief = record(
        "A belief that differs from what is true.",
        vec![("agent", text("Whose.")), ("believes", reference("content"))],
        vec![("truth", reference("content"))],
    );
    record(
        "One step.",
        vec![("does", reference("does")), ("sentence", text("What happened, in one sentence."))],
        vec![
            ("notes", texts("What else is to be said of it, a clause each.")),
            ("call", reference("call")),
            ("transaction", reference("transaction")),
            ("answer", reference("answer")),
            ("told", list("What agents were told.", told)),
            ("changes", list("Every fact that changed.", change)),
            ("commits", list("The commits.", reference("commit"))),
            ("beliefs", list("Beliefs that differ from what is true.", belief)),
        ],
    )
}

fn cost() -> Vec<(&'static str, Value)> {
    vec![("steps", count("Its steps.")), ("faults", count("Its faults."))]
}

fn trace_file() -> (&'static str, Value) {
    ("trace", text("The file of its trace."))
}

/// A break. Named `break`.
pub(super) fn found() -> Value {
    record("A break, or a run to a situation.", cost(), vec![shortest(), trace_file()])
}

fn shortest() -> (&'static str, Value) {
    ("shortest", boolean("Whether no shorter one has as few faults; yes where it is not said."))
}

/// A cause. Named `cause`.
pub(super) fn cause() -> Value {
    let pair = vec![
        ("by", text("The step that violates: whose transaction, serving what.")),
        ("sentence", text("What happens, in one sentence.")),
    ];
    record(
        "One cause of violations: a pair that races, with the shortest break that has it.",
        pair.into_iter().chain(cost()).collect(),
        vec![("against", text("What it meets, where the invariant names that.")), shortest(), trace_file()],
    )
}

/// What came out for an invariant. It refers to `break` and `cause`.
pub(super) fn invariant() -> Value {
    record(
        "What came out for one invariant or assertion.",
        vec![
            ("name", text("Its name.")),
            (
                "verdict",
                words("The verdict.", Verdict::ALL.iter().map(|verdict| (verdict.name(), verdict.about().to_owned()))),
            ),
            ("expected", json!({ "type": ["string", "null"], "description": "What the inputs expect." })),
        ],
        cost()
            .into_iter()
            .chain([
                trace_file(),
                ("breaks", list("Every break that is cheapest in steps or in faults.", reference("break"))),
                (
                    "causes",
                    list("The shortest break for each pair that races, with `--all-causes`.", reference("cause")),
                ),
                ("anomaly", text("The standard name of the anomaly, with a reference.")),
                ("sentence", text("What happens in the shortest break.")),
            ])
            .collect(),
    )
}

pub(super) fn report() -> Value {
    let run = record(
        "One run.",
        vec![
            ("scenario", text("The scenario's name.")),
            ("design", text("The design's name.")),
            ("protocol", text("The protocol's name.")),
            ("bounds", record("In which bounds.", vec![("faults", budgets())], Vec::new())),
            ("complete", boolean("Every reachable state was explored.")),
            ("states", count("Distinct states.")),
            ("transitions", count("Transitions taken.")),
            ("depth", count("Length of the longest shortest path.")),
            ("engine", text("The engine.")),
            ("reductions", texts("The reductions that were used.")),
            ("invariants", list("One for each invariant and assertion.", reference("invariant"))),
            ("actions", map("How often each action was taken.", count(""))),
            ("outcomes", map("How often calls ended with each outcome.", count(""))),
            (
                "steps",
                map(
                    "For each step that is there to end calls, how often it did.",
                    map("How often, by outcome; 0 where it never did.", count("")),
                ),
            ),
            ("reactions", map("For each event, how clients reacted.", map("How often, by reaction.", count("")))),
            (
                "never",
                texts(
                    "The actions that could have happened, and the reactions that the files speak of, which never did.",
                ),
            ),
            ("never-refused", texts("The steps of the handlers that can end a call, and never did in this run.")),
        ],
        vec![
            ("stopped", text("Why it is not complete.")),
            ("unproved", text("Why the search of the shortest breaks was cut short, which decides no verdict.")),
            (
                "omission-probability",
                json!({
                    "type": "number",
                    "minimum": 0,
                    "maximum": 1,
                    "description": "With `--hash-compact`: at most so probable is it that a state was left out."
                }),
            ),
            ("unchecked", list("What was asked for, and was not checked.", reference("unchecked"))),
            ("checkpoint", text("The file from which `--resume` goes on, where something was cut short.")),
            ("warnings", texts("What the inputs say that can't matter, or will not do what it looks like.")),
            ("costs", reference("costs")),
            ("shows", list("One for each situation that was asked for.", reference("show"))),
        ],
    );
    let show = record(
        "What came out for one situation that was asked for.",
        vec![("situation", text("The situation.")), ("reached", boolean("Some run reaches it."))],
        vec![
            ("hint", text("Why none can, where that is known.")),
            ("runs", list("Every run to it that is cheapest in steps or in faults.", reference("break"))),
        ],
    );
    let unchecked = record(
        "An invariant that was asked for, and of which this run says nothing.",
        vec![("name", text("The invariant.")), ("why", text("Why it was not checked."))],
        Vec::new(),
    );
    let uncovered = record(
        "What never happened in any run of one design.",
        Vec::new(),
        vec![
            ("never", texts("The actions and reactions that could have happened.")),
            ("never-refused", texts("The steps that are there to end calls, and never did.")),
        ],
    );
    let mut definitions = json!({ "run": run, "invariant": invariant(), "break": found(), "cause": cause(), "show": show, "unchecked": unchecked, "uncovered": uncovered });
    for (name, part) in super::simulation::parts(budgets()).into_iter().chain(super::costs::parts()) {
        definitions[name] = part;
    }
    let mut always = heading();
    let any = json!({ "anyOf": [reference("run"), reference("simulation")] });
    always.push(("runs", list("The runs: what was explored, or what was simulated.", any)));
    let about = "Of each design whose runs are all complete, what never happened in any of them.";
    let sometimes = vec![("uncovered", map(about, reference("uncovered")))];
    document("handlecheck report", record("What came out of runs.", always, sometimes), definitions)
}
