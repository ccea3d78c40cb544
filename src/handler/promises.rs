//! Promises: what was told `ok` on the word of a handler that had answered, and was still at work on it.

use crate::engine::Access;
use crate::world::{Call, Component, Fact, Setting};

/// Whether a handler that has answered is still at work on this entry of an agent's work list.
#[must_use]
pub fn is_at_work(setting: &Setting, access: &Access<'_, Component>, agent: u8, entry: u8) -> bool {
    let serves =
        |call: &Call| call.has_answered() && call.request.entry == entry && setting.intent_of(&call.request).is_some();
    let answers_early = setting.goes_on_unheard();
    answers_early && access.get(setting.orphans_slot(usize::from(agent))).orphans().iter().any(serves)
}

/// A handler that had answered is no longer at work on this entry: what was promised is judged now, unless another is.
pub fn settle(setting: &Setting, access: &mut Access<'_, Component>, agent: u8, entry: u8) -> Option<Fact> {
    let slot = setting.ledger_slot(usize::from(agent));
    let mut ledger = access.get(slot).ledger().clone();
    let of_intent = &mut ledger.entries[usize::from(entry)];
    if !of_intent.promised || is_at_work(setting, access, agent, entry) {
        return None;
    }
    of_intent.promised = false;
    let missing = setting.missing(usize::from(agent), usize::from(entry), of_intent);
    access.set(slot, ledger.into());
    missing.map(|missing| Fact::Unkept { agent, entry, missing })
}
