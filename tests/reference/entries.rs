//! What stands in key tables and caches, and under what.

use std::collections::BTreeMap;

use handlecheck::model::{Operation, Principal, ResourceId, Tool};

use super::state::{Answer, Handle, Key, NodeId, Sent};

/// What stands under a key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(clippy::large_enum_variant, reason = "plain values, not small ones")]
pub enum KeyEntry {
    /// A claim: its table, its number there, and (ghost) whose it is and with which handle the key was used.
    Claim { table: Table, number: u32, by: Principal, with: Option<Handle> },
    /// A recorded outcome, and (ghost) whose, and with which handle the key was used.
    Record { fingerprint: Vec<Print>, answer: Answer, by: Principal, with: Option<Handle> },
}

/// A part of what "the same arguments" means.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Print {
    /// What is sent, and what is changed besides.
    Sent(Tool, Sent, Option<(Handle, Operation)>),
    Handle(Option<Handle>),
    Expected(Vec<(Handle, u32)>),
}

/// A part of what calls must have in common to share a key table or a cache entry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    Principal(Principal),
    Part(Option<String>),
    Credential(Principal, u8),
    Handle(Option<Handle>),
    /// Of a handle, which resource it names.
    Resource(Option<ResourceId>),
    Tool(Tool),
}

/// Names a key table: where it is, and what all calls that use it have in common, but for which handle or credential.
pub type Table = (Option<NodeId>, Vec<Scope>);

/// A key table.
pub type Keys = BTreeMap<(Vec<Scope>, Key), KeyEntry>;
