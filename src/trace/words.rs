//! Words: a step as people read it. What changed, who believes what, and one sentence.

mod changes;
pub mod notes;
mod past;
mod sentences;

use self::changes::changes;
pub(super) use self::past::Past;
use self::sentences::sentence;
use super::does::does;
use super::{
    AlsoNote, AnswerNote, Belief, CallNote, Commit, Content, Erased, Expected, Reaches, Step, ToldNote, TransactionNote,
};
use crate::action::{Action, Target};
use crate::engine::Access;
use crate::model::{Entry, Tool};
use crate::step::Simulation;
use crate::world::{
    Agent, Answer, Arguments, Attempt, Call, CallRef, Component, Fact, Field, Handle, Instance, Intents, Key,
    Lifecycle, Other, Payload, Position, RecordKey, Request, Setting, View,
};

/// Writes down one step.
pub(super) fn step(
    simulation: &Simulation,
    action: &Action,
    before: &[Component],
    after: &[Component],
    facts: &[Fact],
    answered: Option<(Answer, Option<&'static str>)>,
    past: &mut Past,
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
    let answer = received.or_else(|| answered.map(|(answer, _)| answer));
    let answer =
        answer.map(|answer| AnswerNote { reaches: names.reaches(action, before, after), ..names.answer(&answer) });
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
        notes: Vec::new(),
        sentence: String::new(),
    };
    step.notes = notes::notes(&names, (&step, action, call.as_ref()), (before, after), facts);
    let taken_up = call.is_some_and(|call| matches!(call.position, Position::Interrupted { .. }));
    step.sentence = sentence(&step, taken_up, past);
    past.note(&step);
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
        Action::HandOff { .. }
        | Action::Guess { .. }
        | Action::Decide { .. }
        | Action::Skip { .. }
        | Action::Deploy { .. }
        | Action::Fault { .. } => None,
    }
}

/// Whether a component holds what another call can meet.
const fn outlives_calls(component: &Component) -> bool {
    matches!(
        component,
        Component::Resource(_) | Component::Keys(_) | Component::Leases(_) | Component::Memory(_) | Component::Cache(_)
    )
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
    let steps = simulation.programs().of(call).next_steps(progress);
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

    /// A key: whose work, and where it is not the only plan, which plan; or the name of the intent that entries share.
    pub(super) fn key(&self, key: &Key) -> String {
        match key {
            Key::Plan { agent, entry, plan } => {
                let number = self.number(usize::from(*agent), usize::from(*entry));
                let agent = self.agent(*agent);
                let plan = if *plan == 0 { String::new() } else { format!(".{}", plan + 1) };
                format!("{agent}/{number}{plan}")
            }
            Key::Shared(intent) => self.0.shared_name(usize::from(*intent)).to_owned(),
            Key::Constant => "constant".to_owned(),
            Key::Arguments(arguments) => {
                let Arguments { tool, handle, payload, expected, other } = &**arguments;
                let resource = handle.map(|handle| usize::from(handle.resource));
                let handle = handle.map_or_else(String::new, |handle| format!(" {}", self.0.handle_name(handle)));
                let payload = match payload {
                    Payload::Made(first) => self.contents_of(usize::from(*first)),
                    payload => resource.map_or_else(String::new, |resource| self.payload(resource, payload)),
                };
                let expected: Vec<String> = expected.iter().map(|stamp| format!(" v{}", stamp.version)).collect();
                let payload = if payload.is_empty() { payload } else { format!(" {payload}") };
                let besides = other.as_ref().map_or_else(String::new, |(handle, operation)| {
                    let change = self.0.operation_words(usize::from(handle.resource), operation);
                    format!(" {} {change}", self.0.handle_name(*handle))
                });
                format!("hash({tool}{handle}{payload}{besides}{})", expected.concat())
            }
        }
    }

    /// The handle under which a record stands, where its table tells handles apart.
    pub(super) fn record_handle(&self, slot: usize, record: &RecordKey) -> Option<String> {
        let instance = record.instance?;
        let resource = self.0.keys_resource(slot)?;
        Some(self.0.handle_name(Handle { resource, instance }))
    }

    /// The number of an entry among those of its agent that change something, from 1.
    fn number(&self, agent: usize, entry: usize) -> usize {
        (0..=entry).filter(|earlier| self.0.intent(agent, *earlier).is_some()).count()
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

    /// What a mint makes of a resource.
    fn contents_of(&self, resource: usize) -> String {
        let fields = self.0.resource(resource).fields.iter();
        fields.map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
    }

    fn payload(&self, resource: usize, payload: &Payload) -> String {
        match payload {
            Payload::Nothing | Payload::Made(_) => String::new(),
            Payload::Change(operation) => self.0.operation_words(resource, operation),
            Payload::Snapshot(content) => {
                let fields = self.0.resource(resource).fields.iter().zip(content);
                fields.map(|((name, _), field)| format!("{name} {}", field.value)).collect::<Vec<_>>().join(", ")
            }
        }
    }

    fn call(&self, call: &Call, sender: Option<&Agent>) -> CallNote {
        let Request { agent, entry, tool, resource, handle, payload, expected, key, other, .. } = &call.request;
        let (agent, entry, resource) = (usize::from(*agent), usize::from(*entry), usize::from(*resource));
        let change = match &self.0.model.scenario.agents[agent].work[entry] {
            Entry::Mutate { operation, also: None, .. } if *tool != Tool::Read => {
                self.0.operation_words(resource, operation)
            }
            Entry::Mutate { .. } if *tool != Tool::Read => self.0.entry_words(agent, entry),
            _ => String::new(),
        };
        CallNote {
            tool: tool.name().to_owned(),
            resource: self.0.resource(resource).name.clone(),
            handle: handle.map(|handle| self.0.handle_name(handle)),
            payload: self.payload(resource, payload),
            also: other.as_deref().map(|Other { handle, operation, .. }| AlsoNote {
                handle: self.0.handle_name(*handle),
                change: self.0.operation_words(usize::from(handle.resource), operation),
            }),
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
            other_view: None,
            reaches: Reaches::Caller,
        }
    }

    /// Where the answer goes that a step made, which the calls that were answered by it show.
    fn reaches(&self, action: &Action, before: &[Component], after: &[Component]) -> Reaches {
        let at = match action {
            Action::Execute { call, .. } | Action::Fault { target: Target::Transaction { call, .. }, .. } => *call,
            _ => return Reaches::Caller,
        };
        let open = |state: &[Component], agent| state[self.0.call_slot(agent)].call().clone();
        let answered =
            |call: &Option<Call>| call.as_ref().is_some_and(|call| matches!(call.position, Position::Answered { .. }));
        let taker = (0..self.0.agents())
            .find(|agent| answered(&open(after, *agent)) && !answered(&open(before, *agent)))
            .and_then(|agent| open(after, agent))
            .map(|call| call.request);
        match (taker, at.orphan) {
            (Some(taker), None) if taker.agent == at.agent => Reaches::Caller,
            (Some(taker), _) => Reaches::StreamOf(self.request(taker.agent, taker.id)),
            (None, Some(index)) => {
                let orphans = before[self.0.orphans_slot(usize::from(at.agent))].orphans();
                let waits = orphans.get(usize::from(index)).is_none_or(|call| !call.has_answered());
                if waits { Reaches::Caller } else { Reaches::Nobody }
            }
            (None, None) => {
                let own = open(after, usize::from(at.agent));
                let vain = own.is_some_and(|call| matches!(call.position, Position::Unanswered { .. }));
                if vain { Reaches::Nobody } else { Reaches::Caller }
            }
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
            let author = self.0.author_words(intent);
            if !authors.contains(&author) {
                authors.push(author);
            }
        }
        authors
    }

    /// What a commit left behind. Its version may have advanced after the content was written, so both are taken from
    /// the state after the step.
    fn commit(&self, fact: &Fact, state: &[Component]) -> Option<Commit> {
        let Fact::Committed { request, handle, before, effects, taken_back, besides, .. } = fact else { return None };
        let stored = state[self.0.resource_slot(usize::from(handle.resource))].resource();
        let after = stored.instances.get(usize::from(handle.instance))?;
        let (agent, entry) = (usize::from(request.agent), usize::from(request.entry));
        let fields = &self.0.resource(usize::from(handle.resource)).fields;
        let old: Vec<Option<&Field>> = match before {
            Some(before) => before.content.iter().map(Some).collect(),
            None => vec![None; fields.len()],
        };
        let triples = || fields.iter().zip(&old).zip(&after.content);
        let changed = triples().filter(|((_, old), new)| old.is_none_or(|old| old.value != new.value));
        let erased = triples().enumerate().filter_map(|(index, (((name, _), old), new))| {
            let own = self.0.may_erase(agent, entry, *besides, index);
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
            taken_back: *taken_back,
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
                .filter(|instance| instance.lifecycle != Lifecycle::Deleted && !instance.lost)
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
