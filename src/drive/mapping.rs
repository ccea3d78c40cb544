//! Which tool and which argument of somebody's server plays which part.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Reply, Revision};
use crate::log::{Answer, Ended, Version};

/// A mapping file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Mapping {
    /// What it is for.
    #[serde(default)]
    pub about: String,
    /// The revision of the protocol that is spoken over HTTP.
    #[serde(default)]
    pub revision: Revision,
    /// The servers promise that every accepted change adds exactly one to the version of its resource.
    #[serde(default)]
    pub versions_count: bool,
    /// A call with which each resource is made before the first run, where the server has none; on the first node.
    #[serde(default)]
    pub prepare: Vec<Prepare>,
    /// For each operation, the tool.
    pub tools: BTreeMap<String, Tool>,
}

/// A call before the first step.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Prepare {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Map<String, Value>,
}

/// The tool that plays an operation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Tool {
    /// Its name.
    pub tool: String,
    /// Its arguments. A string `{handle}`, `{key}`, `{version}`, `{fields.NAME}` or `{fields}`
    /// (all of them, as the text of a JSON document) stands for what the call carries, and an
    /// argument that stands for what it does not carry is left out; inside of a longer string it stands for the text.
    #[serde(default)]
    pub arguments: Map<String, Value>,
    /// Where the answer shows each field: a JSON pointer, in which `*` goes through a list.
    #[serde(default)]
    pub fields: BTreeMap<String, String>,
    /// Where the answer shows the version.
    pub version: Option<String>,
    /// Where the answer shows the handle.
    pub handle: Option<String>,
    /// What a refusal says, in part, and which outcome it is; a refusal that is not here is `refused`.
    #[serde(default)]
    pub refusals: BTreeMap<String, String>,
}

/// What a call carries, to be put into arguments.
#[derive(Clone, Debug, Default)]
pub struct Carried {
    /// The handle.
    pub handle: Option<String>,
    /// The key.
    pub key: Option<String>,
    /// The version that it expects of its own resource.
    pub version: Option<u64>,
    /// The fields.
    pub fields: Map<String, Value>,
}

impl Mapping {
    /// Reads a mapping file.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mapping: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        for (name, tool) in &mapping.tools {
            if crate::log::Operation::named(name).is_none() {
                return Err(format!("there is no operation `{name}`"));
            }
            if let Some(outcome) = tool.refusals.values().find(|outcome| Ended::named(outcome).is_none()) {
                return Err(format!("there is no outcome `{outcome}`"));
            }
            if let Some(stray) = tool.arguments.values().find_map(stray) {
                return Err(format!(
                    "`{{{stray}}}`, for `{name}`, stands for nothing: there are `{{handle}}`, `{{key}}`, `{{version}}`, \
                     `{{fields}}` and `{{fields.NAME}}`"
                ));
            }
            let pointers = tool.fields.values().chain(&tool.version).chain(&tool.handle);
            if let Some(wrong) = pointers.into_iter().find(|pointer| !pointer.is_empty() && !pointer.starts_with('/')) {
                return Err(format!("`{wrong}`, for `{name}`, is no JSON pointer: it begins with `/`"));
            }
        }
        Ok(mapping)
    }

    /// The tool that plays an operation.
    ///
    /// # Errors
    ///
    /// When none does.
    pub fn tool(&self, operation: &str) -> Result<&Tool, String> {
        self.tools.get(operation).ok_or_else(|| format!("the mapping names no tool for `{operation}`"))
    }
}

impl Tool {
    /// The arguments of a call that carries this.
    #[must_use]
    pub fn fill(&self, carried: &Carried) -> Value {
        fill(&Value::Object(self.arguments.clone()), carried).unwrap_or_default()
    }

    /// What a reply says.
    #[must_use]
    pub fn read(&self, reply: &Reply) -> Answer {
        let at = |pointer: &String| find(&reply.content, pointer);
        let text = reply.content.as_str().map_or_else(|| reply.content.to_string(), str::to_owned);
        let refusal = self.refusals.iter().find(|(says, _)| text.contains(*says));
        let outcome = match (reply.is_error, refusal) {
            (false, None) => Ended::As(crate::model::Outcome::Ok),
            (_, Some((_, outcome))) => Ended::named(outcome).unwrap_or(Ended::Refused),
            (true, None) => Ended::Refused,
        };
        let version = self.version.as_ref().and_then(at).and_then(|version| match version {
            Value::Number(number) => number.as_u64().map(Version::Number),
            Value::String(name) => Some(Version::Name(name)),
            _ => None,
        });
        let fields = self.fields.iter().filter_map(|(name, pointer)| Some((name.clone(), at(pointer)?)));
        Answer {
            outcome,
            replayed: false,
            handle: self.handle.as_ref().and_then(at).and_then(|handle| handle.as_str().map(str::to_owned)),
            version,
            fields: if reply.is_error { BTreeMap::new() } else { fields.collect() },
            error: reply.is_error.then_some(text),
        }
    }
}

/// The names in a text that stand in braces.
fn places(text: &str) -> impl Iterator<Item = &str> {
    let in_braces = text.split('{').skip(1).filter_map(|rest| rest.split_once('}').map(|(name, _)| name));
    let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'));
    in_braces.filter(move |name| !name.is_empty() && is_name(name))
}

/// The first name in braces that stands for nothing that a call can carry.
fn stray(template: &Value) -> Option<&str> {
    match template {
        Value::String(text) => places(text)
            .find(|name| !matches!(*name, "handle" | "key" | "version" | "fields") && !name.starts_with("fields.")),
        Value::Array(list) => list.iter().find_map(stray),
        Value::Object(map) => map.values().find_map(stray),
        _ => None,
    }
}

/// A template with everything put in; none where it stands for what is not there.
fn fill(template: &Value, carried: &Carried) -> Option<Value> {
    match template {
        Value::String(text) => {
            let whole = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
            if let Some(name) = whole.filter(|name| !name.contains(['{', '}'])) {
                return carried.get(name);
            }
            let mut filled = text.clone();
            for name in places(text) {
                if let Some(value) = carried.get(name) {
                    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    filled = filled.replace(&format!("{{{name}}}"), &value);
                }
            }
            Some(Value::String(filled))
        }
        Value::Array(list) => Some(Value::Array(list.iter().filter_map(|element| fill(element, carried)).collect())),
        Value::Object(map) => {
            let filled = map.iter().filter_map(|(name, value)| Some((name.clone(), fill(value, carried)?)));
            Some(Value::Object(filled.collect()))
        }
        other => Some(other.clone()),
    }
}

impl Carried {
    fn get(&self, name: &str) -> Option<Value> {
        match name {
            "handle" => self.handle.clone().map(Value::from),
            "key" => self.key.clone().map(Value::from),
            "version" => self.version.map(Value::from),
            "fields" => Some(Value::from(Value::Object(self.fields.clone()).to_string())),
            other => self.fields.get(other.strip_prefix("fields.")?).cloned(),
        }
    }
}

/// What a JSON pointer points at. Behind `*` it points at that of every element of a list; a text on the way that is JSON
/// is looked into.
fn find(value: &Value, pointer: &str) -> Option<Value> {
    let Some((first, rest)) = pointer.strip_prefix('/').map(|rest| rest.split_at(rest.find('/').unwrap_or(rest.len())))
    else {
        return pointer.is_empty().then(|| value.clone());
    };
    if first == "*" {
        return Some(Value::Array(value.as_array()?.iter().filter_map(|element| find(element, rest)).collect()));
    }
    let next = |value: &Value| find(value.pointer(&format!("/{first}"))?, rest);
    match value {
        Value::String(text) => next(&serde_json::from_str::<Value>(text).ok()?),
        value => next(value),
    }
}
