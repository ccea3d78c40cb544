//! Where belief and truth part.
//!
//! A trace lists, after each step, every belief that differs from the truth. Not each of them is worth a note: an agent
//! that waits for the answer to its own accepted change knows what it asked for. A belief is *stale* when the store
//! differs from it by more than the call for which the agent waits. A broken stream ends the waiting.

use super::calls::Calls;
use crate::diagrams::words;
use crate::trace::{Belief, Content, Step, Trace};

/// A belief that became stale.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stale {
    /// The name of the agent.
    pub agent: String,
    /// What it believes, or will hear.
    pub believes: Content,
    /// An answer that is already at its node will tell the agent so, but that is outdated too.
    pub will_hear: bool,
    /// What is true; none where there is nothing any more.
    pub truth: Option<Content>,
    /// What became of it, where there is nothing any more: `was deleted in step 7`.
    pub fate: String,
}

impl Stale {
    /// The note: `B believes v7 16 / 512; store is v8 32 / 512`.
    #[must_use]
    pub fn words(&self, names_store: bool) -> String {
        let (belief, truth) = self.halves(names_store);
        format!("{belief}; {truth}")
    }

    /// The note, as what is believed and what is true.
    #[must_use]
    pub fn halves(&self, names_store: bool) -> (String, String) {
        let verb = if self.will_hear { "will hear" } else { "believes" };
        let believed = words::brief(&self.believes);
        let named = names_store && believed != self.believes.handle;
        let of = if named { format!("{} ", self.believes.handle) } else { String::new() };
        let truth = match &self.truth {
            Some(truth) if truth.handle != self.believes.handle => {
                format!("store is {} {}", truth.handle, words::brief(truth))
            }
            Some(truth) => format!("store is {}", words::brief(truth)),
            None => format!("{} {}", self.believes.handle, self.fate),
        };
        (format!("{} {verb} {of}{believed}", self.agent), truth)
    }

    /// Whether it is the same stale belief, though the truth may have moved on.
    fn continues(&self, other: &Self) -> bool {
        self.agent == other.agent && self.believes == other.believes && self.will_hear == other.will_hear
    }
}

/// For each step, the beliefs that are stale after it.
#[must_use]
pub fn stale_after(trace: &Trace, calls: &Calls<'_>) -> Vec<Vec<Stale>> {
    let steps = trace.steps.iter().enumerate();
    steps
        .map(|(index, step)| step.beliefs.iter().filter_map(|belief| stale(trace, calls, index, belief)).collect())
        .collect()
}

/// The beliefs that a row makes stale: those after its last step that were not stale before its first.
#[must_use]
pub fn new_ones(stale: &[Vec<Stale>], first: usize, last: usize) -> Vec<Stale> {
    let before = first.checked_sub(1).and_then(|index| stale.get(index)).map_or(&[][..], Vec::as_slice);
    let after = stale.get(last).map_or(&[][..], Vec::as_slice);
    after.iter().filter(|now| !before.iter().any(|then| now.continues(then))).cloned().collect()
}

fn stale(trace: &Trace, calls: &Calls<'_>, index: usize, belief: &Belief) -> Option<Stale> {
    let mut note = Stale {
        agent: belief.agent.clone(),
        believes: belief.believes.clone(),
        will_hear: false,
        truth: belief.truth.clone(),
        fate: fate(trace, &belief.believes.handle, index),
    };
    // Who deletes something knows what it asked for, unless its stream broke.
    if belief.truth.is_none()
        && let Some(by) = deleted(trace, &belief.believes.handle, index).and_then(|at| calls.call_of(at))
        && by.agent == belief.agent
        && !by.orphaned(index)
    {
        return None;
    }
    let Some(call) = calls.awaited_by(&belief.agent, index) else { return Some(note) };
    let own = call.committed.filter(|(at, commit)| *at <= index && commit.content.handle == belief.believes.handle);
    if let Some((at, commit)) = own {
        let before = content_before(trace, &commit.content.handle, at);
        let knew = before.is_none_or(|before| agree(before, &belief.believes));
        if knew && belief.truth.as_ref().is_some_and(|truth| agree(truth, &commit.content)) {
            return None;
        }
    }
    let answered = call.hears.filter(|(at, answer)| *at <= index && answer.outcome == "ok");
    let heard =
        answered.and_then(|(_, answer)| answer.view.as_ref().or_else(|| own.map(|(_, commit)| &commit.content)));
    if let Some(heard) = heard.filter(|heard| heard.handle == belief.believes.handle) {
        let outdated = belief.truth.as_ref().is_none_or(|truth| !agree(truth, heard));
        if outdated && !agree(heard, &belief.believes) {
            note.believes = heard.clone();
            note.will_hear = true;
        }
    }
    Some(note)
}

/// What a handle names before a step, as the trace tells it.
#[must_use]
pub fn content_before<'t>(trace: &'t Trace, handle: &str, index: usize) -> Option<&'t Content> {
    let commits = trace.steps.iter().take(index).rev().flat_map(|step| step.commits.iter().rev());
    let contents = commits.map(|commit| &commit.content);
    let initial = trace.resources.iter().filter_map(|resource| resource.initial.as_ref());
    contents.chain(initial).find(|content| content.handle == handle)
}

/// What became of something that is not there any more, after a step: `was lost at the restart of step 5`.
#[must_use]
pub fn fate(trace: &Trace, handle: &str, index: usize) -> String {
    if let Some(at) = deleted(trace, handle, index) {
        return format!("was deleted in step {}", at + 1);
    }
    let mut steps = trace.steps.iter().enumerate().take(index + 1).rev();
    match steps.find(|(_, step)| became(step, handle, "memory", "lost with its node")) {
        Some((at, _)) => format!("was lost at the restart of step {}", at + 1),
        None => "does not exist".to_owned(),
    }
}

/// Where something was deleted, as the trace tells it.
fn deleted(trace: &Trace, handle: &str, index: usize) -> Option<usize> {
    trace.steps.iter().take(index + 1).rposition(|step| became(step, handle, "state", "deleted"))
}

/// Whether something about a handle became so in a step.
#[must_use]
pub fn became(step: &Step, handle: &str, what: &str, value: &str) -> bool {
    step.changes.iter().any(|change| change.fact == format!("{handle} {what}") && change.after == value)
}

/// Whether two contents agree in what both know.
fn agree(one: &Content, other: &Content) -> bool {
    let versions = one.version.is_none() || other.version.is_none() || one.version == other.version;
    let values = one.values.is_empty() || other.values.is_empty() || one.values == other.values;
    versions && values
}
