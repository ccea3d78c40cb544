//! What the log says of a run of the model and of real servers.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::journal::Journal;
use super::wire::{self, Handles};
use crate::action::Target;
use crate::engine::Access;
use crate::log::{self, Answer, Ended, Event, Lifecycle, Line, Operation, State, Version};
use crate::model::design::Versions;
use crate::model::{Design, Model, Told};
use crate::world::{Attempt, Call, Component, Handle, Payload, Setting};

/// The resources that are there at the start.
pub(super) fn initial(setting: &Setting, journal: &mut Journal) {
    for declared in &setting.model.scenario.resources {
        let (Some(handle), Some(owner)) = (&declared.handle, &declared.owner) else { continue };
        journal.state(State {
            at: 0,
            handle: handle.clone(),
            owner: Some(owner.to_string()),
            shared_with: declared.shared_with.iter().map(ToString::to_string).collect(),
            version: Some(Version::Number(u64::from(declared.version))),
            fields: declared.fields.iter().map(|(name, value)| (name.clone(), wire::value(value))).collect(),
            lifecycle: Some(Lifecycle::Open),
        });
    }
}

/// What the servers hold.
pub(super) fn state(setting: &Setting, held: &Map<String, Value>, journal: &mut Journal) {
    let known = |handle: &str| {
        setting.model.scenario.resources.iter().find(|declared| declared.handle.as_deref() == Some(handle))
    };
    for (handle, there) in held {
        let expired = there["expired"] == Value::Bool(true);
        let lifecycle =
            if expired { Some(Lifecycle::Expired) } else { there["lifecycle"].as_str().and_then(Lifecycle::named) };
        let owner = known(handle).and_then(|declared| declared.owner.as_ref()).map(ToString::to_string);
        let owner = owner.or_else(|| Some(principal(&there["owner"])));
        journal.state(State {
            at: 0,
            handle: handle.clone(),
            owner,
            shared_with: Vec::new(),
            version: there["version"].as_u64().map(Version::Number),
            fields: fields(&there["content"]),
            lifecycle,
        });
    }
}

fn principal(stored: &Value) -> String {
    let part = |index: usize| stored[index].as_str().map(str::to_owned);
    let (subject, client, tenant) = (part(0).unwrap_or_default(), part(1), part(2));
    crate::model::Principal { subject, client, tenant }.to_string()
}

fn fields(content: &Value) -> BTreeMap<String, Value> {
    content.as_object().cloned().unwrap_or_default().into_iter().collect()
}

/// What an intent is called. An agent that wants the same twice has two intents.
fn intent(setting: &Setting, agent: usize, entry: usize) -> String {
    let words = setting.entry_words(agent, entry);
    let entries = 0..setting.model.scenario.agents[agent].work.len();
    let again = entries.filter(|other| setting.entry_words(agent, *other) == words).count() > 1;
    if again { format!("{words}, entry {}", entry + 1) } else { words }
}

/// A call that an agent sends.
pub(super) fn call(setting: &Setting, handles: &Handles, id: String, call: &Call, before: &[Component]) -> log::Call {
    let request = &call.request;
    let (agent, access) = (usize::from(request.agent), Access::new(before));
    let known = access.get(setting.agent_slot(agent)).agent();
    let operation = wire::operation(setting, request);
    let (carried, whole) = wire::fields(setting, request);
    let intent = setting.intent_of(request).map(|_| intent(setting, agent, usize::from(request.entry)));
    // A whole content that is sent sets every field, whatever the tool is called.
    let sets = whole && matches!(request.payload, Payload::Snapshot(_)) && matches!(operation, "append" | "increment");
    let mut saw = BTreeMap::new();
    let own = request.handle.filter(|_| intent.is_some() && known.attempt != Attempt::Repeat);
    let own = own.and_then(|handle| Some((handle, known.known[usize::from(handle.resource)].view.as_ref()?)));
    let other = request.other.as_ref().filter(|_| known.attempt != Attempt::Repeat).map(|other| other.handle);
    let other = other.and_then(|handle| Some((handle, known.known[usize::from(handle.resource)].view.as_ref()?)));
    for (handle, view) in own.into_iter().chain(other).chain(request.basis.iter().map(|(handle, view)| (*handle, view)))
    {
        if let (Some(real), Some(version)) = (handles.get(handle), view.version) {
            saw.insert(real.to_owned(), Version::Number(u64::from(version)));
        }
    }
    let real = |handle: Handle| handles.get(handle).map(str::to_owned);
    let rests_on: Vec<String> = request.basis.iter().filter_map(|(handle, _)| real(*handle)).collect();
    log::Call {
        id: Some(id),
        sent: 0,
        received: None,
        cut: None,
        agent: setting.agent_name(agent).to_owned(),
        principal: Some(setting.model.scenario.agents[agent].principal.to_string()),
        node: None,
        tool: Operation::named(if sets { "set" } else { operation }).unwrap_or(Operation::Read),
        called: sets.then(|| operation.to_owned()),
        handle: request.handle.and_then(|handle| handles.get(handle)).map(str::to_owned),
        fields: carried.into_iter().collect(),
        expects: request
            .expected
            .iter()
            .filter_map(|stamp| {
                let real = handles.get(stamp.handle)?.to_owned();
                Some((real, Version::Number(u64::from(stamp.version))))
            })
            .collect(),
        saw,
        given: Some(rests_on).filter(|rests_on| !rests_on.is_empty()),
        condition: wire::condition(setting, request, real),
        also: wire::besides(setting, request).and_then(|(tool, handle, fields)| {
            let (tool, handle) = (Operation::named(tool)?, real(handle)?);
            Some(log::Also { tool, handle, fields: fields.into_iter().collect() })
        }),
        key: request.key.as_ref().map(|key| wire::key(setting, key)),
        request: None,
        intent,
        repeats: None,
        answer: None,
    }
}

/// What a server of ours answered.
pub(super) fn answer(setting: &Setting, content: &Value) -> Answer {
    let view = &content["view"];
    let handle = content["handle"].as_str().map(|handle| wire::name_in(setting, handle).to_owned());
    // Of a call that changes two resources, the other one may be stale.
    let own = |stamp: &&Value| stamp["handle"].as_str() == handle.as_deref();
    let current = content["current"].as_array().and_then(|current| current.iter().find(own));
    let current = current.and_then(|stamp| stamp["version"].as_u64());
    let version = content["version"].as_u64().or_else(|| view["version"].as_u64()).or(current);
    Answer {
        outcome: content["outcome"].as_str().and_then(Ended::named).unwrap_or(Ended::Refused),
        replayed: content["replayed"] == Value::Bool(true),
        handle,
        version: version.map(Version::Number),
        also_version: content["also"]["version"].as_u64().map(Version::Number),
        also_fields: BTreeMap::new(),
        fields: fields(&view["content"]),
        error: None,
    }
}

/// What agents were told in a step: agent, intent, word.
pub(super) fn told(setting: &Setting, before: &[Component], after: &[Component]) -> Vec<(String, String, Told)> {
    let (was, is) = (Access::new(before), Access::new(after));
    let mut all = Vec::new();
    for agent in 0..setting.agents() {
        let slot = setting.ledger_slot(agent);
        let pairs = was.get(slot).ledger().entries.iter().zip(&is.get(slot).ledger().entries);
        for (entry, (old, new)) in pairs.enumerate() {
            if let Some(told) = new.told.filter(|_| old.told.is_none()) {
                all.push((setting.agent_name(agent).to_owned(), intent(setting, agent, entry), told));
            }
        }
    }
    all
}

/// Something that was done to the servers.
pub(super) fn event(setting: &Setting, name: &str, target: Target) -> Event {
    let mut event = Event { at: 0, event: name.to_owned(), node: None, agent: None, handle: None, about: None };
    match target {
        Target::Agent(agent) | Target::Keeping(agent, _) | Target::AgentAndHandle(agent, _) => {
            event.agent = Some(setting.agent_name(usize::from(agent)).to_owned());
        }
        Target::Node(node) => event.node = Some(setting.node_name(node)),
        Target::Handle(handle) | Target::PrincipalAndHandle(_, handle) => {
            event.handle = Some(setting.handle_name(handle));
        }
        Target::Transaction { call, .. } => {
            event.agent = Some(setting.agent_name(usize::from(call.agent)).to_owned());
        }
        Target::Calls { .. } | Target::Principal(_) | Target::Lease { .. } | Target::Record { .. } => {}
    }
    event
}

/// Leaves the versions out of a log: where handles carry the state, a number is that of a copy, and two copies have it.
pub(super) fn leave_out_versions(lines: &mut [Line]) {
    for line in lines {
        match line {
            Line::Log(heading) => heading.versions_count = false,
            Line::Call(call) => {
                call.expects.clear();
                call.saw.clear();
                call.answer.iter_mut().for_each(|answer| (answer.version, answer.also_version) = (None, None));
            }
            Line::State(state) => state.version = None,
            Line::Told(_) | Line::Event(_) | Line::End(_) => {}
        }
    }
}

/// Whether a handler of these servers takes back what it did.
#[must_use]
pub fn takes_back(model: &Model) -> bool {
    model.sides().any(|(design, _)| {
        let handlers = design.server.tools.values();
        handlers.flat_map(|handler| &handler.at_end).flatten().any(|step| *step == "undo")
    })
}

/// Whether every accepted change adds exactly one to the version of its resource, whatever runs on the nodes.
#[must_use]
pub fn versions_count(model: &Model) -> bool {
    model.sides().all(|(design, _)| counts(design))
}

fn counts(design: &Design) -> bool {
    let steps = || {
        design.server.tools.values().flat_map(|handler| handler.transactions.iter().chain(&handler.at_end)).flatten()
    };
    design.server.versions == Versions::Counter
        && !steps().any(|step| matches!(*step, "write-content" | "advance-version"))
}
