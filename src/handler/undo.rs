//! Takes back what this call wrote.
//!
//! A compensation. It stands in `at-end`, and does something when the call did not end with `ok`, or was cancelled
//! (`on-cancel = "at-end"`), after it had written: in an earlier transaction, which nothing rolls back. What was
//! incremented is decremented, and what was appended is removed, from whatever is stored by then. A field that was set
//! gets back the value that it had before the call; so does the whole content, where a snapshot was sent. So an `undo`
//! can erase what another wrote in between. What was ended is open again, and what was minted is deleted. The version
//! advances.
//!
//! Then the intent has not taken effect, and `failure` is a true word about it. A call whose node restarts is forgotten
//! and takes nothing back, unless calls are kept (`calls = "resumed"`). Behind `other` it takes back what was written
//! there: `at-end = [["other", "undo"], ["undo"]]`.
//!
//! Compare Garcia-Molina and Salem, "Sagas" (1987).

use super::handling::change_fields;
use super::{End, Handling, Requires, Step, Writes};

use crate::model::design::Versions;
use crate::model::{Operation, Outcome, Value};
use crate::world::{Content, Instance, Intents, Lifecycle, Payload, Wrote};

pub static STEP: Step = Step { requires: Requires::Ending, writes: Writes::Something, outcomes: &[], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    if handling.progress.answer.outcome == Outcome::Ok {
        return Ok(());
    }
    let Some(wrote) = handling.progress.wrote.take() else { return Ok(()) };
    let made = if let Wrote::Anew(handle) = *wrote { Some(handle) } else { None };
    let Some(handle) = made.or_else(|| handling.handle()) else { return Ok(()) };
    let (Some(_), Some(intent)) = (handling.instance_of(handle), handling.intent()) else { return Ok(()) };
    let before = handling.anywhere(handle).expect("what is here is somewhere").clone();
    let operation = handling.setting.intents[intent].operation(handling.at_other).clone();
    let whole = !handling.at_other && matches!(handling.request.payload, Payload::Snapshot(_));
    let ticks = u16::from(handling.luck.ticks);
    handling.asked_clock = handling.setting.model.design.server.versions == Versions::CoarseClock;
    let version = before.version.saturating_add(ticks);
    let mut after = Instance { version, ..before.clone() };
    match *wrote {
        Wrote::Anew(_) => {
            after.lifecycle = Lifecycle::Deleted;
            after.ended_by = before.ended_by.or(u8::try_from(intent).ok());
        }
        Wrote::Over { content, lifecycle, approved, ended_by } => match &operation {
            Operation::Set(_) | Operation::Append(_) | Operation::Increment(_) => {
                let content =
                    if whole { content } else { without(before.content.clone(), &content, &operation, intent) };
                after.content = handling.known_fields(content);
            }
            Operation::Close | Operation::Execute | Operation::Delete => {
                (after.lifecycle, after.ended_by) = (lifecycle, ended_by);
            }
            Operation::Approve => after.approved = approved,
            Operation::Mint => {}
        },
    }
    let after = handling.store(handle, &before, after);
    let slot = handling.setting.ledger_slot(handling.agent());
    let mut ledger = handling.access.get(slot).ledger().clone();
    let of_intent = &mut ledger.entries[usize::from(handling.request.entry)];
    for change in handling.changes(&operation) {
        of_intent.take_back(handle, change);
    }
    handling.access.set(slot, ledger.into());
    let can_erase = whole && operation.changes_fields() || matches!(operation, Operation::Set(_));
    handling.tell_of_commit(handle, Some(before), after, can_erase, true);
    Ok(())
}

/// A content without the change of an intent: what was set is as it was `before`.
fn without(mut content: Content, before: &Content, operation: &Operation, intent: usize) -> Content {
    match operation {
        Operation::Set(changes) => changes.iter().for_each(|(field, _)| content[*field] = before[*field].clone()),
        Operation::Append(changes) => {
            for (field, element) in changes {
                if let Value::List(elements) = &mut content[*field].value
                    && let Some(last) = elements.iter().rposition(|other| other == element)
                {
                    elements.remove(last);
                }
            }
        }
        Operation::Increment(changes) => {
            let back = changes.iter().map(|(field, amount)| (*field, amount.saturating_neg())).collect();
            change_fields(&mut content, &Operation::Increment(back), Intents::NONE);
        }
        Operation::Mint | Operation::Close | Operation::Approve | Operation::Execute | Operation::Delete => {}
    }
    if !matches!(operation, Operation::Set(_)) {
        for field in operation.fields() {
            content[field].shows = content[field].shows.without(Intents::of(intent));
        }
    }
    content
}

impl Handling<'_, '_> {
    /// Keeps what is there before the first write of the call, where it may have to be taken back.
    pub(super) fn note_before(&mut self, before: &Instance) {
        if self.setting.has_step("undo") && self.progress.wrote.is_none() {
            let Instance { content, lifecycle, approved, ended_by, .. } = before.clone();
            self.progress.wrote = Some(Box::new(Wrote::Over { content, lifecycle, approved, ended_by }));
        }
    }
}
