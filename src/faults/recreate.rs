//! A resource is deleted and created anew under the same name.
//!
//! It is a change of every field, by nobody. With `versions = "counter"` the version goes on; with `"per-incarnation"` it
//! starts again.

use super::{Fault, Strike, Strikes};
use crate::action::Target;
use crate::engine::Access;
use crate::handler::Programs;
use crate::model::Value;
use crate::world::{Component, Fact, Field, Handle, Instance, Intents, Ledger, Setting};

pub static FAULT: Fault = Fault { strikes: Strikes::Resources, targets, parts, strike };

fn targets(setting: &Setting, _: &Programs, access: &Access<'_, Component>, resource: usize) -> Vec<Target> {
    let stored = access.get(setting.resource_slot(resource)).resource();
    let there = (0..).zip(&stored.instances).filter(|(_, instance)| instance.is_reachable());
    there.map(|(instance, _)| Target::Handle(Handle { resource: stored.id, instance })).collect()
}

/// One part for the resource, one for each ledger.
fn parts(setting: &Setting) -> usize {
    1 + setting.agents()
}

fn strike(strike: &mut Strike<'_, '_>, target: Target, part: usize) -> Vec<Fact> {
    let Target::Handle(handle) = target else { unreachable!("resources are created anew") };
    let setting = strike.setting;
    if part > 0 {
        // Effects on what was deleted since are not counted.
        let slot = setting.ledger_slot(part - 1);
        let mut ledger: Ledger = strike.access.get(slot).ledger().clone();
        let effects = ledger.entries.iter_mut().flat_map(|entry| &mut entry.effects);
        effects.filter(|effect| effect.handle == handle).for_each(|effect| effect.count = 0);
        strike.access.set(slot, ledger.into());
        return Vec::new();
    }
    let resource = usize::from(handle.resource);
    let slot = setting.resource_slot(resource);
    let mut stored = strike.access.get(slot).resource().clone();
    let instance = &mut stored.instances[usize::from(handle.instance)];
    let before = instance.clone();
    let content = before.content.iter().map(anew).collect();
    let version =
        if setting.versions_come_back() { setting.first_version(resource) } else { before.version.saturating_add(1) };
    let mut after = Instance::new(content, version, before.node);
    after.session = before.session;
    after.previous = setting.has_lagging_copies().then(|| (before.version, before.content.clone()));
    after.history.clone_from(&before.history);
    if setting.versions_come_back() {
        after.history.push((before.version, before.values()));
        after.history.sort();
        after.history.dedup();
    }
    *instance = after.clone();
    strike.access.set(slot, stored.into());
    vec![Fact::Recreated { handle, before, after }]
}

/// A value that the field did not have.
fn anew(field: &Field) -> Field {
    let value = match &field.value {
        Value::Number(0) => Value::Number(1),
        Value::Number(_) => Value::Number(0),
        Value::Text(text) if text == "anew" => Value::Text("again anew".to_owned()),
        Value::Text(_) => Value::Text("anew".to_owned()),
        Value::List(elements) if elements.is_empty() => Value::List(vec![Value::Text("anew".to_owned())]),
        Value::List(_) => Value::List(Vec::new()),
    };
    Field { value, shows: Intents::NOBODY }
}
