//! Which steps race: the pair whose order decided.

use crate::diagrams::sequence::{Calls, Followed};
use crate::diagrams::words;
use crate::trace::{Commit, Step, Trace};

/// The paragraph about the race; none where no pair of steps is to blame, or the trace does not tell.
pub fn race(trace: &Trace, calls: &Calls<'_>) -> Option<String> {
    let by_name = match trace.invariant.as_str() {
        "no-lost-update" => lost_update(trace, calls),
        "no-double-write" => double_write(trace, calls),
        "no-cross-principal" => cross_principal(trace, calls),
        "truthful-outcome" => truthful_outcome(trace, calls),
        "approval-covers-execution" => since(trace, "what was approved changes", &|step, handle| {
            let mut commits = step.commits.iter();
            commits.any(|commit| commit.content.handle == handle && !commit.changed.is_empty())
        }),
        "respects-terminal-state" => since(trace, "the resource is ended or expires", &|step, handle| {
            let ends = [format!("{handle} state"), format!("{handle} expiry")];
            step.changes.iter().any(|change| ends.contains(&change.fact))
        }),
        "no-effect-after-revocation" => {
            since(trace, "the permission is revoked", &|step, _| step.does.action == "revoke")
        }
        "fresh-read" => since(trace, "what is read changes", &|step, handle| {
            step.commits.iter().any(|commit| commit.content.handle == handle)
        }),
        _ => None,
    };
    // An assertion fails for a reason, which is most often one of these.
    by_name.or_else(|| lost_update(trace, calls)).or_else(|| double_write(trace, calls))
}

/// The latest step at which something became so, and the last step, which goes on as if it had not.
fn since(trace: &Trace, what: &str, is: &dyn Fn(&Step, &str) -> bool) -> Option<String> {
    let (last, earlier) = trace.steps.split_last()?;
    let handle = last.call.as_ref()?.handle.as_deref()?;
    let step = earlier.iter().rposition(|step| is(step, handle))? + 1;
    let last = trace.steps.len();
    Some(format!(
        "The pair to look at is step {step} and step {last}: at step {step} {what}, and step {last} happens all the same."
    ))
}

/// The commits of a trace, with the numbers of their steps.
fn commits(trace: &Trace) -> impl DoubleEndedIterator<Item = (usize, &Commit)> {
    trace.steps.iter().enumerate().flat_map(|(index, step)| step.commits.iter().map(move |commit| (index + 1, commit)))
}

/// The victim's commit and the eraser's, and what the eraser's write came from.
fn lost_update(trace: &Trace, calls: &Calls<'_>) -> Option<String> {
    let (eraser_step, eraser) = commits(trace).rev().find(|(_, commit)| !commit.erased.is_empty())?;
    let erased = eraser.erased.first()?;
    let handle = &eraser.content.handle;
    let is_victim = |(step, commit): &(usize, &Commit)| {
        let whose = erased.of.is_empty() || erased.of.contains(&commit.agent);
        *step < eraser_step && commit.content.handle == *handle && whose && commit.changed.contains(&erased.field)
    };
    let Some((victim_step, victim)) = commits(trace).rev().find(is_victim) else {
        return Some(format!("Step {eraser_step} is where {}'s write erases {}.", eraser.agent, erased.field));
    };
    let mut text = format!(
        "The race is between step {victim_step} and step {eraser_step}: {}'s change of {} is accepted at step \
         {victim_step}, and {}'s write at step {eraser_step} erases it.",
        victim.agent, erased.field, eraser.agent
    );
    let call = calls.call_of(eraser_step - 1);
    if let Some(call) = call {
        let begun = call.executed.iter().find(|step| **step + 1 < victim_step);
        if let Some(begun) = begun {
            let node = call.node.unwrap_or("the node");
            let step = begun + 1;
            text = format!("{text} By then {node} had begun to handle {}'s request, at step {step}.", eraser.agent);
        }
        text = format!("{text} {}", basis(trace, calls, call, handle, victim_step));
    }
    Some(text.trim().to_owned())
}

/// What a write was made from: a read before the victim's commit, or something handed on.
fn basis(trace: &Trace, calls: &Calls<'_>, call: &Followed<'_>, handle: &str, victim_step: usize) -> String {
    let sent = call.sent.map_or(0, |sent| sent + 1);
    let sees = |read: &&Followed<'_>| {
        let view = read.answered.and_then(|(_, answer)| answer.view.as_ref());
        read.agent == call.agent
            && read.received.is_some_and(|at| at + 1 < sent)
            && view.is_some_and(|view| view.handle == handle)
    };
    if let Some(read) = calls.all().iter().rev().find(sees) {
        let (first, last) = (read.steps.first().map_or(0, |step| step + 1), read.received.map_or(0, |step| step + 1));
        let steps = words::steps(first, last);
        let agent = call.agent;
        if last < victim_step {
            return format!(
                "{agent} had read {handle} in steps {steps}, before that change, and did not read it again."
            );
        }
        return format!("{agent} had read {handle} in steps {steps}, yet its write does not keep that change.");
    }
    let handed = trace
        .steps
        .iter()
        .enumerate()
        .take(sent)
        .rev()
        .find(|(_, step)| step.does.action == "hand-off" && step.does.to.iter().any(|to| to == call.agent));
    handed.map_or_else(String::new, |(index, _)| {
        format!("{} had not read {handle} itself: it knew it from the hand-off at step {}.", call.agent, index + 1)
    })
}

/// The two commits of one intent, and why there were two calls.
fn double_write(trace: &Trace, calls: &Calls<'_>) -> Option<String> {
    let (second_step, second) = commits(trace).rev().find(|(_, commit)| commit.effects > 1)?;
    let same = |(step, commit): &(usize, &Commit)| {
        *step < second_step && commit.agent == second.agent && commit.intent == second.intent
    };
    let (first_step, _) = commits(trace).rev().find(same)?;
    let mut text = format!(
        "The pair to look at is step {first_step} and step {second_step}: both commit {}, which {} wanted once.",
        second.intent, second.agent
    );
    let repeat = calls.call_of(second_step - 1)?;
    let fault = |index: usize| trace.steps.get(index).filter(|step| step.does.fault);
    let original = calls.call_of(first_step - 1);
    if let Some((step, fault)) =
        original.and_then(|call| call.broken).and_then(|index| Some((index + 1, fault(index)?)))
    {
        text = format!("{text} The answer to the first was lost at step {step} ({}).", fault.does.action);
    }
    if let (Some(sent), Some(note)) = (repeat.sent, repeat.note) {
        let key = note.key.as_ref().map_or_else(
            || "without a key by which the server could tell that it is the same work".to_owned(),
            |key| format!("with the key {key}"),
        );
        text = format!("{text} The second was sent at step {}, {key}.", sent + 1);
    }
    Some(text)
}

/// The leak or guess of a handle and the step that used it; or the two calls that met in one key.
fn cross_principal(trace: &Trace, calls: &Calls<'_>) -> Option<String> {
    let last = trace.steps.len();
    let agent = trace.steps.last()?.does.agent.as_deref()?;
    let learns = |step: &crate::trace::Step| {
        matches!(step.does.action.as_str(), "leak-handle" | "guess") && step.does.agent.as_deref() == Some(agent)
    };
    if let Some(index) = trace.steps.iter().position(learns).filter(|index| index + 1 < last) {
        let step = &trace.steps[index];
        let handle = step.does.handle.as_deref().unwrap_or("a handle");
        let how = if step.does.action == "guess" { "guesses" } else { "learns" };
        let number = index + 1;
        return Some(format!(
            "The pair to look at is step {number} and step {last}: {agent} {how} {handle} at step {number}, and what it \
             does with it succeeds at step {last}."
        ));
    }
    let call = calls.call_of(last - 1)?;
    let key = call.note?.key.as_ref()?;
    let principal = |name: &str| trace.agents.iter().find(|agent| agent.name == name).map(|agent| &agent.principal);
    let other = calls.all().iter().find(|other| {
        other.note.is_some_and(|note| note.key.as_ref() == Some(key)) && principal(other.agent) != principal(agent)
    })?;
    let number = other.steps.first().map_or(1, |step| step + 1);
    Some(format!(
        "The pair to look at is step {number} and step {last}: the calls of {} and {agent} present the same key {key}, and \
         the server takes one for the other.",
        other.agent
    ))
}

/// The telling, and the commit or its absence.
fn truthful_outcome(trace: &Trace, calls: &Calls<'_>) -> Option<String> {
    let last = trace.steps.len();
    let step = trace.steps.last()?;
    if let Some(told) = step.told.last() {
        let committed =
            commits(trace).rev().find(|(_, commit)| commit.agent == told.agent && commit.intent == told.about);
        let what = format!("{} is told {} about {} at step {last}", told.agent, told.told, told.about);
        return Some(match committed {
            Some((step, _)) => format!(
                "The pair to look at is step {step} and step {last}: {what}, but it had committed at step {step}."
            ),
            None => format!("{what}, and no step before it commits that."),
        });
    }
    if let Some(commit) = step.commits.last() {
        let earlier = trace.steps.iter().enumerate().rev().find_map(|(index, step)| {
            step.told
                .iter()
                .find(|told| told.agent == commit.agent && told.about == commit.intent)
                .map(|told| (index + 1, told))
        });
        let (number, told) = earlier?;
        return Some(format!(
            "The pair to look at is step {number} and step {last}: {} is told {} about {} at step {number}, and at \
             step {last} it commits all the same.",
            told.agent, told.told, told.about
        ));
    }
    let call = calls.call_of(last - 1)?;
    let (asked, about) = (call.note?.handle.as_ref()?, step.answer.as_ref()?.handle.as_ref()?);
    (asked != about).then(|| {
        format!(
            "The call at step {} asked about {asked}, and the answer at step {last} is about {about}.",
            call.steps.first().map_or(1, |step| step + 1)
        )
    })
}
