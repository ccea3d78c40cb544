//! What a log in memory has of each line.

use super::{Mark, Name, Part};
use crate::log::{Ended, Lifecycle, Operation};
use crate::model::Told;

/// A call.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its line.
    pub line: u64,
    /// What the log calls it.
    pub id: Option<Name>,
    /// When it was sent.
    pub sent: u64,
    /// When its answer was received, or [`NEVER`](super::NEVER).
    pub received: u64,
    /// Its stream broke.
    pub cut: bool,
    /// Who sent it.
    pub agent: Name,
    /// For whom.
    pub principal: Name,
    /// To which server.
    pub node: Option<Name>,
    /// What it asks for.
    pub tool: Operation,
    /// The resource: as the request names it; for a mint, as the answer does.
    pub handle: Option<Name>,
    /// Its key.
    pub key: Option<Name>,
    /// Its intent.
    pub intent: Option<Name>,
    /// The call that it repeats.
    pub repeats: Option<Name>,
    /// How it ended; none: no answer.
    pub ended: Option<Ended>,
    /// It was answered from a record.
    pub replayed: bool,
    /// The resource that the answer is about, where it says so.
    pub about: Option<Name>,
    /// The version in the answer.
    pub version: Mark,
    pub(super) fields: Part,
    pub(super) shown: Part,
    pub(super) expects: Part,
    pub(super) saw: Part,
    pub(super) rests: Option<u32>,
    /// It is one half of a call that works on two resources.
    pub half: Option<Half>,
}

/// Of a call that works on two resources, each is a record of its own; that of the other follows that of the own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// What it does to the resource that it names.
    Own,
    /// What it does besides.
    Other,
}

impl Record {
    /// It was answered `ok`.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.ended.is_some_and(Ended::is_ok)
    }

    /// Whether it was carried out is not known from its own answer.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.ended.is_none_or(Ended::is_unknown)
    }

    /// It was refused, which says that nothing happened.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        !self.is_ok() && !self.is_open()
    }

    /// It may have been carried out, though no answer says so: its answer was lost, or it is half of a call that was refused.
    #[must_use]
    pub fn may_have_happened(&self) -> bool {
        self.is_open() || self.is_refused() && self.half.is_some()
    }

    /// It is what a call does to another resource besides its own.
    #[must_use]
    pub fn is_besides(&self) -> bool {
        self.half == Some(Half::Other)
    }

    /// It was answered before the other was sent.
    #[must_use]
    pub const fn before(&self, other: &Self) -> bool {
        self.received < other.sent
    }
}

/// What an observer saw.
#[derive(Clone, Debug)]
pub struct Observed {
    /// Its line.
    pub line: u64,
    /// When.
    pub at: u64,
    /// The resource.
    pub handle: Name,
    /// Its owner.
    pub owner: Option<Name>,
    /// Who may use it too.
    pub shared_with: Vec<Name>,
    /// Its version.
    pub version: Mark,
    /// Whether it has ended.
    pub lifecycle: Option<Lifecycle>,
    pub(super) shown: Part,
}

/// What an agent told.
#[derive(Clone, Debug)]
pub struct ToldRecord {
    /// Its line.
    pub line: u64,
    /// The agent.
    pub agent: Name,
    /// The intent.
    pub intent: Name,
    /// What.
    pub told: Told,
}

/// What was done to the servers.
#[derive(Clone, Debug)]
pub struct EventRecord {
    /// Its line.
    pub line: u64,
    /// When.
    pub at: u64,
    /// What.
    pub event: String,
    /// To which resource.
    pub handle: Option<Name>,
    /// To which node.
    pub node: Option<Name>,
}

/// What a call says that its plan rests on.
#[derive(Clone, Debug)]
pub struct Rests {
    /// The resources, where it names them.
    pub given: Option<Vec<Name>>,
    /// Its condition.
    pub condition: Option<Condition>,
}

/// What must be true of fields.
#[derive(Clone, Debug)]
pub struct Condition {
    /// The expression.
    pub expression: String,
    /// What the names in it stand for.
    pub names: Vec<(String, Name)>,
}

impl Condition {
    /// Whether it names this resource.
    #[must_use]
    pub fn names(&self, resource: Name) -> bool {
        self.names.iter().any(|(_, named)| *named == resource)
    }
}
