//! Agents whose harness chooses (`any`): each time it acts as some client would whose settings differ in what is free.

use handlecheck::model::free::Occasion;
use handlecheck::model::{AgentId, Client, Entry, Event, Free, Model, Operation, Reaction, ResourceId, Tool};

use super::actions::Action;
use super::client::{current_entry, tool_of};
use super::faults::Fault;
use super::harness::{self, Cause};
use super::state::{Answer, Handle, Next, Request, State, entry_resource};
use super::world::World;

/// Something that an agent has yet to react to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Undecided {
    pub occasion: Occasion,
    pub tool: Tool,
    pub resource: ResourceId,
    /// The call that was refused, or whose stream broke.
    pub request: Option<Box<Request>>,
    /// The versions that the refusal named.
    pub current: Vec<(Handle, u32)>,
}

/// The clients of which an agent behaves like any in this action; none where there is nothing to choose.
pub fn ways(model: &Model, state: &State, action: Action) -> Vec<Client> {
    let tool = |id: AgentId| current_entry(model, state, id).map_or(Tool::Read, tool_of);
    let chooses = |id: AgentId, what: &[Free]| model.client(id, tool(id)).any.iter().any(|free| what.contains(free));
    match action {
        Action::Send(id) if chooses(id, Free::ALL) => model.client(id, tool(id)).choices().sends,
        Action::Fault(Fault::Compact(id)) if chooses(id, &[Free::Keeps]) => model.client(id, tool(id)).choices().keeps,
        Action::Decide(id) => to_decide(model, state, id),
        _ => Vec::new(),
    }
}

fn to_decide(model: &Model, state: &State, id: AgentId) -> Vec<Client> {
    let Some(Undecided { occasion, tool, resource, .. }) = &state.agents[id].undecided else { return Vec::new() };
    let client = model.client(id, *tool);
    // It mints one resource so often, and no more.
    let minted = state.resources.keys().filter(|handle| handle.0 == *resource).count();
    let may_mint = client.attempts.is_none_or(|most| minted <= usize::from(most));
    client.ways_to_react(*occasion, may_mint && mints(model, id, *resource))
}

fn mints(model: &Model, id: AgentId, resource: ResourceId) -> bool {
    let mints = |entry: &Entry| matches!(entry, Entry::Mutate { operation: Operation::Mint, .. });
    model.scenario.agents[id].work.iter().any(|entry| mints(entry) && entry_resource(entry) == resource)
}

/// The same model, but that this agent has these settings.
pub fn behaving(model: &Model, id: AgentId, way: &Client) -> Model {
    let mut model = model.clone();
    model.clients[id].fill(way.clone());
    model
}

/// Does the harness choose what to do with events?
pub fn is_free(world: &World<'_>, id: AgentId, tool: Tool) -> bool {
    world.whole.client(id, tool).any.contains(&Free::On)
}

/// The agent has yet to choose what to do.
pub fn put_off(
    world: &mut World<'_>,
    id: AgentId,
    occasion: Occasion,
    about: (Tool, ResourceId),
    request: Option<&Request>,
    answer: Option<&Answer>,
) {
    // Only what a broken stream left open is ever issued again under its id.
    let issued = occasion == Occasion::Event(Event::BrokenStream);
    let bare = |request: &Request| {
        let issue = request.issue.filter(|_| issued);
        Box::new(Request { credential: 0, sent_at: None, superseded: false, issue, ..request.clone() })
    };
    world.state.agents[id].undecided = Some(Undecided {
        occasion,
        tool: about.0,
        resource: about.1,
        request: request.map(bare),
        current: answer.map(|answer| answer.current.clone()).unwrap_or_default(),
    });
}

/// The action `decide`: it reacts as the client would that it has chosen to be.
pub fn decide(world: &mut World<'_>, id: AgentId) {
    let Some(undecided) = world.state.agents[id].undecided.take() else { return };
    let Undecided { occasion, tool, resource, request, current } = undecided;
    let request = request.as_deref();
    let (event, reaction) = match occasion.event() {
        Some(event) => (event, world.model.client(id, tool).reaction(event)),
        None => (Event::BrokenStream, Reaction::Tell(handlecheck::model::Told::Unknown)),
    };
    match reaction {
        Reaction::Mint { new_key } if request.is_none() && !harness::is_spent(world, id, tool) => {
            harness::mint_again(world, id, resource, new_key);
        }
        reaction => {
            let answer = Answer { current, ..Answer::ok(None) };
            let cause = Cause { event, tool, nested: 0, request, answer: Some(&answer) };
            harness::do_reaction(world, id, reaction, cause);
        }
    }
    let again = matches!(world.state.agents[id].next, Next::Again(_));
    if let Some(request) = request.filter(|_| again && occasion == Occasion::Event(Event::BrokenStream)) {
        harness::issues_again(world, id, request);
    }
    harness::miss_handle(world, id);
}
