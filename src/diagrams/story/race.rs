//! Which steps race: the pair whose order decided.

mod truth;

use crate::diagrams::sequence::{Calls, Followed};
use crate::diagrams::words;
use crate::trace::{Commit, Reaches, Step, Trace};

/// The paragraph about the race; none where no pair of steps is to blame, or the trace does not tell.
pub fn race(trace: &Trace, calls: &Calls<'_>) -> Option<String> {
    let by_name = match trace.invariant.as_str() {
        "no-lost-update" => lost_update(trace, calls),
        "no-double-write" => double_write(trace, calls),
        "no-cross-principal" => cross_principal(trace, calls),
        "truthful-outcome" => truth::truthful_outcome(trace, calls),
        "approval-covers-execution" => not_what_was_approved(trace),
        "respects-terminal-state" => since(trace, usize::MAX, &terminal(trace), &|step, handle| {
            let ends = [format!("{handle} state"), format!("{handle} expiry")];
            step.changes.iter().any(|change| ends.contains(&change.fact))
        }),
        "no-effect-after-revocation" => {
            since(trace, usize::MAX, "the permission is revoked", &|step, _| step.does.action == "revoke")
        }
        // What changes behind the sending is no reason.
        "fresh-read" => trace.steps.len().checked_sub(1).and_then(|last| calls.call_of(last)?.sent).and_then(|sent| {
            since(trace, sent, "what is read changes", &|step, handle| {
                step.commits.iter().any(|commit| commit.content.handle == handle)
            })
        }),
        "handle-resolvable" => unresolvable(trace, calls),
        "single-lease-holder" => two_holders(trace),
        "version-names-one-content" => two_contents(trace),
        "basis-holds" => basis_gone(trace),
        _ => None,
    };
    // An answer that goes astray explains whatever comes of it. An assertion fails for a reason, which is most often one of
    // these.
    let by_name = astray(trace).or(by_name);
    by_name.or_else(|| lost_update(trace, calls)).or_else(|| double_write(trace, calls))
}

/// An answer that goes to another stream than that of its caller, or to none, and what brought that about.
fn astray(trace: &Trace) -> Option<String> {
    let goes = |step: &&Step| step.answer.as_ref().is_some_and(|answer| !answer.reaches.is_caller());
    let (index, step) = trace.steps.iter().enumerate().rfind(|(_, step)| goes(step))?;
    let number = index + 1;
    let (of, agent) = (step.does.request.as_deref()?, step.does.agent.as_deref()?);
    let takes = |step: &Step| step.does.same_id_as.as_deref() == Some(of);
    let taken = (1..).zip(&trace.steps[..index]).find(|(_, step)| takes(step));
    let by = taken.and_then(|(at, step)| Some((at, step.does.request.as_deref()?)));
    Some(match (&step.answer.as_ref()?.reaches, by) {
        (Reaches::StreamOf(taker), Some((at, by))) => format!(
            "The pair to look at is step {at} and step {number}: {by} takes the place of {of} in the reply table at step \
             {at}, and so the answer of {of} goes to the stream of {taker} at step {number}."
        ),
        (Reaches::StreamOf(taker), None) => {
            format!("The answer of {of} goes to the stream of {taker} at step {number}, and {agent} waits in vain.")
        }
        (Reaches::Nobody, _) => {
            format!("The answer of {of} finds no stream at step {number}: {agent} waits for it in vain.")
        }
        (Reaches::Caller, _) => return None,
    })
}

/// Where a resource was lost, or on which node it lives, and the call that did not find it.
fn unresolvable(trace: &Trace, calls: &Calls<'_>) -> Option<String> {
    let last = trace.steps.len();
    let call = calls.call_of(last - 1)?;
    let handle = call.note?.handle.as_deref()?;
    let (at, _) = call.answered?;
    let at = at + 1;
    let memory = format!("{handle} memory");
    let lost = |step: &Step| step.changes.iter().any(|change| change.fact == memory);
    if let Some((step, restart)) = (1..).zip(&trace.steps).find(|(_, step)| lost(step)) {
        let node = restart.does.node.as_deref().unwrap_or("a node");
        return Some(format!(
            "The pair to look at is step {step} and step {at}: {handle} was lost with the memory of {node} at step {step}, \
             and {} still asks for it at step {at}.",
            call.agent
        ));
    }
    let made = |step: &Step| step.commits.iter().any(|commit| commit.content.handle == handle);
    let (step, mint) = (1..).zip(&trace.steps).find(|(_, step)| made(step))?;
    let (there, here) = (mint.does.node.as_deref()?, call.node?);
    (there != here).then(|| {
        format!(
            "The pair to look at is step {step} and step {at}: {handle} was made on {there} at step {step}, and {here} was \
             asked for it at step {at}."
        )
    })
}

/// The step at which another got the lease, and the last one, in which its former holder writes.
fn two_holders(trace: &Trace) -> Option<String> {
    let (last, earlier) = trace.steps.split_last()?;
    let (agent, handle) = (last.does.agent.as_deref()?, &last.commits.first()?.content.handle);
    let (fact, number) = (format!("{handle} lease"), trace.steps.len());
    let holder = |step: &Step| {
        let change = step.changes.iter().find(|change| change.fact == fact)?;
        change.after.split_once(" (fence").map(|(holder, _)| holder.to_owned())
    };
    let taken = earlier.iter().enumerate().rev().find_map(|(at, step)| Some((at + 1, holder(step)?)));
    let (at, other) = taken.filter(|(_, other)| other != agent)?;
    Some(format!(
        "The pair to look at is step {at} and step {number}: {other} gets the lease on {handle} at step {at}, and the write \
         of {agent}, which had it before, is accepted at step {number} all the same."
    ))
}

/// The two contents of one version.
fn two_contents(trace: &Trace) -> Option<String> {
    let (number, commit) = commits(trace).next_back()?;
    let content = &commit.content;
    let other = |other: &&crate::trace::Content| {
        other.handle == content.handle && other.version == content.version && other.values != content.values
    };
    let at = |step: usize| format!("at step {step}");
    let earlier = commits(trace).rev().skip(1).map(|(step, commit)| (at(step), &commit.content));
    let initial = trace.resources.iter().filter_map(|resource| resource.initial.as_ref());
    let mut contents = earlier.chain(initial.map(|content| ("at the start".to_owned(), content)));
    let (when, first) = contents.find(|(_, content)| other(content))?;
    Some(format!(
        "Under {} of {} stood {} {when}, and {} from step {number} on: who saw the one takes the other for it.",
        words::version(content.version?),
        content.handle,
        first.values.join(" / "),
        content.values.join(" / "),
    ))
}

/// The change of what a write rests on, and that write.
fn basis_gone(trace: &Trace) -> Option<String> {
    let (last, earlier) = trace.steps.split_last()?;
    let (agent, own) = (last.does.agent.as_deref()?, &last.commits.first()?.content.handle);
    let outdated = last.beliefs.iter().find(|belief| belief.agent == agent && belief.believes.handle != *own)?;
    let basis = &outdated.believes.handle;
    let commit = |step: &Step| step.commits.iter().find(|commit| commit.content.handle == *basis).cloned();
    let (at, commit) = earlier.iter().enumerate().rev().find_map(|(at, step)| Some((at + 1, commit(step)?)))?;
    let number = trace.steps.len();
    Some(format!(
        "The pair to look at is step {at} and step {number}: {}'s change of {basis} is accepted at step {at}, and the write \
         of {own} by {agent} at step {number} rests on what {basis} was before.",
        commit.agent
    ))
}

/// The approval, what came behind it or what it was of, and the step that executes something else.
fn not_what_was_approved(trace: &Trace) -> Option<String> {
    let (last, earlier) = trace.steps.split_last()?;
    let (number, executed) = (trace.steps.len(), last.commits.last()?);
    let handle = &executed.content.handle;
    let of_it = |step: &Step| step.commits.iter().any(|commit| commit.content.handle == *handle);
    let is_approval = |step: &Step| of_it(step) && step.call.as_ref().is_some_and(|call| call.tool == "approve");
    let Some(at) = earlier.iter().rposition(is_approval) else {
        return Some(format!("Step {number} executes {handle}, which nobody had approved by then."));
    };
    let changes = |step: &Step| {
        let mut commits = step.commits.iter().filter(|commit| commit.content.handle == *handle);
        let recreated = step.does.action == "recreate" && step.does.handle.as_deref() == Some(handle);
        recreated || commits.any(|commit| !commit.changed.is_empty())
    };
    if let Some(changed) = earlier.iter().rposition(changes).filter(|changed| *changed > at) {
        return since(trace, changed + 1, "what was approved changes", &|step, _| changes(step));
    }
    let (step, approval) = (at + 1, &earlier[at]);
    let agent = approval.does.agent.as_deref()?;
    let shown = approval.call.as_ref().map(|call| call.payload.as_str()).filter(|shown| !shown.is_empty())?;
    let stored = approval.commits.iter().rfind(|commit| commit.content.handle == *handle)?;
    Some(format!(
        "The pair to look at is step {step} and step {number}: at step {step} {agent} approves {shown}, which its view showed, \
         while {handle} is {}; and step {number} executes what is stored.",
        stored.content.values.join(" / ")
    ))
}

/// How the resource of the last step came to its end before it.
fn terminal(trace: &Trace) -> String {
    let ended = || {
        let (last, earlier) = trace.steps.split_last()?;
        let handle = last.call.as_ref()?.handle.as_deref()?;
        let ends = [format!("{handle} state"), format!("{handle} expiry")];
        let mut changes = earlier.iter().rev().flat_map(|step| &step.changes);
        let change = changes.find(|change| ends.contains(&change.fact))?;
        let up = change.fact == ends[1];
        Some(if up { format!("the time of {handle} is up") } else { format!("{handle} becomes {}", change.after) })
    };
    ended().unwrap_or_else(|| "the resource comes to its end".to_owned())
}

/// The latest step before this one at which something became so, and the last step, which goes on as if it had not.
fn since(trace: &Trace, before: usize, what: &str, is: &dyn Fn(&Step, &str) -> bool) -> Option<String> {
    let (last, earlier) = trace.steps.split_last()?;
    let handle = last.call.as_ref()?.handle.as_deref()?;
    let earlier = &earlier[..before.min(earlier.len())];
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
        let view = read.hears.and_then(|(_, answer)| answer.view.as_ref());
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
    let Some((second_step, second)) = commits(trace).rev().find(|(_, commit)| commit.effects > 1) else {
        return upstream_twice(trace, calls);
    };
    let same = |(step, commit): &(usize, &Commit)| {
        *step < second_step && commit.agent == second.agent && commit.intent == second.intent
    };
    let (first_step, first) = commits(trace).rev().find(same)?;
    // What both did may be less than what was wanted.
    let wanted = second.intent.split(", ").count();
    let part = if first.changed.len().min(second.changed.len()) < wanted && wanted > 1 { "a part of " } else { "" };
    let mut text = format!(
        "The pair to look at is step {first_step} and step {second_step}: both commit {part}{}, which {} wanted once.",
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

/// Whether a step asks the upstream service for something.
fn asks(step: &Step) -> bool {
    let note = step.transaction.as_ref();
    note.is_some_and(|note| note.ended_by.is_none() && note.steps.iter().any(|step| step.starts_with("call-upstream")))
}

/// The two times that the upstream service was asked for one intent.
fn upstream_twice(trace: &Trace, calls: &Calls<'_>) -> Option<String> {
    let mut asked = trace.steps.iter().enumerate().rev().filter(|(_, step)| asks(step)).map(|(index, _)| index);
    let second = asked.next()?;
    let work = |index: usize| calls.call_of(index).and_then(|call| Some((call.agent, call.note?.entry)));
    let first = asked.find(|index| work(*index) == work(second))?;
    let call = calls.call_of(second)?;
    Some(format!(
        "The pair to look at is step {} and step {}: both ask the upstream service for {}, which {} wanted once.",
        first + 1,
        second + 1,
        call.note?.change,
        call.agent
    ))
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
