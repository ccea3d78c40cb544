//! Records that the call is done.
//!
//! Stores `ok` and the answer so far under the key of the request, over what stands there (`keys.taken = "overwrite"`).
//! With `taken = "refuse"` it ends the call with `in-progress` where a record or the claim of another call stands. A
//! request without a key passes.

use super::{End, Handling, Requires, Step, Writes};

use crate::model::Outcome;
use crate::model::design::Taken;
use crate::world::Record;

pub static STEP: Step =
    Step { requires: Requires::Nothing, writes: Writes::Something, outcomes: &[Outcome::InProgress], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    let Some((slot, key)) = handling.key() else { return Ok(()) };
    if handling.setting.model.design.keys.taken == Taken::Refuse {
        let holder = match handling.access.get(slot).keys().find(&key) {
            Some(Record::Claim { claim, by, .. }) if !handling.is_own_claim(slot, *claim) => Some(*by),
            Some(Record::Done { by, .. }) => Some(*by),
            Some(Record::Claim { .. }) | None => None,
        };
        if let Some(holder) = holder {
            return Err(super::find_key::refuse(handling, Outcome::InProgress, holder));
        }
    }
    let record = super::find_key::record(handling, handling.progress.answer.clone());
    handling.change_keys(slot, |table| table.insert(key, record));
    Ok(())
}
