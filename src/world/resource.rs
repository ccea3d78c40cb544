//! The store's resources.

use super::content::Content;

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
    /// Principals whose permission on it was revoked, by their number, sorted.
    pub revoked: Vec<u8>,
    /// What was approved last.
    pub approved: Option<Content>,
}

/// Where a resource is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
