//! Repair: the smallest changes of a design with which everything holds.
//!
//! What is tried first is one change ([`TRIED`](super::stopping::TRIED)). Where none is enough, those that help are combined.
//! Where that is not enough either, those that help most are taken as made, and everything is tried on top of them. Of what then
//! holds everything is taken back that is not needed; but not what lets clients go on after a refusal that is new. What could end
//! well before must still. What held before may become vacuous, where only the violation came near it; but what makes nothing
//! vacuous is preferred, however large. Where nothing else is found, a part of what was violated may become vacuous, too, but never
//! all of it: a design that never does the thing in question proves nothing. And what makes clients give up sooner comes behind what
//! does not: work that is never done breaks nothing. While something is deployed, what is deployed is changed, and how.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use super::edit::{Edit, ideas_first};
use super::remedies::parts;
use super::simulate::{ExpectedCosts, SimulationOptions, simulate};
use super::sound::is_sound;
use super::variant::{self, side, variant};
use super::verdicts::{Evaluated, Verdicts};
use super::world::can_happen;
use crate::model::{Event, Model, Verdict};
use crate::run::{Bounds, Options, Report, Run};
use crate::trace::RecordError;
use serde::Serialize;
use toml_edit::DocumentMut;

/// What came out of a search for repairs.
#[derive(Clone, Debug, Serialize)]
pub struct Repairs {
    /// The scenario's name.
    pub scenario: String,
    /// The design's name.
    pub design: String,
    /// The protocol's name.
    pub protocol: String,
    /// In which bounds.
    pub bounds: Bounds,
    /// What is violated as it is.
    pub violated: Vec<String>,
    /// The repairs, the smallest first, and behind them those with which clients give up sooner; of equally small ones that
    /// which costs fewer calls.
    pub repairs: Vec<Repair>,
    /// How many variants were looked at.
    pub tried: usize,
    /// How many of them are so large that they could not be decided.
    pub undecided: usize,
    /// Nothing was cut short.
    pub complete: bool,
}

/// A change of the design with which everything holds.
#[derive(Clone, Debug, Serialize)]
pub struct Repair {
    /// What is changed, in words.
    pub changes: Vec<String>,
    /// The same, as a patch of the file.
    pub patch: String,
    /// How many states were explored to prove it.
    pub states: usize,
    /// What was not vacuous before, and is with it: often what only the violation came near.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub vacuous: Vec<String>,
    /// What an intent costs with it.
    pub costs: ExpectedCosts,
    /// The whole text, without what the file said of the design as it was: its title says so, `about` and `expect` are gone.
    #[serde(skip)]
    pub text: String,
}

/// How many ways to go on are kept at each depth of the search.
const BEAM: usize = 10;
/// Of how many parts, each one change or a well-known remedy, a repair is made at most.
const DEPTH: usize = 3;

/// On top of so many variants everything is tried anew.
const ORIGINS: usize = 3;

/// A variant that helps, and what is violated with it.
struct Origin {
    edits: Vec<Edit>,
    run: Run,
    violated: BTreeSet<String>,
}

/// Those with which something that is violated no longer is, and those with which what is violated takes a longer run, the
/// longest first.
#[derive(Default)]
struct Helpful {
    mends: Vec<Vec<Edit>>,
    dearer: Vec<Origin>,
}

/// What a variant comes to.
#[derive(Clone)]
struct Standing {
    edits: Vec<Edit>,
    run: Run,
    violated: BTreeSet<String>,
    /// What is not vacuous without the edits, and is with them.
    emptied: BTreeSet<String>,
    /// Some of that is violated without them.
    silences: bool,
    states: usize,
}

struct Search<'s> {
    run: &'s Run,
    before: Report,
    verdicts: Verdicts,
    options: Options,
    threads: usize,
    watch: &'s (dyn Fn(Evaluated) -> bool + Sync),
    tried: usize,
    undecided: usize,
    cut: bool,
}

/// Searches for repairs of a run's design: at most so many.
///
/// # Errors
///
/// When a trace can't be recorded, which is a bug.
pub fn repair(
    run: &Run,
    options: &Options,
    most: usize,
    threads: usize,
    watch: &(dyn Fn(Evaluated) -> bool + Sync),
) -> Result<Repairs, RecordError> {
    let verdicts = Verdicts::default();
    let before = verdicts.of(std::slice::from_ref(run), options, 1, watch)?.pop().flatten();
    let Model { scenario, design, protocol, .. } = run.model();
    let faults = scenario.faults.iter().filter(|(_, budget)| **budget > 0);
    let mut found = Repairs {
        scenario: scenario.name.clone(),
        design: design.name.clone(),
        protocol: protocol.name.clone(),
        bounds: Bounds { faults: faults.map(|(name, budget)| (*name, *budget)).collect() },
        violated: Vec::new(),
        repairs: Vec::new(),
        tried: 0,
        undecided: 0,
        complete: false,
    };
    let Some(before) = before.filter(|report| report.complete) else { return Ok(found) };
    found.violated = violated(&before).into_iter().collect();
    found.complete = true;
    if found.violated.is_empty() {
        return Ok(found);
    }
    let options = Options { max_states: Some(limit(options, &before)), ..options.clone() };
    let mut search = Search { run, before, verdicts, options, threads, watch, tried: 0, undecided: 0, cut: false };
    let mut solutions = search.search()?;
    found.tried = search.tried;
    found.undecided = search.undecided;
    found.complete = !search.cut && search.undecided == 0;
    solutions.sort_by_key(|solution| {
        let gives_up = solution.edits.iter().any(Edit::gives_up);
        (solution.emptied.len(), gives_up, solution.edits.len(), solution.states, solution.edits.clone())
    });
    let mut solutions = ideas_first(solutions, |solution| &solution.edits);
    solutions.sort_by_key(|solution| solution.edits.iter().any(Edit::gives_up));
    solutions.truncate(4 * most);
    let written = |solution: Standing| (written(run, &solution, threads), solution.edits);
    let mut repairs: Vec<(Repair, Vec<Edit>)> = solutions.into_iter().map(written).collect();
    let calls = |repair: &Repair| repair.costs.calls.map_or(f64::MAX, |calls| calls.mean);
    repairs.sort_by(|(a, in_a), (b, in_b)| {
        let size = |repair: &Repair, edits: &[Edit]| {
            (repair.vacuous.len(), edits.iter().any(Edit::gives_up), repair.changes.len())
        };
        size(a, in_a).cmp(&size(b, in_b)).then(calls(a).total_cmp(&calls(b))).then(a.changes.cmp(&b.changes))
    });
    let mut repairs = ideas_first(repairs, |(_, edits)| edits);
    repairs.sort_by_key(|(_, edits)| edits.iter().any(Edit::gives_up));
    repairs.truncate(most);
    found.repairs = repairs.into_iter().map(|(repair, _)| repair).collect();
    Ok(found)
}

fn written(run: &Run, solution: &Standing, threads: usize) -> Repair {
    let options = SimulationOptions { runs: 1000, threads, ..SimulationOptions::default() };
    Repair {
        changes: solution.edits.iter().map(Edit::words).collect(),
        patch: variant::patch(run, &solution.run, |source| source.origin.clone()),
        states: solution.states,
        vacuous: solution.emptied.iter().cloned().collect(),
        costs: simulate(&solution.run, &options, &|_| false).costs,
        text: renewed(&variant::source(&solution.run).text),
    }
}

/// The text of a repaired design, without what was said and expected of the one that is broken.
fn renewed(text: &str) -> String {
    let Ok(mut document) = DocumentMut::from_str(text) else { return text.to_owned() };
    if let Some(title) = document.get_mut("title").and_then(|title| title.as_value_mut()) {
        let words = title.as_str().unwrap_or_default();
        let mut renewed = toml_edit::Value::from(format!("{words}, repaired"));
        *renewed.decor_mut() = title.decor().clone();
        *title = renewed;
    }
    document.remove("about");
    document.remove("expect");
    document.to_string()
}

/// How many states of a variant are explored at most: some have no end, though the design has few. What was asked for, or many
/// times as many as the design has.
fn limit(options: &Options, before: &Report) -> usize {
    options.max_states.unwrap_or_else(|| before.states.saturating_mul(20).max(20_000))
}

fn violated(report: &Report) -> BTreeSet<String> {
    let wrong = |verdict: Verdict| matches!(verdict, Verdict::Violated | Verdict::Inconclusive);
    report.invariants.iter().filter(|property| wrong(property.verdict)).map(|property| property.name.clone()).collect()
}

/// By how many faults and steps the cheapest break of some property is dearer than before; none where none is.
fn dearer_by(before: &Report, after: &Report) -> Option<(u32, u32)> {
    let cost = |report: &Report, name: &str| {
        let property = report.invariants.iter().find(|property| property.name == name)?;
        property.faults.zip(property.steps)
    };
    let more = after.invariants.iter().filter_map(|property| {
        let ((faults, steps), (more_faults, more_steps)) =
            (cost(before, &property.name)?, cost(after, &property.name)?);
        Some((more_faults.saturating_sub(faults), more_steps.saturating_sub(steps)))
    });
    more.max().filter(|more| *more > (0, 0))
}

/// Whether an edit is among these, or one of them sets what it sets.
fn made(edits: &[Edit], edit: &Edit) -> bool {
    let sets = |edit: &Edit| match edit {
        Edit::Set { table, key, .. } => Some((*table, *key)),
        _ => None,
    };
    edits.contains(edit) || sets(edit).is_some_and(|set| edits.iter().any(|other| sets(other) == Some(set)))
}

/// Whether there is a transaction more, with which every run is longer.
fn splits(edits: &[Edit]) -> bool {
    edits.iter().any(|edit| matches!(edit, Edit::Split(_)))
}

/// Those first with which it is best to go on.
fn sort_for_going_on(standings: &mut [Standing]) {
    standings.sort_by_key(|standing| {
        (standing.silences, standing.violated.len(), standing.edits.len(), standing.edits.clone())
    });
}

/// The event to which clients react by sending again, with this edit.
fn goes_on_after(edit: &Edit) -> Option<Event> {
    match edit {
        Edit::Set { table: "client.on", key, value } if value.starts_with("{ send") => {
            Event::all().find(|event| event.name() == *key)
        }
        _ => None,
    }
}

impl Search<'_> {
    fn search(&mut self) -> Result<Vec<Standing>, RecordError> {
        let before = violated(&self.before);
        let Helpful { mends, dearer } = self.helpful(&parts(self.run), &before)?;
        let mut here = self.judged(&mends)?;
        let mut origins = here.clone();
        let mending: Vec<Vec<Edit>> = here.iter().map(|standing| standing.edits.clone()).collect();
        let mut solutions = solved(&here);
        for _ in 1..DEPTH {
            if solutions.iter().any(|solution| solution.emptied.is_empty()) {
                break;
            }
            here.retain(|standing| !standing.violated.is_empty());
            sort_for_going_on(&mut here);
            here.truncate(BEAM);
            let mut combined = BTreeSet::new();
            for standing in &here {
                for part in mending.iter().filter(|part| part.iter().all(|edit| !made(&standing.edits, edit))) {
                    combined.insert([&*standing.edits, part].concat());
                }
            }
            here = self.judged(&combined.into_iter().collect::<Vec<_>>())?;
            origins.extend(here.iter().cloned());
            solutions.extend(solved(&here));
        }
        if !solutions.iter().any(|solution| solution.emptied.is_empty()) {
            origins.retain(|standing| !standing.violated.is_empty() && standing.violated.len() < before.len());
            sort_for_going_on(&mut origins);
            let origins =
                origins.into_iter().map(|Standing { edits, run, violated, .. }| Origin { edits, run, violated });
            for Origin { edits, run, violated } in origins.chain(dearer).take(ORIGINS) {
                let mut further = parts(&run);
                further.retain(|part| part.iter().all(|edit| !made(&edits, edit)));
                let further = further.into_iter().map(|part| [&*edits, &*part].concat());
                let Helpful { mends, .. } = self.helpful(&further.collect::<Vec<_>>(), &violated)?;
                solutions.extend(solved(&self.judged(&mends)?));
            }
        }
        if solutions.iter().any(|solution| !solution.silences) {
            solutions.retain(|solution| !solution.silences);
        }
        // Where what held can go on to say something, it must.
        if solutions.iter().any(|solution| solution.emptied.is_empty()) {
            solutions.retain(|solution| solution.emptied.is_empty());
        }
        let mut smallest: BTreeMap<String, Standing> = BTreeMap::new();
        for solution in solutions {
            let solution = self.without_what_is_not_needed(solution)?;
            smallest.entry(variant::texts(&solution.run)).or_insert(solution);
        }
        Ok(smallest.into_values().collect())
    }

    /// The runs of those designs that can be read and do the same work, with their edits.
    fn runs(&self, all: &[Vec<Edit>]) -> Vec<(Vec<Edit>, Run)> {
        let run = |edits: &Vec<Edit>| {
            let run = variant(self.run, edits)?.ok()?;
            is_sound(self.run.model(), run.model()).then(|| (edits.clone(), run))
        };
        all.iter().filter_map(run).collect()
    }

    fn explore(&mut self, runs: &[(Vec<Edit>, Run)], options: &Options) -> Result<Vec<Option<Report>>, RecordError> {
        let plain: Vec<Run> = runs.iter().map(|(_, run)| run.clone()).collect();
        self.tried += plain.len();
        let reports = self.verdicts.of(&plain, options, self.threads, self.watch)?;
        self.cut |= reports.iter().any(Option::is_none);
        Ok(reports)
    }

    /// Those that help, where these are violated. A search for that ends as soon as all of them are.
    fn helpful(&mut self, all: &[Vec<Edit>], violations: &BTreeSet<String>) -> Result<Helpful, RecordError> {
        let runs = self.runs(all);
        let options = Options { only: violations.iter().cloned().collect(), stop_early: true, ..self.options.clone() };
        let reports = self.explore(&runs, &options)?;
        let mut helpful = Helpful::default();
        let mut dearer = Vec::new();
        for ((edits, run), report) in runs.into_iter().zip(reports) {
            let Some(report) = report else { continue };
            if violated(&report) != *violations {
                helpful.mends.push(edits);
            } else if let Some(more) = dearer_by(&self.before, &report).filter(|_| !splits(&edits)) {
                dearer.push((Reverse(more), Origin { edits, run, violated: violations.clone() }));
            }
        }
        dearer.sort_by(|(a, in_a), (b, in_b)| (a, &in_a.edits).cmp(&(b, &in_b.edits)));
        helpful.dearer = dearer.into_iter().map(|(_, origin)| origin).collect();
        Ok(helpful)
    }

    /// What each comes to, of those with which not all that is violated becomes vacuous, and all work can still end well.
    fn judged(&mut self, all: &[Vec<Edit>]) -> Result<Vec<Standing>, RecordError> {
        let runs = self.runs(all);
        let options = self.options.clone();
        let reports = self.explore(&runs, &options)?;
        let vacuous = |report: &Report| -> BTreeSet<String> {
            let vacuous = report.invariants.iter().filter(|property| property.verdict == Verdict::Vacuous);
            vacuous.map(|property| property.name.clone()).collect()
        };
        self.undecided += reports.iter().flatten().filter(|report| !report.complete).count();
        let (before, was_violated) = (vacuous(&self.before), violated(&self.before));
        let standings = runs.into_iter().zip(reports).filter_map(|((edits, run), report)| {
            let report = report?;
            let emptied: BTreeSet<String> = vacuous(&report).difference(&before).cloned().collect();
            let undone = report.complete && !self.before.done.is_subset(&report.done);
            let silences = !emptied.is_disjoint(&was_violated);
            (!was_violated.is_subset(&emptied) && !undone).then(|| Standing {
                edits,
                run,
                violated: violated(&report),
                emptied,
                silences,
                states: report.states,
            })
        });
        Ok(standings.collect())
    }

    /// Takes back one edit after the other, if everything holds without it too; reactions last, and not those to what could not
    /// happen before: without them, clients would give up.
    fn without_what_is_not_needed(&mut self, mut solution: Standing) -> Result<Standing, RecordError> {
        for reactions in [false, true] {
            let mut at = 0;
            while at < solution.edits.len() && solution.edits.len() > 1 {
                let event = goes_on_after(&solution.edits[at]);
                let [before, after] = [self.run, &solution.run].map(|run| side(run.model()));
                let needed = event.is_some_and(|event| can_happen(after, event) && !can_happen(before, event));
                if event.is_some() != reactions || needed {
                    at += 1;
                    continue;
                }
                let mut fewer = solution.edits.clone();
                fewer.remove(at);
                let empties_less = |smaller: &Standing| smaller.emptied.len() <= solution.emptied.len();
                match solved(&self.judged(&[fewer])?).pop().filter(empties_less) {
                    Some(smaller) => solution = smaller,
                    None => at += 1,
                }
            }
        }
        Ok(solution)
    }
}

fn solved(standings: &[Standing]) -> Vec<Standing> {
    standings.iter().filter(|standing| standing.violated.is_empty()).cloned().collect()
}
