//! Versions, fence numbers, claims and plan numbers are only ever compared, so states that differ by an
//! order-preserving renaming of them are one state (section 3). Here each kind is renamed to 0, 1, 2, ..

use std::collections::{BTreeMap, BTreeSet};

use handlecheck::model::design::{Replies, State as StateIn, Versions};
use handlecheck::model::protocol::Reissue;
use handlecheck::model::{AgentId, Entry, Free, Model, Operation, Reaction};

use super::state::{
    Answer, Call, Handle, Intent, Key, KeyEntry, Keys, Lease, Next, Place, Print, Request, State, Table, Then, View,
};

/// What a number counts, and for whom: numbers of different kinds are never compared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Version(Handle),
    Plan(Intent),
    Fence(Handle),
    Queue(Handle),
    Claim(Table),
    Issue(AgentId),
}

/// The state that stands for all renamings of this one: orphans sorted, numbers as small as they can be.
pub fn canonical(model: &Model, mut state: State) -> State {
    let mut found: BTreeMap<Kind, BTreeSet<u32>> = BTreeMap::new();
    for (id, agent) in state.agents.iter().enumerate().filter(|(id, _)| first_plans_matter(model, *id)) {
        for entry in agent.numbers.keys() {
            found.entry(Kind::Plan((id, *entry))).or_default().insert(0);
        }
    }
    numbers(&mut state, &mut |kind, number| {
        found.entry(kind).or_default().insert(*number);
    });
    let keep_versions = versions_are_more_than_compared(model);
    numbers(&mut state, &mut |kind, number| {
        if !(keep_versions && matches!(kind, Kind::Version(_))) {
            *number = found[&kind].range(..*number).count() as u32;
        }
    });
    state.orphans.sort();
    state.rests.sort();
    let untouched = Lease::default();
    state.leases.retain(|_, lease| *lease != untouched);
    state.nodes.iter_mut().for_each(|node| node.leases.retain(|_, lease| *lease != untouched));
    state
}

/// With `send = "mint", key = "same"` an intent goes back to the key of its first plan, which keeps number 0.
fn first_plans_matter(model: &Model, id: AgentId) -> bool {
    chooses_to_mint(model, id)
        || model.clients[id].iter().any(|client| client.on.values().any(|reaction| goes_back(reaction, Some(false))))
}

/// May an agent have to come back to entries that it was done with?
pub fn comes_back(model: &Model, id: AgentId) -> bool {
    chooses_to_mint(model, id)
        || model.clients[id].iter().any(|client| client.on.values().any(|reaction| goes_back(reaction, None)))
}

/// May its harness choose to mint anew what it minted?
fn chooses_to_mint(model: &Model, id: AgentId) -> bool {
    let mints = |entry: &Entry| matches!(entry, Entry::Mutate { operation: Operation::Mint, .. });
    let chooses = model.clients[id].iter().any(|client| client.any.contains(&Free::On));
    chooses && model.scenario.agents[id].work.iter().any(mints)
}

/// Does this reaction go back to the entry that minted: with a new key, or with the same?
fn goes_back(reaction: &Reaction, wanted: Option<bool>) -> bool {
    match reaction {
        Reaction::Mint { new_key } => wanted.is_none_or(|wanted| wanted == *new_key),
        Reaction::Replan { only_if: Some((_, otherwise)), .. } => goes_back(otherwise, wanted),
        _ => false,
    }
}

/// A version that starts again with an incarnation, or that is counted inside each handle, meets old numbers again; and
/// an assertion can speak of one. Then the numbers themselves matter.
fn versions_are_more_than_compared(model: &Model) -> bool {
    let mut assertions = model.scenario.assertions();
    versions_come_back(model)
        || model.design.server.state == StateIn::Handle
        || assertions.any(|assertion| assertion.expression.contains("version"))
}

/// Can one version of a handle be current twice?
pub fn versions_come_back(model: &Model) -> bool {
    let recreated = model.scenario.faults.get("recreate").is_some_and(|budget| *budget > 0);
    model.design.server.versions == Versions::PerIncarnation && recreated
}

/// Visits every number in the state.
fn numbers(state: &mut State, visit: &mut dyn FnMut(Kind, &mut u32)) {
    for (handle, stored) in &mut state.resources {
        visit(Kind::Version(*handle), &mut stored.version);
        if let Some((_, version)) = &mut stored.previous {
            visit(Kind::Version(*handle), version);
        }
        let named = std::mem::take(&mut stored.named).into_iter().map(|(mut version, content)| {
            visit(Kind::Version(*handle), &mut version);
            (version, content)
        });
        stored.named = named.collect();
    }
    for id in 0..state.agents.len() {
        let agent = &mut state.agents[id];
        agent.numbers.iter_mut().for_each(|(entry, number)| visit(Kind::Plan((id, *entry)), number));
        if let Some(number) = &mut agent.number {
            visit(Kind::Plan((id, agent.entry)), number);
        }
        if let Some((_, _, issue)) = &mut agent.issues_again {
            visit(Kind::Issue(id), issue);
        }
        agent.views.values_mut().for_each(|view| in_view(view, visit));
        for known in agent.knows.values_mut() {
            if let Some((_, version)) = &mut known.token {
                visit(Kind::Version(known.handle), version);
            }
            known.leaked = in_key_set(&known.leaked, visit);
        }
        if let Some(undecided) = &mut agent.undecided {
            undecided.request.iter_mut().for_each(|request| in_request(request, visit));
            undecided.current.iter_mut().for_each(|(handle, version)| visit(Kind::Version(*handle), version));
        }
        match &mut agent.next {
            Next::Again(request) => in_request(request, visit),
            Next::Plan { old, then, .. } => {
                old.values_mut().for_each(|view| in_view(view, visit));
                if let Then::Replan { refused: Some(request), .. } = then {
                    in_request(request, visit);
                }
            }
        }
        if let Some(call) = &mut agent.call {
            in_call(call, visit);
        }
    }
    state.orphans.iter_mut().chain(&mut state.rests).for_each(|call| in_call(call, visit));
    in_keys(&mut state.keys, visit);
    let mut seen: Vec<_> = std::mem::take(&mut state.upstream).into_iter().collect();
    seen.iter_mut().for_each(|(_, key)| in_key(key, visit));
    state.upstream = seen.into_iter().collect();
    in_leases(&mut state.leases, visit);
    state.cache.values_mut().for_each(|view| in_view(view, visit));
    for node in &mut state.nodes {
        in_keys(&mut node.keys, visit);
        in_leases(&mut node.leases, visit);
        node.cache.values_mut().for_each(|view| in_view(view, visit));
    }
}

fn in_key_set(keys: &BTreeSet<Key>, visit: &mut dyn FnMut(Kind, &mut u32)) -> BTreeSet<Key> {
    let renamed = |key: &Key| {
        let mut key = key.clone();
        in_key(&mut key, visit);
        key
    };
    keys.iter().map(renamed).collect()
}

fn in_leases(leases: &mut BTreeMap<Handle, super::state::Lease>, visit: &mut dyn FnMut(Kind, &mut u32)) {
    for (handle, lease) in leases {
        let holder = lease.holder.as_mut().map(|holder| &mut holder.1);
        let fixed = holder.into_iter().chain(&mut lease.given).chain(&mut lease.presented);
        fixed.chain(lease.wrote.values_mut()).for_each(|fence| visit(Kind::Fence(*handle), fence));
    }
}

/// Keys of a map can't be changed in place, so the table is made anew. Renaming keeps different keys different.
fn in_keys(keys: &mut Keys, visit: &mut dyn FnMut(Kind, &mut u32)) {
    let entries = std::mem::take(keys).into_iter().map(|((scope, mut key), mut entry)| {
        in_key(&mut key, visit);
        match &mut entry {
            KeyEntry::Claim { table, number, .. } => visit(Kind::Claim(table.clone()), number),
            KeyEntry::Record { fingerprint, answer, .. } => {
                for print in fingerprint {
                    if let Print::Expected(expected) = print {
                        in_versions(expected, visit);
                    }
                }
                in_answer(answer, visit);
            }
        }
        ((scope, key), entry)
    });
    *keys = entries.collect();
}

fn in_key(key: &mut Key, visit: &mut dyn FnMut(Kind, &mut u32)) {
    match key {
        Key::Plan { intent, number } => visit(Kind::Plan(*intent), number),
        Key::Hash { expected, .. } => in_versions(expected, visit),
        Key::Shared(_) | Key::Constant => {}
    }
}

fn in_versions(versions: &mut [(Handle, u32)], visit: &mut dyn FnMut(Kind, &mut u32)) {
    versions.iter_mut().for_each(|(handle, version)| visit(Kind::Version(*handle), version));
}

fn in_view(view: &mut View, visit: &mut dyn FnMut(Kind, &mut u32)) {
    if let Some(version) = &mut view.version {
        visit(Kind::Version(view.handle), version);
    }
    if let Some(fence) = &mut view.fence {
        visit(Kind::Fence(view.handle), fence);
    }
}

fn in_request(request: &mut Request, visit: &mut dyn FnMut(Kind, &mut u32)) {
    if let Some(issue) = &mut request.issue {
        visit(Kind::Issue(request.agent), issue);
    }
    in_versions(&mut request.expected, visit);
    if let Some(other) = &mut request.other {
        other.fence.iter_mut().for_each(|fence| visit(Kind::Fence(other.handle), fence));
    }
    if let Some(key) = &mut request.key {
        in_key(key, visit);
    }
    for (handle, version, _) in &mut request.basis {
        version.iter_mut().for_each(|version| visit(Kind::Version(*handle), version));
    }
    let Some(handle) = request.handle else { return };
    if let Some(fence) = &mut request.fence {
        visit(Kind::Fence(handle), fence);
    }
    if let Some((_, version)) = &mut request.token {
        visit(Kind::Version(handle), version);
    }
    if let Some(version) = &mut request.sent_at {
        visit(Kind::Version(handle), version);
    }
}

fn in_answer(answer: &mut Answer, visit: &mut dyn FnMut(Kind, &mut u32)) {
    in_versions(&mut answer.current, visit);
    answer.other.iter_mut().for_each(|(handle, version)| visit(Kind::Version(*handle), version));
    if let Some(view) = &mut answer.view {
        in_view(view, visit);
    }
    let Some(handle) = answer.minted.or(answer.about) else { return };
    if let Some(version) = &mut answer.version {
        visit(Kind::Version(handle), version);
    }
    if let Some((_, version)) = &mut answer.token {
        visit(Kind::Version(handle), version);
    }
}

fn in_call(call: &mut Call, visit: &mut dyn FnMut(Kind, &mut u32)) {
    in_request(&mut call.request, visit);
    let handle = call.request.handle;
    match &mut call.place {
        Place::Transit | Place::Unanswered(_) => {}
        Place::Answered(_, answer) => in_answer(answer, visit),
        Place::AtNode(handling) | Place::Kept(handling) => {
            in_answer(&mut handling.answer, visit);
            if let Some(answer) = &mut handling.ended {
                in_answer(answer, visit);
            }
            let handle = handle.or(handling.answer.minted);
            if let Some(other) = &call.request.other {
                let bench = &mut handling.other_bench;
                bench.loaded.iter_mut().for_each(|version| visit(Kind::Version(other.handle), version));
                bench.grant.iter_mut().for_each(|fence| visit(Kind::Fence(other.handle), fence));
            }
            if let (Some(version), Some(handle)) = (&mut handling.bench.loaded, handle) {
                visit(Kind::Version(handle), version);
            }
            if let Some((table, number)) = &mut handling.claim {
                visit(Kind::Claim(table.clone()), number);
            }
            if let (Some(fence), Some(handle)) = (&mut handling.bench.grant, handle) {
                visit(Kind::Fence(handle), fence);
            }
            if let (Some(turn), Some(handle)) = (&mut handling.queued, handle) {
                visit(Kind::Queue(handle), turn);
            }
        }
    }
}

/// The next number of a plan of this intent: greater than any that the state holds.
pub fn fresh_plan(state: &State, intent: Intent) -> u32 {
    fresh(state, Kind::Plan(intent))
}

/// The number of a new claim in a table.
pub fn fresh_claim(state: &State, table: &Table) -> u32 {
    fresh(state, Kind::Claim(table.clone()))
}

/// The number of a new issue of this agent, where those that are issued again keep theirs.
pub fn fresh_issue(model: &Model, state: &State, agent: AgentId) -> Option<u32> {
    let matters =
        model.design.server.replies == Replies::ByRequestId && model.protocol.reissue == Reissue::SameRequestId;
    matters.then(|| fresh(state, Kind::Issue(agent)))
}

/// The place at the end of the queue for a handle.
pub fn fresh_turn(state: &State, handle: Handle) -> u32 {
    fresh(state, Kind::Queue(handle))
}

fn fresh(state: &State, wanted: Kind) -> u32 {
    let mut next = 0;
    numbers(&mut state.clone(), &mut |kind, number| {
        if kind == wanted {
            next = next.max(*number + 1);
        }
    });
    next
}
