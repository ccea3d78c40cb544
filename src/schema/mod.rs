//! JSON Schemas (draft 2020-12) of everything that is read and written, made from the same tables as the readers.
//!
//! An editor completes and checks a TOML file by them. They say what each word can be; that a name is known, that a step
//! can stand where it stands and that two files fit together, only `handlecheck check` says.

mod audits;
mod costs;
mod inputs;
mod locks;
mod logs;
mod mappings;
mod outputs;
mod simulation;
mod variants;

use serde_json::{Map, Value, json};

/// What there is a schema of.
pub const KINDS: &[&str] = &[
    "scenario",
    "design",
    "protocol",
    "trace",
    "report",
    "lock",
    "difference",
    "log",
    "mapping",
    "audit",
    "ablation",
    "repairs",
];

/// The schema of one of [`KINDS`]; `None` for anything else.
#[must_use]
pub fn of(kind: &str) -> Option<Value> {
    Some(match kind {
        "scenario" => inputs::scenario(),
        "design" => inputs::design(),
        "protocol" => inputs::protocol(),
        "trace" => outputs::trace(),
        "report" => outputs::report(),
        "lock" => locks::lock(),
        "difference" => locks::difference(),
        "log" => logs::log(),
        "mapping" => mappings::mapping(),
        "audit" => audits::audit(),
        "ablation" => variants::ablation(),
        "repairs" => variants::repairs(),
        _ => return None,
    })
}

/// A whole schema: its title, an object as [`object`] makes it, and what that refers to.
fn document(title: &str, mut object: Value, definitions: Value) -> Value {
    let whole = object.as_object_mut().expect("an object has a schema that is one");
    whole.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    whole.insert("title".to_owned(), json!(title));
    whole.insert("$defs".to_owned(), definitions);
    object
}

/// An object with these keys and no others.
fn object(about: &str, required: &[&str], properties: Vec<(&str, Value)>) -> Value {
    let properties: Map<String, Value> = properties.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    json!({
        "type": "object",
        "description": about,
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// An object whose keys are the user's.
fn map(about: &str, values: Value) -> Value {
    json!({ "type": "object", "description": about, "additionalProperties": values })
}

fn text(about: &str) -> Value {
    json!({ "type": "string", "description": about })
}

/// A text that says something.
fn name(about: &str) -> Value {
    json!({ "type": "string", "description": about, "pattern": "\\S" })
}

fn boolean(about: &str) -> Value {
    json!({ "type": "boolean", "description": about })
}

fn number(about: &str, least: i64, most: i64) -> Value {
    json!({ "type": "integer", "description": about, "minimum": least, "maximum": most })
}

fn count(about: &str) -> Value {
    json!({ "type": "integer", "description": about, "minimum": 0 })
}

fn list(about: &str, items: Value) -> Value {
    json!({ "type": "array", "description": about, "items": items })
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

/// One of these words, each with what it means.
fn words<'n>(about: &str, words: impl IntoIterator<Item = (&'n str, String)>) -> Value {
    let words: Vec<Value> =
        words.into_iter().map(|(word, about)| json!({ "const": word, "description": about })).collect();
    json!({ "description": about, "type": "string", "oneOf": words })
}
