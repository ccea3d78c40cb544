//! The numbers in components that are only ever compared: versions, plans, claims, fence numbers, tickets.
//!
//! Each function visits every such number of its component, mutably; both collecting and renaming are done by it, so
//! that they can't differ. All destructure their component, so that a new field does not compile until someone has
//! thought of it.

use super::agent::{Agent, Known, Reissue, View};
use super::cache::Cache;
use super::call::{Answer, Arguments, Aside, Call, Claim, Key, Other, Position, Progress, Request, Stamp};
use super::keys::{Fingerprint, KeyTable, Record, RecordKey};
use super::lease::{Lease, Leases};
use super::node::Memory;
use super::resource::{Handle, Instance, Resource};
use super::{Component, Queue, Setting};

/// Spaces of numbers: versions of each instance of each resource, then plans of each entry that changes something, claims of each key table,
/// fence numbers of each instance, tickets of each instance, issues of each agent.
const PLANS: u16 = 0x4000;
const CLAIMS: u16 = 0x8000;
const FENCES: u16 = 0xA000;
const TICKETS: u16 = 0xC000;
const ISSUES: u16 = 0xE000;

type Visit<'v> = &'v mut dyn FnMut(u16, &mut u16);

/// Whether the numbers of a space are versions.
#[must_use]
pub const fn are_versions(space: u16) -> bool {
    space < PLANS
}

fn versions_of(handle: Handle) -> u16 {
    u16::from(handle.resource) * 256 + u16::from(handle.instance)
}

/// Visits every number of a component, with its space.
pub fn visit(setting: &Setting, component: &mut Component, visit: Visit<'_>) {
    match component {
        Component::Agent(agent) => self::agent(setting, agent, visit),
        Component::Call(call) => call.iter_mut().for_each(|call| self::call(setting, call, visit)),
        Component::Orphans(calls) => {
            calls.iter_mut().for_each(|call| self::call(setting, call, visit));
            calls.sort();
        }
        Component::Resource(resource) => self::resource(resource, visit),
        Component::Keys(table) => keys(setting, table, visit),
        Component::Leases(Leases { resource, leases }) => {
            for (instance, lease) in (0..).zip(leases) {
                self::lease(fences_of(Handle { resource: *resource, instance }), lease, visit);
            }
        }
        Component::Queue(Queue { resource, tickets }) => {
            for (instance, ticket) in tickets {
                visit(tickets_of(Handle { resource: *resource, instance: *instance }), ticket);
            }
        }
        Component::Memory(Memory { identity: _ }) => {}
        Component::Cache(Cache { copies }) => {
            copies.iter_mut().for_each(|(_, handle, copy)| view(*handle, copy, visit));
            copies.sort();
        }
        Component::Upstream(seen) => {
            seen.iter_mut().for_each(|(_, presented)| key(setting, presented, visit));
            seen.sort();
        }
        Component::Credentials(_)
        | Component::Ledger(_)
        | Component::Budgets(_)
        | Component::Deployed(_)
        | Component::Requests(_)
        | Component::Route(_) => {}
    }
}

fn agent(setting: &Setting, agent: &mut Agent, visit: Visit<'_>) {
    let Agent {
        id,
        entry: _,
        errand: _,
        attempt: _,
        plans,
        first_plans,
        under_first_plan: _,
        undecided,
        pending,
        sends: _,
        broke: _,
        redo: _,
        reissue,
        stopped: _,
        old,
        known,
    } = agent;
    old.iter_mut().for_each(|(handle, view)| self::view(*handle, view, visit));
    for (entry, plan) in plans.iter_mut().enumerate().chain(first_plans.iter_mut().enumerate()) {
        if let Some(plan) = plan {
            visit(plans_of(setting, usize::from(*id), entry), plan);
        }
    }
    if let Some(Reissue { issue, .. }) = reissue {
        visit(issues_of(*id), issue);
    }
    if let Some(undecided) = undecided {
        request(setting, &mut undecided.request, visit);
        undecided.current.iter_mut().for_each(|current| stamp(current, visit));
    }
    if let Some(pending) = pending {
        request(setting, pending, visit);
    }
    for Known { handle, view, leaked, token, forgotten: _ } in known {
        if let Some(handle) = handle {
            view.iter_mut().chain(token).for_each(|view| self::view(*handle, view, visit));
        }
        leaked.iter_mut().for_each(|leaked| key(setting, leaked, visit));
    }
}

fn lease(space: u16, lease: &mut Lease, visit: Visit<'_>) {
    let Lease { holder, given, presented, wrote } = lease;
    let held = holder.iter_mut().map(|(_, fence)| fence);
    let written = wrote.iter_mut().map(|(_, fence)| fence);
    held.chain(given).chain(presented).chain(written).for_each(|fence| visit(space, fence));
}

fn fences_of(handle: Handle) -> u16 {
    FENCES + u16::from(handle.resource) * 256 + u16::from(handle.instance)
}

fn tickets_of(handle: Handle) -> u16 {
    TICKETS + u16::from(handle.resource) * 256 + u16::from(handle.instance)
}

fn issues_of(agent: u8) -> u16 {
    ISSUES + u16::from(agent)
}

fn plans_of(setting: &Setting, agent: usize, entry: usize) -> u16 {
    let place = setting.place(agent, entry).expect("only entries that change something have plans");
    PLANS + u16::try_from(place).expect("there are fewer than 256 such entries")
}

fn view(handle: Handle, view: &mut View, visit: Visit<'_>) {
    let View { version, content: _, fence } = view;
    if let Some(version) = version {
        visit(versions_of(handle), version);
    }
    if let Some(fence) = fence {
        visit(fences_of(handle), fence);
    }
}

fn call(setting: &Setting, call: &mut Call, visit: Visit<'_>) {
    let Call { request, position, deployed: _, broken: _ } = call;
    match position {
        Position::InTransit => {}
        Position::AtNode { node: _, progress } | Position::Interrupted { progress } => {
            let Progress {
                next: _,
                ending: _,
                working: _,
                loaded,
                written: _,
                answer,
                claim,
                grant,
                wrote: _,
                aside,
                ticket,
                reply: _,
                answered: _,
            } = progress;
            // A mint names what it made.
            let about = request.handle.or(answer.handle);
            if let (Some(loaded), Some(handle)) = (loaded, about) {
                visit(versions_of(handle), loaded);
            }
            self::answer(answer, visit);
            if let Some(Claim { table, number }) = claim {
                visit(claims_of(setting, usize::from(*table)), number);
            }
            if let (Some(grant), Some(handle)) = (grant, about) {
                visit(fences_of(handle), grant);
            }
            if let (Some(ticket), Some(handle)) = (ticket, about) {
                visit(tickets_of(handle), ticket);
            }
            if let (Some(aside), Some(other)) = (aside, &request.other) {
                let Aside { working: _, loaded, written: _, grant, wrote: _ } = &mut **aside;
                loaded.iter_mut().for_each(|loaded| visit(versions_of(other.handle), loaded));
                grant.iter_mut().for_each(|grant| visit(fences_of(other.handle), grant));
            }
        }
        Position::Answered { node: _, answer } => self::answer(answer, visit),
        Position::Unanswered { node: _ } => {}
    }
    self::request(setting, request, visit);
}

fn claims_of(setting: &Setting, slot: usize) -> u16 {
    CLAIMS + u16::try_from(slot - setting.resource_slot(0)).expect("a state has few slots")
}

fn request(setting: &Setting, request: &mut Request, visit: Visit<'_>) {
    let Request {
        agent,
        entry: _,
        tool: _,
        resource: _,
        handle,
        payload: _,
        seen: _,
        basis,
        expected,
        key: presented,
        fence,
        token,
        credential: _,
        sent_at,
        superseded: _,
        other,
        id: _,
        issue,
    } = request;
    if let Some(other) = other {
        let Other { handle, operation: _, seen: _, fence } = &mut **other;
        fence.iter_mut().for_each(|fence| visit(fences_of(*handle), fence));
    }
    issue.iter_mut().for_each(|issue| visit(issues_of(*agent), issue));
    if let Some(handle) = handle {
        token.iter_mut().for_each(|token| view(*handle, token, visit));
        fence.iter_mut().for_each(|fence| visit(fences_of(*handle), fence));
        sent_at.iter_mut().for_each(|version| visit(versions_of(*handle), version));
    }
    basis.iter_mut().for_each(|(handle, seen)| view(*handle, seen, visit));
    expected.iter_mut().for_each(|expected| stamp(expected, visit));
    if let Some(presented) = presented {
        key(setting, presented, visit);
    }
}

fn stamp(stamp: &mut Stamp, visit: Visit<'_>) {
    visit(versions_of(stamp.handle), &mut stamp.version);
}

fn key(setting: &Setting, key: &mut Key, visit: Visit<'_>) {
    match key {
        Key::Plan { agent, entry, plan } => {
            visit(plans_of(setting, usize::from(*agent), usize::from(*entry)), plan);
        }
        Key::Shared(_) | Key::Constant => {}
        Key::Arguments(arguments) => {
            let Arguments { tool: _, handle: _, payload: _, expected, other: _ } = &mut **arguments;
            expected.iter_mut().for_each(|expected| stamp(expected, visit));
        }
    }
}

fn answer(answer: &mut Answer, visit: Visit<'_>) {
    let Answer {
        outcome: _,
        handle,
        view,
        version,
        current,
        other,
        of_other: _,
        replayed: _,
        held_by: _,
        token,
        of: _,
        made: _,
        unknown_handle: _,
    } = answer;
    current.iter_mut().chain(other).for_each(|current| stamp(current, visit));
    if let Some(handle) = handle {
        view.iter_mut().chain(token).for_each(|view| self::view(*handle, view, visit));
        if let Some(version) = version {
            visit(versions_of(*handle), version);
        }
    }
}

fn resource(resource: &mut Resource, visit: Visit<'_>) {
    let Resource { id, instances } = resource;
    for (number, instance) in (0..).zip(instances) {
        let Instance {
            content: _,
            version,
            lifecycle: _,
            expired: _,
            filed_under: _,
            revoked: _,
            approved: _,
            node: _,
            session: _,
            lost: _,
            ended_by: _,
            previous,
            history,
        } = instance;
        let space = versions_of(Handle { resource: *id, instance: number });
        visit(space, version);
        previous.iter_mut().for_each(|(version, _)| visit(space, version));
        history.iter_mut().for_each(|(version, _)| visit(space, version));
    }
}

fn keys(setting: &Setting, table: &mut KeyTable, visit: Visit<'_>) {
    let slot = table.slot;
    let KeyTable { slot: _, records } = table;
    for (RecordKey { instance: _, credential: _, key: presented }, record) in records.iter_mut() {
        key(setting, presented, visit);
        match record {
            Record::Claim { claim, by: _, handle: _ } => visit(claims_of(setting, usize::from(slot)), claim),
            Record::Done { fingerprint, answer, by: _, handle: _ } => {
                let Fingerprint { operation: _, handle: _, expected, other: _ } = &mut **fingerprint;
                expected.iter_mut().flatten().for_each(|expected| stamp(expected, visit));
                self::answer(answer, visit);
            }
        }
    }
    records.sort_by(|a, b| a.0.cmp(&b.0));
}
