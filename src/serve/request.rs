//! What a client asks: a tool and its arguments, bounded and checked before anything else sees them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::signed::Carried;
use crate::assertion;
use crate::model::{Server, Tool};

/// Field names and values.
pub type Fields = BTreeMap<String, Value>;

/// One operation that a client may ask for: each is a tool of the MCP server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Its name, that of the work entry.
    pub name: &'static str,
    /// The tool of the design that handles it.
    pub tool: Tool,
    /// What it does, for `tools/list`.
    pub about: &'static str,
}

impl Operation {
    /// Whether it changes fields, rather than the whole resource.
    #[must_use]
    pub fn changes_fields(&self) -> bool {
        self.tool == Tool::Write
    }
}

/// Every operation.
pub const OPERATIONS: &[Operation] = &[
    operation("mint", Tool::Mint, "Creates a resource with this content, and answers its handle."),
    operation("read", Tool::Read, "Answers a view of what the handle names: its version and content."),
    operation("set", Tool::Write, "Sets fields, by a change or by the whole content."),
    operation("append", Tool::Write, "Appends one element to each named list."),
    operation("increment", Tool::Write, "Adds a number to each named field."),
    operation("close", Tool::Close, "Closes what the handle names."),
    operation("approve", Tool::Approve, "Stores the sent content as approved."),
    operation("execute", Tool::Execute, "Executes what the handle names, and so ends it."),
    operation("delete", Tool::Delete, "Deletes what the handle names."),
];

const fn operation(name: &'static str, tool: Tool, about: &'static str) -> Operation {
    Operation { name, tool, about }
}

/// The operations that a design serves.
pub fn served(server: &Server) -> impl Iterator<Item = &'static Operation> {
    OPERATIONS.iter().filter(|operation| {
        let handler = server.handler(operation.tool);
        handler.is_some_and(|handler| {
            // Without a step that makes it there is nothing to mint.
            operation.tool != Tool::Mint || handler.transactions.iter().flatten().any(|step| *step == "mint")
        })
    })
}

/// Whether an operation may change another resource besides.
#[must_use]
pub fn reaches_another(server: &Server, operation: &Operation) -> bool {
    let handler = server.handler(operation.tool);
    handler.is_some_and(|handler| handler.transactions.iter().flatten().any(|step| *step == "other"))
}

/// A request that was checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// What is asked for.
    #[serde(with = "by_name")]
    pub operation: &'static Operation,
    /// The handle that it names.
    pub handle: Option<String>,
    /// The handle as it was sent, where it carries the state of what it names.
    pub presented: Option<String>,
    /// The state that it carries.
    pub carried: Option<Carried>,
    /// The name that the caller chooses for what is minted, where it does.
    pub name: Option<String>,
    /// What it carries.
    pub payload: Payload,
    /// The versions that it expects.
    pub expected: Vec<Stamp>,
    /// Its idempotency key.
    pub key: Option<String>,
    /// The fence number of its author's view.
    pub fence: Option<i64>,
    /// Under which condition it is to be done.
    #[serde(default)]
    pub condition: Option<Condition>,
    /// What it changes besides, in another resource.
    #[serde(default)]
    pub also: Option<Also>,
}

/// A change of another resource in the same call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Also {
    /// What is asked for: `set`, `append` or `increment`.
    #[serde(rename = "tool", with = "by_name")]
    pub operation: &'static Operation,
    /// The handle of the other resource.
    pub handle: String,
    /// The change alone.
    pub change: Fields,
    /// The fence number of its author's view of it.
    #[serde(default)]
    pub fence: Option<i64>,
}

/// What must be true of what is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// An expression over fields: `quota.used < 10`.
    pub expression: String,
    /// What the names in it stand for: a handle each.
    pub names: BTreeMap<String, String>,
}

/// What a request carries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Payload {
    /// Nothing.
    Nothing,
    /// The change alone.
    Change(Fields),
    /// The whole content.
    Content(Fields),
}

/// A version of one handle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stamp {
    /// Of which handle.
    pub handle: String,
    /// The number.
    pub version: i64,
}

/// The most bytes of a handle, name or key.
pub const NAME_BYTES: usize = 256;
/// The most fields of a resource.
pub const FIELDS: usize = 64;
/// The most bytes of a handle that carries the state of what it names.
const CARRIED_BYTES: usize = 96 * 1024;
/// The most bytes of a value, as JSON.
pub const VALUE_BYTES: usize = 16 * 1024;
/// The most versions that a request may expect.
pub const EXPECTED: usize = 16;
/// The most bytes of a condition's expression.
pub const EXPRESSION_BYTES: usize = 1024;
/// The most names in a condition.
pub const NAMES: usize = 16;
/// The most elements of a list that a condition is judged on: an expression may go through three inside each other.
pub const ELEMENTS: usize = 256;
/// The most bytes of a request's body.
pub const BODY_BYTES: usize = 128 * 1024;
/// The most bytes of a resource's content, as JSON.
pub const CONTENT_BYTES: usize = 64 * 1024;

/// The most bytes of a handle, which may be one that carries the state of what it names.
#[must_use]
pub const fn handle_bytes(carries: bool) -> usize {
    if carries { CARRIED_BYTES } else { NAME_BYTES }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    handle: Option<String>,
    name: Option<String>,
    change: Option<Fields>,
    content: Option<Fields>,
    #[serde(default)]
    expected: Vec<Stamp>,
    key: Option<String>,
    fence: Option<i64>,
    #[serde(rename = "if")]
    condition: Option<Condition>,
    also: Option<Also>,
}

impl Request {
    /// Checks the arguments of a tool call. `carries`: handles carry the state of what they name.
    ///
    /// # Errors
    ///
    /// What is wrong with them, for the client to read.
    pub fn parse(operation: &'static Operation, arguments: Value, carries: bool) -> Result<Self, String> {
        let arguments: Arguments = serde_json::from_value(arguments).map_err(|error| error.to_string())?;
        let Arguments { handle, name, change, content, expected, key, fence, condition, also } = arguments;
        for name in name.iter().chain(&key) {
            if name.is_empty() || name.len() > NAME_BYTES {
                return Err(format!("a name or key has from 1 to {NAME_BYTES} bytes"));
            }
        }
        condition.as_ref().map_or(Ok(()), Condition::check)?;
        let most = handle_bytes(carries);
        let named = condition.iter().flat_map(|condition| condition.names.values());
        let named = named.chain(also.iter().map(|also| &also.handle));
        for handle in handle.iter().chain(expected.iter().map(|stamp| &stamp.handle)).chain(named) {
            if handle.is_empty() || handle.len() > most {
                return Err(format!("a handle has from 1 to {most} bytes"));
            }
        }
        let fences = fence.into_iter().chain(also.as_ref().and_then(|also| also.fence));
        if expected.iter().map(|stamp| stamp.version).chain(fences).any(|number| number < 0) {
            return Err("a version or fence number is at least 0".to_owned());
        }
        if expected.len() > EXPECTED {
            return Err(format!("at most {EXPECTED} versions can be expected"));
        }
        if let Some(also) = &also {
            also.check(operation, handle.as_ref(), carries)?;
        }
        for fields in change.iter().chain(&content).chain(also.iter().map(|also| &also.change)) {
            check(fields)?;
        }
        match (operation.tool, &handle) {
            (Tool::Mint, Some(_)) => {
                return Err("`mint` names no handle: the server makes it, for a `name` too".to_owned());
            }
            (Tool::Mint, None) => {}
            (_, None) => return Err("`handle` is missing".to_owned()),
            (_, Some(_)) => {}
        }
        if condition.is_some() && operation.tool == Tool::Read {
            return Err("`read` has no condition".to_owned());
        }
        if name.is_some() && operation.tool != Tool::Mint {
            return Err("only what is minted gets a name".to_owned());
        }
        let payload = match (operation.name, change, content) {
            (_, Some(_), Some(_)) => return Err("`change` or `content`, not both".to_owned()),
            ("set" | "append" | "increment", Some(change), None) => {
                adds_numbers(operation, &change)?;
                Payload::Change(change)
            }
            ("set" | "append" | "increment" | "mint" | "approve", None, Some(content)) => Payload::Content(content),
            ("set" | "append" | "increment", None, None) => return Err("`change` or `content` is missing".to_owned()),
            ("mint", None, None) => Payload::Content(Fields::new()),
            (_, None, None) => Payload::Nothing,
            (name, ..) => return Err(format!("`{name}` carries no such thing")),
        };
        Ok(Self {
            operation,
            handle,
            presented: None,
            carried: None,
            name,
            payload,
            expected,
            key,
            fence,
            condition,
            also,
        })
    }
}

impl Condition {
    /// Checks its size, and that it is an expression.
    fn check(&self) -> Result<(), String> {
        let named = self.names.keys().all(|name| (1..=NAME_BYTES).contains(&name.len()));
        if !named || self.names.len() > NAMES || !(1..=EXPRESSION_BYTES).contains(&self.expression.len()) {
            return Err(format!(
                "a condition is an expression of 1 to {EXPRESSION_BYTES} bytes with at most {NAMES} names, each of 1 to \
                 {NAME_BYTES} bytes"
            ));
        }
        assertion::read(&self.expression).map_err(|why| format!("the condition `{}`: {why}", self.expression))
    }
}

impl Also {
    /// Checks what a call of this operation on this handle changes besides.
    fn check(&self, operation: &Operation, handle: Option<&String>, carries: bool) -> Result<(), String> {
        if carries {
            return Err("`also`: a call carries the state of one handle".to_owned());
        }
        if operation.tool == Tool::Read || self.operation.tool != Tool::Write {
            return Err(
                "`also`: what is changed besides is set, appended to or incremented, and not by a `read`".to_owned()
            );
        }
        if handle == Some(&self.handle) {
            return Err("`also` names another resource".to_owned());
        }
        adds_numbers(self.operation, &self.change)
    }
}

fn adds_numbers(operation: &Operation, change: &Fields) -> Result<(), String> {
    let fits = operation.name != "increment" || change.values().all(Value::is_i64);
    if fits { Ok(()) } else { Err("`increment` adds whole numbers".to_owned()) }
}

fn check(fields: &Fields) -> Result<(), String> {
    if fields.len() > FIELDS {
        return Err(format!("a resource has at most {FIELDS} fields"));
    }
    for (name, value) in fields {
        if name.is_empty() || name.len() > NAME_BYTES {
            return Err(format!("a field's name has from 1 to {NAME_BYTES} bytes"));
        }
        let plain = |value: &Value| value.is_i64() || value.is_string();
        if !plain(value) && !value.as_array().is_some_and(|list| list.iter().all(plain)) {
            return Err(format!("`{name}` is neither a whole number nor a string nor a list of these"));
        }
        if value.to_string().len() > VALUE_BYTES {
            return Err(format!("`{name}` is longer than {VALUE_BYTES} bytes"));
        }
    }
    Ok(())
}

mod by_name {
    use serde::{Deserialize, Deserializer, Serializer, de};

    use super::{OPERATIONS, Operation};

    pub(super) fn serialize<S: Serializer>(operation: &&'static Operation, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(operation.name)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static Operation, D::Error> {
        let name = String::deserialize(deserializer)?;
        let found = OPERATIONS.iter().find(|operation| operation.name == name);
        found.ok_or_else(|| de::Error::custom(format!("there is no operation `{name}`")))
    }
}
