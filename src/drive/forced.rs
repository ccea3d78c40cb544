//! Forced: servers of ours go, transaction by transaction, the way that the model goes, and every answer is compared.
//!
//! The model decides what happens next, from a trace or at random; the driver makes it happen. A request leaves when the
//! model delivers it, a stream is cut when the model breaks it, a process is killed when the model restarts its node, and
//! each transaction runs when the model executes it. What a server then answers must be what the model says, and at the
//! end the store must hold what the model holds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::fleet::Fleet;
use super::http::{Endpoint, Revision};
use super::journal::Journal;
use super::wire::{self, Handles};
use super::{CallError, Connection, Label, Reply, note};
use crate::action::Action;
use crate::engine::{Access, System, plain};
use crate::faults::FAULTS;
use crate::handler::call_at;
use crate::log::Line;
use crate::model::protocol::Resumable;
use crate::step::{PropertyKind, Simulation};
use crate::world::{Answer, Attempt, Call, CallRef, Component, Fact, Lifecycle, Position, Setting};

/// A call that was really sent.
pub(super) struct Sent {
    pub(super) node: usize,
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) answer: Option<JoinHandle<Result<Reply, CallError>>>,
    /// It had been delivered before.
    pub(super) redelivered: bool,
    /// Its node has restarted, and does not know it.
    pub(super) is_gone: bool,
}

/// A run of the model and of servers, side by side.
pub struct Forced<'f> {
    pub(super) simulation: &'f Simulation,
    pub(super) state: Vec<Component>,
    pub(super) fleet: &'f mut Fleet,
    tokens: Vec<(String, String)>,
    pub(super) handles: Handles,
    pub(super) sent: BTreeMap<String, Sent>,
    /// The clients that have sessions, by agent, credential and node.
    pub(super) clients: BTreeMap<(u8, u8, usize), Arc<Endpoint>>,
    pub(super) journal: Journal,
    /// With which request id each call arrived, where it matters; and each issue of an agent.
    pub(super) id_of: BTreeMap<String, i64>,
    pub(super) ids: BTreeMap<(u8, u16), i64>,
    /// What comes out of the stream of a call, and is the answer to another.
    pub(super) handed: BTreeMap<String, Reply>,
    /// For each agent and intent, the last call that served it.
    last: BTreeMap<(u8, Option<usize>), String>,
    actions: Vec<Action>,
    violated: BTreeSet<String>,
}

/// A run that came to its end, with the servers where the model is.
#[derive(Debug)]
pub struct Finished {
    /// What was seen from outside.
    pub log: Vec<Line>,
    /// What was done.
    pub actions: Vec<Action>,
    /// The model's last state.
    pub end: Vec<Component>,
    /// The invariants that this run violates in the model.
    pub violated: BTreeSet<String>,
}

/// The model and the servers differ.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("step {step} (`{action}`): {what}")]
pub struct Difference {
    /// The step, from 1.
    pub step: usize,
    /// What was done.
    pub action: String,
    /// In words.
    pub what: String,
}

impl<'f> Forced<'f> {
    /// Before the first step. The simulation is a labelled one, and the servers are new.
    ///
    /// # Errors
    ///
    /// When the tokens file can't be read.
    pub fn new(simulation: &'f Simulation, fleet: &'f mut Fleet, journal: Journal) -> Result<Self, String> {
        let setting = simulation.setting();
        let mut forced = Self {
            simulation,
            state: simulation.initial(),
            tokens: fleet.tokens()?,
            fleet,
            handles: Handles::of(setting),
            sent: BTreeMap::new(),
            clients: BTreeMap::new(),
            id_of: BTreeMap::new(),
            ids: BTreeMap::new(),
            handed: BTreeMap::new(),
            journal,
            last: BTreeMap::new(),
            actions: Vec::new(),
            violated: BTreeSet::new(),
        };
        for (name, real) in forced.fleet.handles() {
            let handle = forced.handles.of_name(&name).ok_or_else(|| format!("nobody has heard of `{name}`"))?;
            let access = Access::new(&forced.state);
            let stored = access.get(setting.resource_slot(usize::from(handle.resource))).resource();
            let token = setting.token_of(&stored.instances[0]).ok_or("handles carry no state in the model")?;
            drop(access);
            let carried = wire::carried(setting, handle, &token);
            forced.handles.learn_signed(handle, &carried, real.as_str().unwrap_or_default())?;
        }
        note::initial(setting, &mut forced.journal);
        Ok(forced)
    }

    /// The model's state.
    #[must_use]
    pub fn state(&self) -> &[Component] {
        &self.state
    }

    /// Takes an enabled action, in the model and for real.
    ///
    /// # Errors
    ///
    /// How the two differ.
    pub async fn step(&mut self, action: &Action) -> Result<(), Difference> {
        self.actions.push(action.clone());
        let before = self.state.clone();
        let mut after = before.clone();
        let mut facts = Vec::new();
        for part in 0..self.simulation.parts(action) {
            let mut access = Access::new(&before);
            facts.extend(self.simulation.perform(action, part, &mut access).facts);
            for (slot, component) in access.finish().1 {
                after[usize::from(slot)] = component;
            }
        }
        self.judge(&facts, &after);
        let (steps, name) = (self.actions.len(), action.name());
        let done = self.perform(action, &before, &after).await;
        done.map_err(|what| Difference { step: steps, action: name.to_owned(), what })?;
        let told = note::told(self.simulation.setting(), &before, &after);
        told.into_iter().for_each(|(agent, intent, told)| self.journal.told(&agent, &intent, told));
        self.state = after;
        let swept = self.sweep().await;
        swept.map_err(|what| Difference { step: steps, action: name.to_owned(), what })
    }

    /// Notes which invariants a step violates, or the state after it.
    fn judge(&mut self, facts: &[Fact], after: &[Component]) {
        let properties = self.simulation.properties().into_iter().enumerate();
        for (index, property) in properties.filter(|(_, property)| property.kind == PropertyKind::Invariant) {
            if self.simulation.violation(facts, after, index).is_some() {
                self.violated.insert(property.name);
            }
        }
    }

    async fn perform(&mut self, action: &Action, before: &[Component], after: &[Component]) -> Result<(), String> {
        let (setting, was) = (self.simulation.setting(), Access::new(before));
        match action {
            Action::Send { agent, .. } => {
                let access = Access::new(after);
                let call = call_at(setting, &access, CallRef::open(*agent)).clone();
                self.note_sent(&call, before);
                Ok(())
            }
            Action::Deliver { call, node, takes_from, .. } => {
                let call = call_at(setting, &was, *call).clone();
                let takes_from = takes_from.map(|other| call_at(setting, &was, other).clone());
                let request = self.request_id(&call, takes_from.as_ref())?;
                self.deliver(&call, *node, &was, request).await
            }
            Action::Execute { call, clock_stands, .. } => {
                let call = call_at(setting, &was, *call).clone();
                self.execute(&call, after, json!({ "clock-ticks": !clock_stands, "lags": false })).await?;
                self.address(&self.label(&call), before).await
            }
            Action::Receive { agent } => {
                let call = call_at(setting, &was, CallRef::open(*agent)).clone();
                self.receive(&call).await
            }
            Action::Cancel { call } => {
                let call = call_at(setting, &was, *call).clone();
                let id = self.label(&call);
                self.stop(&id).await
            }
            Action::Deploy { node } => self.change_over(*node, before, after).await,
            Action::HandOff { .. } | Action::Decide { .. } | Action::Skip { .. } => Ok(()),
            Action::Resume { agent } => {
                let call = call_at(setting, &was, CallRef::open(*agent)).clone();
                self.resume(&self.label(&call));
                Ok(())
            }
            Action::Guess { handle, .. } => {
                self.hear_of(*handle).await?;
                self.hear_of_state(*handle, before).await
            }
            Action::Fault { fault, target } => {
                let name = FAULTS[usize::from(*fault)].name;
                self.fault(name, *target, before, after).await
            }
        }
    }

    /// The name of a call.
    pub(super) fn label(&self, call: &Call) -> String {
        let agent = self.simulation.setting().agent_name(usize::from(call.request.agent));
        format!("{agent}-{}", call.request.id)
    }

    fn note_sent(&mut self, call: &Call, before: &[Component]) {
        let (setting, id) = (self.simulation.setting(), self.label(call));
        let access = Access::new(before);
        let mut line = note::call(setting, &self.handles, id.clone(), call, before);
        let agent = access.get(setting.agent_slot(usize::from(call.request.agent))).agent();
        let intent = setting.intent_of(&call.request);
        let last = self.last.insert((agent.id, intent), id);
        line.repeats = last.filter(|_| intent.is_some() && agent.attempt == Attempt::Repeat);
        self.journal.sent(line);
    }

    /// A request leaves for a node, and arrives there.
    async fn deliver(
        &mut self,
        call: &Call,
        to: u8,
        was: &Access<'_, Component>,
        request: Option<i64>,
    ) -> Result<(), String> {
        let node = usize::from(to);
        let (setting, id) = (self.simulation.setting(), self.label(call));
        let deployed = setting.deployed_slot().is_some_and(|slot| was.get(slot).deployed()[node]);
        let own = setting.of(deployed);
        let arguments = wire::arguments(own, &self.handles, &call.request)?;
        let agent = setting.agent_name(usize::from(call.request.agent));
        let mut tokens = self.tokens.iter().filter(|(of, _)| of == agent);
        let token = tokens.nth(usize::from(call.request.credential)).map(|(_, token)| token.clone());
        let token = token.ok_or("there are no more credentials to rotate to")?;
        let endpoint = match own.model.protocol.resumable {
            Resumable::Never => Arc::new(Endpoint::new(self.fleet.url(node), Some(token), Revision::Stateless)?),
            Resumable::AfterDelivery | Resumable::Always => {
                let client = (call.request.agent, call.request.credential, node);
                let anew = Endpoint::new(self.fleet.url(node), Some(token), Revision::Session)?;
                self.clients.entry(client).or_insert_with(|| Arc::new(anew)).clone()
            }
        };
        let tool = wire::operation(setting, &call.request).to_owned();
        if let Some(line) = self.journal.open(&id) {
            line.node = Some(setting.node_name(to));
        }
        let redelivered = matches!(call.position, Position::Interrupted { .. });
        self.note_id(call, request);
        let label = Label { name: Some(id.clone()), id: request, redelivered };
        let answer = tokio::spawn(endpoint.clone().call(tool, arguments, label));
        let there = self.fleet.ask(node, &json!({ "do": "look", "call": id })).await;
        match there {
            Ok(there) if there["is"] == "waiting" => {
                // Of what goes on behind its answer, the answer may be there already.
                let held = self.sent.remove(&id).and_then(|sent| sent.answer);
                let answer = Some(held.unwrap_or(answer));
                self.sent.insert(id.clone(), Sent { node, endpoint, answer, redelivered, is_gone: false });
                // Its stream broke while it was on its way.
                if call.broken { self.hang_up(&id).await } else { Ok(()) }
            }
            other => {
                let said = answer.await;
                Err(format!("{id} did not arrive: {other:?}, {said:?}"))
            }
        }
    }

    /// A node runs the next transaction of a call.
    pub(super) async fn execute(&mut self, call: &Call, after: &[Component], order: Value) -> Result<(), String> {
        let id = self.label(call);
        let sent = self.sent.get(&id).ok_or_else(|| format!("{id} is nowhere"))?;
        let there = self.fleet.ask(sent.node, &json!({ "do": "run", "call": id, "order": order })).await?;
        let model = self.all_of(after, &id);
        let goes_on = model.iter().any(|call| matches!(call.position, Position::AtNode { .. }));
        // What is left of a call that has answered the model keeps only where it can change something.
        let is_over = model.is_empty() || model.iter().any(|call| matches!(call.position, Position::Answered { .. }));
        match there["is"].as_str() {
            Some("waiting") if goes_on || is_over => Ok(()),
            Some("answered") if !goes_on => Ok(()),
            Some(is) => {
                let says = if goes_on { "before its next transaction" } else { "answered" };
                Err(format!("after this transaction {id} is {is}, and the model has it {says}"))
            }
            None => Err(format!("the hook said {there}")),
        }
    }

    /// The calls of that name in a state of the model: the one for which its agent waits, and what a handler does behind its
    /// answer.
    pub(super) fn all_of(&self, state: &[Component], id: &str) -> Vec<Call> {
        let (setting, access) = (self.simulation.setting(), Access::new(state));
        let of = |agent: usize| {
            let open = access.get(setting.call_slot(agent)).call().iter();
            let all = open.chain(access.get(setting.orphans_slot(agent)).orphans());
            all.filter(|call| self.label(call) == id).cloned().collect::<Vec<_>>()
        };
        (0..setting.agents()).flat_map(of).collect()
    }

    /// An answer reaches its agent, and is what the model says.
    async fn receive(&mut self, call: &Call) -> Result<(), String> {
        let id = self.label(call);
        let Position::Answered { answer, .. } = &call.position else { return Err("there is no answer".to_owned()) };
        if let Some(reply) = self.handed.remove(&id) {
            return self.compare(&id, answer, &reply);
        }
        // What its handler does behind the answer is swept when the model has done with it.
        let sent = self.sent.get_mut(&id).ok_or_else(|| format!("{id} is nowhere"))?;
        let waiting = sent.answer.take().ok_or_else(|| format!("nobody waits for {id}"))?;
        sent.endpoint.read_on(&id);
        let reply = waiting.await.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        self.compare(&id, answer, &reply)
    }

    fn compare(&mut self, id: &str, answer: &Answer, reply: &Reply) -> Result<(), String> {
        let compared = wire::compare(self.simulation.setting(), &mut self.handles, answer, reply);
        self.journal.received(id, note::answer(self.simulation.setting(), &reply.content));
        compared.map_err(|what| format!("the answer to {id} differs: {what}"))
    }

    /// The server stops a call at its gate. Where it cleans up then, it comes to another gate.
    async fn stop(&mut self, id: &str) -> Result<(), String> {
        let Some(sent) = self.sent.get_mut(id) else { return Ok(()) };
        if let Some(answer) = sent.answer.take() {
            answer.abort();
        }
        let there = self.fleet.ask(sent.node, &json!({ "do": "cancel", "call": id })).await?;
        if there["is"] != "waiting" {
            self.sent.remove(id);
        }
        Ok(())
    }

    /// What the model has done with, the servers are done with: an orphan that can change nothing any more is stopped.
    async fn sweep(&mut self) -> Result<(), String> {
        let ids: Vec<String> = self.sent.keys().cloned().collect();
        for id in ids {
            if !self.all_of(&self.state, &id).is_empty() {
                continue;
            }
            if self.sent[&id].is_gone {
                self.sent.remove(&id);
            }
            // It is stopped once, and once more where it cleans up.
            for _ in 0..2 {
                let Some(Sent { node, .. }) = self.sent.get(&id) else { break };
                let there = self.fleet.ask(*node, &json!({ "do": "look", "call": id })).await?;
                if there["is"] == "waiting" {
                    self.stop(&id).await?;
                } else if let Some(Sent { answer: Some(answer), .. }) = self.sent.remove(&id) {
                    answer.abort();
                }
            }
        }
        Ok(())
    }

    /// Compares what the servers hold with what the model holds, and closes the log.
    ///
    /// # Errors
    ///
    /// The first difference.
    pub async fn finish(mut self) -> Result<Finished, Difference> {
        let steps = self.actions.len();
        let held = self.fleet.state().await;
        let compared = held.and_then(|held| {
            compare_state(self.simulation.setting(), &self.handles, &self.state, &held)?;
            note::state(self.simulation.setting(), &held, &mut self.journal);
            Ok(())
        });
        compared.map_err(|what| Difference { step: steps, action: "the end".to_owned(), what })?;
        for sent in std::mem::take(&mut self.sent).into_values() {
            if let Some(answer) = sent.answer {
                answer.abort();
            }
        }
        let mut log = self.journal.close();
        if self.simulation.setting().is_state_in_handle() {
            note::leave_out_versions(&mut log);
        }
        Ok(Finished { log, actions: self.actions, end: self.state, violated: self.violated })
    }

    /// The actions that are enabled now.
    #[must_use]
    pub fn enabled(&self) -> Vec<Action> {
        plain::enabled(self.simulation, &self.state)
    }

    /// Whether an enabled action can be caused: request ids stay what they were chosen to be.
    #[must_use]
    pub fn can_cause(&self, action: &Action) -> bool {
        let Action::Deliver { call, takes_from: Some(other), .. } = action else { return true };
        let (setting, access) = (self.simulation.setting(), Access::new(&self.state));
        self.request_id(call_at(setting, &access, *call), Some(call_at(setting, &access, *other))).is_ok()
    }
}

/// Everything that is stored is what the model stores; what nobody heard of is at least there as often.
fn compare_state(
    setting: &Setting,
    handles: &Handles,
    state: &[Component],
    held: &serde_json::Map<String, Value>,
) -> Result<(), String> {
    let access = Access::new(state);
    let mut count = 0;
    for resource in 0..setting.resources() {
        let stored = access.get(setting.resource_slot(resource)).resource();
        for (number, instance) in (0..).zip(&stored.instances).filter(|(_, instance)| !instance.lost) {
            count += 1;
            let handle = crate::world::Handle { resource: stored.id, instance: number };
            let Some(real) = handles.get(handle) else { continue };
            let lifecycle = match instance.lifecycle {
                Lifecycle::Open => "open",
                Lifecycle::Closed => "closed",
                Lifecycle::Executed => "executed",
                Lifecycle::Deleted => "deleted",
            };
            let model = json!({
                "version": instance.version, "lifecycle": lifecycle, "expired": instance.expired,
                "content": wire::content(setting, resource, &instance.content),
            });
            let mut found = held.get(real).cloned().unwrap_or_default();
            if let Some(found) = found.as_object_mut() {
                found.remove("owner");
                found.remove("signed");
                let content = wire::shown(setting, resource, &found["content"]);
                found.insert("content".to_owned(), content);
            }
            if model != found {
                return Err(format!("`{real}` should be {model}, and is {found}"));
            }
        }
    }
    if count == held.len() { Ok(()) } else { Err(format!("{count} resources should be there, and {} are", held.len())) }
}
