//! A node restarts: it loses its memory and every call in it.
//!
//! Answered calls whose answers were not received are lost too. The streams of all these calls break, and can't be
//! resumed whatever the protocol says. An idle node may restart as well.

use super::{Fault, Strike, Strikes, lost_mint};
use crate::action::Target;
use crate::engine::Access;
use crate::harness::Harness;
use crate::world::{Component, Fact, KeyTable, Setting};

pub static FAULT: Fault = Fault { strikes: Strikes::Nodes, targets, parts, strike };

fn targets(_: &Setting, _: &Access<'_, Component>, node: usize) -> Vec<Target> {
    vec![Target::Node(u8::try_from(node).expect("there are few nodes"))]
}

/// One part for each agent's open call, one for each agent's orphans, one for each key table and each resource in node
/// memory.
fn parts(setting: &Setting) -> usize {
    let resources = if setting.is_state_in_nodes() { setting.resources() } else { 0 };
    2 * setting.agents() + memories(setting).len() + resources
}

fn memories(setting: &Setting) -> Vec<(usize, u8)> {
    setting.all_keys_slots().filter_map(|(slot, node)| Some((slot, node?))).collect()
}

fn strike(strike: &mut Strike<'_, '_>, target: Target, part: usize) -> Vec<Fact> {
    let Target::Node(node) = target else { unreachable!("nodes restart") };
    let setting = strike.setting;
    let agents = setting.agents();
    if part < agents {
        let slot = setting.call_slot(part);
        let Some(call) = strike.access.get(slot).call().clone().filter(|call| call.node() == Some(node)) else {
            return Vec::new();
        };
        strike.access.set(slot, None.into());
        let lost = lost_mint(&call);
        let mut harness = Harness::new(setting, strike.access, part);
        harness.stream_broke(&call.request);
        let mut facts = harness.finish();
        facts.extend(lost);
        return facts;
    }
    if part < 2 * agents {
        let slot = setting.orphans_slot(part - agents);
        let orphans = strike.access.get(slot).orphans();
        if orphans.iter().any(|call| call.node() == Some(node)) {
            let left = orphans.iter().filter(|call| call.node() != Some(node)).cloned().collect();
            strike.access.set(slot, Component::Orphans(left));
        }
        return Vec::new();
    }
    let memories = memories(setting);
    if let Some(resource) = part.checked_sub(2 * agents + memories.len()) {
        let slot = setting.resource_slot(resource);
        let mut stored = strike.access.get(slot).resource().clone();
        stored.instances.iter_mut().filter(|instance| instance.node == node).for_each(|instance| instance.lost = true);
        strike.access.set(slot, stored.into());
        return Vec::new();
    }
    let (slot, memory) = memories[part - 2 * agents];
    if memory == node {
        let slot_number = u16::try_from(slot).expect("a state has few slots");
        let empty = KeyTable { slot: slot_number, latest_claim: None, records: Vec::new() };
        strike.access.set(slot, empty.into());
    }
    Vec::new()
}
