//! How the harness reacts to broken streams and refusals, what it tells, and how it goes on (section 6).

use std::collections::BTreeMap;

use handlecheck::model::client::{AfterFailure, BeforeWrite, KeyPolicy};
use handlecheck::model::free::Occasion;
use handlecheck::model::{
    AgentId, Condition, Entry, Event, Model, Operation, Outcome, Reaction, ResourceId, Told, Tool,
};

use super::choosing;
use super::client::{current_entry, needed_handles, tool_of};
use super::receive::shows;
use super::rename;
use super::state::{Answer, Handle, Next, Redo, Request, State, Tag, Then, entry_resource};
use super::world::World;

/// The agent is told that the stream of this request broke. A read is always sent again (section 6): the agent is as
/// it was before it sent it. A stopped agent does nothing any more.
pub fn broken_stream(world: &mut World<'_>, id: AgentId, request: &Request) {
    if world.state.agents[id].stopped {
        world.state.agents[id].next = beginning(world.model, &world.state, id);
        return;
    }
    if request.tool == Tool::Read {
        issues_again(world, id, request);
        return miss_handle(world, id);
    }
    world.state.agents[id].broke = world.model.client(id, request.tool).attempts.is_some();
    react(world, id, Event::BrokenStream, request, None);
    if world.state.agents[id].undecided.is_some() {
        return;
    }
    if matches!(world.state.agents[id].next, Next::Again(_)) {
        issues_again(world, id, request);
    }
    miss_handle(world, id);
}

/// A call whose stream broke is issued again, perhaps under its request id.
pub fn issues_again(world: &mut World<'_>, id: AgentId, request: &Request) {
    world.state.agents[id].issues_again = request.issue.map(|issue| (request.tool, request.resource, issue));
}

/// What a reaction reacts to.
pub struct Cause<'c> {
    pub event: Event,
    pub tool: Tool,
    /// How many levels of `else` deep in the reaction to the event.
    pub nested: usize,
    pub request: Option<&'c Request>,
    pub answer: Option<&'c Answer>,
}

/// The harness reacts to a broken stream or a refusal.
pub fn react(world: &mut World<'_>, id: AgentId, event: Event, request: &Request, answer: Option<&Answer>) {
    if choosing::is_free(world, id, request.tool) {
        let about = (request.tool, request.resource);
        return choosing::put_off(world, id, Occasion::Event(event), about, Some(request), answer);
    }
    let reaction = world.model.client(id, request.tool).reaction(event);
    do_reaction(world, id, reaction, Cause { event, tool: request.tool, nested: 0, request: Some(request), answer });
}

/// The condition and the `else` of a conditional replan, so many levels deep.
pub fn condition_of(model: &Model, id: AgentId, event: Event, tool: Tool, nested: usize) -> (Condition, Reaction) {
    let mut reaction = model.client(id, tool).reaction(event);
    for _ in 0..nested {
        if let Reaction::Replan { only_if: Some((_, otherwise)), .. } = reaction {
            reaction = *otherwise;
        }
    }
    match reaction {
        Reaction::Replan { only_if: Some((condition, otherwise)), .. } => (condition, *otherwise),
        other => (Condition::Unsatisfied, other),
    }
}

/// Are all sends of the current intent used up? Reads don't count as sends.
pub fn is_spent(world: &World<'_>, id: AgentId, tool: Tool) -> bool {
    tool != Tool::Read && world.model.client(id, tool).attempts == Some(world.state.agents[id].attempts)
}

/// The reactions of section 6.
pub fn do_reaction(world: &mut World<'_>, id: AgentId, reaction: Reaction, cause: Cause<'_>) {
    let model = world.model;
    let sends = matches!(
        reaction,
        Reaction::Same { .. } | Reaction::SameWithNewVersion { .. } | Reaction::Replan { .. } | Reaction::Mint { .. }
    );
    if sends && is_spent(world, id, cause.tool) {
        let told = if world.state.agents[id].broke { Told::Unknown } else { Told::Failure };
        tell(world, id, told, false, false);
        return;
    }
    if cause.tool == Tool::Read && (sends || reaction == Reaction::Read) && !matches!(reaction, Reaction::Mint { .. }) {
        // A read has nothing to keep: whatever the reaction, it is read again.
        world.state.agents[id].tag = Tag::Repeat;
        return;
    }
    match reaction {
        Reaction::Same { new_key } => send_again(world, id, cause.request, None, new_key),
        Reaction::SameWithNewVersion { new_key } => {
            let current = cause.answer.map(|answer| answer.current.clone());
            send_again(world, id, cause.request, current, new_key);
        }
        Reaction::Replan { new_key, only_if } => {
            let then = match only_if {
                None => Then::Write,
                Some((_, otherwise)) => {
                    let again = |request: &&Request| request.intent.is_some() && may_send_again(&otherwise);
                    let refused = cause.request.filter(again);
                    let refused = refused.map(|of| Box::new(Request { credential: 0, issue: None, ..of.clone() }));
                    Then::Replan { event: cause.event, tool: cause.tool, nested: cause.nested, refused }
                }
            };
            read_again(world, id, then, new_key);
        }
        Reaction::Read => verify(world, id),
        Reaction::Mint { new_key } => {
            let entry = current_entry(model, &world.state, id);
            let of_entry = entry.map(entry_resource).unwrap_or_default();
            mint_again(world, id, cause.request.map_or(of_entry, |request| request.resource), new_key);
        }
        Reaction::Tell(told) => {
            let shown = match current_entry(model, &world.state, id) {
                Some(Entry::Mutate { resource, operation, also: None, .. }) => {
                    world.state.agents[id].views.get(resource).is_some_and(|view| shows(view, operation))
                }
                _ => false,
            };
            tell(world, id, told, shown, false);
        }
    }
}

/// May a harness send the same call again where the condition of a replan fails?
fn may_send_again(reaction: &Reaction) -> bool {
    match reaction {
        Reaction::Replan { only_if: Some((_, otherwise)), .. } => may_send_again(otherwise),
        reaction => matches!(reaction, Reaction::Same { .. } | Reaction::SameWithNewVersion { .. }),
    }
}

/// Look whether the change is there. What was minted can't be looked at without its handle.
fn verify(world: &mut World<'_>, id: AgentId) {
    let Some(Entry::Mutate { resource, operation, .. }) = current_entry(world.model, &world.state, id) else { return };
    if *operation == Operation::Mint {
        return tell(world, id, Told::Unknown, false, false);
    }
    let agent = &mut world.state.agents[id];
    agent.tag = Tag::Repeat;
    agent.next = Next::Plan { reread: vec![*resource], then: Then::Verify, old: BTreeMap::new() };
}

/// The same arguments in a new request.
fn send_again(
    world: &mut World<'_>,
    id: AgentId,
    request: Option<&Request>,
    current: Option<Vec<(Handle, u32)>>,
    new_key: bool,
) {
    let Some(request) = request.filter(|request| request.intent.is_some()) else { return };
    world.state.agents[id].tag = Tag::Repeat;
    let mut request = Request { credential: 0, issue: None, ..request.clone() };
    let policy = world.model.client(id, request.tool).key;
    if matches!(policy, KeyPolicy::PerAttempt | KeyPolicy::HashOfArguments) {
        request.key = None;
    }
    if let Some(current) = current.filter(|current| !current.is_empty()) {
        if request.other.is_none() {
            request.expected.clone_from(&current);
        }
        // A refusal may tell of one of two resources alone.
        for (handle, version) in &mut request.expected {
            if let Some((_, now)) = current.iter().find(|(of, _)| of == handle) {
                *version = *now;
            }
        }
    }
    if new_key {
        request.key = None;
        renumber(world, id);
    }
    world.state.agents[id].next = Next::Again(Box::new(request));
}

/// The current intent gets the number of a new plan.
fn renumber(world: &mut World<'_>, id: AgentId) {
    let intent = (id, world.state.agents[id].entry);
    if world.state.agents[id].number.is_some() {
        let fresh = rename::fresh_plan(&world.state, intent);
        set_number(world, id, fresh);
    }
}

/// The current plan gets this number. An agent that may have to come back to the entry remembers the newest.
pub fn set_number(world: &mut World<'_>, id: AgentId, number: u32) {
    let remembers = rename::comes_back(world.model, id);
    let agent = &mut world.state.agents[id];
    agent.number = Some(number);
    if remembers {
        let newest = agent.numbers.entry(agent.entry).or_insert(number);
        *newest = number.max(*newest);
    }
}

/// Read again all that the plan rests on, then act.
fn read_again(world: &mut World<'_>, id: AgentId, then: Then, new_key: bool) {
    let agent = &mut world.state.agents[id];
    agent.tag = Tag::Replan;
    if let Some(entry @ Entry::Mutate { .. }) = current_entry(world.model, &world.state, id) {
        let reread: Vec<ResourceId> = needed_handles(entry);
        // Without anything to read, nothing is asked before it plans anew.
        let then = if reread.is_empty() { Then::Write } else { then };
        let agent = &mut world.state.agents[id];
        let old = agent.views.iter().filter(|(resource, _)| reread.contains(resource));
        let old = old.map(|(resource, view)| (*resource, view.clone())).collect();
        agent.next = Next::Plan { reread, then, old };
        if new_key {
            renumber(world, id);
        }
    }
}

/// Back to the entry that minted; an agent that minted nothing can only tell that it failed.
pub fn mint_again(world: &mut World<'_>, id: AgentId, resource: ResourceId, new_key: bool) {
    let model = world.model;
    let work = &model.scenario.agents[id].work;
    let mints = |entry: &Entry| matches!(entry, Entry::Mutate { operation: Operation::Mint, .. });
    let Some(mint) = work.iter().position(|entry| mints(entry) && entry_resource(entry) == resource) else {
        tell(world, id, Told::Failure, false, false);
        return;
    };
    let agent = &mut world.state.agents[id];
    let until = agent.redo.as_ref().map_or(agent.entry, |redo| redo.until.max(agent.entry));
    agent.redo = Some(Redo { resource, until, same_key: !new_key });
    agent.views.remove(&resource);
    agent.knows.remove(&resource);
    agent.forgot.remove(&resource);
    agent.entry = mint;
    begin_entry(world, id);
    world.state.agents[id].tag = Tag::Replan;
}

/// The agent is told how its current entry ended, and goes on. `shown`: the view on which it stopped shows the change;
/// `plain`: this follows from an `ok` to its call.
pub fn tell(world: &mut World<'_>, id: AgentId, told: Told, shown: bool, plain: bool) {
    let entry = world.state.agents[id].entry;
    if let Some(Entry::Mutate { .. }) = current_entry(world.model, &world.state, id) {
        world.judge_tell(id, entry, told, shown, plain);
        world.state.agents[id].told.entry(entry).or_insert(told);
    }
    advance(world, id, told == Told::Ok);
}

/// On to the next entry, or, after a failure, perhaps to none.
pub fn advance(world: &mut World<'_>, id: AgentId, succeeded: bool) {
    let model = world.model;
    let Some(entry) = current_entry(model, &world.state, id) else { return };
    let stops = model.client(id, tool_of(entry)).after_failure == AfterFailure::Stop;
    let agent = &mut world.state.agents[id];
    let work = &model.scenario.agents[id].work;
    if !succeeded && stops {
        (agent.entry, agent.redo) = (work.len(), None);
        agent.numbers.clear();
        return begin_entry(world, id);
    }
    agent.entry += 1;
    if let Some(redo) = &agent.redo {
        while agent.entry < redo.until && entry_resource(&work[agent.entry]) != redo.resource {
            agent.entry += 1;
        }
        if agent.entry > redo.until {
            agent.redo = None;
        }
    }
    begin_entry(world, id);
}

/// What an agent means to do at the beginning of its entry.
fn beginning(model: &Model, state: &State, id: AgentId) -> Next {
    let reread = match current_entry(model, state, id) {
        Some(entry @ Entry::Mutate { operation, .. }) => match model.client(id, operation.tool()).before_write {
            BeforeWrite::Nothing => Vec::new(),
            BeforeWrite::ReadAgain => needed_handles(entry),
        },
        _ => Vec::new(),
    };
    Next::Plan { reread, then: Then::Write, old: BTreeMap::new() }
}

/// A new entry begins without memory of the sends before it.
pub fn begin_entry(world: &mut World<'_>, id: AgentId) {
    let next = beginning(world.model, &world.state, id);
    let agent = &mut world.state.agents[id];
    agent.tag = Tag::First;
    agent.issues_again = None;
    agent.next = next;
    agent.attempts = 0;
    agent.broke = false;
    // One that comes back uses the number of its first plan, or a new one: only then does it know one.
    let intent = (id, agent.entry);
    let first_plan = agent.redo.as_ref().is_some_and(|redo| redo.same_key);
    agent.number = None;
    if agent.numbers.contains_key(&intent.1) {
        let number = if first_plan { 0 } else { rename::fresh_plan(&world.state, intent) };
        set_number(world, id, number);
    }
    miss_handle(world, id);
}

/// An idle agent without the handle that it needs, because its context was compacted, reacts as to `not-found`.
pub fn miss_handle(world: &mut World<'_>, id: AgentId) {
    let model = world.model;
    let agent = &world.state.agents[id];
    if agent.call.is_some() || agent.undecided.is_some() {
        return;
    }
    let Some(entry) = current_entry(model, &world.state, id) else { return };
    let tool = tool_of(entry);
    let forgotten = |resource: &ResourceId| agent.forgot.contains(resource) && !agent.knows.contains_key(resource);
    if let Some(resource) = needed_handles(entry).into_iter().find(forgotten) {
        let again = matches!(agent.next, Next::Again(_));
        world.state.agents[id].issues_again = None;
        if let Next::Plan { then: Then::Replan { refused, .. }, .. } = &mut world.state.agents[id].next {
            *refused = None;
        }
        if again {
            world.state.agents[id].next = Next::begin();
        }
        if choosing::is_free(world, id, tool) {
            return choosing::put_off(world, id, Occasion::Forgot, (tool, resource), None, None);
        }
        let event = Event::Refused(Outcome::NotFound);
        let reaction = model.client(id, tool).reaction(event);
        let possible = matches!(reaction, Reaction::Mint { .. } | Reaction::Tell(_));
        if possible {
            match reaction {
                Reaction::Mint { new_key } if !is_spent(world, id, tool) => mint_again(world, id, resource, new_key),
                reaction => {
                    do_reaction(world, id, reaction, Cause { event, tool, nested: 0, request: None, answer: None });
                }
            }
        }
    }
}
