//! What would have stopped a run: changes of its design with which the property that it violates holds.
//!
//! What is tried is told in [`TRIED`]. A change with which the very same steps still
//! violate the property is out at once; of the others every interleaving is explored, in the bounds of the run. So what
//! is said to have stopped a run did: nothing is guessed from the names of steps.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use super::edit::{Edit, ideas_first};
use super::remedies::parts;
use super::sound::is_sound;
use super::variant::{self, variant};
use crate::input::{self, Kind, Source};
use crate::invariants::INVARIANTS;
use crate::model::Verdict;
use crate::run::{Options, Report, Run};
use crate::trace::{Departure, RecordError, Trace, departure, inputs};

/// What is tried, in a clause.
pub const TRIED: &str = "steps were added, left out, put in each other's place and moved one earlier, transactions split and joined, \
                         settings of one word and reactions changed, and the well-known remedies, as far as that leaves \
                         what a call is there to do, answers no sooner, and gives back what it takes";

/// What came out of a search for what would have stopped a run.
#[derive(Clone, Debug)]
pub struct Stopped {
    /// What would have, the least invasive first.
    pub stoppers: Vec<Stopper>,
    /// How many changes were tried.
    pub tried: usize,
    /// How many there are to try.
    pub all: usize,
    /// Some could not be decided within the limit of states.
    pub undecided: usize,
    /// So many more were found, and are not among these.
    pub others: usize,
    /// The search was ended by `watch`.
    pub cut: bool,
    /// Nothing was tried, since the design has no file that could be changed, or the run is too large to be explored.
    pub hopeless: bool,
}

/// How far a search has come.
#[derive(Clone, Copy, Debug)]
pub struct Searched {
    /// Changes that were tried.
    pub tried: usize,
    /// Of so many.
    pub all: usize,
    /// States that were explored so far.
    pub states: usize,
}

/// A change with which the property holds.
#[derive(Clone, Debug)]
pub struct Stopper {
    /// What is changed, in words.
    pub changes: Vec<String>,
    /// The same, as a patch of the design.
    pub patch: String,
    /// Where the run parts from what it was.
    pub departure: Departure,
    /// How many states prove that the property holds.
    pub states: usize,
    /// What is violated with the change, and was not without; none where that is not known.
    pub breaks: Option<Vec<String>>,
    /// What was not vacuous without the change, and is with it.
    pub empties: Vec<String>,
    /// With it, clients give up sooner.
    pub gives_up: bool,
}

/// States that are explored of one change, and of all together.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Of one change.
    pub each: usize,
    /// Of all changes together.
    pub all: usize,
}

impl Default for Effort {
    fn default() -> Self {
        Self { each: 50_000, all: 250_000 }
    }
}

/// Searches for at most so many changes of the design that would have stopped a run. `watch` ends the search by answering
/// `true`, with what was found so far; what comes out does not depend on anything else than the trace and the effort.
///
/// # Errors
///
/// When a trace can't be recorded, which is a bug.
pub fn stopping(
    trace: &Trace,
    most: usize,
    effort: Effort,
    watch: &mut dyn FnMut(Searched) -> bool,
) -> Result<Stopped, RecordError> {
    let mut found =
        Stopped { stoppers: Vec::new(), tried: 0, all: 0, undecided: 0, others: 0, cut: false, hopeless: false };
    let Some(run) = run_of(trace) else {
        found.hopeless = true;
        return Ok(found);
    };
    let candidates = candidates(&run);
    let all = candidates.len();
    found.all = all;
    let mut left = effort.all;
    let (tried, states, cut) = (Cell::new(0), Cell::new(0), Cell::new(false));
    let mut explore = |run: &Run, only: Vec<String>, stop_early: bool| -> Result<Option<Report>, RecordError> {
        let options =
            Options { only, stop_early, max_states: Some(effort.each.min(left).max(1)), ..Options::default() };
        let report = run.explore(&options, &mut |progress| {
            let searched = Searched { tried: tried.get(), all, states: states.get() + progress.states };
            cut.set(cut.get() || watch(searched));
            cut.get()
        })?;
        states.set(states.get() + report.states);
        left = left.saturating_sub(report.states);
        let violated = report.invariants.iter().any(|property| property.verdict == Verdict::Violated);
        Ok((report.complete || violated && stop_early).then_some(report))
    };
    let before = explore(&run, Vec::new(), false)?;
    let (mut worse, mut emptying) = (Vec::new(), Vec::new());
    let mut enough: Vec<Vec<Edit>> = Vec::new();
    let mut ideas = BTreeSet::new();
    let mut texts: BTreeSet<String> = BTreeSet::new();
    for edits in candidates {
        if found.stoppers.len() >= most || cut.get() {
            break;
        }
        tried.set(tried.get() + 1);
        // What is more than enough is not tried, nor what is but another value or place of it, nor what comes to the same text
        // as something else.
        let idea: Vec<Edit> = edits.iter().map(Edit::idea).collect();
        if enough.iter().any(|enough| enough.iter().all(|edit| edits.contains(edit))) || ideas.contains(&idea) {
            continue;
        }
        let Some(Ok(variant)) = variant(&run, &edits) else { continue };
        if !is_sound(run.model(), variant.model()) || !texts.insert(variant::texts(&variant)) {
            continue;
        }
        let Some(departure) = departure(trace, variant.model().clone()) else { continue };
        let Some(report) = explore(&variant, vec![trace.invariant.clone()], true)? else {
            found.undecided += usize::from(!cut.get());
            continue;
        };
        if !report.invariants.iter().all(|property| property.verdict == Verdict::Holds) {
            continue;
        }
        let states = report.states;
        let whole = explore(&variant, Vec::new(), false)?;
        if cut.get() {
            break;
        }
        let breaks = before.as_ref().zip(whole.as_ref()).map(|(before, after)| new(before, after));
        let both = before.as_ref().zip(whole.as_ref());
        if both.is_some_and(|(before, after)| !before.done.is_subset(&after.done)) {
            // A design with which nothing comes to its end stops nothing.
            continue;
        }
        let empties = both.map_or_else(Vec::new, |(before, after)| emptied(before, after));
        let patch = variant::patch(&run, &variant, |source| format!("{}.toml", source.name));
        let changes = edits.iter().map(Edit::words).collect();
        let gives_up = edits.iter().any(Edit::gives_up);
        let stopper = Stopper { changes, patch, departure, states, breaks, empties, gives_up };
        if !stopper.empties.is_empty() {
            emptying.push((stopper, edits));
            continue;
        }
        enough.push(edits.clone());
        if stopper.breaks.as_ref().is_some_and(Vec::is_empty) {
            // What a part of it does by itself needs no more.
            found.stoppers.retain(|other| !stopper.changes.iter().all(|change| other.changes.contains(change)));
            found.stoppers.push(stopper);
            ideas.insert(idea);
        } else {
            worse.push((stopper, edits));
        }
    }
    (found.tried, found.cut) = (tried.get(), cut.get());
    worse.retain(|(_, edits)| !ideas.contains(&edits.iter().map(Edit::idea).collect::<Vec<_>>()));
    let worse = ideas_first(worse, |(_, edits)| edits);
    // What held came near its situation in the violation alone; worse is what was violated, and says nothing any more.
    emptying.retain(|(stopper, edits)| {
        stopper.breaks.as_ref().is_some_and(Vec::is_empty)
            && !enough.iter().any(|enough| enough.iter().all(|edit| edits.contains(edit)))
    });
    let silences = |stopper: &Stopper| {
        before.as_ref().is_some_and(|before| stopper.empties.iter().any(|name| is_violated(before, name)))
    };
    emptying.sort_by_key(|(stopper, _)| (silences(stopper), stopper.empties.len(), stopper.changes.len()));
    let emptying = ideas_first(emptying, |(_, edits)| edits);
    let (silent, emptying): (Vec<_>, Vec<_>) = emptying.into_iter().partition(|(stopper, _)| silences(stopper));
    for (fills, more) in [(true, worse), (false, emptying), (false, silent)] {
        let left = if fills || found.stoppers.is_empty() { most - found.stoppers.len() } else { 0 };
        found.others += more.len().saturating_sub(left);
        found.stoppers.extend(more.into_iter().take(left).map(|(stopper, _)| stopper));
    }
    Ok(found)
}

/// The run of a trace, from the inputs that it holds; none where they are wrong, or too large to be explored.
fn run_of(trace: &Trace) -> Option<Run> {
    let (scenario, design, protocol) = inputs(trace).ok()?;
    let invariants: Vec<&str> = INVARIANTS.iter().map(|row| row.name).collect();
    let source =
        Source::new(&*trace.scenario.name, format!("{} of the trace", Kind::Scenario.name()), &*trace.scenario.text);
    input::read_scenario(&source, &invariants).ok()?;
    Run::new(scenario, design, protocol, &BTreeMap::new()).ok()
}

/// The changes that are tried, in the order in which a designer would: what adds a check or moves one, then the well-known
/// remedies, the smallest first, and then what changes how clients or the server are set, or takes something away.
fn candidates(run: &Run) -> Vec<Vec<Edit>> {
    let mut candidates = parts(run);
    let rank = |edit: &Edit| match edit {
        Edit::Join(_) => 0,
        Edit::Add { .. } => 1,
        Edit::Replace { .. } => 1,
        Edit::Forward(_) => 2,
        edit if edit.gives_up() => 9,
        Edit::Set { table, .. } if *table != "server" => 4,
        Edit::Set { .. } => 5,
        Edit::Split(_) => 6,
        Edit::Remove(_) => 7,
    };
    let several = 3;
    candidates.sort_by_key(|edits| {
        let one = edits.iter().map(rank).max().filter(|_| edits.len() == 1);
        (one.unwrap_or(several), edits.len())
    });
    candidates
}

/// What is violated after and was not before.
fn new(before: &Report, after: &Report) -> Vec<String> {
    super::verdicts::newly_violated(before, after).map(|property| property.name.clone()).collect()
}

/// What is vacuous after that was not before.
fn emptied(before: &Report, after: &Report) -> Vec<String> {
    let vacuous = |report: &Report, name: &str| verdict_of(report, name) == Some(Verdict::Vacuous);
    let names = after.invariants.iter().map(|property| &property.name);
    names.filter(|name| vacuous(after, name) && !vacuous(before, name)).cloned().collect()
}

fn is_violated(report: &Report, name: &str) -> bool {
    verdict_of(report, name) == Some(Verdict::Violated)
}

fn verdict_of(report: &Report, name: &str) -> Option<Verdict> {
    report.invariants.iter().find(|property| property.name == name).map(|property| property.verdict)
}
