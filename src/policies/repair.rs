//! Repair: the smallest changes of a design with which everything holds.
//!
//! Every change of one step or setting is tried. Where none is enough, those that help are combined, and of what then holds
//! everything is taken back that is not needed. A repair must not make vacuous what was not vacuous before: a design that
//! never does the thing in question proves nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use similar::TextDiff;

use super::ablate::{edited, used_places};
use super::edit::{Edit, Place};
use super::simulate::{ExpectedCosts, SimulationOptions, simulate};
use super::verdicts::{Evaluated, Verdicts};
use super::world::{REACTIONS, values};
use crate::handler::STEPS;
use crate::input::settings;
use crate::model::{Event, Model, Tool, Verdict};
use crate::run::{Bounds, Options, Report, Run};
use crate::trace::RecordError;

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
    /// The repairs, the smallest first; of equally small ones that which costs fewer calls.
    pub repairs: Vec<Repair>,
    /// How many variants were looked at.
    pub tried: usize,
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
    /// What an intent costs with it.
    pub costs: ExpectedCosts,
    /// The whole text.
    #[serde(skip)]
    pub text: String,
}

/// How many ways to go on are kept at each depth of the search.
const BEAM: usize = 10;
/// Of how many parts, each one change or a well-known remedy, a repair is made at most.
const DEPTH: usize = 3;

/// What a variant comes to.
#[derive(Clone)]
struct Standing {
    edits: Vec<Edit>,
    run: Run,
    violated: BTreeSet<String>,
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
        complete: false,
    };
    let Some(before) = before.filter(|report| report.complete) else { return Ok(found) };
    found.violated = violated(&before).into_iter().collect();
    found.complete = true;
    if found.violated.is_empty() {
        return Ok(found);
    }
    let mut search = Search { run, before, verdicts, options: options.clone(), threads, watch, tried: 0, cut: false };
    let mut solutions = search.search()?;
    found.tried = search.tried;
    found.complete = !search.cut;
    solutions.sort_by_key(|solution| (solution.edits.len(), solution.states, solution.edits.clone()));
    solutions.truncate(4 * most);
    let mut repairs: Vec<Repair> = solutions.iter().map(|solution| written(run, solution, threads)).collect();
    let calls = |repair: &Repair| repair.costs.calls.map_or(f64::MAX, |calls| calls.mean);
    repairs.sort_by(|a, b| {
        a.changes.len().cmp(&b.changes.len()).then(calls(a).total_cmp(&calls(b))).then(a.changes.cmp(&b.changes))
    });
    repairs.truncate(most);
    found.repairs = repairs;
    Ok(found)
}

fn written(run: &Run, solution: &Standing, threads: usize) -> Repair {
    let (old, new) = (run.sources().design, solution.run.sources().design);
    let name = &old.origin;
    let patch =
        TextDiff::from_lines(&*old.text, &*new.text).unified_diff().context_radius(2).header(name, name).to_string();
    let options = SimulationOptions { runs: 1000, threads, ..SimulationOptions::default() };
    Repair {
        changes: solution.edits.iter().map(Edit::words).collect(),
        patch,
        states: solution.states,
        costs: simulate(&solution.run, &options, &|_| false).costs,
        text: new.text.to_string(),
    }
}

fn violated(report: &Report) -> BTreeSet<String> {
    let wrong = |verdict: Verdict| matches!(verdict, Verdict::Violated | Verdict::Inconclusive);
    report.invariants.iter().filter(|property| wrong(property.verdict)).map(|property| property.name.clone()).collect()
}

impl Search<'_> {
    fn search(&mut self) -> Result<Vec<Standing>, RecordError> {
        let parts = parts(self.run.model());
        let all: Vec<Vec<Edit>> = parts;
        let helpful = self.helpful(&all)?;
        let mut here = self.judged(&helpful)?;
        let parts: Vec<Vec<Edit>> = here.iter().map(|standing| standing.edits.clone()).collect();
        let mut solutions = solved(&here);
        for _ in 1..DEPTH {
            if !solutions.is_empty() {
                break;
            }
            here.sort_by_key(|standing| (standing.violated.len(), standing.edits.len(), standing.edits.clone()));
            here.truncate(BEAM);
            let mut combined = BTreeSet::new();
            for standing in &here {
                for part in parts.iter().filter(|part| part.iter().all(|edit| !standing.edits.contains(edit))) {
                    combined.insert([&*standing.edits, part].concat());
                }
            }
            here = self.judged(&combined.into_iter().collect::<Vec<_>>())?;
            solutions = solved(&here);
        }
        let mut smallest: BTreeMap<String, Standing> = BTreeMap::new();
        for solution in solutions {
            let solution = self.without_what_is_not_needed(solution)?;
            smallest.entry(solution.run.sources().design.text.to_string()).or_insert(solution);
        }
        Ok(smallest.into_values().collect())
    }

    /// The runs of those designs that can be read, with their edits.
    fn runs(&self, all: &[Vec<Edit>]) -> Vec<(Vec<Edit>, Run)> {
        let source = self.run.sources().design;
        let run = |edits: &Vec<Edit>| Some((edits.clone(), self.run.with_design(&edited(source, edits)?).ok()?));
        all.iter().filter_map(run).collect()
    }

    fn explore(&mut self, runs: &[(Vec<Edit>, Run)], options: &Options) -> Result<Vec<Option<Report>>, RecordError> {
        let plain: Vec<Run> = runs.iter().map(|(_, run)| run.clone()).collect();
        self.tried += plain.len();
        let reports = self.verdicts.of(&plain, options, self.threads, self.watch)?;
        self.cut |= reports.iter().any(Option::is_none);
        Ok(reports)
    }

    /// Those with which something that is violated no longer is. A search for that ends as soon as all of it is violated.
    fn helpful(&mut self, all: &[Vec<Edit>]) -> Result<Vec<Vec<Edit>>, RecordError> {
        let runs = self.runs(all);
        let before = violated(&self.before);
        let options = Options { only: before.iter().cloned().collect(), stop_early: true, ..self.options.clone() };
        let reports = self.explore(&runs, &options)?;
        let helps = |report: &Report| violated(report) != before;
        let helpful = runs.into_iter().zip(reports).filter(|(_, report)| report.as_ref().is_some_and(helps));
        Ok(helpful.map(|((edits, _), _)| edits).collect())
    }

    /// What each comes to, of those with which nothing becomes vacuous.
    fn judged(&mut self, all: &[Vec<Edit>]) -> Result<Vec<Standing>, RecordError> {
        let runs = self.runs(all);
        let options = self.options.clone();
        let reports = self.explore(&runs, &options)?;
        let vacuous = |report: &Report| -> BTreeSet<String> {
            let vacuous = report.invariants.iter().filter(|property| property.verdict == Verdict::Vacuous);
            vacuous.map(|property| property.name.clone()).collect()
        };
        let before = vacuous(&self.before);
        let standings = runs.into_iter().zip(reports).filter_map(|((edits, run), report)| {
            let report = report.filter(|report| vacuous(report).is_subset(&before))?;
            Some(Standing { edits, run, violated: violated(&report), states: report.states })
        });
        Ok(standings.collect())
    }

    /// Takes back one edit after the other, if everything holds without it too.
    fn without_what_is_not_needed(&mut self, mut solution: Standing) -> Result<Standing, RecordError> {
        let mut at = 0;
        while at < solution.edits.len() && solution.edits.len() > 1 {
            let mut fewer = solution.edits.clone();
            fewer.remove(at);
            match solved(&self.judged(&[fewer])?).pop() {
                Some(smaller) => solution = smaller,
                None => at += 1,
            }
        }
        Ok(solution)
    }
}

fn solved(standings: &[Standing]) -> Vec<Standing> {
    standings.iter().filter(|standing| standing.violated.is_empty()).cloned().collect()
}

/// What repairs are made of: every single change, and the well-known remedies.
pub(super) fn parts(model: &Model) -> Vec<Vec<Edit>> {
    let places = used_places(model);
    let mut single = Vec::new();
    let kinds: [fn(Place) -> Edit; 4] = [Edit::Remove, Edit::Split, Edit::Join, Edit::Forward];
    single.extend(kinds.iter().flat_map(|kind| places.iter().cloned().map(kind)));
    for place in &places {
        for step in STEPS {
            for behind in [false, true] {
                single.push(Edit::Add { step: step.name, next_to: place.clone(), behind });
            }
        }
    }
    let tables = [("server", settings::server()), ("server.keys", settings::keys()), ("client", settings::client())];
    for (table, settings) in tables {
        for setting in settings {
            let set = |value| Edit::Set { table, key: setting.name, value };
            single.extend(values(&setting).into_iter().map(set));
        }
    }
    for event in Event::all() {
        single.extend(REACTIONS.map(|value| Edit::Set {
            table: "client.on",
            key: event.name(),
            value: value.to_owned(),
        }));
    }
    let mut parts: Vec<Vec<Edit>> = single.into_iter().map(|edit| vec![edit]).collect();
    parts.extend(remedies(&places));
    parts
}

/// The well-known remedies, for all handlers that change something: keys, versions, an owner check, and their sums.
fn remedies(places: &[Place]) -> Vec<Vec<Edit>> {
    let set = |table, key, value: &str| Edit::Set { table, key, value: value.to_owned() };
    let tools: BTreeSet<Tool> = places.iter().map(|place| place.tool).collect();
    let main = |tool: Tool| places.iter().filter(move |place| place.tool == tool && !place.at_end);
    let has = |tool: Tool, step: &str| main(tool).any(|place| place.step == step);
    let mut keys = vec![set("client", "key", "\"per-intent\"")];
    let mut versions = vec![
        set("client", "precondition", "\"viewed-version\""),
        set("client.on", "stale-view", "{ send = \"replan\" }"),
    ];
    let mut owner = Vec::new();
    for &tool in &tools {
        let resolve = main(tool).find(|place| place.step == "resolve").cloned();
        let changes = ["apply", "save", "write-content", "mint"];
        let change = main(tool).find(|place| changes.contains(&&*place.step)).cloned();
        let owned = main(tool).find(|place| place.step == "authorize").cloned();
        if let (Some(resolve), false) = (&resolve, has(tool, "authorize")) {
            owner.push(Edit::Add { step: "authorize", next_to: resolve.clone(), behind: true });
        }
        if tool == Tool::Read {
            continue;
        }
        if let Some(first) = owned.or(resolve).filter(|_| !has(tool, "find-key") && !has(tool, "claim-key")) {
            keys.push(Edit::Add { step: "find-key", next_to: first, behind: true });
        }
        if let Some(change) = &change {
            if !has(tool, "record-key") {
                keys.push(Edit::Add { step: "record-key", next_to: change.clone(), behind: true });
            }
            if !has(tool, "check-version") {
                versions.push(Edit::Add { step: "check-version", next_to: change.clone(), behind: false });
            }
        }
    }
    let sums = [
        vec![&keys],
        vec![&versions],
        vec![&owner],
        vec![&keys, &versions],
        vec![&owner, &keys],
        vec![&owner, &keys, &versions],
    ];
    let sums = sums.map(|parts| parts.into_iter().flatten().cloned().collect::<Vec<_>>());
    let distinct: BTreeSet<Vec<Edit>> = sums.into_iter().filter(|edits| edits.len() > 1).collect();
    distinct.into_iter().collect()
}
