//! Looks in the read cache, and answers what is there.
//!
//! Passes when the cache holds no copy. Otherwise it ends the call with `ok` and the copy: as old as it is, and looked at
//! by nothing behind this step. The cache belongs to all nodes, or to the node (`cache-place`); what calls share an entry
//! of it, `cache-scope` says. It is empty at the start. A restart empties that of the node, and else nothing does but what
//! handlers do: `fill-cache`, `fill-cache-if-newer` and `drop-cached`.
//!
//! A handler that reads through a cache is `["find-cached", "read", "fill-cache"]`, all at once or in transactions of
//! their own. With a write that has `drop-cached` behind its change that is cache-aside: a reader that finds nothing, reads
//! the store, and fills the cache only when a write has changed the one and dropped what was in the other leaves there what
//! is old, for ever. Compare Nishtala et al., "Scaling Memcache at Facebook" (NSDI 2013), section 3.2.1.

use super::{End, Handling, Requires, Step, Writes};
use crate::model::design::{ReadsFrom, ScopePart};
use crate::model::{Outcome, Principal};
use crate::world::{Answer, Cache, CacheScope, Fact, Handle, View};

pub static STEP: Step = Step { requires: Requires::Reader, writes: Writes::Nothing, outcomes: &[Outcome::Ok], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    let Some((about, copy)) = handling.copy() else { return Ok(()) };
    let view = Some(handling.known_view(copy));
    Err(End { answer: Box::new(Answer { view, ..Answer::about(Some(about)) }) })
}

impl Handling<'_, '_> {
    /// The copy that the cache holds where this call looks, and what it is of.
    pub(super) fn copy(&mut self) -> Option<(Handle, View)> {
        let (slot, scope, _) = self.cached()?;
        let own = self.setting.principal(self.agent());
        let cache = self.access.get(slot).cache();
        let of_other = |about: &Handle| !self.setting.entitled(own, usize::from(about.resource));
        if cache.copies.iter().any(|(_, about, _)| of_other(about)) {
            self.facts.push(Fact::SharedWithOther);
        }
        cache.find(&scope).map(|(_, about, copy)| (*about, copy.clone()))
    }

    /// Puts a view into the cache, in the place of what is there.
    pub(super) fn fill_cache(&mut self, view: View) {
        if let Some((slot, scope, handle)) = self.cached() {
            self.change_cache(slot, |cache| cache.fill(scope, handle, view));
        }
    }

    /// The slot of the cache in which this call looks, what it looks under there, and the handle that it is about.
    pub(super) fn cached(&self) -> Option<(usize, CacheScope, Handle)> {
        let (slot, handle) = (self.setting.cache_slot(self.node)?, self.handle()?);
        // What looks in the cache by itself is a read; `read` may stand in other handlers too.
        let by_tool = self.setting.model.design.server.reads_from == ReadsFrom::NodeCache;
        let has = |part: ScopePart| self.setting.model.design.server.cache_scope.contains(&part);
        let caller = &self.setting.model.scenario.agents[self.caller()].principal;
        let whole = has(ScopePart::Principal) || has(ScopePart::Credential);
        let any = whole || has(ScopePart::Subject) || has(ScopePart::Client) || has(ScopePart::Tenant);
        let principal = Principal {
            subject: if whole || has(ScopePart::Subject) { caller.subject.clone() } else { String::new() },
            client: caller.client.clone().filter(|_| whole || has(ScopePart::Client)),
            tenant: caller.tenant.clone().filter(|_| whole || has(ScopePart::Tenant)),
        };
        let scope = CacheScope {
            principal: any.then_some(principal),
            credential: has(ScopePart::Credential).then_some(self.identity().1),
            handle: has(ScopePart::Handle).then_some(handle),
            tool: (by_tool && has(ScopePart::Tool)).then_some(self.request.tool),
        };
        Some((slot, scope, handle))
    }

    /// Changes the cache in a slot.
    pub(super) fn change_cache(&mut self, slot: usize, change: impl FnOnce(&mut Cache)) {
        let mut cache = self.access.get(slot).cache().clone();
        change(&mut cache);
        self.access.set(slot, cache.into());
    }
}
