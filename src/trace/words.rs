//! Words: a step as people read it. What changed, who believes what, and one sentence.

use super::replay::does;
use super::{
    AnswerNote, Belief, CallNote, Change, Commit, Content, Does, Erased, Expected, Step, ToldNote, TransactionNote,
};
use crate::action::{Action, Target};
use crate::engine::Access;
use crate::model::{Entry, Outcome, Tool};
use crate::step::Simulation;
use crate::world::{
    Agent, Answer, Attempt, Call, CallRef, Component, Effect, Fact, Field, Handle, Instance, Intents, Key, KeyTable,
    Lease, Lifecycle, Payload, Position, Record, RecordKey, Request, Resource, Setting, View,
};

/// Writes down one step.
pub(super) fn step(
    simulation: &Simulation,
    action: &Action,
    before: &[Component],
    after: &[Component],
    facts: &[Fact],
    answered: Option<(Answer, Option<&'static str>)>,
) -> Step {
    let setting = simulation.setting();
    let names = Names(setting);
    let access = Access::new(before);
    let does = does(simulation, &access, action);
    let call = call_of(simulation, action, before, after);
    let writes = before.iter().zip(after).any(|(before, after)| outlives_calls(before) && before != after);
    let transaction = transaction(simulation, action, &access, answered.as_ref(), writes);
    let received = facts.iter().find_map(|fact| match fact {
        Fact::Received { answer, .. } => Some(answer.clone()),
        _ => None,
    });
    let answer = received.or_else(|| answered.map(|(answer, _)| answer)).map(|answer| names.answer(&answer));
    let told: Vec<ToldNote> = facts.iter().filter_map(|fact| names.told(fact)).collect();
    let commits: Vec<Commit> = facts.iter().filter_map(|fact| names.commit(fact, after)).collect();
    let note = call.as_ref().map(|call| {
        let sends = matches!(action, Action::Send { .. });
        names.call(call, sends.then(|| after[setting.agent_slot(usize::from(call.request.agent))].agent()))
    });
    let mut step = Step {
        does,
        call: note,
        transaction,
        answer,
        told,
        changes: changes(&names, before, after),
        commits,
        beliefs: beliefs(&names, after),
        sentence: String::new(),
    };
    step.sentence = sentence(&step, call.is_some_and(|call| matches!(call.position, Position::Interrupted { .. })));
    step
}

/// The call that an action is about.
fn call_of(simulation: &Simulation, action: &Action, before: &[Component], after: &[Component]) -> Option<Call> {
    let setting = simulation.setting();
    let open = |state: &[Component], agent: u8| state[setting.call_slot(usize::from(agent))].call().clone();
    match action {
        Action::Send { agent, .. } => open(after, *agent),
        Action::Deliver { call, .. } | Action::Execute { call, .. } | Action::Cancel { call } => {
            Some(simulation.call(&Access::new(before), *call).clone())
        }
        Action::Receive { agent } | Action::Resume { agent } => open(before, *agent),
        Action::Fault { target: Target::Agent(agent), .. } => open(before, *agent),
        Action::Fault { target: Target::Transaction { call, .. }, .. } => {
            Some(simulation.call(&Access::new(before), *call).clone())
        }
        Action::HandOff { .. } | Action::Guess { .. } | Action::Fault { .. } => None,
    }
}

/// Whether a component holds what another call can meet.
const fn outlives_calls(component: &Component) -> bool {
    matches!(component, Component::Resource(_) | Component::Keys(_) | Component::Leases(_) | Component::Memory(_))
}

fn transaction(
    simulation: &Simulation,
    action: &Action,
    access: &Access<'_, Component>,
    answered: Option<&(Answer, Option<&'static str>)>,
    writes: bool,
) -> Option<TransactionNote> {
    let at = match action {
        Action::Execute { call, .. } => *call,
        Action::Fault { target: Target::Transaction { call, .. }, .. } => *call,
        Action::Fault { target: Target::Agent(agent), .. } if action.name() == "stale-read" => CallRef::open(*agent),
        _ => return None,
    };
    let call = simulation.call(access, at);
    let Position::AtNode { progress, .. } = &call.position else { return None };
    let steps = simulation.programs().of(call.request.tool).next_steps(progress);
    Some(TransactionNote {
        steps: steps.into_iter().map(str::to_owned).collect(),
        ended_by: answered.and_then(|(_, step)| step.map(str::to_owned)),
        number: usize::from(progress.next) + 1,
        at_end: progress.ending,
        writes,
    })
}

/// How things are called in one run.
pub(super) struct Names<'s>(pub(super) &'s Setting);

impl Names<'_> {
    pub(super) fn request(&self, agent: u8, number: u16) -> String {
        format!("{}-{number}", self.agent(agent))
    }

    fn agent(&self, agent: u8) -> &str {
        self.0.agent_name(usize::from(agent))
    }

    /// A key: whose intent, and where it is not the only plan, which plan.
    pub(super) fn key(&self, key: &Key) -> String {
        match key {
            Key::Plan { intent, plan } => {
                let intent = &self.0.intents[usize::from(*intent)];
                let agent = self.0.agent_name(intent.agent);
                let number = self.number(intent.agent, intent.entry);
                let plan = if *plan == 0 { String::new() } else { format!(".{}", plan + 1) };
                format!("{agent}/{number}{plan}")
            }
            Key::Constant => "constant".to_owned(),
            Key::Arguments(arguments) => {
                let (tool, handle, payload, expected) = &**arguments;
                let handle = handle.map_or_else(String::new, |handle| format!(" {}", self.0.handle_name(handle)));
                let resource = arguments.1.map(|handle| usize::from(handle.resource));
                let payload = resource.map_or_else(String::new, |resource| self.payload(resource, payload));
                let expected: Vec<String> = expected.iter().map(|stamp| format!(" v{}", stamp.version)).collect();
                format!("hash({tool}{handle} {payload}{})", expected.concat())
            }
        }
    }

    /// The handle under which a record stands, where its table tells handles apart.
    pub(super) fn record_handle(&self, slot: usize, record: &RecordKey) -> Option<String> {
        let instance = record.instance?;
        let resource = self.0.keys_resource(slot)?;
        Some(self.0.handle_name(Handle { resource, instance }))
    }

    /// The number of an intent among its agent's intents, from 1.
    fn number(&self, agent: usize, entry: usize) -> usize {
        self.0.intents.iter().filter(|intent| intent.agent == agent && intent.entry <= entry).count()
    }

    pub(super) fn hand_off(&self, access: &Access<'_, Component>, agent: u8) -> (Option<String>, Vec<String>) {
        let at = access.get(self.0.agent_slot(usize::from(agent))).agent();
        let work = &self.0.model.scenario.agents[usize::from(agent)].work;
        let Some(Entry::HandOff { resource, to, .. }) = work.get(usize::from(at.entry)) else {
            return (None, Vec::new());
        };
        let handle = at.known[*resource].handle.map(|handle| self.0.handle_name(handle));
        (handle, to.iter().map(|receiver| self.0.agent_name(*receiver).to_owned()).collect())
    }

    fn payload(&self, resource: usize, payload: &Payload) -> String {
        match payload {
            Payload::Nothing => String::new(),
            Payload::Change(operation) => self.0.operation_words(resource, operation),
            Payload::Snapshot(content) => {
                let fields = self.0.resource(resource).fields.iter().zip(content);
                fields.map(|((name, _), field)| format!("{name} {}", field.value)).collect::<Vec<_>>().join(", ")
            }
        }
    }

    fn call(&self, call: &Call, sender: Option<&Agent>) -> CallNote {
        let Request { agent, entry, tool, resource, handle, payload, expected, key, .. } = &call.request;
        let (agent, entry, resource) = (usize::from(*agent), usize::from(*entry), usize::from(*resource));
        let change = match &self.0.model.scenario.agents[agent].work[entry] {
            Entry::Mutate { operation, .. } if *tool != Tool::Read => self.0.operation_words(resource, operation),
            _ => String::new(),
        };
        CallNote {
            tool: tool.name().to_owned(),
            resource: self.0.resource(resource).name.clone(),
            handle: handle.map(|handle| self.0.handle_name(handle)),
            payload: self.payload(resource, payload),
            change,
            expects: expected
                .iter()
                .map(|stamp| Expected { handle: self.0.handle_name(stamp.handle), version: stamp.version })
                .collect(),
            key: key.as_ref().map(|key| self.key(key)),
            attempt: sender.map(|agent| attempt(agent.attempt).to_owned()),
            entry: entry + 1,
        }
    }

    fn answer(&self, answer: &Answer) -> AnswerNote {
        let view = answer.view.as_ref().zip(answer.handle).map(|(view, handle)| self.view(handle, view));
        let seen = answer.view.as_ref().and_then(|view| view.version);
        let current =
            answer.current.iter().find(|stamp| Some(stamp.handle) == answer.handle).map(|stamp| stamp.version);
        AnswerNote {
            outcome: answer.outcome.name().to_owned(),
            replayed: answer.replayed,
            handle: answer.handle.map(|handle| self.0.handle_name(handle)),
            version: answer.version.or(seen).or(current),
            view,
        }
    }

    fn view(&self, handle: Handle, view: &View) -> Content {
        Content {
            handle: self.0.handle_name(handle),
            version: view.version,
            values: view.content.iter().flatten().map(|field| field.value.to_string()).collect(),
        }
    }

    fn stored(&self, handle: Handle, instance: &Instance) -> Content {
        Content {
            handle: self.0.handle_name(handle),
            version: Some(instance.version),
            values: instance.content.iter().map(|field| field.value.to_string()).collect(),
        }
    }

    fn told(&self, fact: &Fact) -> Option<ToldNote> {
        let Fact::Told { agent, entry, told, .. } = fact else { return None };
        let about = self.0.entry_words(usize::from(*agent), usize::from(*entry));
        Some(ToldNote { agent: self.agent(*agent).to_owned(), about, told: told.name().to_owned() })
    }

    /// The agents whose changes these are, each once; a re-creation is nobody's.
    fn authors(&self, intents: Intents) -> Vec<String> {
        let mut authors: Vec<String> = Vec::new();
        for intent in intents.iter() {
            let author = self.0.agent_name(self.0.intents[intent].agent).to_owned();
            if !authors.contains(&author) {
                authors.push(author);
            }
        }
        authors
    }

    /// What a commit left behind. Its version may have advanced after the content was written, so both are taken from
    /// the state after the step.
    fn commit(&self, fact: &Fact, state: &[Component]) -> Option<Commit> {
        let Fact::Committed { request, handle, before, effects, .. } = fact else { return None };
        let stored = state[self.0.resource_slot(usize::from(handle.resource))].resource();
        let after = stored.instances.get(usize::from(handle.instance))?;
        let (agent, entry) = (usize::from(request.agent), usize::from(request.entry));
        let own = self.0.intents_of(agent);
        let fields = &self.0.resource(usize::from(request.resource)).fields;
        let old: Vec<Option<&Field>> = match before {
            Some(before) => before.content.iter().map(Some).collect(),
            None => vec![None; fields.len()],
        };
        let triples = || fields.iter().zip(&old).zip(&after.content);
        let changed = triples().filter(|((_, old), new)| old.is_none_or(|old| old.value != new.value));
        let erased = triples().filter_map(|(((name, _), old), new)| {
            let lost = old.map_or(Intents::NONE, |old| old.shows.without(new.shows).without(own));
            (!lost.is_empty()).then(|| Erased { field: name.clone(), of: self.authors(lost) })
        });
        Some(Commit {
            agent: self.agent(request.agent).to_owned(),
            intent: self.0.entry_words(agent, entry),
            content: self.stored(*handle, after),
            shows: after.content.iter().map(|field| self.authors(field.shows)).collect(),
            changed: changed.map(|(((name, _), _), _)| name.clone()).collect(),
            erased: erased.collect(),
            effects: *effects,
        })
    }
}

const fn attempt(attempt: Attempt) -> &'static str {
    match attempt {
        Attempt::First => "first",
        Attempt::Repeat => "repeat",
        Attempt::Replan => "replan",
    }
}

/// Every fact that differs between two states, in the order of the components.
fn changes(names: &Names<'_>, before: &[Component], after: &[Component]) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut note = |fact: String, before: String, after: String| {
        if before != after {
            changes.push(Change { fact, before, after });
        }
    };
    for (before, after) in before.iter().zip(after) {
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
                let at = |call: &Option<Call>| call.as_ref().map_or("none".to_owned(), |call| names.position(call));
                note(format!("call of {}", whose.unwrap_or_default()), at(old), at(new));
            }
            (Component::Orphans(old), Component::Orphans(new)) => {
                let whose = old.first().or(new.first()).map(|call| names.agent(call.request.agent));
                let list = |calls: &[Call]| {
                    let list: Vec<String> = calls.iter().map(|call| names.position(call)).collect();
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
            (Component::Memory(old), Component::Memory(new)) => {
                let caller = |of: Option<(u8, u8)>| of.map_or("nobody", |(agent, _)| names.agent(agent)).to_owned();
                note("a node takes the caller for".to_owned(), caller(old.identity), caller(new.identity));
                let cached = |count: usize| format!("{count} entries");
                note("a node caches".to_owned(), cached(old.cache.len()), cached(new.cache.len()));
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
    fn position(&self, call: &Call) -> String {
        let request = self.request(call.request.agent, call.request.id);
        let broken = if call.broken { ", stream broken" } else { "" };
        match &call.position {
            Position::InTransit => format!("{request} in transit{broken}"),
            Position::Interrupted { progress } => {
                format!("{request} kept, to be taken up before transaction {}{broken}", progress.next + 1)
            }
            Position::AtNode { node, progress } => {
                let at_end = if progress.ending { "at-end " } else { "" };
                format!(
                    "{request} at {} before {at_end}transaction {}{broken}",
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
fn short(content: &Content) -> String {
    let version = content.version.map(|version| format!("v{version}"));
    let values = (!content.values.is_empty()).then(|| content.values.join(" / "));
    let parts: Vec<String> = version.into_iter().chain(values).collect();
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(" ") }
}

/// Each agent's belief that differs from what is true. What is not believed (a version without content, say) does not
/// differ.
fn beliefs(names: &Names<'_>, state: &[Component]) -> Vec<Belief> {
    let setting = names.0;
    let mut beliefs = Vec::new();
    for agent in 0..setting.agents() {
        for known in &state[setting.agent_slot(agent)].agent().known {
            let (Some(handle), Some(view)) = (known.handle, &known.view) else { continue };
            let believes = names.view(handle, view);
            // The handle may name another resource than its agent takes it for.
            let resource = state[setting.resource_slot(usize::from(handle.resource))].resource();
            let stored = resource.instances.get(usize::from(handle.instance));
            let truth = stored
                .filter(|instance| instance.lifecycle != Lifecycle::Deleted)
                .map(|instance| names.stored(handle, instance));
            let current = truth.as_ref().is_some_and(|truth| {
                let version = believes.version.is_none() || believes.version == truth.version;
                version && (believes.values.is_empty() || believes.values == truth.values)
            });
            if !current {
                beliefs.push(Belief { agent: setting.agent_name(agent).to_owned(), believes, truth });
            }
        }
    }
    beliefs
}

/// What happened, in one sentence. `taken_up`: it is about a call that outlived its node.
fn sentence(step: &Step, taken_up: bool) -> String {
    let Does {
        action,
        agent,
        request,
        node,
        to,
        handle,
        principal,
        leaked_key,
        key,
        same_id_as,
        clock_stands,
        fault: _,
        orphan,
    } = &step.does;
    let agent = agent.as_deref().unwrap_or("nobody");
    let request = request.as_deref().unwrap_or("a request");
    let node = node.as_deref().unwrap_or("no node");
    let handle = handle.as_deref().unwrap_or("nothing");
    let orphaned = if *orphan { " (nobody waits for its answer)" } else { "" };
    let call = step.call.as_ref();
    let what = call.map_or_else(|| "a call".to_owned(), call_words);
    match action.as_str() {
        "send" => {
            let again = match call.and_then(|call| call.attempt.as_deref()) {
                Some("repeat") => " again",
                Some("replan") => ", planned anew",
                _ => "",
            };
            let stolen = leaked_key.as_ref().map_or_else(String::new, |key| format!(" with the leaked key {key}"));
            format!("{agent} sends {what}{again}{stolen} (request {request}).")
        }
        "deliver" => {
            let taken = same_id_as.as_ref().map_or_else(String::new, |other| {
                format!(" Its request id equals that of {other} there, whose place in the reply table it takes.")
            });
            let brings = if taken_up { "The queue of kept calls brings" } else { "The balancer brings" };
            format!("{brings} {request}{orphaned} to {node}.{taken}")
        }
        "execute" => {
            let stands = if *clock_stands { " The clock did not tick." } else { "" };
            format!("{}{stands}", execution(step, node, request, orphaned))
        }
        "ambiguous-commit" => {
            let steps = step.transaction.as_ref().map_or_else(String::new, |transaction| transaction.steps.join(", "));
            format!("{node} executes {request}: {steps}. It commits, and the store answers with an error.")
        }
        "stale-read" => format!("{} The copy lags behind.", execution(step, node, request, orphaned)),
        "expire-lease" => format!("The lease on {handle} expires."),
        "rotate-credential" => {
            format!("{} uses another credential from now on.", principal.as_deref().unwrap_or("Somebody"))
        }
        "receive" => format!("{agent} receives the answer of {request}: {}.", answer_words(step)),
        "hand-off" => format!("{agent} hands {handle} to {}.", to.join(" and ")),
        "guess" => format!("{agent} guesses the handle {handle}."),
        "cancel" => format!("{node} stops {request}, whose stream is closed."),
        "resume" => format!("{agent} resumes the stream of {request}."),
        "drop-stream" => {
            format!("The response stream of {request} breaks: {agent} learns that, and no more.")
        }
        "restart-node" if keeps_a_call(step) => {
            format!("{node} restarts, and loses its memory; its calls are kept, and will be taken up again.")
        }
        "restart-node" => format!("{node} restarts, and loses its memory and its calls."),
        "expire-handle" => format!("The time of {handle} is up."),
        "leak-handle" => format!("{agent} learns the handle {handle}, which leaked."),
        "expire-key" => format!("The recorded outcome under key {} expires.", key.as_deref().unwrap_or("?")),
        "expire-claim" => format!("The claim on key {} expires.", key.as_deref().unwrap_or("?")),
        "compact" => format!("The context of {agent} is compacted."),
        "recreate" => format!("{handle} is deleted and created anew, with another content."),
        "stop-agent" => format!("{agent} stops, and never moves again."),
        "revoke" => {
            format!("{} loses its permission on {handle}.", principal.as_deref().unwrap_or("Somebody"))
        }
        "duplicate-call" => format!("{request} is sent twice: a copy of it is on its way."),
        other => format!("{other} happens."),
    }
}

/// Whether a call outlives its node in this step.
fn keeps_a_call(step: &Step) -> bool {
    step.changes.iter().any(|change| change.after.contains(" kept, to be taken up "))
}

fn call_words(call: &CallNote) -> String {
    let handle = call.handle.as_deref().unwrap_or(&call.resource);
    let expects: Vec<String> = call.expects.iter().map(|expected| format!("v{}", expected.version)).collect();
    let expects = if expects.is_empty() { String::new() } else { format!(", expecting {}", expects.join(" and ")) };
    let key = call.key.as_ref().map_or_else(String::new, |key| format!(", under key {key}"));
    match (call.tool.as_str(), call.payload.is_empty()) {
        ("read", _) => format!("a read of {handle}"),
        (tool, true) => format!("{} {tool} of {handle}{expects}{key}", article(tool)),
        (tool, false) => format!("{} {tool} of {handle} with {}{expects}{key}", article(tool), call.payload),
    }
}

fn article(word: &str) -> &'static str {
    if word.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

fn execution(step: &Step, node: &str, request: &str, orphaned: &str) -> String {
    let transaction = step.transaction.as_ref();
    let steps = transaction.map_or_else(String::new, |transaction| transaction.steps.join(", "));
    let head = format!("{node} executes {request}{orphaned}: {steps}");
    let outcome = step.answer.as_ref();
    if let Some(commit) = step.commits.last() {
        let content = short(&commit.content);
        let twice = if commit.effects > 1 { ", for the second time" } else { "" };
        return format!(
            "{head}. {}'s change takes effect{twice}: {} is now {content}.",
            commit.agent, commit.content.handle
        );
    }
    match (outcome, transaction.and_then(|transaction| transaction.ended_by.as_deref())) {
        (Some(answer), Some(by)) if answer.replayed => {
            format!("{head}. The step {by} finds the call done and replays {}.", answer.outcome)
        }
        (Some(answer), Some(by)) => format!("{head}. The step {by} refuses it: {}.", answer.outcome),
        (Some(answer), None) => match &answer.view {
            Some(view) => format!("{head}. The answer shows {}.", short(view)),
            None => format!("{head}. The answer is {}.", answer.outcome),
        },
        (None, _) => format!("{head}. It goes on with the next transaction."),
    }
}

fn answer_words(step: &Step) -> String {
    let Some(answer) = &step.answer else { return "nothing".to_owned() };
    let replayed = if answer.replayed { ", from the record" } else { "" };
    match (&answer.view, answer.version) {
        (Some(view), _) => short(view),
        (None, Some(version)) if answer.outcome == Outcome::StaleView.name() => {
            format!("{}, the version is v{version}", answer.outcome)
        }
        (None, Some(version)) => format!("{}, v{version}{replayed}", answer.outcome),
        (None, None) => format!("{}{replayed}", answer.outcome),
    }
}
