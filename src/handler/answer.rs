//! Answers `ok` at once, and goes on.
//!
//! When its transaction has committed, the answer so far leaves: `ok`, with the view, the version or the handle that the
//! steps before it put there. Nobody waits for the rest of the handler, and nobody hears how it ends; it goes on all the
//! same, until its node restarts. A broken stream does not concern it any more, and nothing cancels it. What is resumed
//! when its node restarts (`calls = "resumed"`) goes on; what is redelivered is not, since an answer acknowledges it.
//!
//! So a handler is told that acknowledges before it does its work, as servers do that write behind or in the background:
//! `[["resolve", "find-key", "answer"], ["apply", "record-key"]]`. An `ok` that was sent in this way is a promise: it
//! breaks `truthful-outcome` when the rest of the handler has ended, or was lost, and what was promised is not there.
//!
//! It stands in `transactions` of a tool that changes something. Once a handler has answered, another `answer` does
//! nothing.

use super::{End, Handling, Requires, Step, Writes};

pub static STEP: Step = Step { requires: Requires::Caller, writes: Writes::Nothing, outcomes: &[], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    handling.progress.answered = true;
    Ok(())
}
