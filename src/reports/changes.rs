//! What changed between two locks, with what is known of the new runs: what `diff` tells its reports.

use crate::diagrams::words::argument;
use crate::input::Source;
use crate::lock::{Change, Difference, Kind, Subject};
use crate::model::protocol::DEFAULT_PROTOCOL;
use crate::run::{Break, PropertyReport, Report, Run};
use crate::trace::Trace;

/// What changed, with what is known of the new runs.
pub struct Changes<'r> {
    /// What the old side is called.
    pub old: String,
    /// What the new side is called.
    pub new: String,
    /// What differs.
    pub difference: Difference,
    /// The new runs that were explored for this; none where the new side is a lock.
    pub runs: Vec<(&'r Run, &'r Report)>,
    /// How many runs were not compared, since it was stopped.
    pub unfinished: usize,
    /// What to do about it, in a sentence without its full stop; empty where there is nothing.
    pub hint: String,
}

impl<'r> Changes<'r> {
    /// The new run of a change, and what was found of its property.
    #[must_use]
    pub fn found(&self, change: &Change) -> Option<(&'r Run, &'r Report, &'r PropertyReport)> {
        let (run, report) = self.run(change.new.as_ref()?)?;
        let property = report.invariants.iter().find(|property| Some(&property.name) == change.property.as_ref())?;
        Some((run, report, property))
    }

    /// The run of this name.
    #[must_use]
    pub fn run(&self, subject: &Subject) -> Option<(&'r Run, &'r Report)> {
        self.runs.iter().find(|(_, report)| Subject::of(report) == *subject).copied()
    }

    /// The new counterexample of a change, where there is one: the shortest break that no old one covers.
    #[must_use]
    pub fn counterexample(&self, change: &Change) -> Option<(&'r Break, &'r Trace)> {
        if !matches!(change.kind, Kind::NewlyBroken | Kind::CheaperToBreak) {
            return None;
        }
        let (_, _, property) = self.found(change)?;
        let found = property.breaks.iter().find(|found| change.is_news(found.steps, found.faults))?;
        Some((found, found.recorded.as_deref()?))
    }

    /// Whether the counterexample of a change is drawn: for each property, the shortest one. More would hide it.
    #[must_use]
    pub fn is_drawn(&self, change: &Change) -> bool {
        let steps = |change: &Change| self.counterexample(change).map(|(found, _)| (found.steps, found.faults));
        let same = self.difference.changes.iter().filter(|other| other.property == change.property);
        let best = same.filter(|other| steps(other).is_some()).min_by_key(|other| steps(other));
        best.is_some_and(|best| std::ptr::eq(best, change))
    }

    /// The command that shows a new counterexample.
    #[must_use]
    pub fn command(&self, change: &Change) -> Option<String> {
        let (found, _) = self.counterexample(change)?;
        if let Some(trace) = &found.trace {
            return Some(format!("handlecheck explain {trace}"));
        }
        let (run, report, property) = self.found(change)?;
        let sources = run.sources();
        let one = |source: &Source| {
            if source.origin.starts_with("built-in/") { source.name.clone() } else { source.origin.clone() }
        };
        let named = |source: &Source, deployed: Option<&Source>| {
            let deployed = deployed.map_or_else(String::new, |deployed| format!("..{}", one(deployed)));
            argument(&format!("{}{deployed}", one(source)))
        };
        let scenario = named(sources.scenario, None);
        let design = named(sources.design, sources.deployed_design);
        let usual = run.model().scenario.protocol.as_deref().unwrap_or(DEFAULT_PROTOCOL);
        let protocol = match &report.protocol {
            name if name == usual => String::new(),
            _ => format!(" --protocol {}", named(sources.protocol, sources.deployed_protocol)),
        };
        Some(format!("handlecheck check {scenario} --design {design}{protocol} --invariant {}", property.name))
    }
}

/// What changed, in a clause: where, what, from what to what.
#[must_use]
pub(super) fn clause(change: &Change) -> String {
    let property = change.property.as_ref().map_or_else(String::new, |name| format!(", {name}"));
    format!("{}{property}: {} -> {}", name(change), change.before, change.after)
}

/// The run that changed; where the sides differ on purpose, both designs or both protocols.
#[must_use]
pub(super) fn name(change: &Change) -> String {
    let subject = change.subject();
    let Some(old) = change.old.as_ref().filter(|_| change.new.is_some()) else { return subject.to_string() };
    let both = |old: &String, new: &String| if old == new { new.clone() } else { format!("({old} -> {new})") };
    let (design, protocol) = (both(&old.design, &subject.design), both(&old.protocol, &subject.protocol));
    format!("{} x {design} x {protocol}", subject.scenario)
}

/// How many runs were compared, and how many are the same.
pub(super) fn summary(changes: &Changes<'_>) -> String {
    let Difference { compared, same, open, .. } = changes.difference;
    let runs = super::words::count(compared, "run");
    let cut = match changes.unfinished {
        0 => String::new(),
        more => format!("; stopped before {} could be compared", super::words::count(more, "other")),
    };
    let open = match open {
        0 => String::new(),
        more => {
            format!("; {} left something open on both sides, and may differ in it", super::words::count(more, "run"))
        }
    };
    format!("{runs} compared, {same} the same{open}{cut}")
}
