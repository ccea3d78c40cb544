//! What differs between two states, fact by fact.

use super::Names;
use crate::trace::{Change, Content};
use crate::world::{
    Cache, CacheScope, Call, Component, Effect, Field, Handle, Instance, KeyTable, Lease, Lifecycle, Position, Record,
    RecordKey, Reply, Resource,
};

/// What is said of a call at a node whose agent waits in vain.
const NO_STREAM: &str = ", its answer for no stream";

/// What is said of a call of which its node does not know where its answer goes.
const FORGOTTEN: &str = ", its stream forgotten";

/// The request whose answer finds no stream any more from this change on.
pub(super) fn superseded(change: &Change) -> Option<&str> {
    let now = change.after.ends_with(NO_STREAM) && !change.before.ends_with(NO_STREAM);
    change.after.split(' ').next().filter(|_| now)
}

/// Whether a node does not know where the answer of a call goes that comes to it in this change.
pub(super) fn is_forgotten(change: &Change) -> bool {
    change.after.ends_with(FORGOTTEN) && !change.before.ends_with(FORGOTTEN)
}

/// Every fact that differs between two states, in the order of the components.
pub(super) fn changes(names: &Names<'_>, before: &[Component], after: &[Component]) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut note = |fact: String, before: String, after: String| {
        if before != after {
            changes.push(Change { fact, before, after });
        }
    };
    for (slot, (before, after)) in before.iter().zip(after).enumerate() {
        let cached_at = names.0.all_cache_slots().find(|(cache, _)| *cache == slot).and_then(|(_, place)| place);
        match (before, after) {
            (Component::Agent(before), Component::Agent(after)) => {
                let agent = names.agent(before.id);
                for (resource, (old, new)) in before.known.iter().zip(&after.known).enumerate() {
                    let name = &names.0.resource(resource).name;
                    let handle =
                        |handle: Option<Handle>| handle.map_or("unknown".to_owned(), |h| names.0.handle_name(h));
                    note(format!("{agent} knows the handle of {name}"), handle(old.handle), handle(new.handle));
                    let view = |known: &crate::world::Known| match (known.handle, &known.view) {
                        (Some(handle), Some(view)) => short(&names.view(handle, view)),
                        _ => "none".to_owned(),
                    };
                    note(format!("{agent} believes of {name}"), view(old), view(new));
                }
            }
            (Component::Call(old), Component::Call(new)) => {
                let whose = old.as_ref().or(new.as_ref()).map(|call| names.agent(call.request.agent));
                let at =
                    |call: &Option<Call>| call.as_ref().map_or("none".to_owned(), |call| names.position(call, true));
                note(format!("call of {}", whose.unwrap_or_default()), at(old), at(new));
            }
            (Component::Orphans(old), Component::Orphans(new)) => {
                let whose = old.first().or(new.first()).map(|call| names.agent(call.request.agent));
                let list = |calls: &[Call]| {
                    let list: Vec<String> = calls.iter().map(|call| names.position(call, false)).collect();
                    if list.is_empty() { "none".to_owned() } else { list.join("; ") }
                };
                note(format!("orphans of {}", whose.unwrap_or_default()), list(old), list(new));
            }
            (Component::Ledger(old), Component::Ledger(new)) => {
                for (entry, (old, new)) in old.entries.iter().zip(&new.entries).enumerate() {
                    let about = names.0.entry_words(usize::from(after.ledger().agent), entry);
                    let agent = names.agent(after.ledger().agent);
                    let told =
                        |told: Option<crate::model::Told>| told.map_or("nothing".to_owned(), |told| told.to_string());
                    note(format!("{agent} was told about {about}"), told(old.told), told(new.told));
                    let effects =
                        |effects: &[Effect]| effects.iter().map(|effect| effect.count).sum::<u8>().to_string();
                    note(format!("effects of {about} by {agent}"), effects(&old.effects), effects(&new.effects));
                }
            }
            (Component::Resource(old), Component::Resource(new)) => resource(names, old, new, &mut note),
            (Component::Keys(old), Component::Keys(new)) => {
                let place = names.0.all_keys_slots().find(|(slot, _)| *slot == usize::from(new.slot));
                let place = place.and_then(|(_, node)| node);
                let place = place.map_or("store".to_owned(), |node| names.0.node_name(node));
                for key in keys(old, new) {
                    let of = names.record_handle(usize::from(new.slot), &key);
                    let of = of.map_or_else(String::new, |handle| format!(" on {handle}"));
                    let stands = |table: &KeyTable| match table.find(&key) {
                        None => "nothing".to_owned(),
                        Some(Record::Claim { .. }) => "claimed".to_owned(),
                        Some(Record::Done { answer, .. }) => {
                            let version = answer.version.map_or_else(String::new, |version| format!(" v{version}"));
                            format!("{}{version}", answer.outcome)
                        }
                    };
                    note(format!("{place} key {}{of}", names.key(&key.key)), stands(old), stands(new));
                }
            }
            (Component::Leases(old), Component::Leases(new)) => {
                for (number, lease) in (0..).zip(&new.leases) {
                    let handle = names.0.handle_name(Handle { resource: new.resource, instance: number });
                    let holder = |lease: &Lease| match lease.holder {
                        Some((agent, fence)) => format!("{} (fence {fence})", names.agent(agent)),
                        None => "free".to_owned(),
                    };
                    note(format!("{handle} lease"), holder(&old.of(number)), holder(lease));
                    let seen = |lease: &Lease| lease.presented.map_or("none".to_owned(), |fence| fence.to_string());
                    note(format!("{handle} fence presented"), seen(&old.of(number)), seen(lease));
                }
            }
            (Component::Deployed(old), Component::Deployed(new)) => {
                for (node, (old, new)) in (0..).zip(old.iter().zip(new)) {
                    let runs = |deployed: bool| names.0.side_name(deployed);
                    note(format!("{} runs", names.0.node_name(node)), runs(*old), runs(*new));
                }
            }
            (Component::Memory(old), Component::Memory(new)) => {
                let caller = |of: Option<(u8, u8)>| of.map_or("nobody", |(agent, _)| names.agent(agent)).to_owned();
                note("a node takes the caller for".to_owned(), caller(old.identity), caller(new.identity));
            }
            (Component::Cache(old), Component::Cache(new)) => {
                let kept = |cache: &Cache, scope: &CacheScope| {
                    let found = cache.find(scope);
                    found.map_or("none".to_owned(), |(_, about, copy)| short(&names.view(*about, copy)))
                };
                let mut scopes: Vec<_> = old.copies.iter().chain(&new.copies).collect();
                scopes.sort();
                scopes.dedup_by(|one, other| one.0 == other.0);
                for (scope, about, _) in scopes {
                    let place = cached_at.map_or_else(String::new, |node| format!(" at {}", names.0.node_name(node)));
                    note(format!("{} cached{place}", names.0.handle_name(*about)), kept(old, scope), kept(new, scope));
                }
            }
            (Component::Queue(old), Component::Queue(new)) => {
                let name = &names.0.resource(usize::from(new.resource)).name;
                let length = |count: usize| format!("{count} calls");
                note(format!("queue of {name}"), length(old.tickets.len()), length(new.tickets.len()));
            }
            (Component::Upstream(old), Component::Upstream(new)) => {
                for (_, key) in new.iter().filter(|entry| !old.contains(entry)) {
                    note(format!("upstream key {}", names.key(key)), "unknown".to_owned(), "done".to_owned());
                }
            }
            (Component::Credentials(old), Component::Credentials(new)) => {
                for (principal, (old, new)) in names.0.principals.iter().zip(old.iter().zip(new)) {
                    note(format!("credential of {principal}"), (old + 1).to_string(), (new + 1).to_string());
                }
            }
            (Component::Budgets(old), Component::Budgets(new)) => {
                for (fault, (old, new)) in crate::faults::FAULTS.iter().zip(old.iter().zip(new)) {
                    note(format!("{} left", fault.name), old.to_string(), new.to_string());
                }
            }
            _ => {}
        }
    }
    changes
}

fn keys(old: &KeyTable, new: &KeyTable) -> Vec<RecordKey> {
    let mut keys: Vec<_> = old.records.iter().chain(&new.records).map(|(key, _)| key.clone()).collect();
    keys.sort();
    keys.dedup();
    keys
}

fn resource(names: &Names<'_>, old: &Resource, new: &Resource, note: &mut impl FnMut(String, String, String)) {
    let setting = names.0;
    let fields = &setting.resource(usize::from(old.id)).fields;
    for (number, instance) in (0..).zip(&new.instances) {
        let handle = Handle { resource: old.id, instance: number };
        let name = setting.handle_name(handle);
        let Some(before) = old.instances.get(usize::from(number)) else {
            note(name, "does not exist".to_owned(), short(&names.stored(handle, instance)));
            continue;
        };
        let Instance {
            content,
            version,
            lifecycle,
            expired,
            filed_under: _,
            revoked,
            approved,
            node: _,
            session: _,
            lost,
            ended_by: _,
            previous: _,
            history: _,
        } = instance;
        let memory = |lost: bool| if lost { "lost with its node" } else { "kept" }.to_owned();
        note(format!("{name} memory"), memory(before.lost), memory(*lost));
        note(format!("{name} version"), format!("v{}", before.version), format!("v{version}"));
        for ((field, _), (old, new)) in fields.iter().zip(before.content.iter().zip(content)) {
            note(format!("{name} {field}"), old.value.to_string(), new.value.to_string());
        }
        let state = |lifecycle: Lifecycle| lifecycle.name().to_owned();
        note(format!("{name} state"), state(before.lifecycle), state(*lifecycle));
        let expiry = |expired: bool| if expired { "expired" } else { "live" }.to_owned();
        note(format!("{name} expiry"), expiry(before.expired), expiry(*expired));
        let list = |revoked: &[u8]| {
            let names: Vec<String> = revoked.iter().map(|p| setting.principals[usize::from(*p)].to_string()).collect();
            if names.is_empty() { "nobody".to_owned() } else { names.join(", ") }
        };
        note(format!("{name} revoked for"), list(&before.revoked), list(revoked));
        let approval = |content: &Option<Vec<Field>>| match content {
            None => "nothing".to_owned(),
            Some(content) => content.iter().map(|field| field.value.to_string()).collect::<Vec<_>>().join(" / "),
        };
        note(format!("{name} approved"), approval(&before.approved), approval(approved));
    }
}

impl Names<'_> {
    /// Where a call is. `waited_for`: its agent waits for it.
    fn position(&self, call: &Call, waited_for: bool) -> String {
        let request = self.request(call.request.agent, call.request.id);
        let broken = if call.broken { ", stream broken" } else { "" };
        match &call.position {
            Position::InTransit => format!("{request} in transit{broken}"),
            Position::Interrupted { progress } => {
                format!("{request} kept, to be taken up before transaction {}{broken}", progress.next + 1)
            }
            Position::AtNode { node, progress } => {
                let at_end = if progress.ending { "at-end " } else { "" };
                let reply = match progress.reply {
                    Reply::StreamOf(agent) => format!(", its answer for the stream of {}", self.agent(agent)),
                    Reply::Nowhere if waited_for => NO_STREAM.to_owned(),
                    Reply::Lost => FORGOTTEN.to_owned(),
                    Reply::Own | Reply::Nowhere => String::new(),
                };
                let unheard = if progress.answered { ", unheard" } else { "" };
                format!(
                    "{request} at {}{unheard} before {at_end}transaction {}{broken}{reply}",
                    self.0.node_name(*node),
                    progress.next + 1
                )
            }
            Position::Unanswered { node } => format!("{request} left without an answer at {}", self.0.node_name(*node)),
            Position::Answered { node, answer } => {
                format!("{request} answered {} at {}{broken}", answer.outcome, self.0.node_name(*node))
            }
        }
    }
}

/// `v8 32 / 512`.
pub(super) fn short(content: &Content) -> String {
    let version = content.version.map(|version| format!("v{version}"));
    let values = (!content.values.is_empty()).then(|| content.values.join(" / "));
    let parts: Vec<String> = version.into_iter().chain(values).collect();
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(" ") }
}
