//! Work on two resources: what a request says of the other one, and what a handler keeps of each.

use std::collections::BTreeSet;

use handlecheck::model::{Operation, ResourceId, Value};

use super::state::{Change, Content, Handle, Intent, Life};

/// What a request changes besides, in another resource: the change alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Other {
    pub resource: ResourceId,
    pub handle: Handle,
    pub operation: Operation,
    pub fence: Option<u32>,
    /// Ghost: as of a request.
    pub seen: BTreeSet<Change>,
}

/// What a handler keeps of its work on one resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bench {
    /// The working copy.
    pub working: Option<Content>,
    /// The version that its `load` found, where `check-unchanged` asks for it.
    pub loaded: Option<u32>,
    /// How many of its fields `apply-next` has written for this call.
    pub written: usize,
    /// The fence number that this call was given.
    pub grant: Option<u32>,
    /// What the call found before it first wrote, where some handler takes back what it wrote.
    pub found: Option<Found>,
}

/// What a call found before it wrote.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Found {
    /// It made this.
    Nothing(Handle),
    Something {
        content: Content,
        life: Life,
        ended_by: Option<Intent>,
        approved: Option<Vec<Value>>,
    },
}
