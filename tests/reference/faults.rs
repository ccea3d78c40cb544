//! The faults of section 7: one function each.

use std::collections::BTreeSet;

use handlecheck::model::client::Presents;
use handlecheck::model::design::{AfterStoreError, Calls, ClaimAfterError, ClaimNames, ReadsFrom};
use handlecheck::model::{AgentId, Free, Model, Outcome, Principal, Tool, Value};

use super::actions;
use super::client;
use super::harness;
use super::judge;
use super::rename;
use super::replies;
use super::server::{self, Seat};
use super::state::{
    Call, Field, Handle, Key, KeyEntry, Keys, Known, Life, Next, Node, NodeId, Place, Reply, Scope, State, Target,
    Then, on_any_side, side, values,
};
use super::world::World;

/// One fault, and what it strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    DropStream(AgentId),
    RestartNode(NodeId),
    ExpireHandle(Handle),
    /// The n-th record of the table of a node, or of the store.
    ExpireKey(Option<NodeId>, usize),
    ExpireClaim(Option<NodeId>, usize),
    ExpireLease(Option<NodeId>, Handle),
    LeakHandle(AgentId, Handle),
    Revoke(AgentId, Handle),
    RotateCredential(AgentId),
    Compact(AgentId),
    AmbiguousCommit(Seat),
    StaleRead(Seat),
    Recreate(Handle),
    DuplicateCall(AgentId),
    RerouteClient(AgentId),
    RerouteHandle(Handle),
    StopAgent(AgentId),
}

impl Fault {
    /// Its name in a scenario's budget.
    pub fn name(self) -> &'static str {
        match self {
            Self::DropStream(_) => "drop-stream",
            Self::RestartNode(_) => "restart-node",
            Self::ExpireHandle(_) => "expire-handle",
            Self::ExpireKey(..) => "expire-key",
            Self::ExpireClaim(..) => "expire-claim",
            Self::ExpireLease(..) => "expire-lease",
            Self::LeakHandle(..) => "leak-handle",
            Self::Revoke(..) => "revoke",
            Self::RotateCredential(_) => "rotate-credential",
            Self::Compact(_) => "compact",
            Self::AmbiguousCommit(_) => "ambiguous-commit",
            Self::StaleRead(_) => "stale-read",
            Self::Recreate(_) => "recreate",
            Self::DuplicateCall(_) => "duplicate-call",
            Self::RerouteClient(_) | Self::RerouteHandle(_) => "reroute",
            Self::StopAgent(_) => "stop-agent",
        }
    }
}

/// All faults that can strike here, within their budgets.
pub fn possible(model: &Model, state: &State) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (id, agent) in state.agents.iter().enumerate() {
        let has_work = client::current_entry(model, state, id).is_some() && !agent.stopped;
        if agent.call.is_some() && !agent.disconnected {
            faults.push(Fault::DropStream(id));
        }
        if agent.call.as_ref().is_some_and(|call| call.place == Place::Transit) {
            faults.push(Fault::DuplicateCall(id));
        }
        let who = judge::principal(model, id).clone();
        let first = (0..id).all(|other| *judge::principal(model, other) != who);
        if has_work {
            faults.extend([Fault::Compact(id), Fault::StopAgent(id)]);
        }
        if first {
            faults.push(Fault::RotateCredential(id));
        }
        for handle in state.resources.keys() {
            let entitled = judge::agent_entitled(model, state, id, *handle);
            let knows = agent.knows.get(&handle.0).is_some_and(|known| known.handle == *handle);
            if !entitled && !knows {
                faults.push(Fault::LeakHandle(id, *handle));
            }
            if entitled && first && !state.revoked.contains(&(who.clone(), *handle)) {
                faults.push(Fault::Revoke(id, *handle));
            }
        }
    }
    faults.extend((0..state.nodes.len()).map(Fault::RestartNode));
    faults.extend(state.sticky.keys().copied().map(Fault::RerouteClient));
    faults.extend(state.by_handle.keys().copied().map(Fault::RerouteHandle));
    for (handle, stored) in &state.resources {
        if !stored.expired && !stored.lost && stored.life != Life::Deleted {
            faults.extend([Fault::ExpireHandle(*handle), Fault::Recreate(*handle)]);
        }
    }
    let tables = std::iter::once((None, &state.keys, &state.leases));
    let in_nodes = state.nodes.iter().enumerate().map(|(id, node)| (Some(id), &node.keys, &node.leases));
    for (place, keys, leases) in tables.chain(in_nodes) {
        for (index, entry) in keys.values().enumerate() {
            match entry {
                KeyEntry::Record { .. } if on_any_side(model, &|side| side.design.keys.expire) => {
                    faults.push(Fault::ExpireKey(place, index));
                }
                KeyEntry::Claim { .. } if on_any_side(model, &|side| side.design.keys.claims_expire) => {
                    faults.push(Fault::ExpireClaim(place, index));
                }
                KeyEntry::Record { .. } | KeyEntry::Claim { .. } => {}
            }
        }
        let held = leases.iter().filter(|(_, lease)| lease.holder.is_some());
        faults.extend(held.map(|(handle, _)| Fault::ExpireLease(place, *handle)));
    }
    for seat in server::seats(state) {
        let Some(call) = server::call_at(state, seat).filter(|call| server::can_execute(state, call)) else { continue };
        let again = match seat {
            Seat::Open(_) => false,
            Seat::Orphan(index) => index > 0 && state.orphans[index - 1] == *call,
            Seat::Rest(index) => index > 0 && state.rests[index - 1] == *call,
        };
        if server::writes_next(model, call) && !again {
            faults.push(Fault::AmbiguousCommit(seat));
        }
        if matches!(seat, Seat::Open(_)) && side(model, call.new).design.server.reads_from == ReadsFrom::Replica {
            faults.push(Fault::StaleRead(seat));
        }
    }
    faults.retain(|fault| state.left(fault.name()) > 0);
    faults
}

/// The fault strikes.
pub fn strike(world: &mut World<'_>, fault: Fault) {
    world.state.spend(fault.name());
    match fault {
        Fault::DropStream(agent) => drop_stream(world, agent),
        Fault::RestartNode(node) => restart_node(world, node),
        Fault::ExpireHandle(handle) => {
            if let Some(stored) = world.state.resources.get_mut(&handle) {
                stored.expired = true;
            }
        }
        Fault::ExpireKey(place, index) | Fault::ExpireClaim(place, index) => expire_key(world, place, index),
        Fault::ExpireLease(place, handle) => {
            let leases = match place {
                None => &mut world.state.leases,
                Some(node) => &mut world.state.nodes[node].leases,
            };
            leases.entry(handle).or_default().holder = None;
        }
        Fault::LeakHandle(agent, handle) => leak_handle(world, agent, handle),
        Fault::Revoke(agent, handle) => revoke(world, judge::principal(world.model, agent).clone(), handle),
        Fault::RotateCredential(agent) => {
            let who = judge::principal(world.model, agent).clone();
            *world.state.credentials.entry(who).or_insert(0) += 1;
        }
        Fault::Compact(agent) => compact(world, agent),
        Fault::AmbiguousCommit(seat) => ambiguous_commit(world, seat),
        Fault::StaleRead(seat) => {
            world.stale_read = true;
            server::execute(world, seat);
            world.impossible |= world.stale_read;
        }
        Fault::Recreate(handle) => recreate(world, handle),
        Fault::DuplicateCall(agent) => {
            if let Some(mut call) = world.state.agents[agent].call.clone() {
                call.request.issue = rename::fresh_issue(world.model, &world.state, agent);
                server::abandon(world.model, &mut world.state, call);
            }
        }
        Fault::RerouteClient(agent) => {
            world.state.sticky.remove(&agent);
        }
        Fault::RerouteHandle(handle) => {
            world.state.by_handle.remove(&handle);
        }
        Fault::StopAgent(agent) => {
            world.state.agents[agent].stopped = true;
        }
    }
}

/// A response stream breaks. Where it can be resumed the agent will do that; otherwise the call becomes an orphan.
fn drop_stream(world: &mut World<'_>, id: AgentId) {
    let model = world.model;
    let state = world.state.clone();
    let agent = &mut world.state.agents[id];
    let Some(call) = agent.call.take() else { return };
    if actions::can_resume(model, &state, &call) {
        agent.disconnected = true;
        agent.call = Some(call);
        return;
    }
    note_lost_mint(world, &call);
    let request = call.request.clone();
    replies::forget_stream(&mut world.state, id);
    server::abandon(model, &mut world.state, call);
    harness::broken_stream(world, id, &request);
}

/// The answer of a mint will not be received: the witness of no-orphan.
fn note_lost_mint(world: &mut World<'_>, call: &Call) {
    if call.request.tool == Tool::Mint {
        world.witnessed(judge::NO_ORPHAN);
    }
}

/// A node changes over to what is deployed.
pub fn change_over(world: &mut World<'_>, node: NodeId) {
    if world.whole.scenario.deploy.restart {
        restart_node(world, node);
    }
    world.state.deployed.insert(node);
    // Who waits to resume the stream of a request that has come to no node yet might come to this one.
    for id in 0..world.state.agents.len() {
        let agent = &world.state.agents[id];
        let lost = agent.disconnected
            && agent.call.as_ref().is_some_and(|call| {
                call.place == Place::Transit && !actions::can_resume(world.whole, &world.state, call)
            });
        if lost {
            world.state.agents[id].disconnected = false;
            drop_stream(world, id);
        }
    }
}

/// A node loses its memory and every call in it; the streams of those calls break.
fn restart_node(world: &mut World<'_>, node: NodeId) {
    world.state.nodes[node] = Node::default();
    for stored in world.state.resources.values_mut() {
        stored.lost |= stored.node == Some(node);
    }
    if world.model.design.server.calls != Calls::Memory {
        let model = world.model;
        let open = world.state.agents.iter_mut().filter_map(|agent| agent.call.as_mut());
        for call in open.chain(&mut world.state.orphans).filter(|call| call.node() == Some(node)) {
            *call = server::outlived(model, call.clone());
        }
        // What is redelivered has not been answered; what is left of an answered call goes on where it was, or never.
        let rests = std::mem::take(&mut world.state.rests);
        for rest in rests {
            match rest.node() == Some(node) {
                false => world.state.rests.push(rest),
                true if model.design.server.calls == Calls::Resumed => {
                    let mut kept = server::outlived(model, rest);
                    if let Place::Kept(handling) = &mut kept.place {
                        handling.reply = Reply::OwnStream;
                    }
                    world.state.rests.push(kept);
                }
                true => {}
            }
        }
        return;
    }
    world.state.orphans.retain(|orphan| orphan.node() != Some(node));
    world.state.rests.retain(|rest| rest.node() != Some(node));
    for id in 0..world.state.agents.len() {
        let agent = &mut world.state.agents[id];
        let there = agent.call.as_ref().is_some_and(|call| call.node() == Some(node));
        if let Some(call) = agent.call.take_if(|_| there) {
            agent.disconnected = false;
            note_lost_mint(world, &call);
            harness::broken_stream(world, id, &call.request);
        }
    }
}

/// The n-th entry of a key table is forgotten.
fn expire_key(world: &mut World<'_>, place: Option<NodeId>, index: usize) {
    let keys: &mut Keys = match place {
        None => &mut world.state.keys,
        Some(node) => &mut world.state.nodes[node].keys,
    };
    let found: Option<(Vec<Scope>, Key)> = keys.keys().nth(index).cloned();
    if let Some(found) = found {
        keys.remove(&found);
    }
}

/// An agent of another principal learns a handle, and the keys used with it that still mean something: those of calls, of
/// calls that will be sent again, and in key tables. An agent that presents none need not remember them.
fn leak_handle(world: &mut World<'_>, id: AgentId, handle: Handle) {
    let token = world.state.resources.get(&handle).and_then(|stored| server::token_of(world.model, stored));
    let presents = world.model.clients[id]
        .iter()
        .any(|client| client.presents == Presents::LeakedKey || client.any.contains(&Free::Presents));
    let leaked = if presents { keys_used_with(&world.state, handle) } else { BTreeSet::new() };
    if token.is_some() {
        world.broken(judge::NO_CROSS_PRINCIPAL);
    }
    world.state.agents[id].views.remove(&handle.0);
    world.state.agents[id].forgot.remove(&handle.0);
    world.state.agents[id].knows.insert(handle.0, Known { handle, token, leaked });
}

/// The keys used with a handle, as far as the state still holds them.
fn keys_used_with(state: &State, handle: Handle) -> BTreeSet<Key> {
    let again = state.agents.iter().filter_map(|agent| match &agent.next {
        Next::Again(request) => Some(&**request),
        Next::Plan { then: Then::Replan { refused, .. }, .. } => refused.as_deref(),
        Next::Plan { .. } => None,
    });
    let undecided = state.agents.iter().filter_map(|agent| agent.undecided.as_ref()?.request.as_deref());
    let requests = state.calls().map(|call| &call.request).chain(again).chain(undecided);
    let of_requests =
        requests.filter(|request| request.handle == Some(handle)).filter_map(|request| request.key.clone());
    let tables = state.nodes.iter().map(|node| &node.keys).chain([&state.keys]).flatten();
    let in_tables = tables.filter(|(_, entry)| entry.with() == Some(handle)).map(|((_, key), _)| key.clone());
    of_requests.chain(in_tables).collect()
}

/// A principal loses its permission on a resource.
fn revoke(world: &mut World<'_>, principal: Principal, handle: Handle) {
    let under = |call: &Call| {
        let besides = call.request.other.as_ref().is_some_and(|other| other.handle == handle);
        let changes = call.request.tool != Tool::Read;
        changes
            && (besides || call.request.handle == Some(handle))
            && *judge::principal(world.model, call.request.agent) == principal
    };
    if world.state.open_calls().any(under) {
        world.witnessed(judge::NO_EFFECT_AFTER_REVOCATION);
    }
    world.state.revoked.insert((principal, handle));
}

/// The context of an agent with work left is compacted.
fn compact(world: &mut World<'_>, id: AgentId) {
    let tool = client::current_entry(world.model, &world.state, id).map_or(Tool::Read, client::tool_of);
    let keeps = world.model.client(id, tool).keeps.clone();
    let agent = &mut world.state.agents[id];
    if !agent.knows.is_empty() {
        world.facts.witnessed.insert(judge::NO_ORPHAN);
    }
    let views = std::mem::take(&mut agent.views);
    let kept = views.into_iter().filter_map(|(resource, view)| Some((resource, client::kept_of(&view, &keeps)?)));
    agent.views = kept.collect();
    if !keeps.contains(&handlecheck::model::scenario::Carried::Handle) {
        agent.forgot.extend(agent.knows.keys());
        agent.knows.clear();
        // What it knew of a handle goes with it.
        agent.views.clear();
        harness::miss_handle(world, id);
    }
}

/// A transaction commits but the node sees an error, and goes on as `on-store-error` says.
fn ambiguous_commit(world: &mut World<'_>, seat: Seat) {
    let before = server::call_at(&world.state, seat).cloned();
    server::execute_with(world, seat, &mut |world, call| {
        let committed = match (&before, &call.place) {
            (Some(before), Place::AtNode(now)) => match &before.place {
                Place::AtNode(then) => now.next == then.next + 1 && now.ended.is_none(),
                Place::Transit | Place::Kept(_) | Place::Answered(..) | Place::Unanswered(_) => false,
            },
            _ => false,
        };
        let (Some(before), true) = (before.clone(), committed) else {
            world.impossible = true;
            return;
        };
        // The node does not know what came of the transaction; but a claim that names its attempt it had named before.
        let claim = match &call.place {
            Place::AtNode(handling) => handling.claim.clone(),
            _ => None,
        };
        *call = before;
        if world.model.design.keys.claim_names == ClaimNames::Attempt
            && let Place::AtNode(handling) = &mut call.place
        {
            handling.claim = claim;
        }
        let error = world.model.design.server.on_store_error;
        if error.claim == ClaimAfterError::Release {
            let _ = super::steps::run(world, call, "release-key");
        }
        let handle = call.request.handle;
        let Place::AtNode(handling) = &mut call.place else { return };
        let node = handling.node;
        if error.then == AfterStoreError::AnswerUnknown {
            call.place = Place::Answered(node, super::state::Answer::refusal(Outcome::Unknown, handle));
        }
    });
}

/// A resource is deleted and created anew under the same name: a change of every field, by nobody. What was permitted and
/// what took effect on the predecessor is gone with it.
fn recreate(world: &mut World<'_>, handle: Handle) {
    let first_version = world.model.scenario.resources[handle.0].version;
    let comes_back = rename::versions_come_back(world.model);
    let lags = server::can_lag(world.model);
    let Some(stored) = world.state.resources.get_mut(&handle) else { return };
    let before = stored.clone();
    stored.previous = lags.then(|| (before.content.clone(), before.version));
    let change = super::state::Change::Nobody;
    let anew = |field: &Field| Field { value: anew(&field.value), shows: [change.clone()].into_iter().collect() };
    stored.content = before.content.iter().map(anew).collect();
    stored.version = if comes_back { first_version } else { before.version + 1 };
    stored.life = Life::Open;
    stored.ended_by = None;
    stored.approved = None;
    if comes_back {
        stored.named.insert((before.version, values(&before.content)));
    }
    world.state.revoked.retain(|(_, of)| *of != handle);
    let ledger = world.state.ledger.iter_mut();
    ledger
        .filter(|((_, at), _)| matches!(at, Target::Resource(of, _) if *of == handle))
        .for_each(|(_, count)| *count = 0);
    world.witnessed(judge::VERSION_NAMES_ONE_CONTENT);
    server::names_one_content(world, handle, &before);
}

/// A value that the field did not have.
fn anew(value: &Value) -> Value {
    match value {
        Value::Number(number) => Value::Number(i64::from(*number == 0)),
        Value::Text(text) => Value::Text(if text == "anew" { "again anew" } else { "anew" }.to_owned()),
        Value::List(elements) if elements.is_empty() => Value::List(vec![Value::Text("anew".to_owned())]),
        Value::List(_) => Value::List(Vec::new()),
    }
}
