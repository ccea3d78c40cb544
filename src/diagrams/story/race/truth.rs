//! What somebody was told, and what had come of it or came of it later.

use super::{asks, commits};
use crate::diagrams::sequence::Calls;
use crate::trace::{Commit, Step, ToldNote, Trace};

/// The telling and what belies it.
pub(super) fn truthful_outcome(trace: &Trace, calls: &Calls<'_>) -> Option<String> {
    let last = trace.steps.len();
    let step = trace.steps.last()?;
    if let Some(told) = step.told.last() {
        let effects = Effects::of(trace, calls, told);
        return match told.told.as_str() {
            "ok" => Some(told_ok(told, &effects, &trace.sentence, last)),
            _ => told_failure(told, &effects, last),
        };
    }
    later(trace, calls).or_else(|| {
        let call = calls.call_of(last - 1)?;
        let (asked, about) = (call.note?.handle.as_ref()?, step.answer.as_ref()?.handle.as_ref()?);
        (asked != about).then(|| {
            format!(
                "The call at step {} asked about {asked}, and the answer at step {last} is about {about}.",
                call.steps.first().map_or(1, |step| step + 1)
            )
        })
    })
}

/// What came of a piece of work before it was told of: the numbers of steps.
struct Effects<'t> {
    /// The last commit of it that stands.
    committed: Option<(usize, &'t Commit)>,
    /// Where it was taken back, if nothing of it was committed later.
    taken_back: Option<usize>,
    /// The last step that asked the upstream service for it.
    upstream: Option<usize>,
    /// The last commit of other work of the agent that looks the same.
    alike: Option<usize>,
}

impl<'t> Effects<'t> {
    fn of(trace: &'t Trace, calls: &Calls<'_>, told: &ToldNote) -> Self {
        let last = trace.steps.len() - 1;
        let entry = |index: usize| {
            let call = calls.call_of(index).filter(|call| call.agent == told.agent)?;
            Some(call.note?.entry)
        };
        let own = entry(last);
        let is_own = |number: usize| own.is_none() || entry(number - 1) == own;
        let of_agent = |(_, commit): &(usize, &Commit)| commit.agent == told.agent && commit.intent == told.about;
        let latest = commits(trace).filter(of_agent).rfind(|(number, _)| is_own(*number));
        let (taken_back, committed) = match latest {
            Some((number, commit)) if commit.taken_back => (Some(number), None),
            latest => (None, latest),
        };
        let asked = |(index, step): &(usize, &Step)| asks(step) && own.is_some() && entry(*index) == own;
        let upstream = trace.steps.iter().enumerate().filter(asked).map(|(index, _)| index + 1).next_back();
        let alike = commits(trace).filter(of_agent).rfind(|(number, _)| !is_own(*number));
        Self { committed, taken_back, upstream, alike: alike.map(|(number, _)| number) }
    }
}

fn words(told: &ToldNote) -> String {
    format!("{} is told {} about {}", told.agent, told.told, told.about)
}

fn pair(first: usize, last: usize, what: &str) -> String {
    format!("The pair to look at is step {first} and step {last}: {what}.")
}

/// It was told `ok`: what is missing.
fn told_ok(told: &ToldNote, effects: &Effects<'_>, sentence: &str, last: usize) -> String {
    let what = format!("{} at step {last}", words(told));
    let Effects { committed, taken_back, upstream, alike } = effects;
    match (committed, taken_back, upstream, alike) {
        (Some((step, _)), ..) if sentence.ends_with("never took effect") => {
            pair(*step, last, &format!("{what}, and what step {step} committed is gone by then"))
        }
        (Some((step, _)), ..) => {
            pair(*step, last, &format!("{what}, and step {step} did only a part of what that takes"))
        }
        (None, Some(step), ..) => pair(*step, last, &format!("{what}, but it was taken back at step {step}")),
        (None, None, Some(step), _) => {
            let asked = format!("the upstream service was asked for it at step {step}, and nothing of it was stored");
            pair(*step, last, &format!("{what}: {asked}"))
        }
        (None, None, None, Some(step)) => {
            let other =
                format!("what step {step} committed is another piece of work of {}, which looks the same", told.agent);
            pair(*step, last, &format!("{what}, but {other}"))
        }
        (None, None, None, None) => format!("{what}, and no step before it does that."),
    }
}

/// It was told `failure` or `conflict`: what happened all the same.
fn told_failure(told: &ToldNote, effects: &Effects<'_>, last: usize) -> Option<String> {
    let what = format!("{} at step {last}", words(told));
    match (effects.committed, effects.upstream) {
        (Some((step, _)), _) => Some(pair(step, last, &format!("{what}, but it had committed at step {step}"))),
        (None, Some(step)) => {
            let asked = format!("the upstream service had been asked for it at step {step}");
            Some(pair(step, last, &format!("{what}, but {asked}")))
        }
        (None, None) => None,
    }
}

/// The telling of an earlier step, which the last one belies.
fn later(trace: &Trace, calls: &Calls<'_>) -> Option<String> {
    let (last, step) = (trace.steps.len(), trace.steps.last()?);
    let call = calls.call_of(last - 1)?;
    let entry = call.note?.entry;
    let of_call = |index: usize, told: &ToldNote| {
        let about = calls.call_of(index).and_then(|call| Some(call.note?.entry));
        told.agent == call.agent && about == Some(entry)
    };
    let earlier = trace.steps.iter().enumerate().rev();
    let (index, told) = earlier
        .flat_map(|(index, step)| step.told.iter().map(move |told| (index, told)))
        .find(|(index, told)| of_call(*index, told))?;
    let number = index + 1;
    let happens = match told.told.as_str() {
        "ok" => "it is over with what should have kept that word",
        "failure" | "conflict" if !step.commits.is_empty() => "it commits all the same",
        "failure" | "conflict" if asks(step) => "the upstream service is asked for it all the same",
        _ => return None,
    };
    Some(pair(number, last, &format!("{} at step {number}, and at step {last} {happens}", words(told))))
}
