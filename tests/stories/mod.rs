//! What must be true of every story: it names every guard that ran, and each cause is true of the trace's own states.
//!
//! Judged on the steps of the trace alone, by code that shares nothing with what tells the story.

use handlecheck::diagrams::Story;
use handlecheck::diagrams::story::Claim;
use handlecheck::handler::STEPS;
use handlecheck::trace::{Step, Trace};

/// Asserts that nothing is wrong with the story of a trace; answers how many causes it claims.
#[track_caller]
pub fn check(name: &str, trace: &Trace) -> usize {
    let story = Story::of(trace);
    let mut told = vec![false; trace.steps.len()];
    let mut causes = 0;
    for event in &story.events {
        let Some((first, last)) = event.steps else { continue };
        told[first - 1..last].fill(true);
        let Some(because) = &event.because else { continue };
        causes += 1;
        assert!(!because.claims.is_empty(), "{name}: {}", because.words);
        let said = [&event.sentence].into_iter().chain(&event.more).any(|text| text.contains(&because.words));
        assert!(said, "{name}: the words of a cause stand in its event: {event:?}");
        for claim in &because.claims {
            assert!(is_true(trace, claim, first - 1), "{name}, step {first}: {claim:?} of `{}`", because.words);
        }
    }
    assert!(told.iter().all(|told| *told), "{name}: every step is told");
    for (number, step) in (1..).zip(&trace.steps).filter(|_| story.violated) {
        for guard in ran(step).filter(|name| can_end(name)) {
            let told = story.guards.iter().find(|told| told.name == *guard);
            let told = told.unwrap_or_else(|| panic!("{name}: {guard} ran in step {number} and is not named"));
            let request = step.does.request.clone().unwrap_or_default();
            let passage = told.passages.iter().find(|it| it.request == request && it.step == number);
            assert!(passage.is_some() || told.others.contains(&request), "{name}: {guard} and {request}");
            let ended = step.transaction.as_ref().and_then(|note| note.ended_by.as_ref());
            if ended == Some(guard) {
                assert!(passage.is_some_and(|it| !it.passed), "{name}: {guard} ended {request}");
            } else {
                assert!(passage.is_none_or(|it| it.passed), "{name}: {guard} let {request} pass");
            }
        }
    }
    rounds(name, trace, &story);
    causes
}

/// Where a run goes round for ever and a handler's step ends a call of the round, the story names that step, and what came before
/// the round that it looks at.
fn rounds(name: &str, trace: &Trace, story: &Story) {
    let Some(stem) = trace.loops_from.filter(|_| story.violated) else { return };
    let ends = |step: &Step| step.transaction.as_ref().and_then(|note| note.ended_by.clone());
    let Some(guard) = trace.steps[stem..].iter().rev().find_map(ends) else { return };
    let told = story.moment.iter().find(|text| text.contains("ound") && text.contains(&guard));
    let told = told.unwrap_or_else(|| panic!("{name}: what keeps the round going is told: {:?}", story.moment));
    assert!(told.contains("rounds would end"), "{name}: what would end it is told: {told}");
    let Some(pair) = told.strip_prefix("The pair to look at is step ") else { return };
    let numbers: Vec<usize> = pair.split([' ', ':']).filter_map(|word| word.parse().ok()).take(2).collect();
    let [before, within] = numbers[..] else { panic!("{name}: a pair is two: {told}") };
    assert!(before <= stem && stem < within && within <= trace.steps.len(), "{name}: {told}");
    assert!(ends(&trace.steps[within - 1]).is_some_and(|guard| told.contains(&guard)), "{name}: {told}");
    let step = &trace.steps[before - 1];
    assert!(!step.changes.is_empty() || !step.commits.is_empty(), "{name}: step {before} changes something");
}

fn can_end(name: &str) -> bool {
    STEPS.iter().any(|row| row.name == name && !row.outcomes.is_empty())
}

/// The steps of a handler that ran in a step of the trace.
fn ran(step: &Step) -> impl Iterator<Item = &String> {
    let note = step.transaction.iter().filter(|_| step.does.action == "execute");
    note.flat_map(|note| {
        let ended = note.ended_by.as_ref().and_then(|by| note.steps.iter().position(|name| name == by));
        note.steps.iter().take(ended.map_or(usize::MAX, |at| at + 1))
    })
}

/// Whether a claim is true of the moment before the step with this index.
fn is_true(trace: &Trace, claim: &Claim, index: usize) -> bool {
    let at = |step: &usize| trace.steps[..index].get(step - 1);
    let received = |request: &String| {
        trace.steps[..index].iter().any(|it| it.does.action == "receive" && it.does.request.as_ref() == Some(request))
    };
    match claim {
        Claim::Broke { request, step } => at(step).is_some_and(|it| {
            let calls = it.changes.iter().filter(|it| it.fact.starts_with("call of "));
            it.does.fault && calls.into_iter().any(|it| it.before.starts_with(&format!("{request} ")))
        }),
        Claim::Struck { fault, step } => at(step).is_some_and(|it| it.does.fault && it.does.action == *fault),
        Claim::Unheard { request } => !received(request),
        Claim::Heard { request, outcome, step } => at(step).is_some_and(|it| {
            let answered = it.answer.as_ref().is_some_and(|answer| answer.outcome == *outcome);
            it.does.action == "receive" && it.does.request.as_ref() == Some(request) && answered
        }),
        Claim::Committed { agent, handle, step } => {
            let its = |it: &Step| it.commits.iter().any(|it| it.agent == *agent && it.content.handle == *handle);
            at(step).is_some_and(its)
        }
        Claim::Outdated { agent, handle } => index.checked_sub(1).is_some_and(|before| {
            trace.steps[before].beliefs.iter().any(|it| it.agent == *agent && it.believes.handle == *handle)
        }),
        Claim::Read { agent, handle, step } => {
            let shows = |it: &Step| {
                let view = it.answer.as_ref().and_then(|answer| answer.view.as_ref());
                it.does.agent.as_ref() == Some(agent) && view.is_some_and(|view| view.handle == *handle)
            };
            let request = at(step).and_then(|it| it.does.request.as_ref());
            let last = trace.steps[..index].iter().rev().find(|it| it.does.action == "receive" && shows(it));
            at(step).is_some_and(shows) && last.is_some_and(|last| last.does.request.as_ref() == request)
        }
        Claim::Passed { request, guards, step } => at(step).is_some_and(|it| {
            let note = it.transaction.as_ref().filter(|note| note.ended_by.is_none());
            let ran = note.is_some_and(|note| guards.iter().all(|guard| note.steps.contains(guard)));
            it.does.request.as_ref() == Some(request) && ran
        }),
        Claim::Fact { fact, value, step } => {
            let changes = |it: &Step| it.changes.iter().rev().find(|it| it.fact == *fact).cloned();
            let later = trace.steps[..index].iter().skip(*step).any(|it| changes(it).is_some());
            at(step).and_then(changes).is_some_and(|change| change.after == *value) && !later
        }
    }
}

/// The canary: a claim that is not true is found out.
#[test]
fn what_is_not_true_is_found_out() {
    let trace = crate::common::read("traces/two-agents-restart.three-transactions.no-double-write.json");
    let trace = Trace::from_json(&trace).expect("it is a trace");
    let broke = |step| Claim::Broke { request: "A-2".to_owned(), step };
    assert!(is_true(&trace, &broke(9), 9) && !is_true(&trace, &broke(8), 9) && !is_true(&trace, &broke(9), 8));
    let heard = |outcome: &str| Claim::Heard { request: "A-3".to_owned(), outcome: outcome.to_owned(), step: 14 };
    assert!(is_true(&trace, &heard("stale-view"), 18) && !is_true(&trace, &heard("ok"), 18));
}
