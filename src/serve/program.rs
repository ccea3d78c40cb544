//! One transaction of a handler: begun, its steps, and committed or rolled back.

use super::answer::Answer;
use super::handling::Handling;
use super::journal::{self, Entry};
use super::progress::{Passed, Progress, Stop};
use super::steps;
use crate::model::design::{
    AfterStoreError, Calls, ClaimAfterError, ClaimNames, FenceSeen, OnStoreError, Place, ReadsFrom,
    Record as Recording, State,
};
use crate::model::{Design, Handler, Outcome};

/// What became of a call after one transaction.
#[derive(Debug)]
pub enum Ran {
    /// It goes on with this.
    Goes(Box<Progress>),
    /// It is answered.
    Answered(Box<Answer>),
    /// Its arguments don't fit what is stored: nothing happened.
    Invalid(String),
    /// Somebody else goes on with it.
    Elsewhere,
}

/// Executes the next transaction of a call. Afterwards no transaction is open, whatever happened.
pub fn execute(handler: &Handler, mut handling: Handling<'_>) -> Ran {
    let before = handling.progress.clone();
    let list = if before.ending { &handler.at_end } else { &handler.transactions };
    let steps = &list[before.next];
    let ran = transaction(&mut handling, handler, steps);
    match ran {
        Ok((_, true)) if handling.order.error && !before.ending && handling_writes(&handling, steps) => {
            after_error(handling, before)
        }
        Ok((ran, _)) => ran,
        Err(Stop::Invalid(why)) => Ran::Invalid(why),
        Err(Stop::Elsewhere) => Ran::Elsewhere,
        Err(Stop::Answer(answer)) => Ran::Answered(answer),
        // The answer is decided.
        Err(Stop::Store(error)) if before.ending => {
            tracing::warn!(%error, "an `at-end` transaction failed");
            behind(handler, &before, None)
        }
        Err(Stop::Store(error)) => {
            tracing::error!(%error, "the store failed");
            after_error(handling, before)
        }
    }
}

/// What comes of a call behind the transaction whose steps have run, and which a step has `refused` or not. Of those that run
/// when the answer is decided, a step that would end the call ends its transaction alone.
fn behind(handler: &Handler, progress: &Progress, refused: Option<&Answer>) -> Ran {
    let mut next = Progress { executed: progress.executed + 1, ..progress.clone() };
    if progress.ending {
        next.next += 1;
        let is_last = next.next == handler.at_end.len();
        return if is_last { Ran::Answered(Box::new(next.answer)) } else { Ran::Goes(Box::new(next)) };
    }
    let answer = match refused {
        None if progress.next + 1 < handler.transactions.len() => {
            next.next += 1;
            return Ran::Goes(Box::new(next));
        }
        None => progress.answer.clone(),
        Some(answer) => answer.clone(),
    };
    if handler.at_end.is_empty() {
        return Ran::Answered(Box::new(answer));
    }
    next = Progress { next: 0, ending: true, answer, ..next };
    next.end_work();
    Ran::Goes(Box::new(next))
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
/// store; what it did in memory and upstream stays. Answers what comes of the call, and whether all steps have passed.
fn transaction(handling: &mut Handling<'_>, handler: &Handler, steps: &[&'static str]) -> Result<(Ran, bool), Stop> {
    let store = &handling.places.store;
    let design = handling.design;
    let in_store = design.server.state == State::Store
        || design.server.state == State::Handle
        || design.keys.place == Place::Store
        || design.server.lease_place == Place::Store
        || design.server.cache_place == Place::Store;
    let writes = steps.iter().any(|step| steps::writes(step)) || design.keys.record == Recording::EveryOutcome;
    let begins = if writes && in_store || is_resumed(design) { "BEGIN IMMEDIATE" } else { "BEGIN" };
    store.execute_batch(begins)?;
    let ran = steps_of(handling, handler, steps);
    let ended = match &ran {
        Ok(_) => store.execute_batch("COMMIT").map_err(Stop::Store),
        Err(_) => Ok(()),
    };
    if !store.is_autocommit() {
        // Whatever failed, the next call finds the store closed.
        let _ = store.execute_batch("ROLLBACK");
    }
    ended.and(ran)
}

fn steps_of(handling: &mut Handling<'_>, handler: &Handler, steps: &[&'static str]) -> Result<(Ran, bool), Stop> {
    let store = &handling.places.store;
    let before = handling.progress.clone();
    // Nobody else goes on with it while the store is locked: what happens outside of it happens once.
    if is_resumed(handling.design) && !journal::is_at(store, handling.own, handling.name, before.executed)? {
        return Err(Stop::Elsewhere);
    }
    store.execute_batch("SAVEPOINT transaction_start")?;
    let mut stopped = None;
    for (position, name) in steps.iter().enumerate() {
        // A handler that has turned to another resource has nothing to work on where the call has none.
        if handling.at_other && handling.request.also.is_none() && steps::works_on_resource(name) {
            continue;
        }
        let step = steps::find(name).expect("a design whose steps are not all known is not served");
        if let Err(stop) = step(handling) {
            stopped = Some((position, stop));
            break;
        }
    }
    if handling.at_other {
        handling.turn();
    }
    let Some((position, stop)) = stopped else {
        let ran = behind(handler, &handling.progress, None);
        note(handling, &ran)?;
        return Ok((ran, true));
    };
    let Stop::Answer(answer) = stop else {
        handling.progress = before;
        return Err(stop);
    };
    handling.progress = before;
    store.execute_batch("ROLLBACK TO transaction_start")?;
    record_refusal(handling, steps, position, &answer)?;
    let ran = behind(handler, &handling.progress, Some(&answer));
    note(handling, &ran)?;
    Ok((ran, false))
}

/// Whether a call outlives its node, and is gone on with.
pub(super) fn is_resumed(design: &Design) -> bool {
    design.server.calls == Calls::Resumed
}

/// What the journal has of a call, where there is one; `executed`: of a call that is over, how many transactions it has run.
fn entry(handling: &Handling<'_>, ran: &Ran, executed: i64) -> Option<Entry> {
    let (progress, ended) = match ran {
        Ran::Goes(progress) => ((**progress).clone(), None),
        Ran::Answered(answer) => (Progress { executed, ..handling.progress.clone() }, Some((**answer).clone())),
        Ran::Invalid(_) | Ran::Elsewhere => return None,
    };
    is_resumed(handling.design).then(|| Entry {
        request: handling.request.clone(),
        caller: handling.own.clone(),
        design: handling.design.name.clone(),
        progress,
        ended,
    })
}

/// Writes into the journal what comes of a call, where there is one.
fn note(handling: &Handling<'_>, ran: &Ran) -> Result<(), Stop> {
    let Some(entry) = entry(handling, ran, handling.progress.executed + 1) else { return Ok(()) };
    let written = journal::write(&handling.places.store, handling.name, handling.node, &entry)?;
    if written { Ok(()) } else { Err(Stop::Elsewhere) }
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
    let unknown = Answer { outcome: Outcome::Unknown, ..Answer::about(handling.request.handle.clone()) };
    let ran = match then {
        AfterStoreError::Retry => Ran::Goes(Box::new(handling.progress.clone())),
        AfterStoreError::AnswerUnknown => Ran::Answered(Box::new(unknown)),
    };
    // The journal has what the process knows.
    let entry = entry(&handling, &ran, handling.progress.executed);
    if let Some(entry) = entry
        && let Err(error) = journal::set_back(&handling.places.store, handling.name, handling.node, &entry)
    {
        tracing::warn!(%error, "the journal could not be set back");
    }
    ran
}
