//! What free runs came to all together: what was done in them, and what of it could be judged.

use std::collections::{BTreeMap, BTreeSet};

use super::free::Came;
use super::mapping::Mapping;
use crate::audit::report::Report;
use crate::log::Line;
use crate::model::client::Precondition;
use crate::model::{Entry, Model, Told, Tool, Verdict};

/// Of several runs in which nothing was found.
#[derive(Debug, Default)]
pub struct Tally {
    runs: usize,
    /// The pieces of work that agents have, and those that were told as done.
    work: usize,
    done: usize,
    /// The changes that servers have accepted.
    accepted: usize,
    /// In how many runs each assertion and each check was judged.
    judged: BTreeMap<String, usize>,
    /// In how many runs each could not be judged, and why.
    unjudged: BTreeMap<String, (usize, BTreeSet<String>)>,
    /// What nothing was about, in any run.
    about: BTreeMap<&'static str, bool>,
    gave_up: BTreeSet<String>,
}

impl Tally {
    /// Adds a run in which nothing was found.
    pub fn add(&mut self, model: &Model, came: &Came, report: &Report) {
        self.runs += 1;
        let work = model.scenario.agents.iter().flat_map(|agent| &agent.work);
        self.work += work.filter(|entry| matches!(entry, Entry::Mutate { .. })).count();
        for line in &came.log {
            match line {
                Line::Told(told) => self.done += usize::from(told.told == Told::Ok),
                Line::Call(call) => {
                    let ok = call.answer.as_ref().is_some_and(|answer| answer.outcome.is_ok());
                    self.accepted += usize::from(ok && call.tool.changes());
                }
                _ => {}
            }
        }
        self.gave_up.extend(came.gave_up.iter().cloned());
        for assertion in model.scenario.finally.iter().chain(&model.scenario.at_rest) {
            if came.assertions.iter().any(|(name, _)| *name == assertion.name) {
                *self.judged.entry(assertion.name.clone()).or_default() += 1;
            } else {
                self.not(&assertion.name, "some work was not done".to_owned());
            }
        }
        for check in &report.checks {
            *self.about.entry(check.name).or_default() |= check.verdict != Verdict::Vacuous;
            match check.verdict {
                Verdict::Inconclusive => {
                    let why = check.unjudged.keys().copied().collect::<Vec<_>>().join("; ");
                    self.not(check.name, why);
                }
                Verdict::Vacuous => {}
                Verdict::Holds | Verdict::Violated => *self.judged.entry(check.name.to_owned()).or_default() += 1,
            }
        }
    }

    fn not(&mut self, name: &str, why: String) {
        let (runs, because) = self.unjudged.entry(name.to_owned()).or_default();
        *runs += 1;
        because.insert(why);
    }

    /// Whether there was work, and none of it was done in any run.
    #[must_use]
    pub const fn nothing_was_done(&self) -> bool {
        self.work > 0 && self.done == 0 && self.accepted == 0
    }

    /// Whether anything could be judged in any run.
    #[must_use]
    pub fn was_judged(&self) -> bool {
        !self.judged.is_empty()
    }

    /// What was done and what could be judged, a line for each.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.work > 0 {
            lines.push(format!("done: {} of {} pieces of work, by what agents were told", self.done, self.work));
        }
        if !self.gave_up.is_empty() {
            let agents: Vec<&str> = self.gave_up.iter().map(String::as_str).collect();
            lines.push(format!("still at work when a run was ended: {}", agents.join(", ")));
        }
        let runs = |count: usize| {
            if count == self.runs { String::new() } else { format!(" in {count} of {} runs", self.runs) }
        };
        if self.was_judged() {
            let judged = self.judged.iter().map(|(name, count)| format!("{name}{}", runs(*count)));
            lines.push(format!("judged: {}", judged.collect::<Vec<_>>().join(", ")));
        }
        for (name, (count, because)) in &self.unjudged {
            let because: Vec<&str> = because.iter().map(String::as_str).collect();
            lines.push(format!("could not be judged{}: {name}: {}", runs(*count), because.join("; ")));
        }
        let vacuous: Vec<&str> = self.about.iter().filter(|(_, about)| !**about).map(|(name, _)| *name).collect();
        if !vacuous.is_empty() {
            lines.push(format!("nothing was about: {}", vacuous.join(", ")));
        }
        lines
    }
}

/// Why clients may never come to their work: they expect versions, and no answer shows one.
#[must_use]
pub fn lacks_versions(model: &Model, mapping: Option<&Mapping>) -> Option<String> {
    let expects = |agent: usize| {
        let client = model.client(agent, Tool::Write);
        client.precondition != Precondition::None
    };
    let reads = mapping?.tool("read").ok()?;
    let lacks = reads.version.is_none() && (0..model.scenario.agents.len()).any(expects);
    lacks.then(|| {
        format!(
            "the clients of `{}` expect the versions that they have seen, and the mapping has no `version` for `read`",
            model.design.name
        )
    })
}
