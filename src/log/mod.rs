//! A log of calls: what clients sent to real servers and heard of them, one JSON object a line.
//!
//! It holds what can be seen from outside, and no more: when each call was sent and when it was answered, on one clock;
//! who sent it; what it asked for and what came back. `handlecheck audit` judges it. `docs/log.md` tells what each key
//! means.

pub mod lines;
mod words;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use words::{Ended, Lifecycle, Operation};

use crate::model::Told;

/// The version of the format. It changes when a reader of the old one would misunderstand the new one.
pub const SCHEMA: u32 = 1;

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Line {
    /// What the log is about: the first line, where there is one.
    Log(Heading),
    /// A call, written when it is over for whoever sent it.
    Call(Box<Call>),
    /// What an observer found a resource to be.
    State(State),
    /// What an agent finally told about an intent.
    Told(ToldLine),
    /// Something that was done to the servers, or that happened to them.
    Event(Event),
    /// The log is whole: the last line, where there is one.
    End(End),
}

/// What the log is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Heading {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The version of handlecheck that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handlecheck: Option<String>,
    /// The scenario that was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// The design that was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub design: Option<String>,
    /// The protocol that was spoken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// From which all random choices came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Every accepted change adds one to the version of its resource: a number that nobody was answered is a change
    /// whose answer was lost.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub versions_count: bool,
    /// The servers may take back what a call did that was then refused or cancelled: a version that no answer tells of may be
    /// of that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub takes_back: bool,
    /// Anything else worth saying, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
}

/// One call, as its client saw it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Call {
    /// Its name in this log; by default the number of its line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// When it was sent. Times are only compared, so any unit serves; all are of one clock that never goes back.
    pub sent: u64,
    /// When its answer was received; none: it never was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received: Option<u64>,
    /// When its client learned that the stream was broken, or gave up; none: it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<u64>,
    /// Who sent it. An agent waits for at most one call at a time.
    pub agent: String,
    /// For whom the agent acts; by default the agent itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    /// Which server it was sent to: an address, or a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// What it asks for.
    pub tool: Operation,
    /// The tool's name on the wire, where that is another word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called: Option<String>,
    /// The handle that it names; none for `mint`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<String>,
    /// What it carries: the values that are set or minted, the element (or the list of elements) that is appended, the
    /// amount of an increment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, Value>,
    /// The versions that the request says it expects, by handle.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub expects: BTreeMap<String, Version>,
    /// The versions that its author had seen when it planned the call, by handle: of the resource that it changes, and of
    /// what else the plan rests on. By default what the agent last heard in this log of the resource that it changes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub saw: BTreeMap<String, Version>,
    /// The handles of what its plan rests on: it should take effect only while that is as its author saw it. By default what
    /// `saw` and `expects` name besides the resource that it changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<Vec<String>>,
    /// Under which condition its author wants it, whether the request says so or not.
    #[serde(default, rename = "if", skip_serializing_if = "Option::is_none")]
    pub condition: Option<Condition>,
    /// What it changes besides, in another resource; for a read, what it reads besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub also: Option<Also>,
    /// Its idempotency key, or operation id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The request id on the wire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Value>,
    /// The piece of work that it serves: calls of one agent with one intent are one piece of work, sent again or planned
    /// anew, and it should take effect once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
    /// The call that it sends again, by its `id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<String>,
    /// The answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
}

/// What a call does to another resource besides its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Also {
    /// What it asks for: `set`, `append` or `increment`; for a read, `read`.
    pub tool: Operation,
    /// The handle of the other resource.
    pub handle: String,
    /// What it carries for it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, Value>,
}

/// What must be true of fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Condition {
    /// An expression over fields: `quota.used < 10`.
    pub expression: String,
    /// What the names in it stand for: a handle each.
    pub names: BTreeMap<String, String>,
}

/// What a call was answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Answer {
    /// How the call ended.
    pub outcome: Ended,
    /// It says that it was answered from a record of an earlier call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replayed: bool,
    /// The handle that it is about, where it says so; for `mint`, the new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<String>,
    /// After a change the new version; with a view, or with a refusal, the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
    /// The version of the other resource, of a call that works on two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub also_version: Option<Version>,
    /// The content that it shows of the other resource.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub also_fields: BTreeMap<String, Value>,
    /// The content that it shows.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, Value>,
    /// What a refusal says, in the server's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A version: a number that grows with each change, or a name that tells contents apart (an entity tag, say).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a version: a whole number that is at least 0, or a string")]
pub enum Version {
    /// A number.
    Number(u64),
    /// A name, which has no order.
    Name(String),
}

/// What an observer found a resource to be: before the first call, after the last one, or in between.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct State {
    /// When the observer asked.
    pub at: u64,
    /// The handle.
    pub handle: String,
    /// The principal that owns it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The principals that may use it too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared_with: Vec<String>,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
    /// Its content.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, Value>,
    /// Whether it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifecycle: Option<Lifecycle>,
}

/// What an agent finally told about an intent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ToldLine {
    /// When.
    pub at: u64,
    /// The agent.
    pub agent: String,
    /// The intent.
    pub intent: String,
    /// What it told.
    #[serde(with = "words::told")]
    pub told: Told,
}

/// Something that was done to the servers, or that happened to them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Event {
    /// When.
    pub at: u64,
    /// What, by the name of the fault where it is one: `restart-node`, `expire-handle`.
    pub event: String,
    /// To which node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// To which agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// To which resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<String>,
    /// In words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
}

/// The log is whole: every call that was sent to these servers in its time is in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct End {
    /// When it was closed.
    pub at: u64,
}

impl Line {
    /// Writes the line, without its newline.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a line has string keys only")
    }

    /// Reads a line.
    ///
    /// # Errors
    ///
    /// When the text is not JSON, or not a line of a log; the message says what is wrong, and the column where known.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(f, "v{number}"),
            Self::Name(name) => write!(f, "version {name}"),
        }
    }
}
