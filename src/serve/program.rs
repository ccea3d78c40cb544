//! One transaction of a handler: begun, its steps, and committed or rolled back.

use super::answer::Answer;
use super::handling::{Handling, Passed, Progress, Stop};
use super::steps;
use crate::model::design::{
    AfterStoreError, ClaimAfterError, ClaimNames, FenceSeen, OnStoreError, Place, ReadsFrom, Record as Recording, State,
};
use crate::model::{Handler, Outcome};

/// What became of a call after one transaction.
#[derive(Debug)]
pub enum Ran {
    /// It goes on with this.
    Goes(Box<Progress>),
    /// It is answered.
    Answered(Box<Answer>),
    /// Its arguments don't fit what is stored: nothing happened.
    Invalid(String),
}

/// Executes the next transaction of a call. Afterwards no transaction is open, whatever happened.
pub fn execute(handler: &Handler, mut handling: Handling<'_>) -> Ran {
    let before = handling.progress.clone();
    let index = before.next;
    if before.ending {
        // The answer is decided: a step that would end the call ends this transaction alone.
        if let Err(Stop::Store(error)) = transaction(&mut handling, &handler.at_end[index]).map_err(|(_, stop)| stop) {
            tracing::warn!(%error, "an `at-end` transaction failed");
        }
        let mut progress = handling.progress;
        return if index + 1 < handler.at_end.len() {
            progress.next += 1;
            Ran::Goes(Box::new(progress))
        } else {
            Ran::Answered(Box::new(progress.answer))
        };
    }
    let steps = &handler.transactions[index];
    let committed = transaction(&mut handling, steps);
    let writes = handling_writes(&handling, steps);
    let answer = match committed {
        Ok(()) if handling.order.error && writes => return after_error(handling, before),
        Ok(()) if index + 1 < handler.transactions.len() => {
            handling.progress.next += 1;
            return Ran::Goes(Box::new(handling.progress));
        }
        Ok(()) => handling.progress.answer.clone(),
        Err((_, Stop::Answer(answer))) => *answer,
        Err((_, Stop::Invalid(why))) => return Ran::Invalid(why),
        Err((_, Stop::Store(error))) => {
            tracing::error!(%error, "the store failed");
            return after_error(handling, before);
        }
    };
    if handler.at_end.is_empty() {
        return Ran::Answered(Box::new(answer));
    }
    let progress = Progress { next: 0, ending: true, working: None, loaded: None, answer, ..handling.progress };
    Ran::Goes(Box::new(progress))
}

/// Whether a transaction has a step that writes something which outlives its call.
fn handling_writes(handling: &Handling<'_>, steps: &[&str]) -> bool {
    let server = &handling.design.server;
    steps.iter().any(|step| match *step {
        "read" => server.reads_from == ReadsFrom::NodeCache,
        "check-fence" => server.fence_seen == FenceSeen::AtCheck,
        "call-upstream" | "call-upstream-with-key" => true,
        step => steps::writes(step),
    })
}

/// Runs the steps of one transaction, and commits. A step that ends the call rolls back what the transaction did in the
/// store; what it did in memory and upstream stays. Answers which step did not pass, and why.
fn transaction(handling: &mut Handling<'_>, steps: &[&'static str]) -> Result<(), (usize, Stop)> {
    let store = &handling.places.store;
    let at = |position: usize| move |error: rusqlite::Error| (position, Stop::Store(error));
    let design = handling.design;
    let in_store = design.server.state == State::Store
        || design.keys.place == Place::Store
        || design.server.lease_place == Place::Store;
    let writes = steps.iter().any(|step| steps::writes(step)) || design.keys.record == Recording::EveryOutcome;
    store.execute_batch(if writes && in_store { "BEGIN IMMEDIATE" } else { "BEGIN" }).map_err(at(0))?;
    let before = handling.progress.clone();
    let mut ended = Ok(());
    if let Err(error) = store.execute_batch("SAVEPOINT transaction_start") {
        ended = Err((0, Stop::Store(error)));
    }
    for (position, name) in steps.iter().enumerate() {
        if ended.is_err() {
            break;
        }
        let step = steps::find(name).expect("a design whose steps are not all known is not served");
        ended = step(handling).map_err(|stop| (position, stop));
    }
    let result = match ended {
        Ok(()) => store.execute_batch("COMMIT").map_err(at(steps.len())),
        Err((position, stop)) => {
            handling.progress = before;
            store.execute_batch("ROLLBACK TO transaction_start").map_err(at(position))?;
            if let Stop::Answer(answer) = &stop {
                record_refusal(handling, steps, position, answer).map_err(|stop| (position, stop))?;
            }
            store.execute_batch("COMMIT").map_err(at(position))?;
            Err((position, stop))
        }
    };
    if !store.is_autocommit() {
        // Whatever failed, the next call finds the store closed.
        let _ = store.execute_batch("ROLLBACK");
    }
    result
}

/// With `record = "every-outcome"`, a refusal by a step behind `find-key` is stored under the key, atomically with the
/// rollback; what was found under the key never is.
fn record_refusal(handling: &Handling<'_>, steps: &[&'static str], position: usize, answer: &Answer) -> Passed {
    let looks = |step: &&str| matches!(*step, "find-key" | "claim-key");
    let touches = |step: &str| matches!(step, "find-key" | "claim-key" | "record-key" | "release-key");
    let handler = handling.design.server.handler(handling.request.operation.tool);
    let earlier = handler
        .map_or(&[][..], |handler| &handler.transactions[..handling.progress.next.min(handler.transactions.len())]);
    let behind = steps[..position].iter().any(looks) || earlier.iter().flatten().any(looks);
    if handling.design.keys.record == Recording::OkOnly
        || handling.progress.ending
        || !behind
        || touches(steps[position])
    {
        return Ok(());
    }
    let Some((scope, key)) = handling.key()? else { return Ok(()) };
    handling.put_record(&scope, key, None, Some(answer))
}

/// The store answered with an error: the process does not know what it did, and does what `on-store-error` says. What it
/// learned in the transaction it does not know either; but a claim that names its attempt it had named before.
fn after_error(mut handling: Handling<'_>, mut before: Progress) -> Ran {
    let OnStoreError { then, claim } = handling.design.server.on_store_error;
    if handling.design.keys.claim_names == ClaimNames::Attempt {
        before.claim.clone_from(&handling.progress.claim);
    }
    handling.progress = before;
    if claim == ClaimAfterError::Release
        && let Err(stop) = steps::release_key(&mut handling)
    {
        tracing::warn!(?stop, "a claim could not be released");
    }
    match then {
        AfterStoreError::Retry => Ran::Goes(Box::new(handling.progress)),
        AfterStoreError::AnswerUnknown => {
            let about = Answer::about(handling.request.handle.clone());
            Ran::Answered(Box::new(Answer { outcome: Outcome::Unknown, ..about }))
        }
    }
}
