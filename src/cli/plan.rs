//! Which runs a folder of models, or a pair of designs or protocols, asks for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::Failure;
use super::exploring::Explorer;
use super::models::{Models, Pair};
use crate::input::{Input, InputError, Source};
use crate::lock::{Asked, FILE, Lock, Subject};
use crate::model::{Design, Protocol, Scenario};
use crate::run::{Report, Run};

/// The folder of models where none is named.
const MODELS: &str = "models";

/// The folder that is meant: the one that is named, or `models`, or else the current one.
pub(super) fn folder(named: Option<&Path>) -> Result<PathBuf, Failure> {
    let default = if Path::new(MODELS).is_dir() { MODELS } else { "." };
    let folder = named.unwrap_or_else(|| Path::new(default));
    if !folder.is_dir() {
        return Err(Failure::Usage(format!("{} is no folder", folder.display())));
    }
    Ok(folder.to_owned())
}

/// The lock of a folder.
pub(super) fn lock_of(folder: &Path) -> PathBuf {
    if folder == Path::new(".") { FILE.into() } else { folder.join(FILE) }
}

/// What is to be run, and what can't be.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) runs: Vec<Run>,
    pub(super) misfits: BTreeMap<Subject, String>,
}

impl Plan {
    /// Everything that is asked of a folder's models.
    pub(super) fn of(models: &Models, asked: &Asked, explorer: &Explorer) -> Result<Self, Failure> {
        explorer.mention(&models.others);
        let pairs = if asked.expected { models.expected()? } else { models.all()? };
        let mut plan = Self::default();
        let mut errors = Errors::default();
        for (scenario, design) in &pairs {
            for protocol in models.protocols_of(scenario, explorer.protocol(), asked.expected)? {
                plan.add(explorer, (scenario, design), protocol, &mut errors)?;
            }
        }
        errors.complain(asked.expected)?;
        plan.check_names()?;
        Ok(plan)
    }

    /// These pairs under this protocol, or that of each scenario.
    pub(super) fn of_pairs(
        pairs: &[Pair],
        protocol: Option<&Input<Protocol>>,
        explorer: &Explorer,
    ) -> Result<Self, Failure> {
        let mut plan = Self::default();
        let mut errors = Errors::default();
        for (scenario, design) in pairs {
            let protocol = match protocol {
                Some(protocol) => protocol.clone(),
                None => crate::input::protocol_of(scenario, explorer.protocol())?,
            };
            plan.add(explorer, (scenario, design), protocol, &mut errors)?;
        }
        Ok(plan)
    }

    fn add(
        &mut self,
        explorer: &Explorer,
        (scenario, design): (&Input<Scenario>, &Input<Design>),
        protocol: Input<Protocol>,
        errors: &mut Errors,
    ) -> Result<(), Failure> {
        let subject = Subject {
            scenario: scenario.value.name.clone(),
            design: design.value.name.clone(),
            protocol: protocol.value.name.clone(),
        };
        match explorer.compose_under(scenario, design, protocol) {
            Ok(run) => {
                errors.fits(&subject);
                self.runs.push(run);
            }
            Err(Failure::Input(error)) => {
                let because = error.diagnostics.first().map_or_else(String::new, |first| first.message.clone());
                self.misfits.insert(subject.clone(), because);
                errors.does_not_fit(subject, error);
            }
            Err(other) => return Err(other),
        }
        Ok(())
    }

    /// A name means one thing in a folder: a lock knows inputs by their names.
    fn check_names(&self) -> Result<(), Failure> {
        let mut known: BTreeMap<(&str, String), &Source> = BTreeMap::new();
        for run in &self.runs {
            for (kind, name, source) in inputs(run) {
                let other = known.entry((kind, name.clone())).or_insert(source);
                one_name(kind, &name, (*other, source), "name a folder that holds one of them")?;
            }
        }
        Ok(())
    }
}

/// The inputs of a run: kind, name and text.
fn inputs(run: &Run) -> [(&'static str, String, &Source); 3] {
    let (sources, subject) = (run.sources(), Subject::of_run(run));
    [
        ("scenario", subject.scenario, sources.scenario),
        ("design", subject.design, sources.design),
        ("protocol", subject.protocol, sources.protocol),
    ]
}

/// Refuses two inputs of one name that are not the same.
fn one_name(kind: &str, name: &str, (one, other): (&Source, &Source), otherwise: &str) -> Result<(), Failure> {
    if one.origin == other.origin || one.text == other.text {
        return Ok(());
    }
    let (one, other) = (&one.origin, &other.origin);
    Err(Failure::Usage(format!("two {kind}s are called `{name}`: {one} and {other}; rename one, or {otherwise}")))
}

/// Refuses different runs of one name: their reports can't be told apart, and the traces of the one would be those of the other.
pub(super) fn told_apart(runs: &[Run]) -> Result<(), Failure> {
    let mut known: BTreeMap<Subject, &Run> = BTreeMap::new();
    for run in runs {
        let other = known.entry(Subject::of_run(run)).or_insert(run);
        for ((kind, name, source), (.., other)) in inputs(run).into_iter().zip(inputs(other)) {
            one_name(kind, &name, (other, source), "run them one by one, each with a folder of its own for --traces")?;
        }
    }
    Ok(())
}

/// What does not fit together, until it is known whether that is a mistake.
#[derive(Default)]
struct Errors {
    fitting: BTreeSet<String>,
    errors: Vec<(Subject, InputError)>,
}

impl Errors {
    fn fits(&mut self, subject: &Subject) {
        self.fitting.insert(format!("scenario {}", subject.scenario));
        self.fitting.insert(format!("design {}", subject.design));
    }

    fn does_not_fit(&mut self, subject: Subject, error: InputError) {
        self.errors.push((subject, error));
    }

    /// What is expected must fit, and what fits with nothing is wrong by itself.
    fn complain(self, expected: bool) -> Result<(), Failure> {
        let alone = |subject: &Subject| {
            !self.fitting.contains(&format!("scenario {}", subject.scenario))
                || !self.fitting.contains(&format!("design {}", subject.design))
        };
        match self.errors.iter().position(|(subject, _)| expected || alone(subject)) {
            Some(index) => Err(Failure::Input(self.errors[index].1.clone())),
            None => Ok(()),
        }
    }
}

/// One run that was explored, or was not.
pub(super) struct Explored<'r> {
    pub(super) run: &'r Run,
    /// None, when a limit was hit before it was explored as far as it was asked.
    pub(super) report: Option<Report>,
}

/// Explores everything, until somebody stops it.
pub(super) fn explore<'r>(
    explorer: &mut Explorer,
    runs: impl IntoIterator<Item = &'r Run>,
) -> Result<Vec<Explored<'r>>, Failure> {
    let mut explored = Vec::new();
    for run in runs {
        let report = if explorer.is_stopped() { None } else { Some(explorer.explore(run)?) };
        // A run that was explored to its end is, however late it got.
        let report = report.filter(|report| report.complete || !explorer.is_stopped());
        explored.push(Explored { run, report });
    }
    Ok(explored)
}

/// The lock of what was explored.
pub(super) fn locked(asked: Asked, explored: &[Explored<'_>], misfits: &BTreeMap<Subject, String>) -> Lock {
    let mut lock = Lock::new(asked);
    for Explored { run, report } in explored {
        if let Some(report) = report {
            lock.add(run, report);
        }
    }
    lock.misfits.clone_from(misfits);
    lock
}
