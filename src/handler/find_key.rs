//! Looks whether the call was done already.
//!
//! Passes when nothing stands under the key of the request in the table of its scope (`keys.scope`), or nothing but this
//! call's own claim. Otherwise it ends the call: with the recorded outcome, marked as replayed; with `key-mismatch`
//! when the arguments differ and `other-payload = "refuse"`; with `in-progress` for the claim of another call. A request
//! without a key passes.

use super::{End, Handling, Requires, Step, Writes};

use crate::model::Outcome;
use crate::model::design::{FingerprintPart, OtherPayload};
use crate::world::{Answer, Fingerprint, Record};

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
        Some(Record::Claim { claim, .. }) if handling.is_own_claim(slot, *claim) => Ok(()),
        Some(Record::Claim { by, .. }) => Err(refuse(handling, Outcome::InProgress, *by)),
        Some(Record::Done { fingerprint, answer, by, .. }) => {
            let refuses = handling.setting.model.design.keys.other_payload == OtherPayload::Refuse;
            if refuses && **fingerprint != self::fingerprint(handling) {
                return Err(refuse(handling, Outcome::KeyMismatch, *by));
            }
            let mut answer = answer.clone();
            answer.replayed = true;
            let own = handling.setting.principal(handling.agent());
            answer.held_by = Some(*by).filter(|by| *by != own).or(answer.held_by);
            answer.unknown_handle = None;
            Err(End { answer: Box::new(answer) })
        }
    }
}

/// Ends the call because of what stands under its key.
pub(super) fn refuse(handling: &Handling<'_, '_>, outcome: Outcome, by: u8) -> End {
    let mut end = handling.refuse(outcome);
    end.answer.held_by = handling.held_up_by(by);
    end
}

/// What is recorded of the call with this answer.
pub(super) fn record(handling: &Handling<'_, '_>, answer: Answer) -> Record {
    let by = handling.setting.principal(handling.agent());
    Record::Done { fingerprint: Box::new(fingerprint(handling)), answer, by, handle: handling.request.handle }
}

/// What the arguments of the call are compared by.
fn fingerprint(handling: &Handling<'_, '_>) -> Fingerprint {
    let parts = &handling.setting.model.design.keys.fingerprint;
    let has = |part: FingerprintPart| parts.contains(&part);
    let request = handling.request;
    Fingerprint {
        operation: has(FingerprintPart::Operation).then(|| (request.tool, request.payload.bare())),
        handle: has(FingerprintPart::Handle).then_some(request.handle),
        expected: has(FingerprintPart::ExpectedVersion).then(|| request.expected.clone()),
        other: request.besides().filter(|_| has(FingerprintPart::Operation)),
    }
}
