//! Changes of contents, and how they are taken back.

use std::borrow::Cow;

use serde_json::Value;

use super::handling::Handling;
use super::places::{Instance, Superseded};
use super::progress::{Passed, Wrote};
use super::request::{Fields, Operation, Payload, Request};
use crate::model::Outcome;
use crate::model::design::ReadsFrom;

/// The content after a change.
pub(super) fn changed(mut content: Fields, operation: &str, change: &Fields) -> Result<Fields, String> {
    for (name, value) in change {
        let old = content.get(name);
        let new = match operation {
            "append" => {
                let mut list = match old {
                    None => Vec::new(),
                    Some(Value::Array(list)) => list.clone(),
                    Some(_) => return Err(format!("`{name}` is no list to append to")),
                };
                list.push(value.clone());
                Value::Array(list)
            }
            "increment" => {
                let old = old.map_or(Some(0), Value::as_i64);
                let sum = old.zip(value.as_i64()).and_then(|(old, amount)| old.checked_add(amount));
                sum.map(Value::from).ok_or_else(|| format!("`{name}` is no number to add to, or too large a one"))?
            }
            _ => value.clone(),
        };
        content.insert(name.clone(), new);
    }
    Ok(content)
}

/// The content without a change: what was set is as it was `before`.
fn without(mut content: Fields, operation: &str, change: &Fields, before: &Fields) -> Fields {
    for (name, value) in change {
        match (operation, content.get_mut(name)) {
            ("append", Some(Value::Array(list))) => {
                if let Some(last) = list.iter().rposition(|element| element == value) {
                    list.remove(last);
                }
            }
            ("increment", Some(number)) => {
                let back = number.as_i64().zip(value.as_i64()).and_then(|(number, amount)| number.checked_sub(amount));
                *number = back.map_or_else(|| number.clone(), Value::from);
            }
            ("append" | "increment", None) => {}
            _ => match before.get(name) {
                Some(old) => drop(content.insert(name.clone(), old.clone())),
                None => drop(content.remove(name)),
            },
        }
    }
    content
}

impl Handling<'_> {
    /// Keeps what is there before the first write of the call, where it may have to be taken back.
    pub(super) fn note_before(&mut self, before: &Instance) {
        if self.may_take_back() && self.progress.wrote.is_none() {
            let Instance { content, lifecycle, approved, .. } = before.clone();
            self.progress.wrote = Some(Wrote::Over { content, lifecycle, approved });
        }
    }

    /// Turns to the other resource of the call, or back.
    pub(super) fn turn(&mut self) {
        self.at_other = !self.at_other;
        self.progress.turn();
    }

    /// Whether the handler has a step that takes back what it did.
    pub(super) fn may_take_back(&self) -> bool {
        let handler = self.design.server.handler(self.request.operation.tool);
        handler.is_some_and(|handler| handler.at_end.iter().flatten().any(|step| *step == "undo"))
    }
}

impl<'h> Handling<'h> {
    /// What is asked of what the handler is at.
    #[must_use]
    pub fn asked(&self) -> (&'static Operation, Cow<'h, Payload>) {
        let request: &'h Request = self.request;
        match self.other() {
            Some(other) => (other.operation, Cow::Owned(Payload::Change(other.change.clone()))),
            None => (request.operation, Cow::Borrowed(&request.payload)),
        }
    }
}

/// The step `undo`.
pub(super) fn undo(handling: &mut Handling<'_>) -> Passed {
    if handling.progress.answer.outcome == Outcome::Ok {
        return Ok(());
    }
    let Some(wrote) = handling.progress.wrote.take() else { return Ok(()) };
    let handle = match &wrote {
        Wrote::Anew(made) => Some(made.clone()),
        Wrote::Over { .. } => handling.handle().map(str::to_owned),
    };
    let Some(handle) = handle else { return Ok(()) };
    let Some(mut instance) = handling.instance_of(&handle)? else { return Ok(()) };
    if handling.design.server.reads_from == ReadsFrom::Replica {
        let (version, content, at) = (instance.version, instance.content.clone(), handling.now()?);
        instance.superseded = Some(Superseded { version, content: Some(content), at });
    }
    instance.version = handling.next_version(instance.version)?;
    let (operation, payload) = handling.asked();
    match (wrote, &*payload) {
        (Wrote::Anew(_), _) => "deleted".clone_into(&mut instance.lifecycle),
        (Wrote::Over { content, .. }, payload) if operation.changes_fields() => {
            instance.content = match payload {
                Payload::Change(change) => without(instance.content, operation.name, change, &content),
                Payload::Content(_) | Payload::Nothing => content,
            };
            handling.drop_new_fields(&mut instance.content);
        }
        (Wrote::Over { approved, .. }, _) if operation.name == "approve" => instance.approved = approved,
        (Wrote::Over { lifecycle, .. }, _) => instance.lifecycle = lifecycle,
    }
    handling.put_at(&handle, &instance)
}
