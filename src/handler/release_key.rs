//! Gives up the claim of this call.
//!
//! Removes the claim of this call from under its key, if it is still there.

use super::{End, Handling, Requires, Step, Writes};

use crate::world::Record;

pub static STEP: Step = Step { requires: Requires::Nothing, writes: Writes::Something, outcomes: &[], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    let Some((slot, key)) = handling.key() else { return Ok(()) };
    let own = handling.progress.claim;
    let stands = handling.access.get(slot).keys().find(&key);
    if own.is_some() && matches!(stands, Some(Record::Claim { claim, .. }) if own == Some(*claim)) {
        handling.change_keys(slot, |table| table.remove(&key));
    }
    handling.progress.claim = None;
    Ok(())
}
