//! Answers a view of the resource.
//!
//! Puts the version and the content of the resource into the answer, with the fence number of a lease that the call was
//! given. With `reads-from = "replica"` the fault `stale-read` may serve it from before the latest change, or end the
//! call with `not-found` where that change made the resource. With
//! `reads-from = "node-cache"` a node answers from its cache what it has answered before in the same `cache-scope`:
//! this step fills an entry where there is none, in the same transaction in which it read the store. Nothing but a
//! restart of the node empties it; a write, also on that node, does not.

use super::{End, Handling, Requires, Step, Writes};
use crate::model::design::{ReadsFrom, ScopePart};
use crate::model::{Outcome, Principal};
use crate::world::{CacheScope, Fact, View};

pub static STEP: Step =
    Step { requires: Requires::Resource, writes: Writes::Nothing, outcomes: &[Outcome::NotFound], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    let instance = handling.existing()?;
    if handling.lags_behind_mint() {
        return Err(handling.refuse(Outcome::NotFound));
    }
    let mut view =
        View { version: Some(instance.version), content: Some(instance.content), fence: handling.progress.grant };
    match handling.setting.model.design.server.reads_from {
        ReadsFrom::Store => {}
        ReadsFrom::Replica => {
            if let Some((version, content)) = instance.previous.filter(|_| handling.luck.lags) {
                handling.asked_copy = true;
                view = View { version: Some(version), content: Some(content), ..view };
            }
        }
        ReadsFrom::NodeCache => return cached(handling, view),
    }
    answer(handling, view);
    Ok(())
}

/// What the handler does not know is not in its answer.
fn answer(handling: &mut Handling<'_, '_>, view: View) {
    let content = view.content.map(|content| handling.known_fields(content));
    handling.progress.answer.view = Some(View { content, ..view });
}

/// Answers from the node's cache, and fills it.
fn cached(handling: &mut Handling<'_, '_>, view: View) -> Result<(), End> {
    let (Some(slot), Some(handle)) = (handling.setting.memory_slot(handling.node), handling.handle()) else {
        return Ok(());
    };
    let scope = scope(handling);
    let mut memory = handling.access.get(slot).memory().clone();
    let own = handling.setting.principal(handling.agent());
    if memory.cache.iter().any(|(_, about, _)| !handling.setting.entitled(own, usize::from(about.resource))) {
        handling.facts.push(Fact::SharedWithOther);
    }
    if let Some((_, about, cached)) = memory.cache.iter().find(|(other, ..)| *other == scope) {
        let (about, cached) = (*about, cached.clone());
        handling.progress.answer.handle = Some(about);
        answer(handling, cached);
        return Ok(());
    }
    memory.cache.push((scope, handle, view.clone()));
    memory.cache.sort();
    handling.access.set(slot, memory.into());
    answer(handling, view);
    Ok(())
}

fn scope(handling: &Handling<'_, '_>) -> CacheScope {
    let server = &handling.setting.model.design.server;
    let has = |part: ScopePart| server.cache_scope.contains(&part);
    let caller = &handling.setting.model.scenario.agents[handling.caller()].principal;
    let whole = has(ScopePart::Principal) || has(ScopePart::Credential);
    let any = whole || has(ScopePart::Subject) || has(ScopePart::Client) || has(ScopePart::Tenant);
    let principal = Principal {
        subject: if whole || has(ScopePart::Subject) { caller.subject.clone() } else { String::new() },
        client: caller.client.clone().filter(|_| whole || has(ScopePart::Client)),
        tenant: caller.tenant.clone().filter(|_| whole || has(ScopePart::Tenant)),
    };
    CacheScope {
        principal: any.then_some(principal),
        credential: has(ScopePart::Credential).then_some(handling.identity().1),
        handle: has(ScopePart::Handle).then_some(handling.request.handle),
        tool: has(ScopePart::Tool).then_some(handling.request.tool),
    }
}
