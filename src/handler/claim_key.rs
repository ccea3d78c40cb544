//! Looks whether the call was done already, and claims its key.
//!
//! Short for `find-key` and then inserting a claim under the key. With `claim-names = "attempt"` the claim names this
//! attempt, so that its call knows it again; with `"nothing"` any claim looks like any other. A request without a key
//! passes.

use super::{End, Handling, Requires, Step, Writes};

use crate::model::Outcome;
use crate::model::design::ClaimNames;
use crate::world::{Claim, Record, ghost};

pub static STEP: Step = Step {
    requires: Requires::Nothing,
    writes: Writes::Something,
    outcomes: &[Outcome::KeyMismatch, Outcome::InProgress],
    run,
};

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    super::find_key::run(handling)?;
    let Some((slot, key)) = handling.key() else { return Ok(()) };
    if handling.access.get(slot).keys().find(&key).is_some() {
        return Ok(());
    }
    let by = handling.setting.principal(handling.agent());
    let handle = handling.request.handle;
    let claim = next_claim(handling, slot);
    handling.change_keys(slot, |table| table.insert(key, Record::Claim { claim, by, handle }));
    let table = u16::try_from(slot).expect("a state has few slots");
    handling.progress.claim = Some(Claim { table, number: claim });
    Ok(())
}

/// A number that no call and no record holds for a claim in this table; where claims name nothing, the same for all.
fn next_claim(handling: &Handling<'_, '_>, slot: usize) -> u16 {
    let setting = handling.setting;
    if setting.model.design.keys.claim_names == ClaimNames::Nothing {
        return 0;
    }
    let mut held: Vec<u16> = Vec::new();
    for agent in 0..setting.agents() {
        let open = handling.access.peek(setting.call_slot(agent), ghost::CLAIMS).call();
        let orphans = handling.access.peek(setting.orphans_slot(agent), ghost::CLAIMS).orphans();
        held.extend(open.iter().chain(orphans).filter_map(|call| {
            let claim = call.progress()?.claim?;
            (usize::from(claim.table) == slot).then_some(claim.number)
        }));
    }
    let claims = handling.access.get(slot).keys().records.iter().filter_map(|(_, record)| match record {
        Record::Claim { claim, .. } => Some(*claim),
        Record::Done { .. } => None,
    });
    held.into_iter().chain(claims).max().map_or(0, |greatest| greatest.saturating_add(1))
}
