//! Looks whether the call was done already.
//!
//! Passes when nothing stands under the key of the request in the table of its scope (`keys.scope`), or nothing but this
//! call's own claim. Otherwise it ends the call: with the recorded outcome, marked as replayed; with `key-mismatch`
//! when the arguments differ and `other-payload = "refuse"`; with `in-progress` for the claim of another call. A request
//! without a key passes.

use super::{End, Handling, Requires, Step, Writes};

use crate::model::Outcome;
use crate::model::design::{FingerprintPart, OtherPayload};
use crate::world::{Fingerprint, Record};

pub static STEP: Step = Step {
    requires: Requires::Nothing,
    writes: Writes::Nothing,
    outcomes: &[Outcome::KeyMismatch, Outcome::InProgress],
    run,
};

pub(super) fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    let Some((slot, key)) = handling.key() else { return Ok(()) };
    match handling.access.get(slot).keys().find(&key) {
        None => Ok(()),
        Some(Record::Claim { claim, .. }) if handling.owns(slot, *claim) => Ok(()),
        Some(Record::Claim { intent, .. }) => Err(refuse(handling, Outcome::InProgress, *intent)),
        Some(Record::Done { fingerprint, answer, intent }) => {
            let refuses = handling.setting.model.design.keys.other_payload == OtherPayload::Refuse;
            if refuses && *fingerprint != self::fingerprint(handling) {
                return Err(refuse(handling, Outcome::KeyMismatch, *intent));
            }
            let mut answer = answer.clone();
            answer.replayed = Some(*intent);
            answer.held_by = Some(handling.principal_of(*intent));
            answer.unknown_handle = None;
            Err(End { answer: Box::new(answer) })
        }
    }
}

/// Ends the call because of what stands under its key.
pub(super) fn refuse(handling: &Handling<'_, '_>, outcome: Outcome, intent: u8) -> End {
    let mut end = handling.refuse(outcome);
    end.answer.held_by = Some(handling.principal_of(intent));
    end
}

/// What the arguments of the call are compared by.
pub(super) fn fingerprint(handling: &Handling<'_, '_>) -> Fingerprint {
    let parts = &handling.setting.model.design.keys.fingerprint;
    let has = |part: FingerprintPart| parts.contains(&part);
    let request = handling.request;
    Fingerprint {
        operation: has(FingerprintPart::Operation).then(|| (request.tool, request.payload.bare())),
        handle: has(FingerprintPart::Handle).then_some(request.handle),
        expected: has(FingerprintPart::ExpectedVersion).then(|| request.expected.clone()),
    }
}
