//! Replaying: executing a trace step by step on today's model.

use super::does::among;
use super::record::unlabelled;
use super::words;
use super::{Does, Step, Trace};
use crate::action::Action;
use crate::engine::{Access, Class, System, plain};
use crate::input::{self, Input, InputError, Kind, Source};
use crate::invariants::{INVARIANTS, first_open};
use crate::model::{Design, Extent, Model, Protocol, Scenario};
use crate::situation;
use crate::step::{Performed, Property, PropertyKind, Simulation};
use crate::world::{Component, Fact};

/// A trace that does not replay.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// One of its three inputs is wrong.
    #[error("the trace holds an input that can't be read")]
    Input(#[source] Box<InputError>),
    /// It names a fault that does not exist, or a budget that is too large.
    #[error("the trace has a bound that can't be used: {0}")]
    Bounds(String),
    /// It names an invariant or assertion that the model does not have.
    #[error("there is no invariant or assertion `{0}`")]
    Property(String),
    /// A step can't be taken.
    #[error("step {number} (`{step}`) is not enabled; {instead}")]
    NotEnabled {
        /// The step, from 1.
        number: usize,
        /// The action with its operands.
        step: String,
        /// What may have been meant, or what is enabled there.
        instead: String,
    },
    /// A step does something else than it did.
    #[error("step {number} (`{action}`) does something else now: {difference}")]
    Differs {
        /// The step, from 1.
        number: usize,
        /// Its action.
        action: String,
        /// The first difference.
        difference: String,
    },
    /// It shows a situation that the model does not know.
    #[error("the situation `{0}` is not known: {1}")]
    Situation(String, String),
    /// The last step does not violate what the trace says.
    #[error("`{0}` is not violated at the end")]
    Gone(String),
    /// The last step does not reach the situation that the trace shows.
    #[error("`{0}` is not reached at the end")]
    NotReached(String),
}

/// Executes a trace on today's model, and answers its steps as they are written today.
///
/// # Errors
///
/// When an input can't be read, a step is not enabled or does something else, or the violation is gone.
pub fn replay(trace: &Trace) -> Result<Vec<Step>, ReplayError> {
    let mut simulation = simulation(trace)?;
    if let Some(name) = &trace.shows {
        let unknown = |why: &str| ReplayError::Situation(name.clone(), why.to_owned());
        let found = situation::parse(name, &simulation.setting().model.scenario);
        let found = found.map_err(|problems| unknown(problems.first().map_or("", |problem| &problem.message)))?;
        if simulation.room() == 0 {
            return Err(unknown("the scenario has too many assertions"));
        }
        simulation = simulation.showing(&[found]);
    }
    let claim = trace.shows.as_ref().unwrap_or(&trace.invariant);
    let properties = simulation.properties();
    let shown = |property: &Property| (property.kind == PropertyKind::Shown) == trace.shows.is_some();
    let property = properties.iter().position(|property| property.name == *claim && shown(property));
    let property = property.ok_or_else(|| ReplayError::Property(claim.clone()))?;
    let mut walk = Walk::new(&simulation);
    let mut steps = Vec::new();
    for (number, recorded) in (1..).zip(&trace.steps) {
        let enabled = walk.find(number, &recorded.does)?;
        let step = walk.step(&enabled);
        if let Some(difference) = difference(recorded, &step) {
            return Err(ReplayError::Differs { number, action: recorded.does.action.clone(), difference });
        }
        steps.push(step);
    }
    walk.violation(property, trace.loops_from).ok_or_else(|| match &trace.shows {
        Some(name) => ReplayError::NotReached(name.clone()),
        None => ReplayError::Gone(trace.invariant.clone()),
    })?;
    Ok(steps)
}

/// A trace walked again: the labelled simulation of its inputs, its states, the initial one first, and the actions between.
pub struct Walked {
    /// The simulation.
    pub simulation: Simulation,
    /// One state more than there are steps.
    pub states: Vec<Vec<Component>>,
    /// One action for each step.
    pub actions: Vec<Action>,
}

/// Walks a trace again, whatever its steps do today.
///
/// # Errors
///
/// When an input can't be read, or a step is not enabled.
pub fn walked(trace: &Trace) -> Result<Walked, ReplayError> {
    let simulation = simulation(trace)?;
    let mut walk = Walk::new(&simulation);
    let mut actions = Vec::new();
    for (number, recorded) in (1..).zip(&trace.steps) {
        let enabled = walk.find(number, &recorded.does)?;
        walk.step(&enabled);
        actions.push(enabled);
    }
    let states = std::mem::take(&mut walk.states);
    Ok(Walked { simulation, states, actions })
}

/// Where a run parts from a trace that it follows step by step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Departure {
    /// This step is not possible any more.
    Impossible {
        /// The step, from 1.
        number: usize,
    },
    /// In this step a call is ended that went on, or is ended otherwise.
    Ended {
        /// The step, from 1.
        number: usize,
        /// The step of the handler that ends it.
        by: String,
        /// The outcome.
        outcome: String,
    },
    /// Every step is possible, and the last one violates nothing.
    Harmless,
}

/// Follows a trace in another model, step by step, and says where that parts from it; `None`: the trace violates its
/// property there too.
#[must_use]
pub fn departure(trace: &Trace, model: Model) -> Option<Departure> {
    let simulation = Simulation::labelled(model);
    let property = simulation.properties().iter().position(|property| property.name == trace.invariant);
    let Some(property) = property else { return Some(Departure::Harmless) };
    let mut walk = Walk::new(&simulation);
    for (number, recorded) in (1..).zip(&trace.steps) {
        let Ok(action) = walk.find(number, &recorded.does) else { return Some(Departure::Impossible { number }) };
        let step = walk.step(&action);
        let ended = |step: &Step| Some((step.transaction.as_ref()?.ended_by.clone()?, step.answer.clone()?.outcome));
        if let Some((by, outcome)) = ended(&step).filter(|now| ended(recorded).as_ref() != Some(now)) {
            return Some(Departure::Ended { number, by, outcome });
        }
    }
    walk.violation(property, trace.loops_from).is_none().then_some(Departure::Harmless)
}

/// The labelled simulation of a trace's own inputs.
///
/// # Errors
///
/// When an input can't be read, or a bound can't be used.
pub fn simulation(trace: &Trace) -> Result<Simulation, ReplayError> {
    let (scenario, design, protocol) = inputs(trace)?;
    let invariants: Vec<&str> = INVARIANTS.iter().map(|row| row.name).collect();
    let wrong = |error: InputError| ReplayError::Input(Box::new(error));
    let (model, _) = input::compose(&scenario, &design, &protocol, &invariants).map_err(wrong)?;
    Ok(Simulation::labelled(model))
}

/// A scenario, a design and a protocol.
pub type Inputs = (Input<Scenario>, Input<Design>, Input<Protocol>);

/// The inputs of a trace, as it holds them: with the budgets of its run, and nothing expected of it.
///
/// # Errors
///
/// When one of them can't be read, or a fault or its budget can't be used.
pub fn inputs(trace: &Trace) -> Result<Inputs, ReplayError> {
    let wrong = |error: InputError| ReplayError::Input(Box::new(error));
    let invariants: Vec<&str> = INVARIANTS.iter().map(|row| row.name).collect();
    let source = |kind: Kind, input: &super::Input| {
        let origin = format!("{} of the trace", kind.name());
        Source::new(&*input.name, origin, &*input.text)
    };
    let mut scenario =
        input::read_scenario_within(&source(Kind::Scenario, &trace.scenario), &invariants, Extent::SIMULATED)
            .map_err(wrong)?;
    let mut design = input::read_design(&source(Kind::Design, &at_start(&trace.design))).map_err(wrong)?;
    if let Some(deployed) = &trace.design.deployed {
        design = input::deploy_design(design, input::read_design(&source(Kind::Design, deployed)).map_err(wrong)?);
    }
    let mut protocol = input::read_protocol(&source(Kind::Protocol, &at_start(&trace.protocol))).map_err(wrong)?;
    if let Some(deployed) = &trace.protocol.deployed {
        let deployed = input::read_protocol(&source(Kind::Protocol, deployed)).map_err(wrong)?;
        protocol = input::deploy_protocol(protocol, deployed);
    }
    scenario.value.faults.clear();
    for (name, budget) in &trace.bounds {
        let fault = crate::faults::FAULTS.iter().find(|fault| fault.name == name);
        let fault = fault.ok_or_else(|| ReplayError::Bounds(format!("there is no fault `{name}`")))?;
        scenario.value.faults.insert(fault.name, *budget);
    }
    // What was expected of the run is no part of the trace's claim, and may speak of other properties than today's.
    scenario.value.expect.clear();
    design.value.expect.clear();
    Ok((scenario, design, protocol))
}

/// An input as it is at the start: without what is deployed, which its name tells too.
fn at_start(input: &super::Input) -> super::Input {
    let Some(deployed) = &input.deployed else { return input.clone() };
    let alone = input.name.strip_suffix(&deployed.name).and_then(|name| name.strip_suffix(".."));
    super::Input { name: alone.unwrap_or(&input.name).to_owned(), ..input.clone() }
}

/// The first difference between a step as it was recorded and as it is now. The wording of its sentence may change.
fn difference(recorded: &Step, now: &Step) -> Option<String> {
    let Step { does: _, call, transaction, answer, told, changes, commits, beliefs, notes: _, sentence: _ } = recorded;
    fn pair<T: PartialEq + std::fmt::Debug>(what: &str, before: &T, after: &T) -> Option<String> {
        (before != after).then(|| format!("its {what} was {before:?} and is {after:?}"))
    }
    pair("call", call, &now.call)
        .or_else(|| pair("transaction", transaction, &now.transaction))
        .or_else(|| pair("answer", answer, &now.answer))
        .or_else(|| pair("telling", told, &now.told))
        .or_else(|| pair("list of changes", changes, &now.changes))
        .or_else(|| pair("list of commits", commits, &now.commits))
        .or_else(|| pair("list of beliefs", beliefs, &now.beliefs))
}

/// A labelled run, step by step.
pub(super) struct Walk<'w> {
    simulation: &'w Simulation,
    state: Vec<Component>,
    facts: Vec<Fact>,
    /// The situations that the last step is, each by its bit.
    shown: Vec<usize>,
    /// Every state so far, the initial one first.
    states: Vec<Vec<Component>>,
    /// The source of each step.
    sources: Vec<Option<usize>>,
    /// What the steps so far leave to say.
    past: words::Past,
}

impl<'w> Walk<'w> {
    pub(super) fn new(simulation: &'w Simulation) -> Self {
        let state = simulation.initial();
        Self {
            simulation,
            states: vec![state.clone()],
            state,
            facts: Vec::new(),
            shown: Vec::new(),
            sources: Vec::new(),
            past: words::Past::default(),
        }
    }

    pub(super) fn state(&self) -> &[Component] {
        &self.state
    }

    /// The enabled action with these operands.
    pub(super) fn find(&self, number: usize, wanted: &Does) -> Result<Action, ReplayError> {
        let access = Access::new(&self.state);
        among(self.simulation, &access, plain::enabled(self.simulation, &self.state), number, wanted)
    }

    /// Takes an enabled action and writes it down.
    pub(super) fn step(&mut self, action: &Action) -> Step {
        let before = std::mem::take(&mut self.state);
        let mut after = before.clone();
        self.facts.clear();
        self.shown.clear();
        let mut answered = None;
        for part in 0..self.simulation.parts(action) {
            let mut access = Access::new(&before);
            let performed: Performed = self.simulation.perform(action, part, &mut access);
            self.shown.extend(self.simulation.shown_by_step(action, &performed));
            self.facts.extend(performed.facts);
            let decided = performed.decided.map(|(answer, step)| (answer, Some(step)));
            answered = answered.or(performed.answered).or(decided);
            for (slot, component) in access.finish().1 {
                after[usize::from(slot)] = component;
            }
        }
        let step = words::step(self.simulation, action, &before, &after, &self.facts, answered, &mut self.past);
        let enables = |source: &usize| self.simulation.actions(*source, &Access::new(&before)).contains(action);
        self.sources.push((0..self.simulation.sources()).find(enables));
        self.states.push(after.clone());
        self.state = after;
        step
    }

    /// How the last step, or the state after it, violates a property; or what the situation is that it reaches.
    pub(super) fn violation(
        &self,
        property: usize,
        loops_from: Option<usize>,
    ) -> Option<(Option<&'static str>, String)> {
        let properties = self.simulation.properties();
        if Some(property) == self.simulation.liveness() {
            return self.never_ends(loops_from).map(|sentence| (None, sentence));
        }
        if properties[property].kind == PropertyKind::Invariant {
            let violation = self.simulation.violation(&self.facts, &self.state, property)?;
            return Some((violation.kind, violation.sentence));
        }
        let quiescent = plain::enabled(self.simulation, &self.state)
            .iter()
            .all(|action| self.simulation.class(action) != Class::Progress);
        if properties[property].kind == PropertyKind::Shown {
            let by_state = self.simulation.shown_by_state(quiescent, &Access::new(&self.state));
            let reached = self.shown.contains(&property) || by_state.contains(&property);
            let situation = self.simulation.shown().into_iter().find(|shown| shown.name() == properties[property].name);
            return situation.filter(|_| reached).map(|situation| (None, situation.about()));
        }
        if !quiescent {
            return None;
        }
        let judged = self.simulation.at_rest(&Access::new(&self.state));
        let (_, holds) = judged.into_iter().find(|(index, _)| *index == property)?;
        let name = &properties[property].name;
        let when = match properties[property].kind {
            PropertyKind::Finally => "everybody was told ok",
            _ => "nothing is left to do",
        };
        match holds {
            Ok(true) => None,
            Ok(false) => Some((None, format!("{when}, and {name} is not true"))),
            Err(error) => Some((None, format!("{when}, and {name} can't be evaluated: {error}"))),
        }
    }
}

impl Walk<'_> {
    /// How the run never ends: it comes round to a state where it was, fairly, or nothing fair can move any more; and an
    /// intent is open.
    fn never_ends(&self, loops_from: Option<usize>) -> Option<String> {
        let setting = self.simulation.setting();
        let agent = setting.agent_name(first_open(setting, &Access::new(&self.state))?);
        let Some(from) = loops_from else {
            let stuck = self.fair_sources(&self.state) == 0;
            return stuck.then(|| format!("nothing can move any more, and {agent} has not ended its work"));
        };
        let steps = self.sources.get(from..).filter(|steps| !steps.is_empty())?;
        let plain = Simulation::new(setting.model.clone());
        let (start, end) = (unlabelled(&plain, &self.states[from]), unlabelled(&plain, &self.state));
        // Each source moves in the loop, or can't move somewhere in it.
        let moved = steps.iter().flatten().fold(0, |moved, source| moved | bit(*source));
        let met = self.states[from..].iter().fold(moved, |met, state| met | !self.fair_sources(state));
        let first = from + 1;
        (start == end && met == u64::MAX)
            .then(|| format!("from step {first} on the run goes round for ever, and {agent} never ends its work"))
    }

    /// The sources with a fair move in a state, one bit each.
    fn fair_sources(&self, state: &[Component]) -> u64 {
        let moves = |source: &usize| {
            let actions = self.simulation.actions(*source, &Access::new(state));
            actions.iter().any(|action| self.simulation.is_fair(action))
        };
        (0..self.simulation.sources()).filter(moves).fold(0, |sources, source| sources | bit(source))
    }
}

fn bit(source: usize) -> u64 {
    1 << source.min(63)
}
