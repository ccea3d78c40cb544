//! What became of intents, by all the entries that serve them.

use crate::engine::Access;
use crate::model::Told;
use crate::world::{Component, Denied, IntentLedger, Request, Setting};

/// What became of the intent of an agent's entry: what this entry did and was told, with the effects of those that share it.
#[must_use]
pub fn became(setting: &Setting, access: &Access<'_, Component>, agent: u8, entry: u8) -> IntentLedger {
    let (agent, entry) = (usize::from(agent), usize::from(entry));
    let of = |agent: usize, entry: usize| &access.get(setting.ledger_slot(agent)).ledger().entries[entry];
    let mut became = of(agent, entry).clone();
    let others = setting.sharers(agent, entry).iter().filter(|other| **other != (agent, entry));
    others.for_each(|(agent, entry)| became.add(of(*agent, *entry)));
    became
}

/// Who was told that the intent of a request does not take effect.
pub(super) fn denied(setting: &Setting, access: &Access<'_, Component>, request: &Request) -> Option<Denied> {
    let sharers = setting.sharers(usize::from(request.agent), usize::from(request.entry));
    sharers.iter().find_map(|&(agent, entry)| {
        let told = access.get(setting.ledger_slot(agent)).ledger().entries[entry].told?;
        let index = |index: usize| u8::try_from(index).expect("limits keep indices below 256");
        let denies = matches!(told, Told::Failure | Told::Conflict);
        denies.then(|| Denied { agent: index(agent), entry: index(entry), told })
    })
}
