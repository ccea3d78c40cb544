//! A step that ends a call: what is recorded of it, and what it discloses of a handle (section 8).

use handlecheck::model::design::Record;
use handlecheck::model::{Model, Outcome};

use super::judge;
use super::keys;
use super::server::transactions;
use super::state::{Answer, Call, Handle, KeyEntry, Place};
use super::steps;
use super::world::World;

/// A step ended the call. Under `record = "every-outcome"` a refusal behind `find-key` is stored with the roll-back.
pub fn end_with(world: &mut World<'_>, call: &mut Call, mut end: steps::End, place: (usize, usize, bool)) {
    let request = call.request.clone();
    let foreign = |handle: Handle| {
        world.state.resources.contains_key(&handle)
            && !judge::agent_entitled(world.model, &world.state, request.agent, handle)
    };
    let refused = !matches!(end.answer.outcome, Outcome::Ok);
    let own = request.handle.is_some_and(foreign) && (!place.2 || has_looked(world.model, call, place, false));
    if own && refused && end.answer.outcome != outcome_for_unknown_handle(world, call) {
        end.answer.breaks.insert(judge::NO_CROSS_PRINCIPAL);
    }
    // Whatever looks at the other resource, had its handle never existed, says that it does not.
    let other = request.other.as_ref().is_some_and(|other| foreign(other.handle));
    if other && refused && end.answer.outcome != Outcome::NotFound && has_looked(world.model, call, place, true) {
        end.answer.breaks.insert(judge::NO_CROSS_PRINCIPAL);
    }
    let Place::AtNode(handling) = &mut call.place else { return };
    let node = handling.node;
    handling.ended = Some(end.answer.clone());
    if world.model.design.keys.record == Record::EveryOutcome && end.recorded {
        let entry = KeyEntry::Record {
            fingerprint: keys::fingerprint(world.model, &request),
            answer: Answer { breaks: std::collections::BTreeSet::default(), ..end.answer },
            by: judge::principal(world.model, request.agent).clone(),
            with: request.handle,
        };
        if let Some(place) = keys::key_place(world, &request, node) {
            world.state.key_table(world.model, node).insert(place, entry);
        }
    }
}

/// Has a handler looked at its own resource, or at the other one, by the step at this place of a transaction that ended
/// the call? The last says whether that step was at the other one.
fn has_looked(model: &Model, call: &Call, (number, index, at_other): (usize, usize, bool), other: bool) -> bool {
    let (all, _) = transactions(model, call);
    let on_keys = |step: &str| step.ends_with("-key");
    if at_other == other && !on_keys(all[number][index]) {
        return true;
    }
    let expects = call
        .request
        .other
        .as_ref()
        .is_some_and(|of| call.request.expected.iter().any(|(handle, _)| *handle == of.handle));
    for (transaction, steps) in all[..=number].iter().enumerate() {
        let mut turned = false;
        for (place, step) in steps.iter().enumerate() {
            if transaction == number && place > index {
                break;
            }
            turned ^= *step == "other";
            let looks = !on_keys(step)
                && !matches!(
                    *step,
                    "other"
                        | "answer"
                        | "call-upstream"
                        | "mint"
                        | "write-content"
                        | "save"
                        | "check-unchanged"
                        | "find-cached"
                        | "fill-cache"
                        | "fill-cache-if-newer"
                );
            let before = transaction < number || place < index;
            if before && looks && turned == other || other && expects && !turned && *step == "check-version" {
                return true;
            }
        }
    }
    false
}

/// What a handler would answer to the same call, had its handle never existed (section 8, disclosure).
fn outcome_for_unknown_handle(world: &World<'_>, call: &Call) -> Outcome {
    let mut world = world.clone();
    let mut call = call.clone();
    let handle = call.request.handle.map(|handle| (handle.0, u8::MAX));
    call.request.handle = handle;
    call.request.token = None;
    call.request.expected.iter_mut().for_each(|expected| expected.0.1 = u8::MAX);
    let (all, before_end) = transactions(world.model, &call);
    if let Place::AtNode(handling) = &mut call.place {
        handling.answer = Answer::ok(handle);
        handling.claim = None;
        handling.bench.grant = None;
    }
    for steps in &all[..before_end] {
        let mut turned = false;
        for step in steps {
            turned ^= *step == "other";
            // What it does to the other resource is another matter, and an unknown handle is in no cache.
            if *step == "other" || *step == "find-cached" || turned && steps::is_about_a_resource(step) {
                continue;
            }
            if let Err(end) = steps::run(&mut world, &mut call, step) {
                return end.answer.outcome;
            }
        }
    }
    Outcome::Ok
}
