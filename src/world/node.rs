//! The memory of a node that is neither a key table, a lease, a read cache nor a resource.

/// What a node remembers from one request to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Memory {
    /// The agent whose request came last, and the credential that it came with, where handlers look up the caller late.
    pub identity: Option<(u8, u8)>,
}
