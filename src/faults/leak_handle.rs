//! An agent of another principal learns a handle, and the keys used with it.
//!
//! It may have read a log, or been told by mistake. Whether it can do anything with what it learned is up to the design.
//! The keys are those of the calls on this handle that were sent so far: those that are on their way or will be sent again,
//! and those under which something stands in a key table.

use super::{Fault, Strike, Strikes, one_part};
use crate::action::Target;
use crate::engine::Access;
use crate::handler::Programs;
use crate::model::Client;
use crate::world::{Component, Fact, Handle, Key, Known, Record, RecordKey, Request, Setting};

pub static FAULT: Fault = Fault { strikes: Strikes::Agents, targets, parts: one_part, strike };

fn targets(setting: &Setting, _: &Programs, access: &Access<'_, Component>, agent: usize) -> Vec<Target> {
    let number = u8::try_from(agent).expect("there are few agents");
    let known = &access.get(setting.agent_slot(agent)).agent().known;
    let mut targets = Vec::new();
    for (resource, known) in known.iter().enumerate() {
        if setting.entitled(setting.principal(agent), resource) {
            continue;
        }
        let stored = access.get(setting.resource_slot(resource)).resource();
        for (instance, _) in (0..).zip(&stored.instances) {
            let handle = Handle { resource: stored.id, instance };
            if known.handle != Some(handle) {
                targets.push(Target::AgentAndHandle(number, handle));
            }
        }
    }
    targets
}

fn strike(strike: &mut Strike<'_, '_>, target: Target, _: usize) -> Vec<Fact> {
    let Target::AgentAndHandle(agent, handle) = target else { unreachable!("an agent learns a handle") };
    let setting = strike.setting;
    let slot = setting.agent_slot(usize::from(agent));
    let presents = setting.model.clients[usize::from(agent)].iter().any(Client::may_present_leaked_keys);
    // What an agent never presents, it need not remember.
    let leaked = if presents { keys_used_with(setting, strike.access, handle) } else { Vec::new() };
    let mut learner = strike.access.get(slot).agent().clone();
    let stored = strike.access.get(setting.resource_slot(usize::from(handle.resource))).resource();
    let token = setting.token_of(&stored.instances[usize::from(handle.instance)]);
    let shown = token.is_some().then_some(Fact::StateShown { agent, handle });
    learner.known[usize::from(handle.resource)] = Known { handle: Some(handle), leaked, token, ..Known::default() };
    strike.access.set(slot, learner.into());
    shown.into_iter().collect()
}

/// The keys used with a handle that still mean something: those of calls, of calls that will be sent again, and in key
/// tables, in their order.
fn keys_used_with(setting: &Setting, access: &Access<'_, Component>, handle: Handle) -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::new();
    let used = |request: &Request| request.key.clone().filter(|_| request.handle == Some(handle));
    for agent in 0..setting.agents() {
        let open = access.get(setting.call_slot(agent)).call();
        let orphans = access.get(setting.orphans_slot(agent)).orphans();
        keys.extend(open.iter().chain(orphans).filter_map(|call| used(&call.request)));
        let at = access.get(setting.agent_slot(agent)).agent();
        let undecided = at.undecided.as_ref().map(|undecided| &undecided.request);
        keys.extend(at.pending.iter().chain(undecided).filter_map(used));
    }
    for (slot, _) in setting.all_keys_slots() {
        for (RecordKey { key, .. }, record) in &access.get(slot).keys().records {
            let (Record::Claim { handle: named, .. } | Record::Done { handle: named, .. }) = record;
            keys.extend((*named == Some(handle)).then(|| key.clone()));
        }
    }
    keys.sort();
    keys.dedup();
    keys
}
