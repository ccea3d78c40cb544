//! A node restarts: it loses its memory and every call in it.
//!
//! Answered calls whose answers were not received are lost too. The streams of all these calls break, and can't be
//! resumed whatever the protocol says. An idle node may restart as well.
//!
//! With `calls = "redelivered"` or `"resumed"` calls are kept, and their streams don't break: any node may take them up
//! again. What the node knew of where their answers go is lost (`replies = "by-request-id"`, `"by-task-id"`). A call that
//! was answered counts as done when it is resumed, and is redelivered as long as its answer was not received. The rest of
//! a handler that has answered goes on where calls are resumed, and is lost otherwise.

use std::collections::BTreeSet;

use super::{Fault, Strike, Strikes, lost_mint};
use crate::action::Target;
use crate::engine::Access;
use crate::handler::{Programs, settle};
use crate::harness::Harness;
use crate::model::Server;
use crate::model::design::{Calls, Replies};
use crate::world::{Cache, Call, Component, Fact, KeyTable, Leases, Memory, Position, Progress, Reply, Setting};

mod late;

pub use late::ORPHANS;

pub static FAULT: Fault = Fault { strikes: Strikes::Nodes, targets, parts, strike };

fn targets(setting: &Setting, programs: &Programs, access: &Access<'_, Component>, node: usize) -> Vec<Target> {
    if late::is_by_sets(setting) {
        return late::targets_of_set(setting, programs, access, node);
    }
    if setting.routes_late {
        return if node == 0 { late::targets(setting, access) } else { Vec::new() };
    }
    vec![Target::Node(small(node))]
}

/// How many sources there are: one for each node, or one for each set of agents whose calls may be struck together.
#[must_use]
pub fn sources(setting: &Setting) -> usize {
    if late::is_by_sets(setting) { (1 << setting.agents()) - 1 } else { setting.model.scenario.nodes }
}

/// The agents whose calls a source strikes, where it is for a set of them.
#[must_use]
pub fn set_of(setting: &Setting, source: usize) -> Option<impl Iterator<Item = usize> + Clone + use<>> {
    late::is_by_sets(setting).then(|| late::set(source))
}

/// One part for each agent's open call, one for each agent's orphans, one for whatever else the node loses.
fn parts(setting: &Setting) -> usize {
    2 * setting.agents() + lost_with(setting, 0).len()
}

fn strike(strike: &mut Strike<'_, '_>, target: Target, part: usize) -> Vec<Fact> {
    let setting = strike.setting;
    let node = match target {
        Target::Node(node) => node,
        Target::Calls { open, orphans } => return late::strike(strike, part, open, orphans),
        _ => unreachable!("nodes restart"),
    };
    let agents = setting.agents();
    // What is left of a handler that has answered was promised: its agent's calls go together then.
    let together = setting.goes_on_unheard();
    if part < agents {
        let mut facts = if together { orphans(strike, part, node) } else { Vec::new() };
        facts.extend(open_call(strike, part, node));
        return facts;
    }
    if part < 2 * agents {
        return if together { Vec::new() } else { orphans(strike, part - agents, node) };
    }
    let slot = lost_with(setting, node)[part - 2 * agents];
    let component = match strike.access.get(slot).clone() {
        Component::Keys(KeyTable { slot, .. }) => KeyTable { slot, records: Vec::new() }.into(),
        Component::Leases(Leases { resource, .. }) => Leases { resource, leases: Vec::new() }.into(),
        Component::Memory(_) => Memory::default().into(),
        Component::Cache(_) => Cache::default().into(),
        Component::Resource(mut stored) => {
            let there = stored.instances.iter_mut().filter(|instance| instance.node == node);
            there.for_each(|instance| instance.lost = true);
            stored.into()
        }
        Component::Queue(mut queue) => {
            for (instance, ticket) in tickets(setting, strike.access, node, queue.resource) {
                queue.leave(instance, ticket);
            }
            queue.into()
        }
        other => unreachable!("{other:?} is no memory of a node"),
    };
    strike.access.set(slot, component);
    Vec::new()
}

/// The call for which an agent waits, if it is at this node.
fn open_call(strike: &mut Strike<'_, '_>, agent: usize, node: u8) -> Vec<Fact> {
    let setting = strike.setting;
    let slot = setting.call_slot(agent);
    let Some(call) = strike.access.get(slot).call().clone().filter(|call| call.node() == Some(node)) else {
        return Vec::new();
    };
    if setting.keeps_calls() {
        strike.access.set(slot, kept(setting, call).into());
        return Vec::new();
    }
    let lost = lost_mint(&call);
    break_off(strike, agent, &call, lost)
}

/// The calls of an agent at this node for which nobody waits.
fn orphans(strike: &mut Strike<'_, '_>, agent: usize, node: u8) -> Vec<Fact> {
    let setting = strike.setting;
    let slot = setting.orphans_slot(agent);
    let orphans = strike.access.get(slot).orphans();
    if orphans.iter().all(|call| call.node() != Some(node)) {
        return Vec::new();
    }
    let (there, mut left): (Vec<Call>, Vec<Call>) = orphans.iter().cloned().partition(|call| call.node() == Some(node));
    let promised: BTreeSet<(u8, u8)> = there.iter().filter(|call| call.has_answered()).map(served).collect();
    if setting.keeps_calls() {
        left.extend(there.into_iter().filter_map(|call| kept(setting, call)));
        left.sort();
    }
    strike.access.set(slot, Component::Orphans(left));
    let settled = promised.into_iter().flat_map(|(agent, entry)| settle(setting, strike.access, agent, entry));
    settled.collect()
}

/// The entry that a call serves, and its agent.
const fn served(call: &Call) -> (u8, u8) {
    (call.request.agent, call.request.entry)
}

/// A call that outlives its node: from the start, or behind the last transaction that it executed. What is redelivered has
/// not been answered yet.
fn kept(setting: &Setting, mut call: Call) -> Option<Call> {
    let Server { calls, replies, .. } = &setting.model.design.server;
    let mut progress = match (&call.position, calls) {
        (Position::AtNode { progress, .. }, Calls::Resumed) => progress.clone(),
        (Position::AtNode { progress, .. }, Calls::Redelivered) if progress.answered => return None,
        (Position::AtNode { .. } | Position::Answered { .. }, Calls::Redelivered) => {
            call.deployed = false;
            Progress::start(call.request.handle)
        }
        _ => return Some(call),
    };
    progress.ticket = None;
    // A claim in the memory of the node is lost with it.
    progress.claim = progress.claim.filter(|claim| setting.keys_place(usize::from(claim.table)).is_none());
    if *replies != Replies::PerRequest && !progress.answered {
        progress.reply = Reply::Lost;
    }
    call.position = Position::Interrupted { progress };
    Some(call)
}

/// The open call of an agent is gone, and its stream breaks.
fn break_off(strike: &mut Strike<'_, '_>, agent: usize, call: &Call, lost: Option<Fact>) -> Vec<Fact> {
    strike.access.set(strike.setting.call_slot(agent), None.into());
    let mut harness = Harness::new(strike.setting, strike.access, agent);
    harness.stream_broke(&call.request);
    let mut facts = harness.finish();
    facts.extend(lost);
    facts
}

/// Whether a node loses nothing in a restart but the calls at it.
#[must_use]
pub fn loses_only_calls(setting: &Setting) -> bool {
    (0..setting.model.scenario.nodes).all(|node| lost_with(setting, small(node)).is_empty())
}

/// The slots that a restart of this node touches, besides calls.
fn lost_with(setting: &Setting, node: u8) -> Vec<usize> {
    let keys = setting.all_keys_slots().filter(|(_, place)| *place == Some(node)).map(|(slot, _)| slot);
    let leases = setting.all_lease_slots().filter(|(.., place)| *place == Some(node)).map(|(slot, ..)| slot);
    let resources = (0..setting.resources()).filter(|_| setting.is_state_in_nodes());
    let resources = resources.map(|resource| setting.resource_slot(resource));
    let queues = (0..setting.resources()).filter_map(|resource| setting.queue_slot(resource));
    let caches = setting.all_cache_slots().filter(|(_, place)| *place == Some(node)).map(|(slot, _)| slot);
    keys.chain(leases).chain(resources).chain(queues).chain(setting.memory_slot(node)).chain(caches).collect()
}

/// The tickets of the calls at a node, with the instance that each is about.
fn tickets(setting: &Setting, access: &Access<'_, Component>, node: u8, resource: u8) -> Vec<(u8, u16)> {
    let mut tickets = Vec::new();
    for agent in 0..setting.agents() {
        let open = access.get(setting.call_slot(agent)).call();
        let orphans = access.get(setting.orphans_slot(agent)).orphans();
        for call in open.iter().chain(orphans) {
            let handle = call.request.handle.filter(|handle| handle.resource == resource);
            if let (Some(handle), Position::AtNode { node: at, progress }) = (handle, &call.position) {
                tickets.extend(progress.ticket.filter(|_| *at == node).map(|ticket| (handle.instance, ticket)));
            }
        }
    }
    tickets
}

fn small(index: usize) -> u8 {
    u8::try_from(index).expect("there are few nodes")
}
