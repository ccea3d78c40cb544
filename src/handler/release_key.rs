//! Gives up the claim of this call.
//!
//! Removes the claim of this call from under its key, if it is still there. With `claim-names = "nothing"` it removes
//! whatever claim stands there: that of another call too, and also where this call never got one.

use super::{End, Handling, Requires, Step, Writes};

use crate::model::design::ClaimNames;
use crate::world::Record;

pub static STEP: Step = Step { requires: Requires::Nothing, writes: Writes::Something, outcomes: &[], run };

pub(super) fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    let Some((slot, key)) = handling.key() else { return Ok(()) };
    let any = handling.setting.model.design.keys.claim_names == ClaimNames::Nothing;
    let stands = handling.access.get(slot).keys().find(&key);
    if matches!(stands, Some(Record::Claim { claim, .. }) if any || handling.is_own_claim(slot, *claim)) {
        handling.change_keys(slot, |table| table.remove(&key));
    }
    handling.progress.claim = None;
    Ok(())
}
