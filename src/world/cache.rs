//! Read caches.

use super::agent::View;
use super::resource::Handle;
use crate::model::{Principal, Tool};

/// A read cache, of one node or of all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cache {
    /// Its copies, sorted: under what each is found, what it is of, and what it shows.
    pub copies: Vec<(CacheScope, Handle, View)>,
}

/// What calls must have in common that share an entry of a cache; parts that the design leaves out are `None`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CacheScope {
    /// The parts of the principal that count.
    pub principal: Option<Principal>,
    /// The credential.
    pub credential: Option<u8>,
    /// The handle.
    pub handle: Option<Handle>,
    /// The tool, where other handlers than that of `read` look in the cache too.
    pub tool: Option<Tool>,
}

impl Cache {
    /// The copy that is found under this.
    #[must_use]
    pub fn find(&self, scope: &CacheScope) -> Option<&(CacheScope, Handle, View)> {
        self.copies.iter().find(|(other, ..)| other == scope)
    }

    /// Puts a copy in the place of what is there.
    pub fn fill(&mut self, scope: CacheScope, handle: Handle, view: View) {
        self.drop(&scope);
        self.copies.push((scope, handle, view));
        self.copies.sort();
    }

    /// Drops the copy that is found under this.
    pub fn drop(&mut self, scope: &CacheScope) {
        self.copies.retain(|(other, ..)| other != scope);
    }
}
