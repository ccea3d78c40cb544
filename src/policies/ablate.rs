//! Ablation: what breaks when one thing is taken away? Of a design: which invariant does each of its steps protect?

use std::collections::BTreeSet;

use serde::Serialize;

use super::edit::{Edit, Place, places};
use super::variant::edited;
use super::verdicts::{Evaluated, Verdicts, newly_violated};
use crate::input::InputError;
use crate::model::{Entry, Event, Model, Tool};
use crate::run::{Bounds, Options, PropertyReport, Report, Run};
use crate::trace::RecordError;

/// What came out of an ablation.
#[derive(Clone, Debug, Serialize)]
pub struct Ablation {
    /// The scenario's name.
    pub scenario: String,
    /// The design's name.
    pub design: String,
    /// The protocol's name.
    pub protocol: String,
    /// In which bounds.
    pub bounds: Bounds,
    /// What is violated before anything is changed.
    pub violated: Vec<String>,
    /// One for each change.
    pub changes: Vec<Change>,
    /// The steps that protect nothing in this scenario: nothing breaks when they are left out.
    #[serde(rename = "protect-nothing")]
    pub protect_nothing: Vec<String>,
    /// Whether every variant was explored whole.
    pub complete: bool,
}

/// One change, and what it breaks.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// What is changed, in words.
    pub change: String,
    /// What came of it.
    pub result: Effect,
    /// What is violated with the change and not without it, each with its cheapest break.
    pub breaks: Vec<PropertyReport>,
    /// Why it is no design, where it is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What came of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// Something is violated with it that is not violated without.
    Breaks,
    /// Nothing more is violated than before.
    Nothing,
    /// What it is about happens in no run: it did not come into question.
    NeverArises,
    /// With it, it is no design for this scenario.
    Impossible,
    /// A limit was hit before this was known.
    Inconclusive,
}

/// A change, and what it is about.
pub struct Candidate {
    /// What is changed, in words.
    pub change: String,
    /// The run with the change, or why there is none.
    pub run: Result<Run, InputError>,
    /// What must happen for it to matter, where that is one thing.
    pub about: Option<About>,
}

/// What must happen for a change to matter.
#[derive(Clone, Copy, Debug)]
pub enum About {
    /// Some client meets this event.
    Event(Event),
    /// This fault strikes.
    Fault(&'static str),
}

impl About {
    /// Whether it happens in no run, by the reports without the change and with it.
    fn never_happens(self, before: &Report, after: &Report) -> bool {
        match self {
            Self::Event(event) => {
                let reactions = before.reactions.get(event.name());
                reactions.is_none_or(|reactions| reactions.values().all(|seen| *seen == 0))
            }
            Self::Fault(fault) => after.actions.get(fault).is_none_or(|seen| *seen == 0),
        }
    }
}

/// The tools whose handlers a scenario uses, as they stand in the design.
#[must_use]
pub fn used_tools(model: &Model) -> BTreeSet<Tool> {
    let entries = model.scenario.agents.iter().flat_map(|agent| &agent.work);
    let called = entries.filter_map(Entry::tool).chain([Tool::Read]);
    let served = |tool: Tool| {
        let own = model.design.server.tools.contains_key(&tool);
        if own { tool } else { Tool::Write }
    };
    called.map(served).filter(|tool| model.design.server.tools.contains_key(tool)).collect()
}

/// Every place of a step in the handlers that a scenario uses.
#[must_use]
pub fn used_places(model: &Model) -> Vec<Place> {
    used_tools(model).into_iter().flat_map(|tool| places(tool, &model.design.server.tools[&tool])).collect()
}

/// Removes, splits, joins and moves, one at a time.
fn edits(model: &Model) -> Vec<Edit> {
    let places = used_places(model);
    let kinds: [fn(Place) -> Edit; 4] = [Edit::Remove, Edit::Split, Edit::Join, Edit::Forward];
    kinds.iter().flat_map(|kind| places.iter().cloned().map(kind)).collect()
}

/// Makes every change of a single step of the design of a run, and says what each breaks. While another design is deployed, that
/// one's steps are changed too; then each change is named with the design that it is of.
///
/// # Errors
///
/// When a trace can't be recorded, which is a bug.
pub fn ablate(
    run: &Run,
    options: &Options,
    threads: usize,
    watch: &(dyn Fn(Evaluated) -> bool + Sync),
) -> Result<Ablation, RecordError> {
    let mut variants = Vec::new();
    let mut removed = Vec::new();
    let (model, sources) = (run.model(), run.sources());
    let deployed = model.deployed.as_ref().zip(sources.deployed_design);
    let sides = [(model, sources.design)].into_iter().chain(deployed.map(|(side, source)| (&side.model, source)));
    for (side, design) in sides {
        let of = if deployed.is_some() { format!("{}: ", design.name) } else { String::new() };
        for edit in edits(side) {
            let Some(source) = edited(design, std::slice::from_ref(&edit)) else { continue };
            let is_old = std::ptr::eq(side, model);
            let variant = if is_old { run.with_design(&source) } else { run.with_deployed_design(&source) };
            variants.push(Candidate { change: format!("{of}{}", edit.words()), run: variant, about: None });
            removed.push(match edit {
                Edit::Remove(place) => Some(format!("{of}{}: {}", place.tool, place.step)),
                _ => None,
            });
        }
    }
    let mut ablation = compare(run, variants, options, threads, watch)?;
    let idle = ablation.changes.iter().zip(removed).filter(|(change, _)| change.result == Effect::Nothing);
    ablation.protect_nothing = idle.filter_map(|(_, step)| step).collect();
    Ok(ablation)
}

/// Explores a run and its variants, and says what is violated in each of them that is not violated in the run itself.
///
/// # Errors
///
/// When a trace can't be recorded, which is a bug.
pub fn compare(
    run: &Run,
    variants: Vec<Candidate>,
    options: &Options,
    threads: usize,
    watch: &(dyn Fn(Evaluated) -> bool + Sync),
) -> Result<Ablation, RecordError> {
    let verdicts = Verdicts::default();
    let mut runs = vec![run.clone()];
    runs.extend(variants.iter().filter_map(|variant| variant.run.as_ref().ok().cloned()));
    let mut reports = verdicts.of(&runs, options, threads, watch)?.into_iter();
    let before = reports.next().flatten();
    let mut changes = Vec::new();
    for Candidate { change, run, about } in variants {
        let (result, breaks, reason) = match run {
            Err(error) => {
                let first = error.diagnostics.first();
                (Effect::Impossible, Vec::new(), first.map(|diagnostic| diagnostic.message.clone()))
            }
            Ok(variant) => {
                let after = reports.next().flatten();
                let idle = about.zip(before.as_ref()).zip(after.as_ref());
                let idle = idle.is_some_and(|((about, before), after)| about.never_happens(before, after));
                let (effect, breaks) = effect(before.as_ref(), after, &variant, options)?;
                let arises = effect != Effect::Nothing || !idle;
                (if arises { effect } else { Effect::NeverArises }, breaks, None)
            }
        };
        changes.push(Change { change, result, breaks, reason });
    }
    let Model { scenario, design, protocol, .. } = run.model();
    let violated = before.iter().flat_map(|report| &report.invariants).filter(|property| !property.breaks.is_empty());
    let faults = scenario.faults.iter().filter(|(_, budget)| **budget > 0);
    Ok(Ablation {
        scenario: scenario.name.clone(),
        design: design.name.clone(),
        protocol: protocol.name.clone(),
        bounds: Bounds { faults: faults.map(|(name, budget)| (*name, *budget)).collect() },
        violated: violated.map(|property| property.name.clone()).collect(),
        complete: changes.iter().all(|change| change.result != Effect::Inconclusive),
        changes,
        protect_nothing: Vec::new(),
    })
}

fn effect(
    before: Option<&Report>,
    after: Option<Report>,
    variant: &Run,
    options: &Options,
) -> Result<(Effect, Vec<PropertyReport>), RecordError> {
    let (Some(before), Some(mut after)) = (before, after) else { return Ok((Effect::Inconclusive, Vec::new())) };
    let untold = |property: &PropertyReport| property.breaks.iter().any(|found| found.recorded.is_none());
    if newly_violated(before, &after).any(untold) {
        // It was remembered from a run that is composed alike: the traces must hold this one's texts.
        after = variant.explore(options, &mut |_| false)?;
    }
    let breaks: Vec<PropertyReport> = newly_violated(before, &after).cloned().collect();
    let effect = match (breaks.is_empty(), before.complete && after.complete) {
        (false, _) => Effect::Breaks,
        (true, true) => Effect::Nothing,
        (true, false) => Effect::Inconclusive,
    };
    Ok((effect, breaks))
}
