//! Looks whether the call was done already, and claims its key.
//!
//! Short for `find-key` and then inserting a claim of this attempt under the key. A request without a key passes.

use super::{End, Handling, Requires, Step, Writes};

use crate::model::Outcome;
use crate::world::Record;

pub static STEP: Step = Step {
    requires: Requires::Nothing,
    writes: Writes::Something,
    outcomes: &[Outcome::KeyMismatch, Outcome::InProgress],
    run,
};

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    super::find_key::run(handling)?;
    let (Some((slot, key)), Some(intent)) = (handling.key(), handling.intent()) else { return Ok(()) };
    if handling.access.get(slot).keys().find(&key).is_some() {
        return Ok(());
    }
    let intent = u8::try_from(intent).expect("there are fewer than 64 intents");
    let claim = handling.change_keys(slot, |table| {
        let claim = table.next_claim();
        table.insert(key, Record::Claim { claim, intent });
        claim
    });
    handling.progress.claim = Some(claim);
    Ok(())
}
