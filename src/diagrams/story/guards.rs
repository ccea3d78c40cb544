//! Guards: the steps of the handlers that could have ended a call, and why they let it pass.

use super::because::expects;
use crate::diagrams::sequence::{Calls, Followed};
use crate::diagrams::words;
use crate::handler::{STEPS, Step as HandlerStep};
use crate::model::Outcome;
use crate::table::Row;
use crate::trace::{Step, Trace};

/// A step of a handler that ran in the trace and can end a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// Its name.
    pub name: String,
    /// When it passes, as its page says it.
    pub rule: String,
    /// What it did, for each call that matters.
    pub passages: Vec<Passage>,
    /// The requests of the calls that it let pass besides, which matter less.
    pub others: Vec<String>,
}

impl Guard {
    /// What it did, a sentence for each reason.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut groups: Vec<(bool, &str, Vec<String>)> = Vec::new();
        for passage in &self.passages {
            let call = format!("{} in step {}", passage.request, passage.step);
            match groups.iter_mut().find(|(passed, words, _)| *passed == passage.passed && *words == passage.words) {
                Some((.., calls)) if calls.contains(&call) => {}
                Some((.., calls)) => calls.push(call),
                None => groups.push((passage.passed, &passage.words, vec![call])),
            }
        }
        let line = |(passed, words, calls): (bool, &str, Vec<String>)| {
            format!("It {} {}: {words}.", if passed { "let pass" } else { "ended" }, words::list(&calls))
        };
        let mut lines: Vec<String> = groups.into_iter().map(line).collect();
        if !self.others.is_empty() {
            let also = if lines.is_empty() { "" } else { "also " };
            lines.push(format!("It {also}let pass {}.", words::list(&self.others)));
        }
        lines
    }
}

/// What a guard did with a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The request.
    pub request: String,
    /// The step of the trace, from 1.
    pub step: usize,
    /// It let the call pass; otherwise it ended it.
    pub passed: bool,
    /// Why, in words that follow a colon.
    pub words: String,
}

/// Whether a step of this name can end a call.
fn guard(name: &str) -> Option<&'static Row<HandlerStep>> {
    STEPS.iter().find(|row| row.name == name && !row.outcomes.is_empty())
}

/// Whether a guard compares a content that somebody saw with the current one, so that changes after it matter.
pub(super) fn compares(name: &str) -> bool {
    let stale = |outcome: &Outcome| matches!(outcome, Outcome::StaleView | Outcome::StaleApproval);
    guard(name).is_some_and(|row| row.outcomes.iter().any(stale))
}

pub(super) fn guards(trace: &Trace, calls: &Calls<'_>) -> Vec<Guard> {
    let mut guards: Vec<Guard> = Vec::new();
    for call in calls.all() {
        for index in &call.executed {
            let step = &trace.steps[*index];
            let Some(note) = &step.transaction else { continue };
            let ended = note.ended_by.as_ref().and_then(|by| note.steps.iter().position(|name| name == by));
            let ran = ended.map_or(note.steps.len(), |ended| ended + 1);
            for (place, name) in note.steps.iter().enumerate().take(ran) {
                let Some(row) = guard(name) else { continue };
                let at = guards.iter().position(|guard| guard.name == *name).unwrap_or_else(|| {
                    guards.push(Guard {
                        name: name.clone(),
                        rule: rule(row),
                        passages: Vec::new(),
                        others: Vec::new(),
                    });
                    guards.len() - 1
                });
                let passed = ended != Some(place);
                if matters(trace, call) || !passed {
                    let at_other = note.steps[..place].iter().filter(|name| *name == "other").count() % 2 == 1;
                    let words = if passed { why(trace, calls, call, (*index, at_other), name) } else { outcome(step) };
                    let (request, step) = (call.request.clone(), index + 1);
                    guards[at].passages.push(Passage { request, step, passed, words });
                } else if !guards[at].others.contains(&call.request) {
                    guards[at].others.push(call.request.clone());
                }
            }
        }
    }
    guards
}

/// Whether the story is about a call: it changed something, or the trace ends with it. Where rounds go on for ever, it is about
/// the calls of a round.
fn matters(trace: &Trace, call: &Followed<'_>) -> bool {
    if let Some(stem) = trace.loops_from {
        return call.sent.is_some_and(|sent| sent >= stem);
    }
    call.committed.is_some() || call.steps.last().is_some_and(|last| last + 1 == trace.steps.len())
}

/// `Passes when every version that the request expects is the current one.`
fn rule(row: &Row<HandlerStep>) -> String {
    let page = row.page().replace('\n', " ");
    let start = page.find("Passes when ").unwrap_or(0);
    let rest = &page[start..];
    let end = rest.find(". ").or_else(|| rest.find(".  ")).map_or(rest.len(), |end| end + 1);
    rest[..end].trim().trim_end_matches(':').to_owned()
}

fn outcome(step: &Step) -> String {
    let answer = step.answer.as_ref();
    answer.map_or_else(|| "its condition was not met".to_owned(), |answer| words::answer(answer, None))
}

/// Why a guard let a call pass in this step. That it did pass says already that what it compares was equal.
/// `at_other`: the handler is at the other resource of the call.
fn why(trace: &Trace, calls: &Calls<'_>, call: &Followed<'_>, (index, at_other): (usize, bool), name: &str) -> String {
    let Some(note) = call.note else { return "its condition was met".to_owned() };
    // A key is of the call as a whole.
    let at_other = at_other && !matches!(name, "find-key" | "claim-key" | "record-key" | "mint");
    let handle = match &note.also {
        Some(also) if at_other => &also.handle,
        None if at_other => return "the call changes no other resource".to_owned(),
        _ => note.handle.as_deref().unwrap_or(&note.resource),
    };
    let lane = trace.agents.iter().find(|agent| agent.name == call.agent);
    let principal = lane.map_or(call.agent, |lane| lane.principal.as_str());
    let names = |resource: &crate::trace::ResourceLane| match &resource.initial {
        Some(initial) if at_other => initial.handle == handle,
        _ => !at_other && resource.name == note.resource,
    };
    let resource = trace.resources.iter().find(|resource| names(resource));
    let owner = resource.map(|resource| resource.owner.as_str());
    let shared = resource.is_some_and(|resource| resource.shared_with.iter().any(|with| with == principal));
    let words = match name {
        "resolve" | "read" => format!("{handle} was there"),
        "authorize" if owner == Some(principal) => format!("{principal} owns {handle}"),
        "authorize" if shared => format!("{handle} is shared with {principal}"),
        "authorize" => format!("it took the caller for somebody who may use {handle}"),
        "check-permission" => "the permission had not been revoked".to_owned(),
        "check-live" => format!("the time of {handle} was not up"),
        "check-open" => format!("{handle} had not been ended"),
        "find-key" | "claim-key" | "record-key" => key(calls, call, index),
        "check-version" if note.expects.is_empty() => {
            "the request expects no version, so there was nothing to compare".to_owned()
        }
        "check-version" => format!("the request expects {}, and that was current", expects(note)),
        "check-unchanged" => "nothing had come between this call's own load and this check".to_owned(),
        "check-condition" => "its condition was true of what was stored".to_owned(),
        "check-approval" => "the content was what had been approved".to_owned(),
        "mint" => {
            let notes = call.sent.and_then(|sent| trace.steps.get(sent)).map_or(&[][..], |sent| &sent.notes);
            match notes.iter().find_map(|note| note.strip_prefix("it chooses the name ")) {
                Some(name) => format!("the name {name} was free"),
                None => "every call that comes to it makes one more".to_owned(),
            }
        }
        "acquire-lease" => "no other agent held the lease".to_owned(),
        "find-cached" => format!("the cache held no copy of {handle}"),
        "check-lease" => format!("{} held the lease", call.agent),
        "check-fence" => "no newer fence number was known".to_owned(),
        _ => "its condition was met".to_owned(),
    };
    match later(trace, call, index).filter(|_| compares(name)) {
        Some(later) => format!("{words}; {later}"),
        None => words,
    }
}

/// What was accepted between a check and the change that rested on it.
fn later(trace: &Trace, call: &Followed<'_>, index: usize) -> Option<String> {
    let (own, commit) = call.committed.filter(|(own, _)| *own > index)?;
    let between = trace.steps.iter().enumerate().take(own).skip(index + 1);
    let foreign = between.flat_map(|(at, step)| step.commits.iter().map(move |commit| (at, commit)));
    let mut foreign = foreign.filter(|(_, other)| other.content.handle == commit.content.handle);
    let (at, other) = foreign.next()?;
    Some(format!("{}'s change came afterwards, in step {}, before this one in step {}", other.agent, at + 1, own + 1))
}

/// What stood under the key of a call.
fn key(calls: &Calls<'_>, call: &Followed<'_>, index: usize) -> String {
    let Some(note) = call.note else { return "its condition was met".to_owned() };
    let Some(key) = &note.key else { return "the request carries no key, so there was nothing to look for".to_owned() };
    let words = format!("no other call stood under its key {key}");
    let same = |other: &&Followed<'_>| {
        let alike = other.note.is_some_and(|other| other.entry == note.entry && !other.change.is_empty());
        other.agent == call.agent && other.request != call.request && alike && !note.change.is_empty()
    };
    let earlier = calls.all().iter().filter(same).filter_map(|other| Some((other, other.committed?.0)));
    let Some((other, at)) = earlier.filter(|(_, at)| *at < index).max_by_key(|(_, at)| *at) else { return words };
    let step = at + 1;
    match other.note.and_then(|other| other.key.as_ref()) {
        Some(theirs) if theirs == key => format!(
            "{words}, though {} had committed the same work under it in step {step}: no record of that was where it looked",
            other.request
        ),
        Some(theirs) => {
            format!("{words}; {}, which had committed the same work in step {step}, has key {theirs}", other.request)
        }
        None => format!("{words}; {}, which had committed the same work in step {step}, has no key", other.request),
    }
}
