//! Verdicts that are remembered beyond one command.
//!
//! What is kept of a report is what the search found: verdicts, numbers, and each break as the list of its actions. What is said
//! of it is made anew: a break is walked again in today's run, so that it is proved once more, and its trace holds the texts of
//! that run. What can't be walked is not used.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use serde::{Deserialize, Serialize};

use super::{Break, CauseReport, Engine, Options, PropertyReport, Report, Run, STOPPED};
use crate::model::{Model, Tool, Verdict};
use crate::step::Simulation;
use crate::trace::{Does, Trace, rerecord};

/// Where answers are kept. It need not answer what it was told, but only what it was told under the very same question.
pub trait Cache: Debug + Send + Sync {
    /// The answer to a question, if it is there.
    fn recall(&self, question: &str) -> Option<String>;
    /// Keeps an answer. It may fail to: then the question is asked again another time.
    fn keep(&self, question: &str, answer: &str);
    /// An answer that was recalled can't be used.
    fn spoilt(&self);
}

/// Everything that a verdict depends on, in full, so that no two are ever taken for one: the composed model, and what is asked.
/// Names, titles and what is expected are left out, and so are threads, on which nothing depends.
#[must_use]
pub fn question(model: &Model, options: &Options) -> String {
    // Where clients choose, `resolves` is checked only if somebody names it.
    let named = model.may_choose_not_to_end() && model.expectation("resolves").is_some();
    let mut model = model.clone();
    for text in [
        &mut model.scenario.name,
        &mut model.scenario.title,
        &mut model.scenario.about,
        &mut model.design.name,
        &mut model.design.title,
        &mut model.design.about,
        &mut model.protocol.name,
        &mut model.protocol.title,
        &mut model.protocol.about,
    ] {
        text.clear();
    }
    model.scenario.expect.clear();
    model.design.expect.clear();
    let Options {
        engine,
        max_states,
        threads: _,
        no_reduction,
        hash_compact,
        stop_early,
        only,
        faults: _, // They are the model's.
        shows,
        all_causes,
        keep: _,
        cache: _,
    } = options;
    let asked = (engine, max_states, no_reduction, hash_compact, stop_early, only, shows, all_causes);
    format!("{model:?} {asked:?}{}", if named { " resolves" } else { "" })
}

/// What is kept of a report.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    complete: bool,
    stopped: Option<String>,
    unproved: Option<String>,
    states: usize,
    transitions: u64,
    depth: u32,
    /// The bits of a probability.
    omission: Option<u64>,
    reductions: Vec<String>,
    properties: Vec<KeptProperty>,
    actions: BTreeMap<String, u64>,
    outcomes: BTreeMap<String, u64>,
    done: Vec<String>,
    steps: BTreeMap<String, BTreeMap<String, u64>>,
    reactions: BTreeMap<String, BTreeMap<String, u64>>,
    never: Vec<String>,
    never_refused: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptProperty {
    name: String,
    verdict: String,
    breaks: Vec<KeptBreak>,
    causes: Vec<KeptCause>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptCause {
    by: String,
    against: Option<String>,
    shown: KeptBreak,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptBreak {
    steps: u32,
    faults: u32,
    shortest: bool,
    loops_from: Option<usize>,
    does: Vec<Does>,
}

impl KeptBreak {
    /// `None`: its trace is not there.
    fn of(found: &Break) -> Option<Self> {
        let Break { steps, faults, shortest, trace: _, recorded } = found;
        let Trace { steps: recorded, loops_from, .. } = &**recorded.as_ref()?;
        let does = recorded.iter().map(|step| step.does.clone()).collect();
        Some(Self { steps: *steps, faults: *faults, shortest: *shortest, loops_from: *loops_from, does })
    }

    /// `None`: it is none of this run.
    fn again(self, run: &Run, property: usize) -> Option<Break> {
        let Self { steps, faults, shortest, loops_from, does } = self;
        let trace = rerecord(run.model(), &does, loops_from, property, &run.sources()).ok()?;
        if trace.faults != faults || trace.steps.len() < usize::try_from(steps).ok()? {
            return None;
        }
        Some(Break { steps, faults, shortest, trace: None, recorded: Some(Box::new(trace)) })
    }
}

impl KeptProperty {
    fn of(found: &PropertyReport) -> Option<Self> {
        let breaks = |breaks: &[Break]| breaks.iter().map(KeptBreak::of).collect::<Option<Vec<_>>>();
        let causes = found.causes.iter().map(|cause| {
            let CauseReport { by, against, sentence: _, shown } = cause;
            Some(KeptCause { by: by.clone(), against: against.clone(), shown: KeptBreak::of(shown)? })
        });
        Some(Self {
            name: found.name.clone(),
            verdict: found.verdict.name().to_owned(),
            breaks: breaks(&found.breaks)?,
            causes: causes.collect::<Option<Vec<_>>>()?,
        })
    }

    fn again(self, run: &Run, simulation: &Simulation) -> Option<PropertyReport> {
        let Self { name, verdict, breaks, causes } = self;
        let properties = simulation.properties();
        let index = properties.iter().position(|property| property.name == name)?;
        let breaks = breaks.into_iter().map(|kept| kept.again(run, index)).collect::<Option<Vec<_>>>()?;
        let mut found = run.property(&properties[index], breaks, Verdict::named(&verdict)?);
        for KeptCause { by, against, shown } in causes {
            let shown = shown.again(run, index)?;
            let sentence = shown.recorded.as_ref().map_or_else(String::new, |trace| trace.sentence.clone());
            found.causes.push(CauseReport { by, against, sentence, shown });
        }
        Some(found)
    }
}

impl Kept {
    fn of(report: &Report) -> Option<Self> {
        let report = report.clone();
        // What was not checked is not kept: whether it is expected is a matter of names.
        let checked = |found: &&PropertyReport| !report.unchecked.iter().any(|unchecked| unchecked.name == found.name);
        let properties = report.invariants.iter().filter(checked).map(KeptProperty::of).collect::<Option<Vec<_>>>()?;
        Some(Self {
            complete: report.complete,
            stopped: report.stopped,
            unproved: report.unproved,
            states: report.states,
            transitions: report.transitions,
            depth: report.depth,
            omission: report.omission.map(f64::to_bits),
            reductions: report.reductions,
            properties,
            actions: report.actions,
            outcomes: report.outcomes,
            done: report.done.iter().map(|tool| tool.name().to_owned()).collect(),
            steps: report.steps,
            reactions: report.reactions,
            never: report.never,
            never_refused: report.never_refused,
        })
    }

    fn again(self, run: &Run, options: &Options) -> Option<Report> {
        let simulation = Simulation::new(run.model().clone());
        let wanted = simulation.properties().into_iter().filter(|property| options.wants(run, property));
        if !wanted.map(|property| property.name).eq(self.properties.iter().map(|kept| kept.name.clone())) {
            return None;
        }
        let invariants = self.properties.into_iter().map(|kept| kept.again(run, &simulation));
        let mut invariants = invariants.collect::<Option<Vec<_>>>()?;
        invariants.extend(run.undecided(&simulation, options));
        let mut report = run.report(Engine::Handlecheck, invariants);
        report.unchecked = run.unchecked(&simulation, options);
        report.complete = self.complete;
        report.stopped = self.stopped;
        report.unproved = self.unproved;
        report.states = self.states;
        report.transitions = self.transitions;
        report.depth = self.depth;
        report.omission = self.omission.map(f64::from_bits);
        report.reductions = self.reductions;
        report.actions = self.actions;
        report.outcomes = self.outcomes;
        report.done = self.done.iter().map(|name| Tool::named(name)).collect::<Option<BTreeSet<_>>>()?;
        report.steps = self.steps;
        report.reactions = self.reactions;
        report.never = self.never;
        report.never_refused = self.never_refused;
        Some(report)
    }
}

/// Whether answers of this kind are kept. A second witness is asked each time, and a situation that somebody looks for is a
/// question of its own.
fn is_kept(options: &Options) -> bool {
    options.engine == Engine::Handlecheck && options.shows.is_empty()
}

/// What came out of the same model and the same question before, as a report of this run.
pub(super) fn recall(run: &Run, options: &Options) -> Option<Report> {
    let cache = options.cache.as_ref().filter(|_| is_kept(options))?;
    let answer = cache.recall(&question(run.model(), options))?;
    let kept: Option<Kept> = serde_json::from_str(&answer).ok();
    // What was cut short and is to be gone on with has to be explored.
    if kept.as_ref().is_some_and(|kept| options.keep && (!kept.complete || kept.unproved.is_some())) {
        return None;
    }
    let report = kept.and_then(|kept| kept.again(run, options));
    if report.is_none() {
        cache.spoilt();
    }
    report
}

/// Keeps what came out. What somebody stopped would go further another time, so that is not kept.
pub(super) fn keep(run: &Run, options: &Options, report: &Report) {
    let Some(cache) = options.cache.as_ref().filter(|_| is_kept(options)) else { return };
    if [&report.stopped, &report.unproved].into_iter().any(|why| why.as_deref() == Some(STOPPED)) {
        return;
    }
    if let Some(kept) = Kept::of(report) {
        let answer = serde_json::to_string(&kept).expect("names and numbers are JSON");
        cache.keep(&question(run.model(), options), &answer);
    }
}
