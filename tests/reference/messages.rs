//! What goes between an agent and a server: requests with their keys, and answers.

use std::collections::{BTreeMap, BTreeSet};

use handlecheck::model::{AgentId, Operation, Outcome, Principal, ResourceId, Tool, Value};

use super::halves::Other;
use super::state::{Change, Content, Handle, Intent, Token, View};

/// The fields and values that a request carries.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sent {
    /// The operation alone.
    Change(Option<Operation>),
    /// The whole content; for an approval, what the approver saw.
    Content(Vec<Value>),
    /// What a mint makes, by field.
    Making(BTreeMap<String, Value>),
}

/// An idempotency key (section 3): plan numbers are only ever compared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    Plan {
        intent: Intent,
        number: u32,
    },
    Hash {
        tool: Tool,
        handle: Option<Handle>,
        sent: Sent,
        expected: Vec<(Handle, u32)>,
        besides: Option<(Handle, Operation)>,
    },
    /// That of an intent which entries share: one for all plans of all of them.
    Shared(Intent),
    Constant,
}

/// The arguments of a call, and who sends it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Request {
    pub agent: AgentId,
    pub credential: u8,
    pub tool: Tool,
    pub resource: ResourceId,
    /// `None` for a mint.
    pub handle: Option<Handle>,
    pub token: Option<Token>,
    /// Ghost: the intent; `None` for a read.
    pub intent: Option<Intent>,
    pub operation: Option<Operation>,
    /// The whole content, under `payload = "snapshot"`.
    pub snapshot: Option<Content>,
    /// What the approver's view showed, for an approval.
    pub approves: Option<Vec<Value>>,
    pub expected: Vec<(Handle, u32)>,
    pub key: Option<Key>,
    pub fence: Option<u32>,
    /// Ghost: what the author's view showed of the fields that the operation names, when it was planned.
    pub seen: BTreeSet<Change>,
    /// Ghost: what the author saw of the resources that the plan rests on (`given`).
    pub basis: Vec<(Handle, Option<u32>, Option<Vec<Value>>)>,
    /// Ghost: the version that was current when a read was sent. Only where a read can be stale.
    pub sent_at: Option<u32>,
    /// Ghost: the state inside the handle was superseded when the read was sent.
    pub superseded: bool,
    /// What it changes besides, in another resource.
    pub other: Option<Other>,
    /// Which issue it is, among those of its agent: equal numbers stand for equal request ids. Only where ids are kept.
    pub issue: Option<u32>,
}

/// An answer, complete or in the making.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Answer {
    pub outcome: Outcome,
    /// The new version, for a change.
    pub version: Option<u32>,
    /// The view, for a read.
    pub view: Option<View>,
    /// The new handle, for a mint; the changed one, where the handle carries the state.
    pub minted: Option<Handle>,
    pub token: Option<Token>,
    /// The current versions, for a refusal as stale.
    pub current: Vec<(Handle, u32)>,
    /// The new version of what was changed besides.
    pub other: Option<(Handle, u32)>,
    /// Ghost: the other resource was why it is a refusal.
    pub of_other: bool,
    /// It was answered from a record.
    pub replayed: bool,
    /// Ghost: the handle that it is about.
    pub about: Option<Handle>,
    /// Ghost: invariants that are broken when it is received.
    pub breaks: BTreeSet<&'static str>,
    /// Ghost: the principal whose answer it is, when it came out of the stream of another.
    pub of: Option<Principal>,
}

impl Answer {
    /// An answer that says nothing yet but `ok`.
    pub fn ok(about: Option<Handle>) -> Self {
        Self {
            outcome: Outcome::Ok,
            version: None,
            view: None,
            minted: None,
            token: None,
            current: Vec::new(),
            other: None,
            of_other: false,
            replayed: false,
            about,
            breaks: BTreeSet::new(),
            of: None,
        }
    }

    /// A refusal.
    pub fn refusal(outcome: Outcome, about: Option<Handle>) -> Self {
        Self { outcome, ..Self::ok(about) }
    }
}
