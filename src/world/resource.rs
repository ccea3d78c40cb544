//! The store's resources.

use super::content::Content;
use crate::model::Value;

/// Names one instance of a resource. A resource that is minted twice has two instances, and two handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle {
    /// Index of the resource in the scenario.
    pub resource: u8,
    /// Which of its instances, in the order in which they were made.
    pub instance: u8,
}

/// A resource: every instance of it that was ever made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Resource {
    /// Index of the resource in the scenario.
    pub id: u8,
    /// Its instances; empty before the first mint.
    pub instances: Vec<Instance>,
}

/// One instance of a resource.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Instance {
    /// Its content.
    pub content: Content,
    /// Its version.
    pub version: u16,
    /// Whether it can still be changed.
    pub lifecycle: Lifecycle,
    /// Whether its handle's time is up.
    pub expired: bool,
    /// The principal under whose name a handler filed it that looked the caller up late; `None`: the one who asked.
    pub filed_under: Option<u8>,
    /// Principals whose permission on it was revoked, by their number, sorted.
    pub revoked: Vec<u8>,
    /// What was approved last.
    pub approved: Option<Content>,
    /// The node on which it was made. It is found there only, where state lives in node memory; elsewhere, and for resources
    /// of the scenario, it is the first.
    pub node: u8,
    /// The client in whose session it is, where state is found by session.
    pub session: Option<u8>,
    /// Lost with the memory of its node (ghost: nobody finds it any more).
    pub lost: bool,
    /// The intent that ended it (ghost).
    pub ended_by: Option<u8>,
    /// The content and version before the latest change, where a copy may lag behind.
    pub previous: Option<(u16, Content)>,
    /// The contents that earlier versions named (ghost), where a version may come back.
    pub history: Vec<(u16, Vec<Value>)>,
}

impl Instance {
    /// A live resource at its first version.
    #[must_use]
    pub const fn new(content: Content, version: u16, node: u8) -> Self {
        Self {
            content,
            version,
            lifecycle: Lifecycle::Open,
            expired: false,
            filed_under: None,
            revoked: Vec::new(),
            approved: None,
            node,
            session: None,
            lost: false,
            ended_by: None,
            previous: None,
            history: Vec::new(),
        }
    }

    /// Whether it is still there, and its time is not up.
    #[must_use]
    pub fn is_reachable(&self) -> bool {
        !self.expired && !self.lost && self.lifecycle != Lifecycle::Deleted
    }

    /// The values of its fields.
    #[must_use]
    pub fn values(&self) -> Vec<Value> {
        self.content.iter().map(|field| field.value.clone()).collect()
    }
}

/// Where a resource is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lifecycle {
    /// It can be read and changed.
    Open,
    /// Terminal.
    Closed,
    /// Terminal.
    Executed,
    /// Terminal, and no handle resolves to it.
    Deleted,
}

impl Lifecycle {
    /// Its name in traces.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
            Self::Executed => "executed",
            Self::Deleted => "deleted",
        }
    }
}
