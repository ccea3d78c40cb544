//! What an agent makes of an answer (sections 3 and 6).

use std::collections::BTreeMap;

use handlecheck::model::free::Occasion;
use handlecheck::model::{
    AgentId, Condition, Entry, Event, Model, Operation, Outcome, Reaction, ResourceId, Told, Tool,
};

use super::choosing;
use super::client::{changed, current_entry, minted_content};
use super::harness::{self, Cause};
use super::judge;
use super::sharing;
use super::state::{Agent, Answer, Known, Next, Request, Then, View, values};
use super::world::World;

/// The action `receive`: the answer reaches the agent, which decides at once what to do with it.
pub fn receive(world: &mut World<'_>, id: AgentId) {
    let Some(call) = world.state.agents[id].call.take() else { return };
    let Some(answer) = judge::answer_of(&call).cloned() else { return };
    let request = call.request;
    world.judge_receive(id, &request, &answer);
    match (answer.outcome, request.tool) {
        (Outcome::Ok, Tool::Read) => take_view(world, id, &request, &answer),
        (Outcome::Ok, _) => take_ok(world, id, &request, &answer),
        (refusal, _) => harness::react(world, id, Event::Refused(refusal), &request, Some(&answer)),
    }
    harness::miss_handle(world, id);
}

/// A read was answered: the answer is the agent's view.
fn take_view(world: &mut World<'_>, id: AgentId, request: &Request, answer: &Answer) {
    let agent = &mut world.state.agents[id];
    agent.views.remove(&request.resource);
    let known = agent.knows.get(&request.resource).map(|known| known.handle);
    let about_this = |view: &View| Some(view.handle) == request.handle && known == request.handle;
    if let Some(view) = answer.view.clone().filter(about_this) {
        agent.views.insert(request.resource, view);
    }
    if let Some(Entry::HandOff { .. }) = current_entry(world.model, &world.state, id) {
        return;
    }
    if let Some(Entry::Read { .. }) = current_entry(world.model, &world.state, id) {
        harness::advance(world, id, true);
        return;
    }
    let agent = &mut world.state.agents[id];
    let then = match &mut agent.next {
        Next::Plan { reread, then, old } => {
            reread.retain(|resource| *resource != request.resource);
            if !reread.is_empty() {
                return;
            }
            (then.clone(), old.clone())
        }
        Next::Again(_) => return,
    };
    act_on_views(world, id, then.0, &then.1);
}

/// All views are there: go on to the write, or judge them first.
fn act_on_views(world: &mut World<'_>, id: AgentId, then: Then, old: &BTreeMap<ResourceId, View>) {
    let Some(Entry::Mutate { resource, operation, given, also, .. }) = current_entry(world.model, &world.state, id)
    else {
        return;
    };
    let views = &world.state.agents[id].views;
    // Of work on two resources a view of one says nothing.
    let shown = also.is_none() && views.get(resource).is_some_and(|view| shows(view, operation));
    match then {
        Then::Write => {}
        Then::Verify if !shown && choosing::is_free(world, id, operation.tool()) => {
            let about = (operation.tool(), *resource);
            choosing::put_off(world, id, Occasion::Looked, about, None, None);
            // One that stops now is as one that stopped before it looked.
            let reread = vec![*resource];
            world.state.agents[id].next = Next::Plan { reread, then: Then::Verify, old: BTreeMap::new() };
        }
        Then::Verify => harness::tell(world, id, if shown { Told::Ok } else { Told::Unknown }, shown, false),
        Then::Replan { event, tool, nested, refused } => {
            let (condition, otherwise) = harness::condition_of(world.model, id, event, tool, nested);
            let agrees = |resource: &ResourceId, fields: Option<Vec<usize>>| {
                let content = |view: Option<&View>| view.and_then(|view| view.content.as_ref().map(values));
                match (content(old.get(resource)), content(views.get(resource))) {
                    (Some(old), Some(new)) => {
                        let fields = fields.unwrap_or_else(|| (0..new.len()).collect());
                        fields.into_iter().all(|field| old[field] == new[field])
                    }
                    _ => false,
                }
            };
            let goes_ahead = match condition {
                Condition::Unsatisfied => !shown,
                Condition::Disjoint => {
                    let own = *operation == Operation::Mint || agrees(resource, Some(operation.fields()));
                    let other = also.as_ref().is_none_or(|also| agrees(&also.resource, Some(also.operation.fields())));
                    own && other && given.iter().all(|given| agrees(given, None))
                }
            };
            if goes_ahead {
                let old = old.clone();
                world.state.agents[id].next = Next::Plan { reread: Vec::new(), then: Then::Write, old };
            } else if let Reaction::Replan { only_if, .. } = &otherwise {
                // Everything was read again already: another condition is judged on the same views.
                let then = match only_if {
                    None => Then::Write,
                    Some(_) => Then::Replan { event, tool, nested: nested + 1, refused },
                };
                let old = old.clone();
                world.state.agents[id].next = Next::Plan { reread: Vec::new(), then: Then::Write, old: old.clone() };
                act_on_views(world, id, then, &old);
            } else {
                let request = refused.as_deref();
                let answer = request.map(|request| what_is_current(&world.state.agents[id], request));
                let cause = Cause { event, tool, nested: nested + 1, request, answer: answer.as_ref() };
                harness::do_reaction(world, id, otherwise, cause);
            }
        }
    }
}

/// The versions that a call expected, as its agent has read them since.
fn what_is_current(agent: &Agent, request: &Request) -> Answer {
    let mut answer = Answer::ok(request.handle);
    for (handle, version) in &request.expected {
        let view = agent.views.get(&handle.0).filter(|view| view.handle == *handle);
        answer.current.push((*handle, view.and_then(|view| view.version).unwrap_or(*version)));
    }
    answer
}

/// Does the content show what the intent wants? An append can't be told from another's equal one (section 6).
pub fn shows(view: &View, operation: &Operation) -> bool {
    match operation {
        Operation::Set(changes) => view
            .content
            .as_ref()
            .is_some_and(|content| changes.iter().all(|(field, value)| content[*field].value == *value)),
        _ => false,
    }
}

/// A change was answered `ok`: the agent believes what it sent, or its view plus its change, and tells so.
fn take_ok(world: &mut World<'_>, id: AgentId, request: &Request, answer: &Answer) {
    let (Some(operation), Some(intent)) = (&request.operation, request.intent) else { return };
    let agent = &mut world.state.agents[id];
    if *operation == Operation::Mint {
        if let Some(handle) = answer.minted {
            agent.knows.insert(request.resource, Known::new(handle, answer.token.clone()));
            agent.forgot.remove(&request.resource);
            let content = minted_content(world.model, request.resource, intent);
            let view = View { handle, version: answer.version, content: Some(content), fence: None };
            agent.views.insert(request.resource, view);
        }
    } else if agent.knows.get(&request.resource).map(|known| known.handle) == request.handle {
        // Otherwise it was handed another handle meanwhile, or has forgotten this one.
        let token = answer.token.as_ref().filter(|_| answer.about == request.handle);
        if let (Some(token), Some(known)) = (token, agent.knows.get_mut(&request.resource)) {
            known.token = Some(token.clone());
        }
        believe(world.model, agent, request, answer);
    }
    if let Some(other) = &request.other {
        let known = world.state.agents[id].knows.get(&other.resource).map(|known| known.handle);
        let views = &mut world.state.agents[id].views;
        if let Some(view) = views.get_mut(&other.resource).filter(|_| known == Some(other.handle)) {
            let work = sharing::first(world.model, intent);
            view.content = view.content.as_ref().map(|content| changed(content, work, &other.operation));
            view.version = answer.other.filter(|(of, _)| *of == other.handle).map(|(_, version)| version);
        }
    }
    harness::tell(world, id, Told::Ok, false, true);
}

/// What an agent believes after its change was accepted.
fn believe(model: &Model, agent: &mut Agent, request: &Request, answer: &Answer) {
    let (Some(operation), Some(intent), Some(handle)) = (&request.operation, request.intent, request.handle) else {
        return;
    };
    let fence = agent.views.get(&request.resource).and_then(|view| view.fence);
    let version = answer.version.filter(|_| answer.about == Some(handle));
    if let Some(snapshot) = &request.snapshot {
        let view = View { handle, version, content: Some(snapshot.clone()), fence };
        agent.views.insert(request.resource, view);
    } else if let Some(view) = agent.views.get_mut(&request.resource) {
        let work = sharing::first(model, intent);
        view.content = view.content.as_ref().map(|content| changed(content, work, operation));
        view.version = version;
    }
}
