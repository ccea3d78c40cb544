//! Which tool and which argument of somebody's server plays which part.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Reply, Revision};
use crate::input::{InputError, foreign};
use crate::log::{Answer, Ended, Operation, Version};
use crate::suggest::{did_you_mean, one_of};

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
    /// The servers may take back what a call did that was then refused or cancelled.
    #[serde(default)]
    pub takes_back: bool,
    /// A call with which each resource is made before the first run, where the server has none; on the first node.
    #[serde(default)]
    pub prepare: Vec<Prepare>,
    /// For each operation, the tool.
    pub tools: BTreeMap<Operation, Tool>,
}

/// A call before the first step.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Prepare {
    /// The tool.
    pub tool: String,
    /// Its arguments, as they are sent.
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
    /// (all of them, as the text of a JSON document), and the same of what is changed besides (`{also.handle}`,
    /// `{also.fields.NAME}`, `{also.fields}`), stands for what the call carries, and an
    /// argument that stands for what it does not carry is left out; inside of a longer string it stands for the text.
    #[serde(default)]
    pub arguments: BTreeMap<String, Template>,
    /// Where the answer shows each field.
    #[serde(default)]
    pub fields: BTreeMap<String, Pointer>,
    /// Where the answer shows the version.
    pub version: Option<Pointer>,
    /// Where the answer shows the handle.
    pub handle: Option<Pointer>,
    /// What a refusal says, in part, and which outcome it is; a refusal that is not here is `refused`.
    #[serde(default)]
    pub refusals: BTreeMap<String, Ended>,
}

/// An argument, in which names in braces stand for what the call carries.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Value")]
pub struct Template(Value);

impl TryFrom<Value> for Template {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        let Some(stray) = stray(&value) else { return Ok(Self(value)) };
        let meant = did_you_mean(stray, CARRIED.iter().copied());
        let help = meant.unwrap_or_else(|| {
            format!("expected {}, `fields.NAME` or `also.fields.NAME`", one_of(CARRIED.iter().copied()))
        });
        Err(format!("`{{{stray}}}` stands for nothing; {help}"))
    }
}

/// A JSON pointer, in which `*` goes through a list.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Pointer(String);

impl TryFrom<String> for Pointer {
    type Error = String;

    fn try_from(pointer: String) -> Result<Self, String> {
        if pointer.is_empty() || pointer.starts_with('/') {
            return Ok(Self(pointer));
        }
        Err(format!("`{pointer}` is no JSON pointer; expected `/{pointer}`"))
    }
}

impl std::fmt::Display for Pointer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// What names in braces can stand for, besides single fields.
const CARRIED: [&str; 6] = ["handle", "key", "version", "fields", "also.handle", "also.fields"];

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
    /// What is changed besides: the other handle, and the fields.
    pub also: Option<(String, Map<String, Value>)>,
}

impl Mapping {
    /// Reads a mapping file, which `origin` names in messages.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it, with its place.
    pub fn read(origin: &str, text: &str) -> Result<Self, InputError> {
        let help = || Some("docs/drive.md tells what a mapping holds".to_owned());
        foreign::from_toml(text).map_err(|problems| {
            let problems = problems.into_iter().map(|(place, message, meant)| (place, message, meant.or_else(help)));
            foreign::shown(origin, text, problems)
        })
    }

    /// The tool that plays an operation.
    ///
    /// # Errors
    ///
    /// When none does.
    pub fn tool(&self, operation: &str) -> Result<&Tool, String> {
        let tool = Operation::named(operation).and_then(|operation| self.tools.get(&operation));
        tool.ok_or_else(|| format!("the mapping names no tool for `{operation}`"))
    }
}

impl Tool {
    /// Whether an argument stands for what a call changes besides.
    #[must_use]
    pub fn says_also(&self) -> bool {
        fn says(template: &Value) -> bool {
            match template {
                Value::String(text) => places(text).any(|name| name.starts_with("also.")),
                Value::Array(list) => list.iter().any(says),
                Value::Object(map) => map.values().any(says),
                _ => false,
            }
        }
        self.arguments.values().any(|template| says(&template.0))
    }

    /// The arguments of a call that carries this.
    #[must_use]
    pub fn fill(&self, carried: &Carried) -> Value {
        let filled = self.arguments.iter().filter_map(|(name, value)| Some((name.clone(), fill(&value.0, carried)?)));
        Value::Object(filled.collect())
    }

    /// What a reply says.
    #[must_use]
    pub fn read(&self, reply: &Reply) -> Answer {
        let at = |pointer: &Pointer| find(&reply.content, &pointer.0);
        let text = reply.content.as_str().map_or_else(|| reply.content.to_string(), str::to_owned);
        let refusal = self.refusals.iter().find(|(says, _)| text.contains(*says));
        let outcome = match (reply.is_error, refusal) {
            (false, None) => Ended::As(crate::model::Outcome::Ok),
            (_, Some((_, outcome))) => *outcome,
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
            also_version: None,
            also_fields: BTreeMap::new(),
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
            .find(|name| !CARRIED.contains(name) && !name.starts_with("fields.") && !name.starts_with("also.fields.")),
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
            "also.handle" => self.also.as_ref().map(|(handle, _)| Value::from(handle.clone())),
            "also.fields" => {
                self.also.as_ref().map(|(_, fields)| Value::from(Value::Object(fields.clone()).to_string()))
            }
            other => match other.strip_prefix("also.fields.") {
                Some(field) => self.also.as_ref()?.1.get(field).cloned(),
                None => self.fields.get(other.strip_prefix("fields.")?).cloned(),
            },
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
