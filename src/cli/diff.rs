//! `diff`: what changed between two locks, folders, git revisions of a folder, designs or protocols.

mod revision;
mod sides;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::exploring::{Explorer, Judging};
use super::models::Models;
use super::plan::{Explored, Plan, explore, folder, lock_of, locked};
use super::reporting::Reporting;
use super::{Failure, Terminal, exit, writing};
use crate::lock::{Asked, Axis, Difference, FILE, Lock, Outcome, Subject};
use crate::reports::{Changes, FORMATS};
use crate::run::{Report, Run};
use sides::Sides;

#[derive(clap::Args)]
#[command(after_help = "\
Without arguments, compares the lock of the folder with its models as they are today. OLD and NEW are each a lock, a \
folder, a design, a protocol, or a git revision, in this order of preference; OLD..NEW in one word does as well. With \
one folder or one lock, compares that lock with its folder; with one git revision, compares the folder as it was then \
with the folder as it is.

Of two folders and of two revisions, only what differs in an input is explored. What is asked is what was asked when \
the lock was made, of the two or of the folder, where there is one. Designs and protocols are compared over the scenarios of the folder; where there is no folder \
`models`, over the shipped ones.

Exits with 0 when nothing is worse; with 1 when something is newly broken, cheaper to break, no longer covered, or \
explored with narrower bounds; with 3 when that is not known, since it was stopped, or a run left something open on both sides.")]
pub(super) struct Arguments {
    /// What was
    #[arg(value_name = "OLD")]
    old: Option<String>,
    /// What is
    #[arg(value_name = "NEW")]
    new: Option<String>,
    /// The folder of models; by default `models`, or else the current folder
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Compare two designs: `OLD..NEW`; or, with --deploy, a design before and while something replaces it: `OLD`
    #[arg(long, value_name = "OLD..NEW")]
    design: Option<String>,
    /// Over these scenarios only; may be given several times
    #[arg(long = "scenario", value_name = "SCENARIO")]
    scenarios: Vec<String>,
    /// Compare only what a scenario or a design expects something of
    #[arg(long)]
    expected: bool,
    #[command(flatten)]
    judging: Judging,
    #[command(flatten)]
    reporting: Reporting,
    /// Write the traces of new counterexamples, to this folder
    #[arg(long, value_name = "FOLDER")]
    traces: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments, terminal: Terminal, out: &mut String) -> Result<u8, Failure> {
    let mut explorer = arguments.judging.start(terminal)?;
    let sides = Sides::of(arguments, &mut explorer)?;
    let mut compared = Compared::of(&sides, &mut explorer)?;
    explorer.finish();
    if let Some(folder) = &arguments.traces {
        compared.write_traces(folder)?;
    }
    let hint = match (&sides.hint, compared.difference.changes.is_empty() && compared.difference.inputs.is_empty()) {
        (Some(folder), false) => format!("`handlecheck lock {}` accepts this", folder.display()),
        _ => String::new(),
    };
    let worse = compared.difference.is_worse();
    let unfinished = compared.unfinished;
    let known = unfinished == 0 && compared.difference.open == 0;
    let changes = Changes {
        old: sides.old.called.clone(),
        new: sides.new.called.clone(),
        difference: compared.difference,
        runs: compared.new.iter().filter_map(|new| Some((new.run, new.report.as_ref()?))).collect(),
        unfinished,
        hint,
    };
    arguments.reporting.changes(&changes, terminal, out)?;
    Ok(match (worse, known) {
        (true, _) => exit::VIOLATED,
        (false, true) => exit::HOLDS,
        (false, false) => exit::INCONCLUSIVE,
    })
}

/// What `lock --check` shows when a lock is not what would be written.
pub(super) fn shown(
    old: &Lock,
    new: &Lock,
    file: &Path,
    folder: &Path,
    explored: &[Explored<'_>],
    colour: bool,
) -> String {
    let changes = Changes {
        old: file.display().to_string(),
        new: folder.display().to_string(),
        difference: Difference::between(old, new, Axis::Same),
        runs: explored.iter().filter_map(|explored| Some((explored.run, explored.report.as_ref()?))).collect(),
        unfinished: 0,
        hint: format!(
            "{} is not what would be written: `handlecheck lock {}` writes it",
            file.display(),
            folder.display()
        ),
    };
    let human = FORMATS.first().expect("the first format is the one for people");
    (human.changes)(&changes, colour)
}

/// Two sides, explored as far as needed.
struct Compared<'r> {
    difference: Difference,
    new: Vec<Explored<'r>>,
    unfinished: usize,
}

impl<'r> Compared<'r> {
    fn of(sides: &'r Sides, explorer: &mut Explorer) -> Result<Self, Failure> {
        let Sides { old, new, axis, .. } = sides;
        let differs = |runs: &'r [Run], other: &'r [Run]| -> Vec<&'r Run> {
            let other: BTreeMap<Subject, &Run> = other.iter().map(|run| (Subject::of_run(run), run)).collect();
            let twin = |run: &Run| other.get(&Subject::of_run(run)).is_some_and(|other| is_same(run, other));
            runs.iter().filter(|run| old.lock.is_some() || new.lock.is_some() || !twin(run)).collect()
        };
        let old_runs = differs(&old.plan.runs, &new.plan.runs);
        let new_runs = differs(&new.plan.runs, &old.plan.runs);
        let explored_new = explore(explorer, new_runs.iter().copied())?;
        let explored_old = explore(explorer, old_runs.iter().copied())?;
        let mut before = old.locked(&explored_old);
        let mut after = new.locked(&explored_new);
        // What is the same text for text is not explored, and counts as the same.
        let explored: BTreeSet<Subject> = new_runs.iter().map(|run| Subject::of_run(run)).collect();
        for run in new.plan.runs.iter().filter(|run| !explored.contains(&Subject::of_run(run))) {
            for lock in [&mut before, &mut after] {
                lock.add_inputs(run);
                lock.runs.insert(Subject::of_run(run), Outcome::default());
            }
        }
        let stopped: Vec<Subject> = explored_new
            .iter()
            .chain(&explored_old)
            .filter(|explored| explored.report.is_none())
            .map(|explored| Subject::of_run(explored.run))
            .collect();
        let finished = |subject: &Subject| !stopped.iter().any(|other| axis.is_pair(subject, other));
        let unfinished = after.runs.len() + stopped.len();
        before.runs.retain(|subject, _| finished(subject));
        after.runs.retain(|subject, _| finished(subject));
        let unfinished = unfinished - after.runs.len();
        let difference = Difference::between(&before, &after, *axis);
        Ok(Self { difference, new: explored_new, unfinished })
    }

    /// Writes the traces of the runs in which something became worse.
    fn write_traces(&mut self, folder: &Path) -> Result<(), Failure> {
        for explored in &mut self.new {
            let Some(report) = &mut explored.report else { continue };
            let subject = Subject::of(report);
            let changed = |name: &str| {
                let mut worse = self.difference.changes.iter().filter(|change| change.kind.is_worse());
                worse.any(|change| change.new.as_ref() == Some(&subject) && change.property.as_deref() == Some(name))
            };
            let mut part = Report { invariants: Vec::new(), ..report.clone() };
            part.invariants = report.invariants.iter().filter(|found| changed(&found.name)).cloned().collect();
            writing::write_traces(&mut part, folder)?;
            for written in part.invariants {
                if let Some(found) = report.invariants.iter_mut().find(|found| found.name == written.name) {
                    *found = written;
                }
            }
        }
        Ok(())
    }
}

/// Whether two runs of one name are the same, text for text.
fn is_same(one: &Run, other: &Run) -> bool {
    let (one_sources, other_sources) = (one.sources(), other.sources());
    one_sources.scenario.text == other_sources.scenario.text && one_sources.sides() == other_sources.sides()
}
