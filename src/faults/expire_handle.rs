//! The time of a handle is up.
//!
//! It may happen at any point. Agents and nodes notice only when a step checks (`check-live`).

use super::{Fault, Strike, Strikes, one_part};
use crate::action::Target;
use crate::engine::Access;
use crate::handler::Programs;
use crate::world::{Component, Fact, Handle, Setting};

pub static FAULT: Fault = Fault { strikes: Strikes::Resources, targets, parts: one_part, strike };

fn targets(setting: &Setting, _: &Programs, access: &Access<'_, Component>, resource: usize) -> Vec<Target> {
    let stored = access.get(setting.resource_slot(resource)).resource();
    let live = (0..).zip(&stored.instances).filter(|(_, instance)| instance.is_reachable());
    live.map(|(instance, _)| Target::Handle(Handle { resource: stored.id, instance })).collect()
}

fn strike(strike: &mut Strike<'_, '_>, target: Target, _: usize) -> Vec<Fact> {
    let Target::Handle(handle) = target else { unreachable!("handles expire") };
    let slot = strike.setting.resource_slot(usize::from(handle.resource));
    let mut resource = strike.access.get(slot).resource().clone();
    resource.instances[usize::from(handle.instance)].expired = true;
    strike.access.set(slot, resource.into());
    Vec::new()
}
