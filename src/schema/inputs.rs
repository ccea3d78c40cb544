//! The schemas of scenarios, designs and protocols.

use serde_json::{Value, json};

use super::{boolean, count, document, list, map, name, number, object, reference, text, words};
use crate::faults::FAULTS;
use crate::handler::STEPS;
use crate::input::settings::{self, BESIDES, Choice, SEND, Setting, Takes, VERBS, VERDICTS};
use crate::input::vocabulary;
use crate::model::{Told, Tool, Verdict, limits};

/// The keys that each kind of file has.
fn heading() -> Vec<(&'static str, Value)> {
    vec![
        ("title", json!({ "type": "string", "description": "One line.", "pattern": "^[^\\n]*\\S[^\\n]*\\n?$" })),
        ("about", text("A few sentences.")),
    ]
}

fn limit(most: usize) -> i64 {
    i64::try_from(most).expect("limits are small")
}

fn choices(about: &str, choices: &[Choice]) -> Value {
    words(about, choices.iter().map(|choice| (choice.name, choice.about.to_owned())))
}

/// A list of different ones of these words.
fn different(about: &str, of: &[Choice]) -> Value {
    json!({ "type": "array", "description": about, "items": choices("", of), "uniqueItems": true })
}

fn setting(setting: &Setting) -> (&'static str, Value) {
    let Setting { name, about, takes, default } = setting;
    let mut value = match takes {
        Takes::Word(of) => choices(about, of),
        Takes::Words(of) => {
            let mut value = different(about, of);
            if *name == "owner-is" {
                value["minItems"] = json!(1);
            }
            value
        }
        Takes::Boolean => boolean(about),
        Takes::Attempts => json!({
            "description": about,
            "anyOf": [{ "const": "unbounded" }, number("At most so many.", 1, limits::ATTEMPTS.into())],
        }),
        Takes::StoreError(then, claim) => json!({
            "description": about,
            "anyOf": [choices("", then), different("", &[then.as_slice(), claim].concat())],
        }),
    };
    if let Ok(default) = serde_json::from_str::<Value>(default) {
        value["default"] = default;
    }
    (name, value)
}

fn settings(all: &[Setting]) -> Vec<(&'static str, Value)> {
    all.iter().map(setting).collect()
}

/// `[client]`, which stands in designs and at agents: its own settings, and those of each tool.
fn client_definitions() -> Vec<(&'static str, Value)> {
    let own = || {
        let mut properties = settings(&settings::client());
        properties.push(("on", reference("reactions")));
        properties
    };
    let mut client = own();
    client.extend(Tool::ALL.iter().map(|tool| (tool.name(), reference("client-of-tool"))));
    let reactions = settings::default_reactions().into_iter().map(|(event, default)| {
        (event, json!({ "$ref": "#/$defs/reaction", "description": format!("By default `{default}`.") }))
    });
    let told = Told::ALL.iter().map(|told| (told.name(), told.about().to_owned()));
    let key = words("Whether the key stays.", [("same", "It stays.".to_owned()), ("new", "A new one.".to_owned())]);
    let send = |words: &[&str], more: Vec<(&str, Value)>| {
        let mut properties = vec![("send", json!({ "enum": words, "description": "It goes on, and sends this." }))];
        properties.extend(more);
        object("", &["send"], properties)
    };
    let keyed: Vec<&str> = SEND.into_iter().filter(|word| !matches!(*word, "replan" | "read")).collect();
    let mut conditional = send(
        &["replan"],
        vec![
            ("key", key.clone()),
            ("if", choices("Only under this condition.", &settings::conditions())),
            ("else", reference("reaction")),
        ],
    );
    conditional["dependentRequired"] = json!({ "if": ["else"], "else": ["if"] });
    let reaction = json!({
        "description": "What the harness does with an event.",
        "anyOf": [
            send(&keyed, vec![("key", key)]),
            conditional,
            send(&["read"], Vec::new()),
            object("", &["tell"], vec![("tell", words("It ends the intent, and tells this.", told))]),
        ],
    });
    vec![
        ("client", object("How a client's harness behaves.", &[], client)),
        ("client-of-tool", object("Settings of the client for calls of this tool.", &[], own())),
        ("reactions", object("What the harness does with each event.", &[], reactions.collect())),
        ("reaction", reaction),
    ]
}

/// `[expect]`.
fn expect(other: &str) -> Value {
    let verdicts = VERDICTS.map(|verdict: Verdict| (verdict.name(), verdict.about().to_owned()));
    let found = object(
        "Violated, with a break of exactly so many steps and faults among the cheapest.",
        &["steps", "faults"],
        vec![("steps", number("Steps.", 1, 1_000_000)), ("faults", count("Faults among them."))],
    );
    let one = json!({ "anyOf": [words("A verdict.", verdicts), found] });
    let about = format!("What must come out, for each {other} by name: for each invariant or assertion, a verdict.");
    map(&about, map("Invariants and assertions by name.", one))
}

fn definitions(all: Vec<(&str, Value)>) -> Value {
    Value::Object(all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

pub(super) fn protocol() -> Value {
    let mut properties = heading();
    let rules = settings::protocol();
    properties.extend(settings(&rules));
    let required: Vec<&str> = rules.iter().map(|rule| rule.name).collect();
    let about = "What the transport and the protocol revision do to calls, streams and ids.";
    document("handlecheck protocol", object(about, &required, properties), json!({}))
}

pub(super) fn design() -> Value {
    let mut server = settings(&settings::server());
    let keys = object("The table of keys, by which a repeated call is recognised.", &[], settings(&settings::keys()));
    server.push(("keys", keys));
    server.extend(
        Tool::ALL.iter().map(|tool| (tool.name(), json!({ "$ref": "#/$defs/handler", "description": tool.about() }))),
    );
    let mut server = object("How the server handles each call.", &[], server);
    server["anyOf"] = Tool::ALL.iter().map(|tool| json!({ "required": [tool.name()] })).collect();

    let transactions = |about: &str| {
        json!({
            "type": "array", "description": about, "minItems": 1,
            "items": { "type": "array", "minItems": 1, "items": reference("step") },
        })
    };
    let handler = object(
        "A handler: a list of transactions, each a list of steps.",
        &["transactions"],
        vec![
            (
                "transactions",
                transactions("What is in one inner list happens atomically; between two of them anything may happen."),
            ),
            ("at-end", transactions("Transactions that run before the answer leaves, whatever the outcome.")),
        ],
    );
    let mut all = client_definitions();
    all.push(("handler", handler));
    all.push(("step", words("A step.", STEPS.iter().map(|row| (row.name, format!("{}.", row.summary()))))));

    let mut properties = heading();
    properties.extend([("server", server), ("client", reference("client")), ("expect", expect("scenario"))]);
    let about = "How a server handles calls, and how its clients behave.";
    document("handlecheck design", object(about, &["server"], properties), definitions(all))
}

/// One entry of an agent's work.
fn entry() -> Value {
    let resource = |verb: &str| (verb.to_owned(), name("The resource."));
    let given = || {
        json!({ "type": "array", "minItems": 1, "uniqueItems": true, "items": name("A resource."),
        "description": "What the plan rests on: what it names must not have changed when it takes effect." })
    };
    let condition = || name("Under which condition it is done.");
    let intent = || name("The intent that it shares with all entries of that name.");
    let also = || {
        let one = |verb: &'static str| {
            let mut change = object("", &[verb], vec![(verb, name("The other resource."))]);
            change["additionalProperties"] = reference(if verb == "increment" { "number" } else { "value" });
            let others: Vec<&str> = VERBS.into_iter().filter(|other| *other != verb).collect();
            change["propertyNames"] = json!({ "not": { "enum": others } });
            change
        };
        json!({ "description": "What the same call changes besides.", "anyOf": BESIDES.map(one) })
    };
    let one = |verb: &'static str| {
        let (key, target) = resource(verb);
        let mut properties = vec![(&*key, target)];
        match verb {
            "read" => {}
            "hand-off" => {
                let to = json!({ "type": "array", "minItems": 1, "uniqueItems": true, "items": name("An agent."),
                    "description": "Who receives it." });
                properties.push(("to", to));
                properties.push(("carries", different("What the record holds.", &settings::carried())));
                return object("Hand the handle on to other agents.", &["hand-off", "to"], properties);
            }
            "mint" => {
                let chosen = name("The name that is chosen for it, where clients name what they mint.");
                properties.extend([
                    ("given", given()),
                    ("also", also()),
                    ("if", condition()),
                    ("intent", intent()),
                    ("handle", chosen),
                ]);
            }
            _ => properties.extend([("given", given()), ("also", also()), ("if", condition()), ("intent", intent())]),
        }
        let mut entry = object("", &[verb], properties);
        // Everything else in these is a field of the resource.
        match verb {
            "set" | "append" | "mint" => entry["additionalProperties"] = reference("value"),
            "increment" => entry["additionalProperties"] = reference("number"),
            _ => {}
        }
        if matches!(verb, "set" | "append" | "increment" | "mint") {
            let others: Vec<&str> = VERBS.into_iter().filter(|other| *other != verb).collect();
            entry["propertyNames"] = json!({ "not": { "enum": others } });
        }
        entry
    };
    json!({ "description": "One entry of the work.", "anyOf": VERBS.map(one) })
}

pub(super) fn scenario() -> Value {
    let principal = json!({
        "description": "Who is responsible for a call.",
        "anyOf": [
            name("A subject."),
            object("A principal of several parts.", &["subject"], vec![
                ("subject", name("The person or service.")),
                ("client", name("The client application.")),
                ("tenant", name("The tenant.")),
            ]),
        ],
    });
    let value = json!({
        "description": "A whole number, a string, or a list of values.",
        "anyOf": [reference("number"), { "type": "string" }, { "type": "array", "items": reference("value") }],
    });
    let of_resource = |key: &str| vocabulary::about(vocabulary::RESOURCE_KEYS, key);
    let of_agent = |key: &str| vocabulary::about(vocabulary::AGENT_KEYS, key);
    let resource = object(
        "Something that the server keeps, and that a handle names.",
        &["handle", "owner"],
        vec![
            ("handle", name(of_resource("handle"))),
            ("owner", reference("principal")),
            ("version", number(of_resource("version"), 0, limits::VERSION.into())),
            ("fields", map(of_resource("fields"), reference("value"))),
            ("new-fields", list(of_resource("new-fields"), json!({ "type": "string" }))),
            ("shared-with", list(of_resource("shared-with"), reference("principal"))),
            ("expires", boolean(of_resource("expires"))),
        ],
    );
    let mut agent = object(
        "A client, or a subagent.",
        &[],
        vec![
            ("principal", reference("principal")),
            ("parent", name(of_agent("parent"))),
            ("work", list(of_agent("work"), reference("entry"))),
            ("client", reference("client")),
        ],
    );
    agent["oneOf"] = json!([{ "required": ["principal"] }, { "required": ["parent"] }]);
    let mut all = client_definitions();
    all.extend([
        ("principal", principal),
        ("value", value),
        ("number", number("A whole number.", -limits::NUMBER, limits::NUMBER)),
        ("resource", resource),
        ("agent", agent),
        ("entry", entry()),
    ]);

    let sized = |mut map: Value, least: usize, most: usize| {
        map["minProperties"] = json!(least);
        map["maxProperties"] = json!(most);
        map
    };
    let fault = |(name, about): (&'static str, String)| {
        (name, number(&format!("{about}. At most so often in one run."), 0, limits::BUDGET.into()))
    };
    let faults = FAULTS.iter().map(|row| fault((row.name, row.summary())));
    let assertions = |about: &str| sized(map(about, name("An expression in CEL.")), 0, limits::ASSERTIONS);
    let mut properties = heading();
    properties.extend([
        ("nodes", number("Nodes behind the balancer.", 1, limit(limits::NODES))),
        ("protocol", name("What happens to calls, streams and ids: a path, or the name of a shipped protocol.")),
        ("resources", sized(map("What is there from the start.", reference("resource")), 0, limits::RESOURCES)),
        ("agents", sized(map("Who is there.", reference("agent")), 1, limits::AGENTS)),
        ("faults", object("What may go wrong, within a budget.", &[], faults.collect())),
        ("deploy", object("How nodes change over to what is deployed.", &[], settings(&settings::deploy()))),
        ("finally", assertions("Judged in every quiescent state in which every intent was told as `ok`.")),
        ("at-rest", assertions("Judged in every quiescent state, whatever was told.")),
        ("sometimes", assertions("Each must hold in some reachable state.")),
        ("expect", expect("design")),
    ]);
    let about = "Who is there, what they want, what may go wrong, what must hold.";
    document("handlecheck scenario", object(about, &["nodes", "agents"], properties), definitions(all))
}
