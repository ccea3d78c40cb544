//! What a plan rests on: what its author saw of it, and the condition under which it is done.

use super::Handling;
use crate::model::ResourceId;
use crate::world::{BrokenBasis, Content, Field, Handle, Instance};

impl Handling<'_, '_> {
    /// Whether the condition of the call's intent is true of what is here; a call without one meets it. `None`: something
    /// that it names is not here.
    #[must_use]
    pub fn meets_condition(&self) -> Option<bool> {
        let Some(condition) = self.setting.condition_of(self.request) else {
            return Some(true);
        };
        let own = match self.request.handle.filter(|_| self.at_other) {
            Some(handle) => self.instance_of(handle).cloned(),
            None => self.instance(),
        };
        let own = own.map(|instance| instance.content);
        condition.is_met(self.setting, |resource| {
            if resource == self.resource_id() {
                own.as_ref()
            } else {
                Some(&self.instance_of(self.given(resource)?)?.content)
            }
        })
    }

    /// The handle of a resource that the entry is given.
    fn given(&self, resource: ResourceId) -> Option<Handle> {
        let mut handles = self.request.basis.iter().map(|(handle, _)| *handle);
        handles.find(|handle| usize::from(handle.resource) == resource)
    }

    /// How what the plan rests on is not so any more: its condition is not true, or a resource has changed since its author saw
    /// it (ghost). What the condition names may have changed as long as it is true. `own` is what the call is about, before it
    /// is changed. Later parts of a change that is made in parts stand on the first, and so does what is changed besides.
    #[must_use]
    pub fn broken_basis(&self, own: Option<&Instance>) -> Option<BrokenBasis> {
        if self.progress.written > 1 || self.at_other {
            return None;
        }
        let now = |handle: Handle| if Some(handle) == self.request.handle { own } else { self.anywhere(handle) };
        let condition = self.setting.condition_of(self.request);
        let named = |resource: ResourceId| condition.is_some_and(|condition| condition.names(resource));
        let changed = self.request.basis.iter().any(|(handle, seen)| {
            let Some(now) = now(*handle) else { return true };
            if named(usize::from(handle.resource)) {
                return false;
            }
            let version = seen.version.is_some_and(|version| version != now.version);
            let new_fields = &self.setting.resource(usize::from(handle.resource)).new_fields;
            version || seen.content.as_ref().is_some_and(|content| !shows_values(content, &now.content, new_fields))
        });
        let content = |resource: ResourceId| -> Option<&Content> {
            let own = (resource == self.resource_id()).then_some(own);
            let there = own.unwrap_or_else(|| self.anywhere(self.given(resource)?));
            there.map(|instance| &instance.content)
        };
        let unmet = condition.is_some_and(|condition| condition.is_met(self.setting, content) != Some(true));
        unmet.then_some(BrokenBasis::ConditionNotMet).or_else(|| changed.then_some(BrokenBasis::Changed))
    }
}

/// Whether a content that was seen has the values of one that is stored. Of new fields it may have been shown nothing.
fn shows_values(seen: &[Field], stored: &[Field], new_fields: &[usize]) -> bool {
    let mut pairs = seen.iter().zip(stored).enumerate();
    pairs.all(|(field, (seen, stored))| {
        seen.value == stored.value || new_fields.contains(&field) && seen.value == seen.value.empty()
    })
}
