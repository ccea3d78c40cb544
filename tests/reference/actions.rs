//! The actions of section 4: which are possible in a state, and what each leads to.

use handlecheck::model::design::{Handles, Queue};
use handlecheck::model::protocol::{ClosedStream, Resumable};
use handlecheck::model::{AgentId, Model};

use super::choosing;
use super::client;
use super::conditions;
use super::faults::{self, Fault};
use super::judge;
use super::receive;
use super::rename;
use super::server::{self, Seat};
use super::state::{Call, Handle, Known, NodeId, Place, State, side};
use super::world::{Dice, Facts, World};

/// One action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Send(AgentId),
    Deliver(Seat, NodeId),
    Execute(Seat),
    Receive(AgentId),
    HandOff(AgentId),
    Guess(AgentId, Handle),
    Cancel(usize),
    Resume(AgentId),
    Decide(AgentId),
    Skip(AgentId),
    Deploy(NodeId),
    Fault(Fault),
}

/// A state that an action leads to.
#[derive(Clone, Debug)]
pub struct Successor {
    pub action: Action,
    pub state: State,
    pub facts: Facts,
}

impl Action {
    /// Does it belong to what can still move in a quiescent state: orphans and faults (section 3)?
    pub fn moves_orphans_only(self) -> bool {
        matches!(self, Self::Deliver(Seat::Orphan(_), _) | Self::Execute(Seat::Orphan(_)) | Self::Cancel(_))
    }

    /// Is it a fault?
    pub fn is_fault(self) -> bool {
        matches!(self, Self::Fault(_))
    }

    /// What it is called in a trace.
    pub fn describe(self, model: &Model, state: &State) -> String {
        let name = |agent: AgentId| model.scenario.agents[agent].name.clone();
        let seat = |seat: Seat| {
            let call = server::call_at(state, seat);
            let whose =
                call.map_or_else(String::new, |call| format!("{}'s {}", name(call.request.agent), call.request.tool));
            match seat {
                Seat::Open(_) => whose,
                Seat::Orphan(_) => format!("orphan of {whose}"),
                Seat::Rest(_) => format!("rest of {whose}"),
            }
        };
        match self {
            Self::Send(agent) => {
                format!("send: {} ({:?})", name(agent), client::can_send(model, state, agent))
            }
            Self::Deliver(of, node) => format!("deliver: {} to node {node}", seat(of)),
            Self::Execute(of) => format!("execute: {}", seat(of)),
            Self::Receive(agent) => {
                let answer = state.agents[agent].call.as_ref().and_then(judge::answer_of);
                format!("receive: {} {}", name(agent), answer.map_or("", |answer| answer.outcome.name()))
            }
            Self::HandOff(agent) => format!("hand-off: {}", name(agent)),
            Self::Guess(agent, handle) => format!("guess: {} {handle:?}", name(agent)),
            Self::Cancel(index) => format!("cancel: {}", seat(Seat::Orphan(index))),
            Self::Resume(agent) => format!("resume: {}", name(agent)),
            Self::Decide(agent) => format!("decide: {}", name(agent)),
            Self::Skip(agent) => format!("skip: {}", name(agent)),
            Self::Deploy(node) => format!("deploy: node {node}"),
            Self::Fault(fault) => format!("fault: {fault:?}"),
        }
    }
}

/// All actions that are possible in a state.
pub fn possible(model: &Model, state: &State) -> Vec<Action> {
    let mut actions = Vec::new();
    for id in 0..state.agents.len() {
        actions.extend(of_agent(model, state, id));
        actions.extend(of_call(model, state, Seat::Open(id)));
    }
    for index in 0..state.orphans.len() {
        let same_before = index > 0 && state.orphans[index - 1] == state.orphans[index];
        if same_before {
            continue;
        }
        actions.extend(of_call(model, state, Seat::Orphan(index)));
        if can_cancel(model, state, index) {
            actions.push(Action::Cancel(index));
        }
    }
    for index in 0..state.rests.len() {
        if index == 0 || state.rests[index - 1] != state.rests[index] {
            actions.extend(of_call(model, state, Seat::Rest(index)));
        }
    }
    if model.deployed.is_some() {
        let nodes = 0..state.nodes.len();
        actions.extend(nodes.filter(|node| !state.deployed.contains(node)).map(Action::Deploy));
    }
    actions.extend(faults::possible(model, state).into_iter().map(Action::Fault));
    actions
}

/// What an agent can do by itself.
fn of_agent(model: &Model, state: &State, id: AgentId) -> Vec<Action> {
    let agent = &state.agents[id];
    let mut actions = Vec::new();
    if conditions::skips(model, state, id) {
        actions.push(Action::Skip(id));
    } else if client::can_send(model, state, id).is_some() {
        actions.push(Action::Send(id));
    }
    if agent.undecided.is_some() && !agent.stopped {
        actions.push(Action::Decide(id));
    }
    if client::can_hand_off(model, state, id) {
        actions.push(Action::HandOff(id));
    }
    if agent.stopped {
        return actions;
    }
    if agent.disconnected {
        actions.push(Action::Resume(id));
    } else if agent.call.as_ref().is_some_and(|call| matches!(call.place, Place::Answered(..))) {
        actions.push(Action::Receive(id));
    }
    if model.design.server.handles == Handles::Sequential {
        for handle in state.resources.keys() {
            let foreign = !judge::agent_entitled(model, state, id, *handle);
            if foreign && !agent.knows.contains_key(&handle.0) {
                actions.push(Action::Guess(id, *handle));
            }
        }
    }
    actions
}

/// What can happen to a call.
fn of_call(model: &Model, state: &State, seat: Seat) -> Vec<Action> {
    let Some(call) = server::call_at(state, seat) else { return Vec::new() };
    match &call.place {
        Place::Transit | Place::Kept(_) => {
            server::routes(model, state, &call.request).into_iter().map(|node| Action::Deliver(seat, node)).collect()
        }
        Place::AtNode(_) if server::can_execute(state, call) => vec![Action::Execute(seat)],
        Place::AtNode(_) | Place::Answered(..) | Place::Unanswered(_) => Vec::new(),
    }
}

/// Where a closed stream cancels, the server may stop an orphan between two transactions, or while it waits in a queue.
fn can_cancel(model: &Model, state: &State, index: usize) -> bool {
    let call = &state.orphans[index];
    let Place::AtNode(handling) = &call.place else { return false };
    let between = handling.next > 0;
    let waits = model.design.server.queue == Queue::PerHandle && !server::can_execute(state, call);
    side(model, call.new).protocol.closed_stream == ClosedStream::Cancels && (between || waits)
}

/// Performs an action on a world.
fn perform(world: &mut World<'_>, action: Action) {
    match action {
        Action::Send(agent) => client::send(world, agent),
        Action::Deliver(seat, node) => server::deliver(world, seat, node),
        Action::Execute(seat) => server::execute(world, seat),
        Action::Receive(agent) => receive::receive(world, agent),
        Action::HandOff(agent) => client::hand_off(world, agent),
        Action::Guess(agent, handle) => {
            let token = world.state.resources.get(&handle).and_then(|stored| server::token_of(world.model, stored));
            world.state.agents[agent].knows.insert(handle.0, Known::new(handle, token));
        }
        Action::Cancel(index) => {
            let orphan = world.state.orphans.remove(index);
            server::cancel(world, orphan);
        }
        Action::Resume(agent) => world.state.agents[agent].disconnected = false,
        Action::Decide(agent) => choosing::decide(world, agent),
        Action::Skip(agent) => conditions::skip(world, agent),
        Action::Deploy(node) => faults::change_over(world, node),
        Action::Fault(fault) => faults::strike(world, fault),
    }
}

/// Can the broken stream of this call be resumed (section 10)? Before it is known which node it comes to, only if every
/// node would know it.
pub fn can_resume(model: &Model, state: &State, call: &Call) -> bool {
    let arrived = call.place != Place::Transit;
    let resumes = |new: bool| match side(model, new).protocol.resumable {
        Resumable::Never => false,
        Resumable::AfterDelivery => arrived,
        Resumable::Always => true,
    };
    if arrived { resumes(call.new) } else { (0..state.nodes.len()).all(|node| resumes(state.deployed.contains(&node))) }
}

/// Every state to which one action leads from here.
pub fn successors(model: &Model, state: &State) -> Vec<Successor> {
    let mut successors = Vec::new();
    for action in possible(model, state) {
        let ways = choosing::ways(model, state, action);
        if ways.is_empty() {
            let outcomes = outcomes(model, state, action);
            successors.extend(outcomes.into_iter().map(|(after, facts)| named(model, action, after, facts)));
            continue;
        }
        // Ways that do the same are one.
        let mut different: Vec<(State, Facts)> = Vec::new();
        for way in ways {
            let agent = agent_of(action);
            for (after, facts) in outcomes(&choosing::behaving(model, agent, &way), state, action) {
                if different.iter().all(|(other, _)| *other != after) {
                    different.push((after, facts));
                }
            }
        }
        successors.extend(different.into_iter().map(|(after, facts)| named(model, action, after, facts)));
    }
    successors
}

/// What an action leads to, for every way in which the dice can fall, before it is renamed.
fn outcomes(model: &Model, state: &State, action: Action) -> Vec<(State, Facts)> {
    let mut outcomes = Vec::new();
    let mut fall = Some(Dice::default());
    while let Some(dice) = fall {
        let mut world = World::new(model, state.clone(), dice);
        perform(&mut world, action);
        world.judge_promises();
        if !world.impossible {
            outcomes.push((world.state, world.facts));
        }
        fall = world.dice.next();
    }
    outcomes
}

fn named(model: &Model, action: Action, after: State, facts: Facts) -> Successor {
    Successor { action, state: rename::canonical(model, after), facts }
}

/// The agent whose harness chooses in this action.
fn agent_of(action: Action) -> AgentId {
    match action {
        Action::Send(agent) | Action::Decide(agent) | Action::Fault(Fault::Compact(agent)) => agent,
        _ => unreachable!("only harnesses choose"),
    }
}

/// Can nothing but orphans and faults move (section 3), and nodes that change over?
pub fn is_quiescent(model: &Model, state: &State) -> bool {
    let need_not = |action: Action| action.is_fault() || matches!(action, Action::Deploy(_));
    possible(model, state).into_iter().all(|action| need_not(action) || action.moves_orphans_only())
}
