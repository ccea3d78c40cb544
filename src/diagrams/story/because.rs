//! Causes: why a step happened as it did, where that does not simply follow from the work.

use crate::diagrams::sequence::{Calls, Followed};
use crate::diagrams::words;
use crate::trace::{CallNote, Commit, Step, Trace};

/// A cause, in words that follow a sentence after a comma, and what it claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Because {
    /// `because the stream of A-2 broke in step 9`.
    pub words: String,
    /// What must be true of the trace for the words to be.
    pub claims: Vec<Claim>,
}

/// Something about the states of a trace. Steps are counted from 1; what is claimed of a step is claimed of the moment
/// before the step that has the cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The stream of this request broke in this step.
    Broke {
        /// The request.
        request: String,
        /// The step.
        step: usize,
    },
    /// The agent had received no answer to this request.
    Unheard {
        /// The request.
        request: String,
    },
    /// The agent of this request received this outcome in this step.
    Heard {
        /// The request.
        request: String,
        /// The outcome.
        outcome: String,
        /// The step.
        step: usize,
    },
    /// A change of this agent on this handle was accepted in this step.
    Committed {
        /// The agent.
        agent: String,
        /// The handle.
        handle: String,
        /// The step.
        step: usize,
    },
    /// The agent's belief of this handle is not what is true.
    Outdated {
        /// The agent.
        agent: String,
        /// The handle.
        handle: String,
    },
    /// The agent's latest view of this handle was read from the store in this step.
    Read {
        /// The agent.
        agent: String,
        /// The handle.
        handle: String,
        /// The step.
        step: usize,
    },
    /// These steps of a handler passed for this request in this step.
    Passed {
        /// The request.
        request: String,
        /// The names of the steps.
        guards: Vec<String>,
        /// The step.
        step: usize,
    },
    /// This fault struck in this step.
    Struck {
        /// The fault.
        fault: String,
        /// The step.
        step: usize,
    },
    /// This fact became this in this step, and was so until now.
    Fact {
        /// The fact.
        fact: String,
        /// What it became.
        value: String,
        /// The step.
        step: usize,
    },
}

/// The cause of the step with this index, from 0.
pub fn because(trace: &Trace, calls: &Calls<'_>, index: usize) -> Option<Because> {
    let step = &trace.steps[index];
    let call = calls.call_of(index)?;
    match step.does.action.as_str() {
        "send" => again(calls, call, index).or_else(|| outdated(trace, calls, call, index)),
        "execute" if step.transaction.as_ref().is_some_and(|note| note.ended_by.is_some()) => {
            refused(trace, call, step, index)
        }
        "execute" if !step.commits.is_empty() => {
            unchecked(trace, call, step, index).or_else(|| orphaned(trace, call, step, index))
        }
        _ => None,
    }
}

fn agents_of<'c>(
    calls: &'c Calls<'_>,
    agent: &'c str,
    index: usize,
) -> impl DoubleEndedIterator<Item = &'c Followed<'c>> {
    calls.all().iter().filter(move |call| call.agent == agent && call.sent.is_some_and(|sent| sent < index))
}

/// A request that repeats another or was planned anew, since that one broke or was refused.
fn again(calls: &Calls<'_>, call: &Followed<'_>, index: usize) -> Option<Because> {
    let note = call.note?;
    if !matches!(note.attempt.as_deref(), Some("repeat" | "replan")) {
        return None;
    }
    let broke = |call: &Followed<'_>| call.broken.filter(|at| *at < index);
    let answered = |call: &Followed<'_>| {
        let (_, answer) = call.hears?;
        let at = call.received.filter(|at| *at < index)?;
        (answer.outcome != "ok").then(|| (at, answer.outcome.clone()))
    };
    let ended = |call: &&Followed<'_>| broke(call).is_some() || answered(call).is_some();
    let same = |call: &&Followed<'_>| call.note.is_some_and(|other| other.entry == note.entry);
    let last = agents_of(calls, call.agent, index).next_back().filter(ended);
    let cause = agents_of(calls, call.agent, index).rev().filter(same).find(ended).or(last)?;
    let request = &cause.request;
    let Some(at) = broke(cause) else {
        let (at, outcome) = answered(cause)?;
        return Some(Because {
            words: format!("because {request} was answered {outcome} in step {}", at + 1),
            claims: vec![Claim::Heard { request: request.clone(), outcome, step: at + 1 }],
        });
    };
    let mut claims =
        vec![Claim::Broke { request: request.clone(), step: at + 1 }, Claim::Unheard { request: request.clone() }];
    let answer = cause.hears.filter(|(answered, _)| *answered < at);
    let answer = answer.map_or_else(
        || "before there was an answer".to_owned(),
        |(_, answer)| format!("before its answer ({}) had arrived", words::answer(answer, cause.note)),
    );
    let mut text = format!("because the stream of {request} broke in step {}, {answer}", at + 1);
    if let Some((at, commit)) = cause.committed.filter(|(at, _)| *at < index) {
        text = format!("{text}: {} can't know that its change took effect in step {}", call.agent, at + 1);
        claims.push(committed(commit, at));
    }
    Some(Because { words: text, claims })
}

fn committed(commit: &Commit, at: usize) -> Claim {
    Claim::Committed { agent: commit.agent.clone(), handle: commit.content.handle.clone(), step: at + 1 }
}

/// Whose change it was, as seen by an agent.
fn whose(commit: &Commit, agent: &str) -> String {
    if commit.agent == agent { "its own".to_owned() } else { format!("{}'s", commit.agent) }
}

/// A change that rests on a view that is no longer true.
fn outdated(trace: &Trace, calls: &Calls<'_>, call: &Followed<'_>, index: usize) -> Option<Because> {
    let handle = call.note.filter(|note| !note.change.is_empty())?.handle.as_deref()?;
    let (agent, beliefs) = (call.agent, |step: &Step| {
        let mut beliefs = step.beliefs.iter();
        beliefs.find(|belief| belief.agent == call.agent && belief.believes.handle == handle).cloned()
    });
    let now = beliefs(&trace.steps[index])?;
    // Since when it has been so.
    let since = (0..=index)
        .rev()
        .take_while(|at| beliefs(&trace.steps[*at]).is_some_and(|belief| belief.believes == now.believes));
    let since = since.last()?;
    let commit = trace.steps[since].commits.iter().find(|commit| commit.content.handle == handle)?;
    let read = agents_of(calls, agent, index).rev().find(|read| {
        let view = read.hears.and_then(|(_, answer)| answer.view.as_ref());
        read.received.is_some_and(|at| at < index) && view.is_some_and(|view| view.handle == handle)
    })?;
    let at = read.hears.map(|(at, _)| at).filter(|at| *at < since)?;
    let seen = read.hears.and_then(|(_, answer)| answer.view.as_ref())?;
    if seen.version != now.believes.version || seen.values != now.believes.values {
        return None;
    }
    let whose = whose(commit, agent);
    Some(Because {
        words: format!(
            "because {agent} had read {handle} in step {}, before {whose} change of step {}, and has not read it since",
            at + 1,
            since + 1
        ),
        claims: vec![
            Claim::Outdated { agent: agent.to_owned(), handle: handle.to_owned() },
            Claim::Read { agent: agent.to_owned(), handle: handle.to_owned(), step: at + 1 },
            committed(commit, since),
        ],
    })
}

/// A call that a step of its handler ended.
fn refused(trace: &Trace, call: &Followed<'_>, step: &Step, index: usize) -> Option<Because> {
    let (note, answer) = (call.note?, step.answer.as_ref()?);
    let handle = note.handle.as_deref();
    let by = step.transaction.as_ref()?.ended_by.as_deref()?;
    if matches!(by, "find-key" | "claim-key" | "record-key") {
        let key = note.key.as_deref()?;
        let names_it = |fact: &str| {
            let (_, named) = fact.split_once(" key ").unwrap_or_default();
            named == key || handle.is_some_and(|handle| named == format!("{key} on {handle}"))
        };
        return fact(trace, index, &names_it, &|after| {
            let stands = if after == "claimed" { "claimed".to_owned() } else { format!("recorded as done ({after})") };
            format!("because key {key} was {stands}")
        });
    }
    let handle = handle?;
    if by == "find-cached" {
        let of_node = step.does.node.as_deref().map(|node| format!("{handle} cached at {node}"));
        let holds = |fact: &str| fact == format!("{handle} cached") || of_node.as_deref() == Some(fact);
        return fact(trace, index, &holds, &|_| "because it was put there".to_owned());
    }
    match answer.outcome.as_str() {
        "stale-view" => {
            let commits = |(at, step): (usize, &'_ Step)| {
                step.commits
                    .iter()
                    .rev()
                    .find(|commit| commit.content.handle == handle)
                    .map(|commit| (at, commit.clone()))
            };
            let (at, commit) = trace.steps.iter().enumerate().take(index).rev().find_map(commits)?;
            let version = commit.content.version?;
            let expected = note.expects.iter().find(|expected| expected.handle == handle)?;
            if expected.version == version || answer.version.is_some_and(|now| now != version) {
                return None;
            }
            let words = format!(
                "because {} change had made it {} in step {}",
                whose(&commit, call.agent),
                words::version(version),
                at + 1
            );
            Some(Because { words, claims: vec![committed(&commit, at)] })
        }
        "expired" => fact(trace, index, &|fact| fact == format!("{handle} expiry"), &|_| {
            format!("because the time of {handle} was up")
        }),
        "closed" => fact(trace, index, &|fact| fact == format!("{handle} state"), &|after| {
            format!("because {handle} became {after}")
        }),
        "locked" => fact(trace, index, &|fact| fact == format!("{handle} lease"), &|after| {
            let holder = after.split(" (fence").next().unwrap_or_default();
            format!("because the lease went to {holder}")
        }),
        "not-found" => fact(trace, index, &|fact| fact == format!("{handle} memory"), &|after| {
            format!("because {handle} was {after}")
        }),
        _ => None,
    }
}

/// The latest change of a fact before a step.
fn fact(trace: &Trace, index: usize, is: &dyn Fn(&str) -> bool, words: &dyn Fn(&str) -> String) -> Option<Because> {
    let change = |(at, step): (usize, &'_ Step)| {
        step.changes.iter().rev().find(|change| is(&change.fact)).map(|change| (at, change.clone()))
    };
    let (at, change) = trace.steps.iter().enumerate().take(index).rev().find_map(change)?;
    Some(Because {
        words: format!("{} in step {}", words(&change.after), at + 1),
        claims: vec![Claim::Fact { fact: change.fact, value: change.after, step: at + 1 }],
    })
}

/// A change that was checked in an earlier transaction, since when somebody else's was accepted.
fn unchecked(trace: &Trace, call: &Followed<'_>, step: &Step, index: usize) -> Option<Because> {
    let handle = &step.commits.first()?.content.handle;
    let checked = call.executed.iter().rev().filter(|at| **at < index).find_map(|at| {
        let note = trace.steps[*at].transaction.as_ref()?;
        let guards: Vec<String> = note.steps.iter().filter(|name| super::guards::compares(name)).cloned().collect();
        (!guards.is_empty()).then_some((*at, guards))
    });
    let (at, guards) = checked?;
    let between = trace.steps.iter().enumerate().take(index).skip(at + 1).find_map(|(at, step)| {
        let foreign = |commit: &&Commit| commit.content.handle == *handle && commit.agent != call.agent;
        step.commits.iter().find(foreign).map(|commit| (at, commit.clone()))
    });
    let (since, commit) = between?;
    let words = format!(
        "because {} had passed in step {}, before {}'s change of step {}, and {} not run again",
        words::list(&guards),
        at + 1,
        commit.agent,
        since + 1,
        if guards.len() == 1 { "is" } else { "are" }
    );
    let passed = Claim::Passed { request: call.request.clone(), guards, step: at + 1 };
    Some(Because { words, claims: vec![passed, committed(&commit, since)] })
}

/// A change of a call for which nobody waits.
fn orphaned(trace: &Trace, call: &Followed<'_>, step: &Step, index: usize) -> Option<Because> {
    if call.sent.is_none() {
        let fault = "duplicate-call";
        let at = trace.steps[..index]
            .iter()
            .rposition(|step| step.does.action == fault && step.does.agent.as_deref() == Some(call.agent))?;
        return Some(Because {
            words: format!("because the call had been sent twice in step {}", at + 1),
            claims: vec![Claim::Struck { fault: fault.to_owned(), step: at + 1 }],
        });
    }
    let at = call.broken.filter(|at| *at < index && step.does.orphan)?;
    let request = call.request.clone();
    Some(Because {
        words: format!("because nothing stopped it when its stream broke in step {}", at + 1),
        claims: vec![Claim::Broke { request: request.clone(), step: at + 1 }, Claim::Unheard { request }],
    })
}

/// What a request says, for those who look at guards.
pub(super) fn expects(note: &CallNote) -> String {
    let each = |expected: &crate::trace::Expected| {
        let own = note.handle.as_ref() == Some(&expected.handle);
        let of = if own { String::new() } else { format!(" of {}", expected.handle) };
        format!("{}{of}", words::version(expected.version))
    };
    words::list(&note.expects.iter().map(each).collect::<Vec<_>>())
}
