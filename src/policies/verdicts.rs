//! The verdicts of many runs, explored on several threads and remembered by what was composed.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::model::{Model, Verdict};
use crate::run::{Options, Report, Run, question};
use crate::trace::RecordError;

/// What came out of runs, by the composed model. Runs that differ in names only, or by edits that make no difference, are
/// explored once.
#[derive(Default)]
pub struct Verdicts {
    known: Mutex<HashMap<String, Report, FxBuildHasher>>,
    /// How many verdicts were given so far, and how many states the runs had.
    done: AtomicUsize,
    states: AtomicUsize,
}

/// How far an evaluation has come.
#[derive(Clone, Copy, Debug)]
pub struct Evaluated {
    /// Runs whose verdicts are known, those of earlier evaluations included.
    pub done: usize,
    /// Of so many, as far as that is known.
    pub all: usize,
    /// States of the runs that were explored.
    pub states: usize,
}

impl Verdicts {
    /// Explores runs, in no particular order, on so many threads. `watch` is told how many are done, and ends the evaluation
    /// by answering `true`: runs that were not explored whole then have no report.
    ///
    /// # Errors
    ///
    /// When a trace can't be recorded, which is a bug.
    pub fn of(
        &self,
        runs: &[Run],
        options: &Options,
        threads: usize,
        watch: &(dyn Fn(Evaluated) -> bool + Sync),
    ) -> Result<Vec<Option<Report>>, RecordError> {
        let reports: Mutex<Vec<Option<Report>>> = Mutex::new(vec![None; runs.len()]);
        let failed: Mutex<Option<RecordError>> = Mutex::new(None);
        let next = AtomicUsize::new(0);
        let (done, states) = (&self.done, &self.states);
        let all = done.load(Ordering::Relaxed) + runs.len();
        let stop = AtomicBool::new(false);
        let told = |more: usize| {
            let progress =
                Evaluated { done: done.load(Ordering::Relaxed), all, states: states.load(Ordering::Relaxed) + more };
            stop.load(Ordering::Relaxed)
                || watch(progress) && {
                    stop.store(true, Ordering::Relaxed);
                    true
                }
        };
        let work = || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(run) = runs.get(index) else { break };
                let key = question(run.model(), options);
                let known = self.known.lock().expect("no thread panicked while it held the lock").get(&key).cloned();
                let report = match known {
                    Some(report) => Ok(renamed(report, run)),
                    None => run.explore(options, &mut |progress| told(progress.states)),
                };
                if told(0) {
                    break;
                }
                match report {
                    Ok(report) => {
                        states.fetch_add(report.states, Ordering::Relaxed);
                        let mut known = self.known.lock().expect("no thread panicked while it held the lock");
                        known.entry(key).or_insert_with(|| report.clone());
                        reports.lock().expect("no thread panicked while it held the lock")[index] = Some(report);
                    }
                    Err(error) => {
                        *failed.lock().expect("no thread panicked while it held the lock") = Some(error);
                        stop.store(true, Ordering::Relaxed);
                    }
                }
                done.fetch_add(1, Ordering::Relaxed);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads.max(1) {
                scope.spawn(work);
            }
            work();
        });
        match failed.into_inner().expect("no thread panicked while it held the lock") {
            Some(error) => Err(error),
            None => Ok(reports.into_inner().expect("no thread panicked while it held the lock")),
        }
    }
}

/// A report of a run that is composed alike. Its traces hold the other run's texts, so they are left out.
fn renamed(mut report: Report, run: &Run) -> Report {
    let Model { scenario, design, protocol, .. } = run.model();
    report.scenario.clone_from(&scenario.name);
    report.design.clone_from(&design.name);
    report.protocol.clone_from(&protocol.name);
    for found in report.invariants.iter_mut().flat_map(|property| &mut property.breaks) {
        found.recorded = None;
    }
    report
}

/// Which properties are violated in the one report and not in the other.
pub fn newly_violated<'r>(
    before: &'r Report,
    after: &'r Report,
) -> impl Iterator<Item = &'r crate::run::PropertyReport> {
    let violated = |report: &Report, name: &str| {
        report.invariants.iter().any(|property| property.name == name && property.verdict == Verdict::Violated)
    };
    after
        .invariants
        .iter()
        .filter(move |property| property.verdict == Verdict::Violated && !violated(before, &property.name))
}
