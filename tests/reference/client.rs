//! What an agent decides: what to send next, and what to do with what comes back (sections 3 and 6).

use std::collections::{BTreeMap, BTreeSet};

use handlecheck::model::client::{AfterFailure, BeforeWrite, KeyPolicy, Payload, Precondition, Presents};
use handlecheck::model::scenario::Carried;
use handlecheck::model::{
    AgentId, Client, Condition, Entry, Event, Model, Operation, Outcome, Reaction, ResourceId, Told, Tool,
};

use super::judge;
use super::rename;
use super::server;
use super::state::{
    Agent, Answer, Change, Content, Field, Key, Known, Life, Next, Redo, Request, State, Tag, Then, View,
};
use super::state::{entry_resource, values};
use super::world::World;

/// The call that an agent would send now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// A read of this resource.
    Read(ResourceId),
    /// The change of its current entry.
    Mutate,
    /// The arguments of its last call.
    Again,
}

/// The entry that an agent works on; `None` once it has no work left.
pub fn current_entry<'m>(model: &'m Model, state: &State, id: AgentId) -> Option<&'m Entry> {
    let agent = &state.agents[id];
    if agent.left { None } else { model.scenario.agents[id].work.get(agent.entry) }
}

/// The tool that an entry calls.
fn tool_of(entry: &Entry) -> Tool {
    match entry {
        Entry::Mutate { operation, .. } => operation.tool(),
        Entry::Read { .. } | Entry::HandOff { .. } => Tool::Read,
    }
}

/// What an idle agent would send, whether or not it knows the handle.
fn wish(model: &Model, state: &State, id: AgentId) -> Option<Wish> {
    let agent = &state.agents[id];
    let reread = match &agent.next {
        Next::Again(_) => return Some(Wish::Again),
        Next::Plan { reread, .. } => reread,
    };
    if let Some(resource) = reread.first() {
        return Some(Wish::Read(*resource));
    }
    match current_entry(model, state, id)? {
        Entry::Read { resource } => Some(Wish::Read(*resource)),
        Entry::Mutate { .. } => match missing_views(model, state, id).first() {
            Some(resource) => Some(Wish::Read(*resource)),
            None => Some(Wish::Mutate),
        },
        Entry::HandOff { .. } => None,
    }
}

/// What an agent can send now: it is idle, has work left and knows the handle.
pub fn can_send(model: &Model, state: &State, id: AgentId) -> Option<Wish> {
    let agent = &state.agents[id];
    if agent.call.is_some() || agent.stopped {
        return None;
    }
    let entry = current_entry(model, state, id)?;
    let wish = wish(model, state, id)?;
    let needed = match &wish {
        Wish::Again => None,
        Wish::Read(resource) => Some(*resource),
        Wish::Mutate => (tool_of(entry) != Tool::Mint).then(|| entry_resource(entry)),
    };
    needed.is_none_or(|resource| agent.knows.contains_key(&resource)).then_some(wish)
}

/// Can the agent hand off now? It does so at such an entry, once it knows the handle.
pub fn can_hand_off(model: &Model, state: &State, id: AgentId) -> bool {
    let agent = &state.agents[id];
    let at_entry = matches!(current_entry(model, state, id), Some(Entry::HandOff { .. }));
    let resource = current_entry(model, state, id).map(entry_resource);
    at_entry && !agent.stopped && resource.is_some_and(|resource| agent.knows.contains_key(&resource))
}

/// The views that the current entry needs and the agent lacks (section 3: it reads first).
fn missing_views(model: &Model, state: &State, id: AgentId) -> Vec<ResourceId> {
    let Some(Entry::Mutate { resource, operation, given }) = current_entry(model, state, id) else { return Vec::new() };
    let client = model.client(id, operation.tool());
    if client.blind || *operation == Operation::Mint {
        return Vec::new();
    }
    let agent = &state.agents[id];
    let lacks = |resource: &ResourceId, content: bool, version: bool| match agent.views.get(resource) {
        None => content || version,
        Some(view) => (content && view.content.is_none()) || (version && view.version.is_none()),
    };
    let version = client.precondition != Precondition::None;
    let mut missing = Vec::new();
    if lacks(resource, needs_content(client, operation), version) {
        missing.push(*resource);
    }
    let given_version = client.precondition == Precondition::EveryViewedVersion;
    missing.extend(given.iter().filter(|given| lacks(given, true, given_version)));
    missing
}

/// A snapshot carries the whole content, an approval what the view showed.
fn needs_content(client: &Client, operation: &Operation) -> bool {
    let changes_fields = operation.tool() == Tool::Write;
    (changes_fields && client.payload == Payload::Snapshot) || *operation == Operation::Approve
}

/// The action `send`: one request.
pub fn send(world: &mut World<'_>, id: AgentId) {
    let model = world.model;
    let Some(wish) = can_send(model, &world.state, id) else { return };
    let mut request = match wish {
        Wish::Read(resource) => read_request(world, id, resource),
        Wish::Mutate => planned_request(world, id),
        Wish::Again => match world.state.agents[id].next.clone() {
            Next::Again(request) => *request,
            Next::Plan { .. } => return,
        },
    };
    request.credential = world.state.credentials[id];
    if request.intent.is_some() {
        let client = model.client(id, request.tool);
        if request.key.is_none() || client.key == KeyPolicy::PerAttempt || client.key == KeyPolicy::HashOfArguments {
            request.key = make_key(world, id, &request);
        }
        if client.attempts.is_some() {
            world.state.agents[id].attempts += 1;
        }
        world.state.agents[id].next = Next::begin();
    }
    world.witness_send(&request);
    let someone_presents_leaked = model.clients.iter().flatten().any(|client| client.presents == Presents::LeakedKey);
    if someone_presents_leaked && let (Some(handle), Some(key)) = (request.handle, &request.key) {
        world.state.used_keys.entry(handle).or_default().insert(key.clone());
    }
    world.state.agents[id].call = Some(server::fresh_call(request));
}

/// A request that says nothing but who asks for what.
fn bare_request(world: &World<'_>, id: AgentId, tool: Tool, resource: ResourceId) -> Request {
    let known = (tool != Tool::Mint).then(|| world.state.agents[id].knows.get(&resource)).flatten();
    Request {
        agent: id,
        credential: 0,
        tool,
        resource,
        handle: known.map(|known| known.handle),
        token: known.and_then(|known| known.token.clone()),
        intent: None,
        operation: None,
        snapshot: None,
        approves: None,
        expected: Vec::new(),
        key: None,
        fence: None,
        seen: BTreeSet::new(),
        basis: Vec::new(),
        sent_at: None,
        superseded: false,
    }
}

/// A read.
fn read_request(world: &World<'_>, id: AgentId, resource: ResourceId) -> Request {
    let mut request = bare_request(world, id, Tool::Read, resource);
    server::note_what_is_current(world.model, &world.state, &mut request);
    request
}

/// The change of the current entry, planned on the agent's view.
fn planned_request(world: &World<'_>, id: AgentId) -> Request {
    let model = world.model;
    let agent = &world.state.agents[id];
    let Some(Entry::Mutate { resource, operation, given }) = current_entry(model, &world.state, id) else {
        return bare_request(world, id, Tool::Read, 0);
    };
    let client = model.client(id, operation.tool());
    let intent = (id, agent.entry);
    let mut request = bare_request(world, id, operation.tool(), *resource);
    request.intent = Some(intent);
    request.operation = Some(operation.clone());
    let view = agent.views.get(resource).filter(|_| *operation != Operation::Mint);
    request.fence = view.and_then(|view| view.fence);
    for given in given {
        if let Some(view) = agent.views.get(given) {
            request.basis.push((view.handle, view.version, view.content.as_ref().map(values)));
        }
    }
    if *operation == Operation::Mint {
        return request;
    }
    let expects = |precondition: Precondition| client.precondition >= precondition;
    let expected = expects(Precondition::ViewedVersion).then_some(resource);
    let also = given.iter().filter(|_| expects(Precondition::EveryViewedVersion));
    for resource in expected.into_iter().chain(also) {
        if let Some((handle, version)) =
            agent.views.get(resource).and_then(|view| view.version.map(|version| (view.handle, version)))
        {
            request.expected.push((handle, version));
        }
    }
    let content = view.and_then(|view| view.content.as_ref());
    if *operation == Operation::Approve {
        request.approves = content.map(values);
    }
    if operation.tool() == Tool::Write {
        match content {
            Some(content) if client.payload == Payload::Snapshot => {
                request.snapshot = Some(changed(content, intent, operation));
            }
            _ => {}
        }
    }
    if let Some(content) = content {
        request.seen = operation.fields().into_iter().flat_map(|field| content[field].shows.clone()).collect();
    }
    request
}

/// Some content with a change in it: each named field shows the change as well.
pub fn changed(content: &Content, intent: (AgentId, usize), operation: &Operation) -> Content {
    let mut content = content.clone();
    for field in operation.fields() {
        content[field].value = server::new_value(&content[field].value, field, operation);
        content[field].shows.insert(Change::Of(intent, field));
    }
    content
}

/// The key of a request (section 6).
fn make_key(world: &mut World<'_>, id: AgentId, request: &Request) -> Option<Key> {
    let client = world.model.client(id, request.tool);
    let intent = request.intent?;
    let leaked: Vec<Key> = world.state.agents[id].leaked.iter().cloned().collect();
    if client.presents == Presents::LeakedKey && !leaked.is_empty() {
        let index = world.dice.roll(leaked.len());
        return Some(leaked[index].clone());
    }
    match client.key {
        KeyPolicy::None => None,
        KeyPolicy::Reused => Some(Key::Constant),
        KeyPolicy::HashOfArguments => Some(Key::Hash {
            tool: request.tool,
            handle: request.handle,
            operation: request.operation.clone()?,
            expected: request.expected.clone(),
        }),
        KeyPolicy::PerIntent | KeyPolicy::PerAttempt => {
            let known = world.state.agents[id].number.filter(|_| client.key == KeyPolicy::PerIntent);
            let number = known.unwrap_or_else(|| rename::fresh_plan(&world.state, intent));
            world.state.agents[id].number = Some(number);
            Some(Key::Plan { intent, number })
        }
    }
}

/// The action `receive`: the answer reaches the agent, which decides at once what to do with it.
pub fn receive(world: &mut World<'_>, id: AgentId) {
    let Some(call) = world.state.agents[id].call.take() else { return };
    let Some(answer) = judge::answer_of(&call).cloned() else { return };
    let request = call.request;
    world.judge_receive(id, &request, &answer);
    match (answer.outcome, request.tool) {
        (Outcome::Ok, Tool::Read) => take_view(world, id, &request, &answer),
        (Outcome::Ok, _) => take_ok(world, id, &request, &answer),
        (refusal, _) => react(world, id, Event::Refused(refusal), &request, Some(&answer)),
    }
}

/// A read was answered: the answer is the agent's view.
fn take_view(world: &mut World<'_>, id: AgentId, request: &Request, answer: &Answer) {
    let agent = &mut world.state.agents[id];
    if let Some(view) = &answer.view {
        agent.views.insert(request.resource, view.clone());
    }
    if let Some(Entry::Read { .. }) = current_entry(world.model, &world.state, id) {
        advance(world, id, true);
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
    if missing_views(world.model, &world.state, id).is_empty() {
        act_on_views(world, id, then.0, &then.1);
    }
}

/// All views are there: go on to the write, or judge them first.
fn act_on_views(world: &mut World<'_>, id: AgentId, then: Then, old: &BTreeMap<ResourceId, View>) {
    let Some(Entry::Mutate { resource, operation, given }) = current_entry(world.model, &world.state, id) else {
        return;
    };
    let views = &world.state.agents[id].views;
    let shown = views.get(resource).is_some_and(|view| shows(view, operation));
    match then {
        Then::Write => {}
        Then::Verify => tell(world, id, if shown { Told::Ok } else { Told::Unknown }, shown, false),
        Then::Replan { event, tool, nested } => {
            let (condition, otherwise) = condition_of(world.model, id, event, tool, nested);
            let agrees = |resource: &ResourceId, fields: Option<Vec<usize>>| {
                let content = |view: Option<&View>| view.and_then(|view| view.content.as_ref().map(values));
                match (content(old.get(resource)), content(views.get(resource))) {
                    (Some(old), Some(new)) => {
                        let fields = fields.unwrap_or_else(|| (0..new.len()).collect());
                        fields.into_iter().all(|field| old[field] == new[field])
                    }
                    _ => true,
                }
            };
            let goes_ahead = match condition {
                Condition::Unsatisfied => !shown,
                Condition::Disjoint => {
                    agrees(resource, Some(operation.fields())) && given.iter().all(|given| agrees(given, None))
                }
            };
            if goes_ahead {
                let old = old.clone();
                world.state.agents[id].next = Next::Plan { reread: Vec::new(), then: Then::Write, old };
            } else {
                do_reaction(
                    world,
                    id,
                    otherwise,
                    Cause { event, tool, nested: nested + 1, request: None, answer: None },
                );
            }
        }
    }
}

/// Does the content show what the intent wants? An append can't be told from another's equal one (section 6).
fn shows(view: &View, operation: &Operation) -> bool {
    match operation {
        Operation::Set(changes) => view
            .content
            .as_ref()
            .is_some_and(|content| changes.iter().all(|(field, value)| content[*field].value == *value)),
        Operation::Close => view.life == Life::Closed,
        Operation::Execute => view.life == Life::Executed,
        Operation::Append(_) | Operation::Increment(_) | Operation::Mint | Operation::Approve | Operation::Delete => {
            false
        }
    }
}

/// A change was answered `ok`: the agent believes what it sent, or its view plus its change, and tells so.
fn take_ok(world: &mut World<'_>, id: AgentId, request: &Request, answer: &Answer) {
    let (Some(operation), Some(intent)) = (&request.operation, request.intent) else { return };
    let agent = &mut world.state.agents[id];
    if *operation == Operation::Mint {
        if let Some(handle) = answer.minted {
            agent.knows.insert(request.resource, Known { handle, token: answer.token.clone() });
            agent.forgot.remove(&request.resource);
            let content = minted_content(world.model, request.resource, intent);
            let view = View { handle, version: answer.version, content: Some(content), life: Life::Open, fence: None };
            agent.views.insert(request.resource, view);
            if let Some(stored) = world.state.resources.get_mut(&handle) {
                stored.acknowledged = true;
            }
        }
    } else {
        if let (Some(token), Some(known)) = (&answer.token, agent.knows.get_mut(&request.resource)) {
            known.token = Some(token.clone());
        }
        believe(agent, request, answer);
    }
    tell(world, id, Told::Ok, false, true);
}

/// What an agent believes after its change was accepted.
fn believe(agent: &mut Agent, request: &Request, answer: &Answer) {
    let (Some(operation), Some(intent), Some(handle)) = (&request.operation, request.intent, request.handle) else {
        return;
    };
    let fence = agent.views.get(&request.resource).and_then(|view| view.fence);
    let life = server::life_after(operation).unwrap_or(Life::Open);
    if let Some(snapshot) = &request.snapshot {
        let view = View { handle, version: answer.version, content: Some(snapshot.clone()), life, fence };
        agent.views.insert(request.resource, view);
    } else if let Some(view) = agent.views.get_mut(&request.resource) {
        view.content = view.content.as_ref().map(|content| changed(content, intent, operation));
        view.version = answer.version;
        view.life = server::life_after(operation).unwrap_or(view.life);
    }
}

/// The content that a mint makes.
pub fn minted_content(model: &Model, resource: ResourceId, intent: (AgentId, usize)) -> Content {
    let fields = model.scenario.resources[resource].fields.iter().enumerate();
    fields
        .map(|(index, (_, value))| Field {
            value: value.clone(),
            shows: [Change::Of(intent, index)].into_iter().collect(),
        })
        .collect()
}

/// The agent is told that the stream of this request broke. A read is always sent again (section 6): the agent is as
/// it was before it sent it.
pub fn broken_stream(world: &mut World<'_>, id: AgentId, request: &Request) {
    if request.tool == Tool::Read {
        return;
    }
    world.state.agents[id].broke = world.model.client(id, request.tool).attempts.is_some();
    react(world, id, Event::BrokenStream, request, None);
}

/// What a reaction reacts to.
struct Cause<'c> {
    event: Event,
    tool: Tool,
    /// How many levels of `else` deep in the reaction to the event.
    nested: usize,
    request: Option<&'c Request>,
    answer: Option<&'c Answer>,
}

/// The harness reacts to a broken stream or a refusal.
fn react(world: &mut World<'_>, id: AgentId, event: Event, request: &Request, answer: Option<&Answer>) {
    let reaction = world.model.client(id, request.tool).reaction(event);
    do_reaction(world, id, reaction, Cause { event, tool: request.tool, nested: 0, request: Some(request), answer });
}

/// The condition and the `else` of a conditional replan, so many levels deep.
fn condition_of(model: &Model, id: AgentId, event: Event, tool: Tool, nested: usize) -> (Condition, Reaction) {
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

/// The reactions of section 6.
fn do_reaction(world: &mut World<'_>, id: AgentId, reaction: Reaction, cause: Cause<'_>) {
    let model = world.model;
    let sends = matches!(
        reaction,
        Reaction::Same { .. } | Reaction::SameWithNewVersion { .. } | Reaction::Replan { .. } | Reaction::Mint { .. }
    );
    let agent = &world.state.agents[id];
    if sends && cause.tool != Tool::Read && model.client(id, cause.tool).attempts == Some(agent.attempts) {
        let told = if agent.broke { Told::Unknown } else { Told::Failure };
        tell(world, id, told, false, false);
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
                Some(_) => Then::Replan { event: cause.event, tool: cause.tool, nested: cause.nested },
            };
            read_again(world, id, then, new_key);
        }
        Reaction::Read => read_again(world, id, Then::Verify, false),
        Reaction::Mint { new_key } => mint_again(world, id, new_key),
        Reaction::Tell(told) => {
            let shown = match current_entry(model, &world.state, id) {
                Some(Entry::Mutate { resource, operation, .. }) => {
                    world.state.agents[id].views.get(resource).is_some_and(|view| shows(view, operation))
                }
                _ => false,
            };
            tell(world, id, told, shown, false);
        }
    }
}

/// The same arguments in a new request; a read is simply read again.
fn send_again(
    world: &mut World<'_>,
    id: AgentId,
    request: Option<&Request>,
    current: Option<Vec<((ResourceId, u8), u32)>>,
    new_key: bool,
) {
    world.state.agents[id].tag = Tag::Repeat;
    let Some(request) = request.filter(|request| request.intent.is_some()) else { return };
    let mut request = request.clone();
    if let Some(current) = current.filter(|current| !current.is_empty()) {
        request.expected = current;
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
        world.state.agents[id].number = Some(rename::fresh_plan(&world.state, intent));
    }
}

/// Read again all that the plan rests on, then act.
fn read_again(world: &mut World<'_>, id: AgentId, then: Then, new_key: bool) {
    let agent = &mut world.state.agents[id];
    agent.tag = Tag::Replan;
    if let Some(Entry::Mutate { resource, given, operation }) = current_entry(world.model, &world.state, id) {
        let known = (*operation != Operation::Mint).then_some(*resource);
        let reread: Vec<ResourceId> = known.into_iter().chain(given.iter().copied()).collect();
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
fn mint_again(world: &mut World<'_>, id: AgentId, new_key: bool) {
    let model = world.model;
    let work = &model.scenario.agents[id].work;
    let Some(resource) = current_entry(model, &world.state, id).map(entry_resource) else { return };
    let mints = |entry: &Entry| matches!(entry, Entry::Mutate { operation: Operation::Mint, .. });
    let Some(mint) = work.iter().position(|entry| mints(entry) && entry_resource(entry) == resource) else {
        tell(world, id, Told::Failure, false, false);
        return;
    };
    let agent = &mut world.state.agents[id];
    let until = agent.redo.as_ref().map_or(agent.entry, |redo| redo.until.max(agent.entry));
    agent.redo = Some(Redo { resource, until, same_key: !new_key });
    agent.told.retain(|entry, _| *entry < mint || entry_resource(&work[*entry]) != resource);
    agent.views.remove(&resource);
    agent.entry = mint;
    begin_entry(world, id);
    world.state.agents[id].tag = if new_key { Tag::Replan } else { Tag::Repeat };
}

/// The agent is told how its current entry ended, and goes on. `shown`: the view on which it stopped shows the change;
/// `plain`: this follows from an `ok` to its call.
fn tell(world: &mut World<'_>, id: AgentId, told: Told, shown: bool, plain: bool) {
    let entry = world.state.agents[id].entry;
    if let Some(Entry::Mutate { .. }) = current_entry(world.model, &world.state, id) {
        world.judge_tell(id, entry, told, shown, plain);
        world.state.agents[id].told.insert(entry, told);
    }
    advance(world, id, told == Told::Ok);
}

/// On to the next entry, or, after a failure, perhaps to none.
pub fn advance(world: &mut World<'_>, id: AgentId, succeeded: bool) {
    let model = world.model;
    let Some(entry) = current_entry(model, &world.state, id) else { return };
    let stops = model.client(id, tool_of(entry)).after_failure == AfterFailure::Stop;
    let agent = &mut world.state.agents[id];
    agent.left = !succeeded && stops;
    agent.entry += 1;
    if let Some(redo) = &agent.redo {
        let work = &model.scenario.agents[id].work;
        while agent.entry <= redo.until && entry_resource(&work[agent.entry]) != redo.resource {
            agent.entry += 1;
        }
        if agent.entry > redo.until {
            agent.redo = None;
        }
    }
    begin_entry(world, id);
}

/// A new entry begins without memory of the sends before it.
fn begin_entry(world: &mut World<'_>, id: AgentId) {
    let model = world.model;
    let reread = match current_entry(model, &world.state, id) {
        Some(Entry::Mutate { resource, operation, given }) if *operation != Operation::Mint => {
            match model.client(id, operation.tool()).before_write {
                BeforeWrite::Nothing => Vec::new(),
                BeforeWrite::ReadAgain => std::iter::once(*resource).chain(given.iter().copied()).collect(),
            }
        }
        _ => Vec::new(),
    };
    let agent = &mut world.state.agents[id];
    agent.tag = Tag::First;
    agent.next = Next::Plan { reread, then: Then::Write, old: BTreeMap::new() };
    let first_plan = agent.redo.as_ref().is_some_and(|redo| redo.same_key);
    agent.number = first_plan.then_some(0);
    agent.attempts = 0;
    agent.broke = false;
    miss_handle(world, id);
}

/// An idle agent without the handle that it needs, because its context was compacted, reacts as to `not-found`.
pub fn miss_handle(world: &mut World<'_>, id: AgentId) {
    let model = world.model;
    let agent = &world.state.agents[id];
    if agent.call.is_some() || matches!(agent.next, Next::Again(_)) {
        return;
    }
    let Some(entry) = current_entry(model, &world.state, id) else { return };
    let tool = match wish(model, &world.state, id) {
        Some(Wish::Read(_)) | None => Tool::Read,
        Some(Wish::Mutate | Wish::Again) => tool_of(entry),
    };
    if tool != Tool::Mint && agent.forgot.contains(&entry_resource(entry)) {
        let event = Event::Refused(Outcome::NotFound);
        let reaction = model.client(id, tool).reaction(event);
        let possible = matches!(reaction, Reaction::Mint { .. } | Reaction::Tell(_));
        if possible {
            do_reaction(world, id, reaction, Cause { event, tool, nested: 0, request: None, answer: None });
        }
    }
}

/// The action `hand-off`: all receivers get the record at once (section 3).
pub fn hand_off(world: &mut World<'_>, id: AgentId) {
    let Some(Entry::HandOff { resource, to, carries }) = current_entry(world.model, &world.state, id) else { return };
    let giver = &world.state.agents[id];
    let known = giver.knows.get(resource).cloned();
    let view = giver.views.get(resource).and_then(|view| kept_of(view, carries));
    for receiver in to {
        let agent = &mut world.state.agents[*receiver];
        if let Some(known) = &known {
            agent.knows.insert(*resource, known.clone());
            agent.forgot.remove(resource);
        }
        if let Some(view) = &view {
            agent.views.insert(*resource, view.clone());
        }
    }
    advance(world, id, true);
}

/// What is left of a view where only these things are carried on or kept.
pub fn kept_of(view: &View, keeps: &[Carried]) -> Option<View> {
    let version = view.version.filter(|_| keeps.contains(&Carried::Version));
    let content = view.content.clone().filter(|_| keeps.contains(&Carried::Content));
    let fence = view.fence.filter(|_| keeps.contains(&Carried::Version));
    (version.is_some() || content.is_some()).then(|| View { version, content, fence, ..view.clone() })
}
