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
    let (Some((slot, key)), Some(intent)) = (handling.key(), handling.intent()) else { return Ok(()) };
    if handling.setting.model.design.keys.taken == Taken::Refuse {
        let holder = match handling.access.get(slot).keys().find(&key) {
            Some(Record::Claim { claim, intent }) if !handling.owns(slot, *claim) => Some(*intent),
            Some(Record::Done { intent, .. }) => Some(*intent),
            Some(Record::Claim { .. }) | None => None,
        };
        if let Some(holder) = holder {
            return Err(super::find_key::refuse(handling, Outcome::InProgress, holder));
        }
    }
    let fingerprint = super::find_key::fingerprint(handling);
    let answer = handling.progress.answer.clone();
    let intent = u8::try_from(intent).expect("there are fewer than 256 intents");
    handling.change_keys(slot, |table| table.insert(key, Record::Done { fingerprint, answer, intent }));
    Ok(())
}
