//! The memory of a node that is neither a key table, a lease nor a resource.

use super::agent::View;
use super::resource::Handle;
use crate::model::{Principal, Tool};

/// What a node remembers from one request to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Memory {
    /// The agent whose request came last, and the credential that it came with, where handlers look up the caller late.
    pub identity: Option<(u8, u8)>,
    /// Its read cache, sorted.
    pub cache: Vec<(CacheScope, Handle, View)>,
}

/// What reads must have in common to be answered from one cache entry; parts that the design leaves out are `None`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CacheScope {
    /// The parts of the principal that count.
    pub principal: Option<Principal>,
    /// The credential.
    pub credential: Option<u8>,
    /// The handle.
    pub handle: Option<Option<Handle>>,
    /// The tool.
    pub tool: Option<Tool>,
}
