//! Promises: what was told `ok` on the word of a handler that had answered, and was still at work on it.

use crate::engine::Access;
use crate::world::{Call, Component, Fact, Setting};

/// Whether a handler that has answered is still at work on the intent of this entry of an agent's work list.
#[must_use]
pub fn is_at_work(setting: &Setting, access: &Access<'_, Component>, agent: u8, entry: u8) -> bool {
    let sharers = setting.sharers(usize::from(agent), usize::from(entry));
    setting.goes_on_unheard()
        && sharers.iter().any(|&(agent, entry)| {
            let serves = |call: &Call| {
                call.has_answered()
                    && usize::from(call.request.entry) == entry
                    && setting.intent_of(&call.request).is_some()
            };
            access.get(setting.orphans_slot(agent)).orphans().iter().any(serves)
        })
}

/// A handler that had answered is no longer at work on the intent of this entry: what was promised of it is judged now,
/// unless another handler is.
pub fn settle(setting: &Setting, access: &mut Access<'_, Component>, agent: u8, entry: u8) -> Vec<Fact> {
    let mut facts = Vec::new();
    for &(other, at) in setting.sharers(usize::from(agent), usize::from(entry)) {
        let slot = setting.ledger_slot(other);
        let mut ledger = access.get(slot).ledger().clone();
        if !ledger.entries[at].promised || is_at_work(setting, access, agent, entry) {
            continue;
        }
        ledger.entries[at].promised = false;
        access.set(slot, ledger.into());
        let index = |index: usize| u8::try_from(index).expect("limits keep indices below 256");
        let (agent, entry) = (index(other), index(at));
        let missing = setting.missing(other, at, &super::became(setting, access, agent, entry));
        facts.extend(missing.map(|missing| Fact::Unkept { agent, entry, missing }));
    }
    facts
}
