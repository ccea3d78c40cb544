//! Whole runs: along a trace, or at random, on servers of ours that are started for it.

use std::collections::BTreeSet;
use std::path::Path;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

use super::fleet::Fleet;
use super::forced::{Difference, Finished, Forced};
use super::journal::Journal;
use super::note;
use crate::action::Action;
use crate::engine::{Access, Class, System};
use crate::input::{self, Input, Source};
use crate::log::{Heading, Line};
use crate::model::design::Calls;
use crate::model::{Design, Entry, Protocol, Scenario};
use crate::step::Simulation;
use crate::trace::{self, ReplayError, Sources, Trace, record_actions};

/// Why a run did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The trace does not replay on today's model.
    #[error("the trace does not replay: {0}")]
    Trace(#[from] ReplayError),
    /// The design can't be served.
    #[error("the design can't be served: {0}")]
    Unserved(String),
    /// The servers can't be started or asked.
    #[error("{0}")]
    Servers(String),
    /// The model and the servers differ.
    #[error("the model and the server differ at {0}")]
    Differs(#[from] Difference),
}

/// A run that came to its end, with the servers where the model is.
#[derive(Debug)]
pub struct Driven {
    /// How many steps it took.
    pub steps: usize,
    /// What was seen from outside.
    pub log: Vec<Line>,
    /// The same run as the model has it. Behind the end of a trace come the answers that were under way.
    pub run: Trace,
    /// The invariants that it violates in the model.
    pub violated: BTreeSet<String>,
}

/// The texts that servers are started from, and what the log says it is about.
struct Subject<'s> {
    program: &'s Path,
    scenario: &'s str,
    design: &'s str,
    /// The design that is deployed.
    deployed: Option<&'s str>,
    heading: Heading,
}

impl Subject<'_> {
    fn servers(&self, simulation: &Simulation, folder: &Path) -> Result<Fleet, RunError> {
        let nodes = simulation.setting().model.scenario.nodes;
        let model = &simulation.setting().model;
        let refused = |(design, _): (&Design, _)| crate::serve::refusals(design, Some(&model.scenario));
        let mut refusals: Vec<String> = model.sides().flat_map(refused).collect();
        let in_parts = model.sides().any(|(design, _)| has_step(design, "apply-next"));
        let mut entries = model.scenario.agents.iter().flat_map(|agent| &agent.work);
        let unsorted = |entry: &Entry| {
            let Entry::Mutate { resource, operation, also, .. } = entry else { return false };
            let all = std::iter::once((*resource, operation));
            let mut all = all.chain(also.iter().map(|also| (also.resource, &also.operation)));
            all.any(|(resource, operation)| {
                let declared = &model.scenario.resources[resource].fields;
                !operation.fields().into_iter().map(|field| &declared[field].0).is_sorted()
            })
        };
        if in_parts && entries.any(unsorted) {
            refusals.push(
                "the server's `apply-next` takes fields in the order of their names, and the scenario in another"
                    .to_owned(),
            );
        }
        let mut entries = model.scenario.agents.iter().flat_map(|agent| &agent.work);
        if entries.any(|entry| matches!(entry, Entry::Mutate { intent: Some(_), .. })) {
            refusals.push("a log does not say that calls of several entries are one intent, and entries of the scenario share one".to_owned());
        }
        let resumes = model.sides().any(|(design, _)| design.server.calls == Calls::Resumed);
        if resumes && self.deployed.is_some() {
            refusals.push(
                "a process that starts with the new design does not know the one as which a call in the journal began"
                    .to_owned(),
            );
        }
        refusals.dedup();
        if !refusals.is_empty() {
            return Err(RunError::Unserved(refusals.join("; ")));
        }
        Fleet::start(self.program, folder, (self.design, self.deployed, self.scenario), nodes)
            .map_err(RunError::Servers)
    }
}

fn has_step(design: &Design, name: &str) -> bool {
    let handlers = design.server.tools.values();
    let mut steps = handlers.flat_map(|handler| handler.transactions.iter().chain(&handler.at_end)).flatten();
    steps.any(|step| *step == name)
}

/// Drives servers along a trace, and compares every answer and the end. `program` is the command `handlecheck`.
///
/// # Errors
///
/// When the trace does not replay, the design can't be served, or the model and the servers differ.
pub async fn along(program: &Path, trace: &Trace) -> Result<Driven, RunError> {
    let simulation = trace::simulation(trace)?;
    let heading = Heading {
        scenario: Some(trace.scenario.name.clone()),
        design: Some(trace.design.name.clone()),
        protocol: Some(trace.protocol.name.clone()),
        versions_count: note::versions_count(&simulation.setting().model),
        takes_back: note::takes_back(&simulation.setting().model),
        about: Some(format!("along a trace that violates {}: {}", trace.invariant, trace.sentence)),
        ..Heading::default()
    };
    let deployed = trace.design.deployed.as_deref();
    let subject = Subject {
        program,
        scenario: &trace.scenario.text,
        design: &trace.design.text,
        deployed: deployed.map(|deployed| &*deployed.text),
        heading,
    };
    let folder = folder()?;
    let mut fleet = subject.servers(&simulation, folder.path())?;
    let journal = Journal::new(subject.heading);
    let mut forced = Forced::new(&simulation, &mut fleet, journal).map_err(RunError::Servers)?;
    for (number, step) in (1..).zip(&trace.steps) {
        let access = Access::new(forced.state());
        let action = trace::among(&simulation, &access, forced.enabled(), number, &step.does)?;
        drop(access);
        forced.step(&action).await?;
    }
    // What is under way when the trace ends arrives after it.
    while let Some(receive) = forced.enabled().into_iter().find(|action| matches!(action, Action::Receive { .. })) {
        forced.step(&receive).await?;
    }
    let finished = forced.finish().await?;
    let source = |input: &trace::Input| Source::new(&input.name, "the trace", &*input.text);
    let [scenario, design, protocol] = [&trace.scenario, &trace.design, &trace.protocol].map(source);
    let [deployed_design, deployed_protocol] =
        [deployed, trace.protocol.deployed.as_deref()].map(|deployed| deployed.map(source));
    let sources = Sources {
        scenario: &scenario,
        design: &design,
        protocol: &protocol,
        deployed_design: deployed_design.as_ref(),
        deployed_protocol: deployed_protocol.as_ref(),
    };
    Ok(driven(&simulation, trace.steps.len(), finished, &sources))
}

/// How many steps a random run has at most.
const MOST_STEPS: usize = 400;

/// Drives servers through a scenario at random, from a seed, until nothing is left to do; compares every answer and the
/// end.
///
/// # Errors
///
/// When the inputs don't fit, the design can't be served, or the model and the servers differ.
pub async fn at_random(
    program: &Path,
    (scenario, design, protocol): (&Input<Scenario>, &Input<Design>, &Input<Protocol>),
    invariants: &[&str],
    seed: u64,
) -> Result<Driven, RunError> {
    let composed = input::compose(scenario, design, protocol, invariants);
    let (model, _) = composed.map_err(|error| RunError::Trace(ReplayError::Input(Box::new(error))))?;
    let heading = Heading {
        scenario: Some(scenario.value.name.clone()),
        design: Some(design.value.name.clone()),
        protocol: Some(protocol.value.name.clone()),
        seed: Some(seed),
        versions_count: note::versions_count(&model),
        takes_back: note::takes_back(&model),
        ..Heading::default()
    };
    let simulation = Simulation::labelled(model);
    let deployed_design = design.deployed.as_ref().map(|deployed| &deployed.source);
    let subject = Subject {
        program,
        scenario: &scenario.source.text,
        design: &design.source.text,
        deployed: deployed_design.map(|deployed| &*deployed.text),
        heading,
    };
    let folder = folder()?;
    let mut fleet = subject.servers(&simulation, folder.path())?;
    let journal = Journal::new(subject.heading);
    let mut forced = Forced::new(&simulation, &mut fleet, journal).map_err(RunError::Servers)?;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut steps = 0;
    while steps < MOST_STEPS {
        let enabled = forced.enabled().into_iter().filter(|action| forced.can_cause(action));
        let (faults, moves): (Vec<Action>, Vec<Action>) =
            enabled.partition(|action| simulation.class(action) == Class::Fault);
        if !moves.iter().any(|action| simulation.class(action) == Class::Progress) {
            break;
        }
        // One step in eight is a fault, while there are any left.
        let strikes = !faults.is_empty() && random.next_u32().is_multiple_of(8);
        let from = if strikes { &faults } else { &moves };
        let number = (u64::from(random.next_u32()) * from.len() as u64) >> 32;
        let action = &from[usize::try_from(number).expect("it is less than a length")];
        forced.step(action).await?;
        steps += 1;
    }
    let finished = forced.finish().await?;
    let sources = Sources {
        scenario: &scenario.source,
        design: &design.source,
        protocol: &protocol.source,
        deployed_design,
        deployed_protocol: protocol.deployed.as_ref().map(|deployed| &deployed.source),
    };
    Ok(driven(&simulation, steps, finished, &sources))
}

/// A run with the model's own record of it.
fn driven(
    simulation: &Simulation,
    steps: usize,
    Finished { log, actions, end, violated }: Finished,
    sources: &Sources<'_>,
) -> Driven {
    Driven { steps, log, run: record_actions(simulation, &actions, end, sources), violated }
}

fn folder() -> Result<tempfile::TempDir, RunError> {
    tempfile::tempdir().map_err(|error| RunError::Servers(error.to_string()))
}
