//! State graphs: all states of a small model, or the states along a trace with the roads that it did not take.
//!
//! What is drawn is what a search sees: states that differ by a renaming of versions are one.

mod dot;
mod layers;
mod svg;

pub use dot::dot;
pub use svg::svg;

use hashbrown::HashMap;
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use rustc_hash::FxBuildHasher;

use crate::action::{Action, Target};
use crate::engine::{Access, Class, System, plain};
use crate::model::Model;
use crate::step::Simulation;
use crate::trace::{ReplayError, Trace, unlabelled, walked};
use crate::world::{CallRef, Component};

/// A state graph, or a part of one.
pub struct StateGraph {
    /// What it shows: `laptop-basket under naive`.
    pub title: String,
    /// The graph. The first node is the initial state.
    pub graph: DiGraph<State, Move>,
    /// The states of the trace that it is drawn around, in order; empty where everything is drawn.
    pub trail: Vec<NodeIndex>,
}

/// A state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The fewest steps to it.
    pub depth: usize,
    /// Nothing but orphans and faults can move.
    pub quiescent: bool,
    /// It is on a loop.
    pub loops: bool,
    /// What comes after it is not drawn.
    pub open: bool,
    /// What is violated in the state itself.
    pub violated: Vec<String>,
}

/// A step from one state to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// What happens: `receive: A`.
    pub words: String,
    /// It is a fault.
    pub fault: bool,
    /// The trace takes it, as the step of this number, from 1.
    pub taken: Option<usize>,
    /// What it violates.
    pub violated: Vec<String>,
}

/// A graph of more states than were allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it has more than {most} states")]
pub struct TooLarge {
    /// How many were allowed.
    pub most: usize,
}

type Numbers = HashMap<Vec<Component>, NodeIndex, FxBuildHasher>;

/// Every state of a model, if there are at most so many.
///
/// # Errors
///
/// When there are more.
pub fn whole(model: &Model, most: usize) -> Result<StateGraph, TooLarge> {
    let simulation = Simulation::new(model.clone());
    let title = format!("{} under {}", model.scenario.name, model.design.name);
    let mut drawn = StateGraph { title, graph: DiGraph::new(), trail: Vec::new() };
    let mut initial = simulation.initial();
    plain::normalise(&simulation, &mut initial);
    let mut numbers = Numbers::default();
    let mut queue = vec![initial.clone()];
    numbers.insert(initial, drawn.graph.add_node(State::default()));
    let mut next = 0;
    while let Some(state) = queue.get(next).cloned() {
        let from = NodeIndex::new(next);
        next += 1;
        let depth = drawn.graph[from].depth;
        drawn.graph[from] = State { depth, ..seen(&simulation, &state) };
        for action in plain::enabled(&simulation, &state) {
            let (mut after, observed) = plain::apply(&simulation, &state, &action);
            plain::normalise(&simulation, &mut after);
            let to = *numbers.entry(after.clone()).or_insert_with(|| {
                queue.push(after);
                drawn.graph.add_node(State { depth: depth + 1, ..State::default() })
            });
            if drawn.graph.node_count() > most {
                return Err(TooLarge { most });
            }
            let violated = names(&simulation, observed.violated);
            let words = words(&simulation, &state, &action);
            let fault = simulation.class(&action) == Class::Fault;
            // Moves that lead to one state are one where they read alike.
            let alike = drawn.graph.edges_connecting(from, to).any(|edge| edge.weight().words == words);
            if !alike {
                drawn.graph.add_edge(from, to, Move { words, fault, taken: None, violated });
            }
        }
    }
    drawn.mark_loops();
    Ok(drawn)
}

/// The states along a trace, with every move that was possible in each and was not taken.
///
/// # Errors
///
/// When the trace can't be walked on today's model.
pub fn around(trace: &Trace) -> Result<StateGraph, ReplayError> {
    let walk = walked(trace)?;
    let plain_simulation = Simulation::new(walk.simulation.setting().model.clone());
    let title = format!("{} under {}: {}", trace.scenario.name, trace.design.name, trace.invariant);
    let mut drawn = StateGraph { title, graph: DiGraph::new(), trail: Vec::new() };
    let mut numbers = Numbers::default();
    for (depth, state) in walk.states.iter().enumerate() {
        let key = unlabelled(&plain_simulation, state);
        let about = State { depth, ..seen(&plain_simulation, &key) };
        let node = *numbers.entry(key).or_insert_with(|| drawn.graph.add_node(about));
        drawn.trail.push(node);
    }
    for (index, state) in walk.states.iter().enumerate() {
        let from = drawn.trail[index];
        for action in plain::enabled(&walk.simulation, state) {
            let taken = (walk.actions.get(index) == Some(&action)).then_some(index + 1);
            if taken.is_none() && index + 1 == walk.states.len() {
                // Where it ended badly, what comes next does not matter.
                drawn.graph[from].open = true;
                continue;
            }
            let (after, observed) = plain::apply(&walk.simulation, state, &action);
            let key = unlabelled(&plain_simulation, &after);
            let about = State { depth: index + 1, open: true, ..seen(&plain_simulation, &key) };
            let to = *numbers.entry(key).or_insert_with(|| drawn.graph.add_node(about));
            let violated = names(&walk.simulation, observed.violated);
            let fault = walk.simulation.class(&action) == Class::Fault;
            let words = words(&walk.simulation, state, &action);
            drawn.graph.add_edge(from, to, Move { words, fault, taken, violated });
        }
    }
    drawn.mark_loops();
    Ok(drawn)
}

impl StateGraph {
    /// Marks the states from which a way leads back to them.
    fn mark_loops(&mut self) {
        for component in tarjan_scc(&self.graph) {
            let itself = |node: &NodeIndex| self.graph.edges(*node).any(|edge| edge.target() == *node);
            if component.len() > 1 || component.iter().any(itself) {
                for node in component {
                    self.graph[node].loops = true;
                }
            }
        }
    }
}

/// What there is to see in a state as such.
fn seen(simulation: &Simulation, state: &[Component]) -> State {
    let moves = |action: &Action| simulation.class(action) == Class::Progress;
    let quiescent = !plain::enabled(simulation, state).iter().any(moves);
    let observed = simulation.observe(quiescent, &Access::new(state));
    State { quiescent, violated: names(simulation, observed.violated), ..State::default() }
}

fn names(simulation: &Simulation, bits: u64) -> Vec<String> {
    let properties = simulation.properties().into_iter().enumerate();
    properties.filter(|(index, _)| bits & (1 << index) != 0).map(|(_, property)| property.name).collect()
}

/// A move in a few words: its action, and who or what it is about.
fn words(simulation: &Simulation, state: &[Component], action: &Action) -> String {
    let setting = simulation.setting();
    let agent = |agent: u8| setting.agent_name(usize::from(agent));
    let access = Access::new(state);
    let call = |at: CallRef| {
        let call = simulation.call(&access, at);
        let orphan = if at.orphan.is_some() { " (orphan)" } else { "" };
        format!("{}'s {}{orphan}", agent(call.request.agent), call.request.tool)
    };
    let about = match action {
        Action::Send { agent: who, .. } | Action::Receive { agent: who } | Action::HandOff { agent: who } => {
            agent(*who).to_owned()
        }
        Action::Resume { agent: who } => agent(*who).to_owned(),
        Action::Decide { agent: who, .. } | Action::Skip { agent: who } => agent(*who).to_owned(),
        Action::Guess { agent: who, handle } => format!("{} {}", agent(*who), setting.handle_name(*handle)),
        Action::Deliver { call: at, node, .. } => format!("{} to {}", call(*at), setting.node_name(*node)),
        Action::Execute { call: at, clock_stands, .. } => {
            let node = simulation.call(&access, *at).node().map_or_else(String::new, |node| setting.node_name(node));
            let stands = if *clock_stands { ", the clock stands" } else { "" };
            format!("{} at {node}{stands}", call(*at))
        }
        Action::Cancel { call: at } => call(*at),
        Action::Deploy { node } => format!("{} to {}", setting.node_name(*node), setting.side_name(true)),
        Action::Fault { target, .. } => match target {
            Target::Agent(who) | Target::Keeping(who, _) => agent(*who).to_owned(),
            Target::Transaction { call: at, .. } => call(*at),
            Target::Node(node) => setting.node_name(*node),
            Target::Calls { .. } => "its calls".to_owned(),
            Target::Handle(handle) => setting.handle_name(*handle),
            Target::Principal(principal) => setting.principals[usize::from(*principal)].to_string(),
            Target::Lease { .. } => "a lease".to_owned(),
            Target::AgentAndHandle(who, handle) => format!("{} {}", agent(*who), setting.handle_name(*handle)),
            Target::Record { record, .. } => format!("record {}", record + 1),
            Target::PrincipalAndHandle(principal, handle) => {
                format!("{} {}", setting.principals[usize::from(*principal)], setting.handle_name(*handle))
            }
        },
    };
    format!("{}: {about}", action.name())
}
