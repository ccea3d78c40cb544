//! Whether the condition of an accepted change was true of what was stored when it took effect.
//!
//! What a resource holds at a version is what a view of that version shows, or what a view of an earlier one comes to with the
//! changes in between, when all of them are known. That takes a log whose versions count.

use std::collections::{BTreeMap, BTreeSet};

use super::case::Case;
use super::effects::{Effect, Resource, content};
use super::history::{Condition, History, Name};
use crate::assertion;
use crate::log::Operation;
use crate::model::Value;
use serde_json::Value as Json;

/// The fields of a resource.
type Fields = BTreeMap<Name, Json>;

/// What is stored of each resource that conditions name, at the versions that matter.
#[derive(Debug, Default)]
pub struct Stored(BTreeMap<Name, BTreeMap<u64, Fields>>);

/// Which version of each thing that a condition names was there when a change took effect; none: the log does not tell.
type Moment = Option<Vec<(String, Name, u64)>>;

impl Stored {
    /// Of everything on which a condition of an accepted change rests.
    #[must_use]
    pub fn of(case: &Case<'_>) -> Self {
        let mut wanted: BTreeMap<Name, BTreeSet<u64>> = BTreeMap::new();
        for resource in &case.resources {
            for effect in &resource.effects {
                let Some(condition) = condition(case, effect) else { continue };
                for (_, handle, version) in moment(case, resource, effect, condition).into_iter().flatten() {
                    wanted.entry(handle).or_default().insert(version);
                }
            }
        }
        let stored = wanted
            .into_iter()
            .filter_map(|(handle, versions)| Some((handle, contents(case.history, case.resource(handle)?, &versions))));
        Self(stored.collect())
    }

    /// Whether the condition of a change was true when it took effect, and of which versions that is said. None: the log does
    /// not tell.
    #[must_use]
    pub fn was_met(
        &self,
        case: &Case<'_>,
        resource: &Resource,
        effect: &Effect,
        condition: &Condition,
    ) -> Option<(bool, Vec<(Name, u64)>)> {
        let moment = moment(case, resource, effect, condition)?;
        let mut resources = Vec::new();
        for (name, handle, version) in &moment {
            let fields = self.0.get(handle)?.get(version)?;
            let field =
                |(field, value): (&Name, &Json)| Some((case.history.text(*field).to_owned(), Value::of_json(value)?));
            resources.push((name.clone(), fields.iter().filter_map(field).collect()));
        }
        let met = assertion::meets(&condition.expression, &resources).ok()?;
        Some((met, moment.into_iter().map(|(_, handle, version)| (handle, version)).collect()))
    }
}

/// The condition of a change, where it has one.
#[must_use]
pub fn condition<'h>(case: &Case<'h>, effect: &Effect) -> Option<&'h Condition> {
    case.history.rests(case.call(effect.call))?.condition.as_ref()
}

fn moment(case: &Case<'_>, resource: &Resource, effect: &Effect, condition: &Condition) -> Moment {
    if !case.history.versions_count {
        return None;
    }
    let names = condition.names.iter().map(|(name, handle)| {
        let version = if *handle == resource.handle {
            effect.version.number().filter(|_| resource.numbered)?.checked_sub(1)?
        } else {
            version_at(case.resource(*handle)?, effect)?
        };
        Some((name.clone(), *handle, version))
    });
    names.collect()
}

/// The version of another resource when a change took effect, if nothing changed it around that time.
fn version_at(other: &Resource, effect: &Effect) -> Option<u64> {
    let settled = other.numbered && !other.disturbed && other.open.is_empty() && other.unaccounted.is_empty();
    let over = |it: &&Effect| it.by < effect.from;
    if !settled || other.effects.iter().any(|it| it.by >= effect.from && it.from <= effect.by) {
        return None;
    }
    let last = other.effects.iter().filter(over).filter_map(|it| it.version.number()).max();
    let before_all = || other.effects.first().and_then(|first| first.version.number()?.checked_sub(1));
    let seen = || other.views.iter().find_map(|view| view.version.number());
    last.or_else(before_all).or_else(|| seen().filter(|_| other.effects.is_empty()))
}

/// What a resource holds at these versions, as far as it is known.
fn contents(history: &History, resource: &Resource, versions: &BTreeSet<u64>) -> BTreeMap<u64, Fields> {
    let mut stored = BTreeMap::new();
    if !resource.numbered || resource.disturbed {
        return stored;
    }
    let mut views: Vec<_> = resource.views.iter().filter_map(|view| Some((view.version.number()?, view))).collect();
    views.retain(|(_, view)| !content(history, view).is_empty());
    views.sort_by_key(|(version, view)| (*version, view.from));
    let (mut views, mut effects) = (views.into_iter().peekable(), resource.effects.iter().peekable());
    let mut current: Option<(u64, Fields)> = None;
    for &wanted in versions {
        loop {
            let made = effects.peek().and_then(|effect| effect.version.number()).filter(|version| *version <= wanted);
            let shown = views.peek().map(|(version, _)| *version).filter(|version| *version <= wanted);
            if let (Some(version), true) = (made, made.is_some() && shown.is_none_or(|shown| made <= Some(shown))) {
                let effect = effects.next().expect("it was just looked at");
                let before = current.take().filter(|(before, _)| before + 1 == version);
                current = before.and_then(|(_, fields)| Some((version, after(history, fields, effect)?)));
            } else if let Some((version, view)) = views.next_if(|_| shown.is_some()) {
                let shown = content(history, view).iter().map(|(field, value)| (*field, history.json(*value)));
                current = Some((version, shown.collect()));
            } else {
                break;
            }
        }
        if let Some((_, fields)) = current.as_ref().filter(|(version, _)| *version == wanted) {
            stored.insert(wanted, fields.clone());
        }
    }
    stored
}

/// A content after a change, where that can be told.
fn after(history: &History, mut fields: Fields, effect: &Effect) -> Option<Fields> {
    let call = &history.calls[effect.call as usize];
    for (field, value) in history.fields(call) {
        let new = history.json(*value);
        let there = fields.entry(*field).or_default();
        match call.tool {
            Operation::Append => {
                let list = there.as_array_mut()?;
                list.extend(history.appended(*value).into_iter().map(|element| history.json(element)));
            }
            Operation::Increment => *there = there.as_i64()?.checked_add(new.as_i64()?)?.into(),
            Operation::Approve => {}
            _ => *there = new,
        }
    }
    Some(fields)
}
