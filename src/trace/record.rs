//! Recording: from what a search found to a trace.
//!
//! The states of a search carry no request ids and renamed version numbers. So its path is walked again in a labelled
//! simulation, step by step, and each state is compared with the one that the search saw.

use std::collections::BTreeMap;

use super::does::does;
use super::replay::{ReplayError, Walk};
use super::{AgentLane, Content, Does, Input, ResourceLane, SCHEMA, Step, Trace};
use crate::action::Action;
use crate::engine::{Access, System, plain};
use crate::input::Source;
use crate::model::Model;
use crate::step::{Property, PropertyKind, Simulation};
use crate::world::{CallRef, Component};

/// The texts of the three inputs.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'s> {
    /// Of the scenario.
    pub scenario: &'s Source,
    /// Of the design.
    pub design: &'s Source,
    /// Of the protocol.
    pub protocol: &'s Source,
    /// Of the design that is deployed.
    pub deployed_design: Option<&'s Source>,
    /// Of the protocol that is deployed.
    pub deployed_protocol: Option<&'s Source>,
}

impl Sources<'_> {
    /// The texts of the design and of the protocol, each with that of what is deployed behind it.
    #[must_use]
    pub fn sides(&self) -> [String; 2] {
        let with = |source: &Source, deployed: Option<&Source>| {
            let deployed = deployed.map_or("", |deployed| &deployed.text);
            [&source.text, deployed].concat()
        };
        [with(self.design, self.deployed_design), with(self.protocol, self.deployed_protocol)]
    }
}

/// A trace that could not be recorded: always a bug of handlecheck.
#[derive(Debug, thiserror::Error)]
#[error("the search took a step that a simulation can't take again (step {step} of {property})")]
pub struct RecordError {
    /// The step, from 1.
    step: usize,
    /// The property that is violated.
    property: String,
}

/// Writes down a violation of a property, from the states on the path to it. `loops_from`: the state, counted from 0, to
/// which the last one comes back.
///
/// # Errors
///
/// When the path can't be walked again, which is a bug.
pub fn record(
    simulation: &Simulation,
    path: &[Vec<Component>],
    loops_from: Option<usize>,
    property: usize,
    sources: &Sources<'_>,
) -> Result<Trace, RecordError> {
    record_path(simulation, path, loops_from, Some(property), sources)
}

/// Writes down a run whatever is in it: it shows itself, and claims no violation.
///
/// # Errors
///
/// When the path can't be walked again, which is a bug.
pub fn record_run(
    simulation: &Simulation,
    path: &[Vec<Component>],
    sources: &Sources<'_>,
) -> Result<Trace, RecordError> {
    record_path(simulation, path, None, None, sources)
}

/// Writes down a run that was taken in a labelled simulation, in the order in which it was taken. `end`: its last state.
#[must_use]
pub fn record_actions(labelled: &Simulation, actions: &[Action], end: Vec<Component>, sources: &Sources<'_>) -> Trace {
    written(labelled, &[end], actions, None, None, sources)
}

/// Writes down a violation of a property once more, by the actions that lead to it. `loops_from`: as for [`record`].
///
/// # Errors
///
/// When an action is not enabled in this model, or the last one does not violate the property.
pub fn rerecord(
    model: &Model,
    does: &[Does],
    loops_from: Option<usize>,
    property: usize,
    sources: &Sources<'_>,
) -> Result<Trace, ReplayError> {
    let labelled = Simulation::labelled(model.clone());
    let mut walk = Walk::new(&labelled);
    let mut actions = Vec::new();
    for (number, does) in (1..).zip(does) {
        let action = walk.find(number, does)?;
        walk.step(&action);
        actions.push(action);
    }
    let fits = loops_from.is_none_or(|from| from < actions.len());
    if !fits || walk.violation(property, loops_from).is_none() {
        return Err(ReplayError::Gone(labelled.properties().swap_remove(property).name));
    }
    let end = walk.state().to_vec();
    Ok(written(&labelled, &[end], &actions, loops_from, Some(property), sources))
}

fn record_path(
    simulation: &Simulation,
    path: &[Vec<Component>],
    loops_from: Option<usize>,
    property: Option<usize>,
    sources: &Sources<'_>,
) -> Result<Trace, RecordError> {
    let labelled = Simulation::labelled(simulation.setting().model.clone()).showing(&simulation.shown());
    let properties = simulation.properties();
    let mut states = vec![labelled.initial()];
    let mut actions: Vec<Action> = Vec::new();
    for (index, target) in path.iter().enumerate().skip(1) {
        let state = states.last().expect("there is an initial state");
        let last = index + 1 == path.len();
        let steps = plain::enabled(&labelled, state).into_iter().filter_map(|action| {
            let (next, observations) = plain::apply(&labelled, state, &action);
            let violates = property.is_some_and(|property| observations.violated & (1 << property) != 0);
            (unlabelled(simulation, &next) == *target).then_some((action, next, violates))
        });
        // Of several steps to the last state, the one that violates; none does where the state itself is the violation.
        let mut steps: Vec<_> = steps.collect();
        let at = steps.iter().position(|(_, _, violates)| last && *violates).unwrap_or(0);
        let found = (at < steps.len()).then(|| steps.swap_remove(at)).map(|(action, next, _)| (action, next));
        let Some((action, next)) = found else {
            let property =
                property.map_or_else(|| "a whole run".to_owned(), |property| properties[property].name.clone());
            return Err(RecordError { step: index, property });
        };
        actions.push(action);
        states.push(next);
    }
    if loops_from.is_none() {
        tidy(&labelled, &mut states, &mut actions);
    }
    Ok(written(&labelled, &states, &actions, loops_from, property, sources))
}

/// A labelled state as a search with this simulation sees it.
#[must_use]
pub fn unlabelled(simulation: &Simulation, state: &[Component]) -> Vec<Component> {
    let mut plain: Vec<Component> =
        state.iter().filter(|component| !matches!(component, Component::Requests(_))).cloned().collect();
    for component in &mut plain {
        match component {
            Component::Call(Some(call)) => call.request.id = 0,
            // Orphans stand in the order of their contents, of which the number is a part.
            Component::Orphans(calls) => {
                calls.iter_mut().for_each(|call| call.request.id = 0);
                calls.sort();
            }
            _ => {}
        }
    }
    plain::normalise(simulation, &mut plain);
    plain
}

/// Puts the steps into an order that reads well. Independent neighbours are swapped, so the run is the same: what an
/// agent sends moves towards where it is executed, and an answer towards the agent.
fn tidy(labelled: &Simulation, states: &mut [Vec<Component>], actions: &mut [Action]) {
    let count = actions.len();
    for start in (0..count.saturating_sub(1)).rev() {
        let mut at = start;
        let late = matches!(actions[at], Action::Send { .. } | Action::Deliver { .. });
        while late && at + 2 < count && thread(&actions[at]) != thread(&actions[at + 1]) {
            if !swap(labelled, states, actions, at) {
                break;
            }
            at += 1;
        }
    }
    for start in 1..count.saturating_sub(1) {
        let mut at = start;
        let early = matches!(actions[at], Action::Receive { .. });
        while early && at > 0 && thread(&actions[at]) != thread(&actions[at - 1]) {
            if !swap(labelled, states, actions, at - 1) {
                break;
            }
            at -= 1;
        }
    }
}

/// Whose doing an action is: steps of one agent, or of one of its orphans, stay in order.
fn thread(action: &Action) -> Option<(u8, bool)> {
    match action {
        Action::Send { agent, .. }
        | Action::Receive { agent }
        | Action::HandOff { agent }
        | Action::Resume { agent } => Some((*agent, false)),
        Action::Deliver { call: CallRef { agent, orphan }, .. }
        | Action::Execute { call: CallRef { agent, orphan }, .. }
        | Action::Cancel { call: CallRef { agent, orphan } } => Some((*agent, orphan.is_some())),
        Action::Guess { agent, .. } | Action::Decide { agent, .. } | Action::Skip { agent } => Some((*agent, false)),
        Action::Fault { .. } | Action::Deploy { .. } => None,
    }
}

/// Swaps the actions at `at` and `at + 1`, if both are enabled in the other order and lead to the same state without
/// violating anything else. Orphans are named by their place, which another action may move: such pairs stay.
fn swap(labelled: &Simulation, states: &mut [Vec<Component>], actions: &mut [Action], at: usize) -> bool {
    let (first, second) = (actions[at].clone(), actions[at + 1].clone());
    let enabled = |state: &[Component], action: &Action| plain::enabled(labelled, state).contains(action);
    if !enabled(&states[at], &second) {
        return false;
    }
    let (between, _) = plain::apply(labelled, &states[at], &second);
    if !enabled(&between, &first) {
        return false;
    }
    let (after, _) = plain::apply(labelled, &between, &first);
    if after != states[at + 2] {
        return false;
    }
    states[at + 1] = between;
    actions.swap(at, at + 1);
    true
}

fn written(
    labelled: &Simulation,
    states: &[Vec<Component>],
    actions: &[Action],
    loops_from: Option<usize>,
    property: Option<usize>,
    sources: &Sources<'_>,
) -> Trace {
    let setting = labelled.setting();
    let model = &setting.model;
    let mut walk = Walk::new(labelled);
    let steps: Vec<Step> = actions.iter().map(|action| walk.step(action)).collect();
    assert_eq!(Some(walk.state()), states.last().map(Vec::as_slice));
    let shown = property.map(|property| {
        let (kind, sentence) =
            walk.violation(property, loops_from).expect("the last step or state shows the violation");
        (kind, sentence, labelled.properties().swap_remove(property))
    });
    let (kind, sentence, invariant, shows) = match shown {
        Some((kind, sentence, Property { name, kind: PropertyKind::Shown, .. })) => {
            (kind, sentence, String::new(), Some(name))
        }
        Some((kind, sentence, Property { name, .. })) => (kind, sentence, name, None),
        None => (None, "a whole run".to_owned(), String::new(), Some("a whole run".to_owned())),
    };
    let input = |name: &str, title: &str, source: &Source| Input {
        name: name.to_owned(),
        title: title.to_owned(),
        text: source.text.to_string(),
        file: source.asked.clone(),
        deployed: None,
    };
    let deployed = model.deployed.as_ref().map(|deployed| &deployed.model);
    let deployed_design = deployed.zip(sources.deployed_design).map(|(model, source)| {
        let design = &model.design;
        Box::new(input(&design.name, &design.title, source))
    });
    let deployed_protocol = deployed.zip(sources.deployed_protocol).map(|(model, source)| {
        let protocol = &model.protocol;
        Box::new(input(&protocol.name, &protocol.title, source))
    });
    let (scenario, design, protocol) = (&model.scenario, &model.design, &model.protocol);
    let bounds: BTreeMap<String, u8> = scenario
        .faults
        .iter()
        .filter(|(_, budget)| **budget > 0)
        .map(|(name, budget)| ((*name).to_owned(), *budget))
        .collect();
    let agents = scenario.agents.iter().map(|agent| AgentLane {
        name: agent.name.clone(),
        principal: agent.principal.to_string(),
        parent: agent.parent.map(|parent| scenario.agents[parent].name.clone()),
    });
    let nodes = (0..).take(scenario.nodes).map(|node| setting.node_name(node));
    let resources = scenario.resources.iter().enumerate().map(|(index, resource)| ResourceLane {
        name: resource.name.clone(),
        owner: setting.principals[usize::from(setting.owner(index))].to_string(),
        shared_with: resource.shared_with.iter().map(ToString::to_string).collect(),
        initial: resource.handle.as_ref().map(|handle| Content {
            handle: handle.clone(),
            version: Some(setting.first_version(index)),
            values: resource.fields.iter().map(|(_, value)| value.to_string()).collect(),
        }),
        fields: resource.fields.iter().map(|(name, _)| name.clone()).collect(),
    });
    let faults = steps.iter().filter(|step| step.does.fault).count();
    Trace {
        handlecheck: env!("CARGO_PKG_VERSION").to_owned(),
        schema: SCHEMA,
        scenario: input(&scenario.name, &scenario.title, sources.scenario),
        design: Input { deployed: deployed_design, ..input(&design.name, &design.title, sources.design) },
        protocol: Input { deployed: deployed_protocol, ..input(&protocol.name, &protocol.title, sources.protocol) },
        bounds,
        invariant,
        shows,
        kind: kind.map(str::to_owned),
        sentence,
        loops_from,
        faults: u32::try_from(faults).expect("a trace has few steps"),
        agents: agents.collect(),
        nodes: nodes.collect(),
        resources: resources.collect(),
        steps,
    }
}

/// Whether two different enabled actions of a state would be written down alike, which must never happen.
#[must_use]
pub fn is_ambiguous(labelled: &Simulation, state: &[Component]) -> bool {
    let access = Access::new(state);
    let enabled = plain::enabled(labelled, state);
    let written: Vec<_> = enabled.iter().map(|action| does(labelled, &access, action)).collect();
    written.iter().enumerate().any(|(index, one)| written[..index].contains(one))
}
