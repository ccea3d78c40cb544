//! What an agent sends: which call is next, and what it carries (sections 3 and 6).

use std::collections::BTreeSet;

use handlecheck::model::client::{BeforeWrite, KeyPolicy, Payload, Precondition, Presents};
use handlecheck::model::design::NewFields;
use handlecheck::model::scenario::Carried;
use handlecheck::model::{AgentId, Client, Entry, Free, Model, Operation, ResourceId, Tool};

use super::conditions;
use super::harness;
use super::judge;
use super::rename;
use super::server;
use super::sharing;
use super::state::{
    Change, Content, Field, Key, Known, Next, Other, Request, State, Then, View, entry_resource, values,
};
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
    model.scenario.agents[id].work.get(state.agents[id].entry)
}

/// The tool that an entry calls.
pub fn tool_of(entry: &Entry) -> Tool {
    match entry {
        Entry::Mutate { operation, .. } => operation.tool(),
        Entry::Read { .. } | Entry::HandOff { .. } => Tool::Read,
    }
}

/// What an idle agent would send, whether or not it knows the handle.
pub fn wish(model: &Model, state: &State, id: AgentId) -> Option<Wish> {
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
        // It chooses to read first.
        entry @ Entry::Mutate { .. } if reads_by_choice(model, id, entry) && !needed_handles(entry).is_empty() => {
            Some(Wish::Read(needed_handles(entry)[0]))
        }
        Entry::Mutate { .. } => match missing_views(model, state, id).first() {
            Some(resource) => Some(Wish::Read(*resource)),
            None => Some(Wish::Mutate),
        },
        Entry::HandOff { .. } => missing_views(model, state, id).first().map(|resource| Wish::Read(*resource)),
    }
}

/// Does the harness choose to read before this write?
fn reads_by_choice(model: &Model, id: AgentId, entry: &Entry) -> bool {
    let client = model.client(id, tool_of(entry));
    client.any.contains(&Free::BeforeWrite) && client.before_write == BeforeWrite::ReadAgain
}

/// The resources whose handles an entry needs: its own, unless it mints it, and those that it is given.
pub fn needed_handles(entry: &Entry) -> Vec<ResourceId> {
    match entry {
        Entry::Mutate { resource, operation, given, also, .. } => {
            let own = (*operation != Operation::Mint).then_some(*resource);
            let other = also.as_ref().map(|also| also.resource);
            own.into_iter().chain(other).chain(given.iter().copied().filter(|given| given != resource)).collect()
        }
        Entry::Read { resource } | Entry::HandOff { resource, .. } => vec![*resource],
    }
}

/// What an agent can send now: it is idle, has work left and knows the handle.
pub fn can_send(model: &Model, state: &State, id: AgentId) -> Option<Wish> {
    let agent = &state.agents[id];
    if agent.call.is_some() || agent.stopped || agent.undecided.is_some() {
        return None;
    }
    let entry = current_entry(model, state, id)?;
    let wish = wish(model, state, id)?;
    needed_handles(entry).iter().all(|resource| agent.knows.contains_key(resource)).then_some(wish)
}

/// Can the agent hand off now? It does so at such an entry, once it knows the handle.
pub fn can_hand_off(model: &Model, state: &State, id: AgentId) -> bool {
    let agent = &state.agents[id];
    let at_entry = matches!(current_entry(model, state, id), Some(Entry::HandOff { .. }));
    let resource = current_entry(model, state, id).map(entry_resource);
    let ready = agent.call.is_none() && agent.undecided.is_none() && missing_views(model, state, id).is_empty();
    at_entry && ready && !agent.stopped && resource.is_some_and(|resource| agent.knows.contains_key(&resource))
}

/// The views that the current entry needs and the agent lacks (section 3: it reads first).
pub fn missing_views(model: &Model, state: &State, id: AgentId) -> Vec<ResourceId> {
    let agent = &state.agents[id];
    let lacks = |resource: &ResourceId, content: bool, version: bool| match agent.views.get(resource) {
        None => content || version,
        Some(view) => (content && view.content.is_none()) || (version && view.version.is_none()),
    };
    let entry = current_entry(model, state, id);
    let (resource, operation, given, also) = match entry {
        Some(Entry::HandOff { resource, carries, .. }) => {
            let carried = |part: Carried| carries.contains(&part);
            let lacking = lacks(resource, carried(Carried::Content), carried(Carried::Version));
            return if lacking { vec![*resource] } else { Vec::new() };
        }
        Some(Entry::Mutate { resource, operation, given, also, .. }) => (resource, operation, given, also),
        Some(Entry::Read { .. }) | None => return Vec::new(),
    };
    let client = model.client(id, operation.tool());
    if client.blind {
        return Vec::new();
    }
    let version = client.precondition != Precondition::None;
    let mut missing = Vec::new();
    let judged = entry.is_some_and(|entry| conditions::names(model, entry, *resource)) || given.contains(resource);
    if *operation != Operation::Mint && lacks(resource, judged || needs_content(client, operation), version) {
        missing.push(*resource);
    }
    let given_version = client.precondition == Precondition::EveryViewedVersion;
    missing.extend(also.iter().map(|also| also.resource).filter(|other| lacks(other, false, given_version)));
    missing.extend(given.iter().filter(|given| *given != resource && lacks(given, true, given_version)));
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
        Wish::Read(resource) => {
            begin_reading(world, id, resource);
            read_request(world, id, resource)
        }
        Wish::Mutate => planned_request(world, id),
        Wish::Again => match world.state.agents[id].next.clone() {
            Next::Again(request) => *request,
            Next::Plan { .. } => return,
        },
    };
    let who = judge::principal(model, id);
    request.credential = world.state.credentials.get(who).copied().unwrap_or(0);
    if request.intent.is_some() {
        world.witnessed(judge::RESOLVES);
        let client = model.client(id, request.tool);
        if request.key.is_none() {
            request.key = make_key(world, id, &request);
        }
        if client.attempts.is_some() {
            world.state.agents[id].attempts += 1;
        }
        world.state.agents[id].next = Next::begin();
    }
    let again = world.state.agents[id].issues_again.take();
    let again = again.filter(|(tool, resource, _)| (*tool, *resource) == (request.tool, request.resource));
    request.issue = match again {
        Some((_, _, issue)) => Some(issue),
        None => rename::fresh_issue(model, &world.state, id),
    };
    world.witness_send(&request);
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
        other: None,
        issue: None,
    }
}

/// An agent that reads before each write, and lost what it had read, reads from there on.
fn begin_reading(world: &mut World<'_>, id: AgentId, resource: ResourceId) {
    let Some(entry @ Entry::Mutate { operation, .. }) = current_entry(world.model, &world.state, id) else { return };
    let client = world.model.client(id, operation.tool());
    let reads_first = client.before_write == BeforeWrite::ReadAgain && !client.any.contains(&Free::BeforeWrite);
    if let Next::Plan { reread, then: Then::Write, .. } = &mut world.state.agents[id].next
        && reads_first
        && reread.is_empty()
    {
        *reread = needed_handles(entry).into_iter().skip_while(|needed| *needed != resource).collect();
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
    let Some(Entry::Mutate { resource, operation, given, also, condition, .. }) =
        current_entry(model, &world.state, id)
    else {
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
        } else if let (Some(known), true) = (agent.knows.get(given), condition.is_some()) {
            request.basis.push((known.handle, None, None));
        }
    }
    if let Some((also, known)) = also.as_ref().and_then(|also| Some((also, agent.knows.get(&also.resource)?))) {
        let view = agent.views.get(&also.resource);
        let content = view.and_then(|view| view.content.as_ref());
        let content = content.filter(|_| matches!(also.operation, Operation::Set(_)));
        let shown = |content: &Content| {
            also.operation.fields().into_iter().flat_map(|field| content[field].shows.clone()).collect()
        };
        request.other = Some(Other {
            resource: also.resource,
            handle: known.handle,
            operation: also.operation.clone(),
            fence: view.and_then(|view| view.fence),
            seen: content.map(shown).unwrap_or_default(),
        });
    }
    let expects = |precondition: Precondition| client.precondition >= precondition;
    let makes = *operation == Operation::Mint;
    let own = (!makes && expects(Precondition::ViewedVersion)).then_some(resource);
    let others = also.iter().map(|also| &also.resource).chain(given.iter().filter(|given| *given != resource));
    let others = others.filter(|_| expects(Precondition::EveryViewedVersion));
    for resource in own.into_iter().chain(others) {
        let version = agent.views.get(resource).and_then(|view| view.version);
        if let (Some(version), Some(known)) = (version, agent.knows.get(resource)) {
            request.expected.push((known.handle, version));
        }
    }
    if makes {
        return request;
    }
    let content = view.and_then(|view| view.content.as_ref());
    if *operation == Operation::Approve {
        request.approves = content.map(values);
    }
    if operation.tool() == Tool::Write {
        match content {
            Some(content) if client.payload == Payload::Snapshot => {
                let mut whole = changed(content, sharing::first(model, intent), operation);
                if client.new_fields == NewFields::Dropped {
                    super::write::forget(&mut whole, &world.model.scenario.resources[*resource].new_fields);
                }
                request.snapshot = Some(whole);
            }
            _ => {}
        }
    }
    if let (Some(content), Operation::Set(_)) = (content, operation) {
        request.seen = operation.fields().into_iter().flat_map(|field| content[field].shows.clone()).collect();
    }
    request
}

/// Some content with a change in it: each named field shows the change as well.
pub fn changed(content: &Content, intent: (AgentId, usize), operation: &Operation) -> Content {
    let mut content = content.clone();
    for field in operation.fields() {
        content[field].value = super::write::new_value(&content[field].value, field, operation);
        content[field].shows.insert(Change::Of(intent, field));
    }
    content
}

/// The key of a request (section 6).
fn make_key(world: &mut World<'_>, id: AgentId, request: &Request) -> Option<Key> {
    let client = world.model.client(id, request.tool);
    let intent = request.intent?;
    let known = world.state.agents[id].knows.get(&request.resource);
    let leaked: Vec<Key> = known.into_iter().flat_map(|known| known.leaked.clone()).collect();
    if client.any.contains(&Free::Presents) && !leaked.is_empty() {
        let index = world.dice.roll(leaked.len() + 1);
        if index > 0 {
            return Some(leaked[index - 1].clone());
        }
    } else if client.presents == Presents::LeakedKey && !leaked.is_empty() {
        let index = world.dice.roll(leaked.len());
        return Some(leaked[index].clone());
    }
    match client.key {
        KeyPolicy::None => None,
        KeyPolicy::Reused => Some(Key::Constant),
        KeyPolicy::HashOfArguments => Some(Key::Hash {
            tool: request.tool,
            handle: request.handle,
            sent: super::keys::sent(world.model, request),
            expected: request.expected.clone(),
            besides: super::keys::besides(request),
        }),
        KeyPolicy::PerIntent if sharing::is_shared(world.model, intent) => {
            Some(Key::Shared(sharing::first(world.model, intent)))
        }
        KeyPolicy::PerIntent | KeyPolicy::PerAttempt => {
            let known = world.state.agents[id].number.filter(|_| client.key == KeyPolicy::PerIntent);
            let number = known.unwrap_or_else(|| rename::fresh_plan(&world.state, intent));
            harness::set_number(world, id, number);
            Some(Key::Plan { intent, number })
        }
    }
}

/// The content that a mint makes.
pub fn minted_content(model: &Model, resource: ResourceId, intent: (AgentId, usize)) -> Content {
    let fields = model.scenario.resources[resource].fields.iter().enumerate();
    let intent = sharing::first(model, intent);
    fields
        .map(|(index, (_, value))| Field {
            value: value.clone(),
            shows: [Change::Of(intent, index)].into_iter().collect(),
        })
        .collect()
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
            let leaked = agent.knows.get(resource).map(|known| known.leaked.clone()).unwrap_or_default();
            agent.knows.insert(*resource, Known { leaked, ..known.clone() });
            agent.forgot.remove(resource);
            if agent.views.get(resource).is_some_and(|view| view.handle != known.handle) {
                agent.views.remove(resource);
            }
        }
        if let Some(view) = &view {
            agent.views.insert(*resource, view.clone());
        }
    }
    harness::advance(world, id, true);
}

/// What is left of a view where only these things are carried on or kept.
pub fn kept_of(view: &View, keeps: &[Carried]) -> Option<View> {
    let version = view.version.filter(|_| keeps.contains(&Carried::Version));
    let content = view.content.clone().filter(|_| keeps.contains(&Carried::Content));
    let fence = view.fence.filter(|_| keeps.contains(&Carried::Version));
    (version.is_some() || content.is_some()).then(|| View { version, content, fence, ..view.clone() })
}
