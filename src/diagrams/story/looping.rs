//! Rounds that a run goes for ever: what keeps an agent in them, why nothing in them changes that, and what would end them.

use super::because::{Claim, because};
use crate::diagrams::sequence::{Calls, Followed};
use crate::diagrams::words;
use crate::trace::Trace;

/// A paragraph for each agent that a round brings back to where it was; none where a run comes to its end.
pub(super) fn looping(trace: &Trace, calls: &Calls<'_>) -> Vec<String> {
    let Some(stem) = trace.loops_from else { return Vec::new() };
    let agents = trace.agents.iter();
    let held = agents.filter_map(|agent| {
        let own = calls.all().iter().filter(|call| call.agent == agent.name);
        own.filter_map(|call| Refused::of(trace, calls, call, stem)).next_back()
    });
    held.map(|refused| refused.words(trace, calls, stem)).collect()
}

/// A call of the round that a step of its handler ended, in this round as in every other.
struct Refused<'t> {
    call: &'t Followed<'t>,
    /// The step of the trace, from 0.
    at: usize,
    guard: &'t str,
    outcome: &'t str,
    replayed: bool,
    /// Since when, from 1, and what: `key A/1 was claimed in step 3`.
    since: Option<(usize, String)>,
}

impl<'t> Refused<'t> {
    fn of(trace: &'t Trace, calls: &'t Calls<'_>, call: &'t Followed<'_>, stem: usize) -> Option<Self> {
        let at = *call.executed.iter().rev().find(|at| {
            let note = trace.steps[**at].transaction.as_ref();
            **at >= stem && note.is_some_and(|note| note.ended_by.is_some())
        })?;
        let step = &trace.steps[at];
        let (guard, answer) = (step.transaction.as_ref()?.ended_by.as_deref()?, step.answer.as_ref()?);
        let since = because(trace, calls, at).and_then(|because| {
            let since = because.claims.iter().find_map(|claim| match claim {
                Claim::Fact { step, .. } | Claim::Committed { step, .. } => Some(*step),
                _ => None,
            })?;
            Some((since, because.words.trim_start_matches("because ").to_owned()))
        });
        Some(Self { call, at, guard, outcome: &answer.outcome, replayed: answer.replayed, since })
    }

    fn words(&self, trace: &Trace, calls: &Calls<'_>, stem: usize) -> String {
        let Self { call, guard, outcome, .. } = self;
        let (agent, number) = (call.agent, self.at + 1);
        let round = words::steps(stem + 1, trace.steps.len());
        let answers = if self.replayed { "finds the call done and replays" } else { "answers" };
        let pair = match &self.since {
            Some((since, what)) if *since <= stem => format!(
                "The pair to look at is step {since} and step {number}: {what}, and so {guard} {answers} {outcome} in step \
                 {number}, in this round as in every other."
            ),
            _ => format!("In every round, {guard} {answers} {outcome} to {agent}, here in step {number}."),
        };
        let holder = self.holder(trace, calls, stem).map_or_else(String::new, |holder| format!(" {holder}"));
        let again = match self.call_after(trace, stem).as_deref() {
            Some("replan") => "reads and plans the same work again",
            _ => "sends the same call again",
        };
        let change = match self.clears() {
            Some(clears) => {
                format!(
                    "The rounds would end if {clears}, or if {agent} did something else when it is answered {outcome}."
                )
            }
            None => format!(
                "That never changes back: the rounds would end only if {agent} did something else when it is answered \
                 {outcome}."
            ),
        };
        format!(
            "{pair}{holder} Nothing in steps {round} changes what {guard} looks at, and {agent}, answered {outcome}, {again}. \
             {change}"
        )
    }

    /// What becomes of the call that left behind what this one meets.
    fn holder(&self, trace: &Trace, calls: &Calls<'_>, stem: usize) -> Option<String> {
        let (since, _) = self.since.as_ref()?;
        if !matches!(self.outcome, "in-progress" | "locked") {
            return None;
        }
        let request = trace.steps.get(since - 1)?.does.request.as_ref()?;
        let holder = calls.all().iter().find(|call| call.request == *request)?;
        let gone = [holder.broken, holder.leaves.last().copied()].into_iter().flatten();
        let gone = gone.filter(|gone| *gone >= *since && *gone < stem).max();
        Some(match (holder.answered, gone) {
            (Some((answered, answer)), _) if answered + 1 == *since || answered < stem => format!(
                "{request}, which did that, ended in step {} ({}) and left it behind.",
                answered + 1,
                words::answer(answer, None)
            ),
            (None, Some(gone)) => {
                format!("{request}, which did that, was lost in step {} and does not undo it.", gone + 1)
            }
            _ => format!("{request}, which did that, has not undone it."),
        })
    }

    /// How the agent sends the call that comes next in the round.
    fn call_after(&self, trace: &Trace, stem: usize) -> Option<String> {
        let own = |step: &&crate::trace::Step| {
            step.does.action == "send" && step.does.agent.as_deref() == Some(self.call.agent)
        };
        let entry = self.call.note?.entry;
        let notes = trace.steps[stem..].iter().filter(own).filter_map(|step| step.call.as_ref());
        notes.filter(|note| note.entry == entry).filter_map(|note| note.attempt.clone()).next_back()
    }

    /// What would let the call pass; none where nothing can.
    fn clears(&self) -> Option<String> {
        let handle = self.call.note.and_then(|note| note.handle.as_deref()).unwrap_or("the resource");
        let of_key = matches!(self.guard, "find-key" | "claim-key" | "record-key");
        let key = self.call.note.and_then(|note| note.key.as_deref()).unwrap_or("the key");
        Some(match self.outcome {
            "in-progress" => format!("the claim on {key} were released, recorded or expired"),
            _ if of_key => format!("the record under {key} were gone, or {} came with another key", self.call.agent),
            "locked" => "the lease were released or expired".to_owned(),
            "lease-lost" => format!("{} held the lease", self.call.agent),
            "stale-view" => format!("{} planned on what is current", self.call.agent),
            "precondition-required" => format!("{} said which version it expects", self.call.agent),
            "not-found" if self.since.is_none() => format!("{handle} were found where it looks"),
            _ => return None,
        })
    }
}
