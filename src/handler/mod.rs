//! Handlers: lists of transactions of steps, executed by one interpreter.
//!
//! Each step is one file of this folder; its page is the comment at the file's top. A step sees one call and, through
//! [`Handling`], the state that its transaction works on. It knows nothing of clients, streams or other calls.

mod aspect;
mod basis;
mod calls;
mod handling;
mod intents;
mod program;
mod promises;
mod replies;

use crate::model::Outcome;
use crate::table::table;
use crate::world::Answer;

pub use aspect::{Aspect, has_aspect, slots_of_aspects};
pub use calls::{Executed, call_at, leave_queue, set_call};
pub use handling::{Handling, Luck, change_fields, drop_fields};
pub use intents::became;
pub use program::{Program, Programs, Ran};
pub use promises::{is_at_work, settle};
pub use replies::{close_stream, equal_ids};

/// One step.
#[derive(Debug)]
pub struct Step {
    /// Where it can stand.
    pub requires: Requires,
    /// What it writes when it passes. From this is derived which orphans can still change something.
    pub writes: Writes,
    /// The outcomes with which it may end a call.
    pub outcomes: &'static [Outcome],
    /// Passes, or ends the call.
    pub run: fn(&mut Handling<'_, '_>) -> Result<(), End>,
}

/// A step ends the call: its transaction is rolled back, and this is the answer.
#[derive(Debug)]
pub struct End {
    /// The answer.
    pub answer: Box<Answer>,
}

/// Where a step can stand in a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requires {
    /// Anywhere.
    Nothing,
    /// Behind a `load`, in the same transaction or an earlier one.
    EarlierLoad,
    /// Behind a `read`, in the same transaction or an earlier one.
    EarlierRead,
    /// Nowhere behind a `resolve`: it makes the resource.
    NoEarlierResolve,
    /// It works on a resource: not before `mint` in the handler of `mint`.
    Resource,
    /// Where somebody waits for what became of a change: not in `at-end`, nor in the handler of `read`.
    Caller,
    /// Where somebody waits for a view: in the transactions of the handler of `read`.
    Reader,
    /// It works on a resource where the outcome is decided: in `at-end`.
    Ending,
}

/// What a step writes that outlives its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    /// Nothing.
    Nothing,
    /// The resource, the key table, or anything else that another call can meet.
    Something,
}

table! {
    /// Every step, in the order of the documentation.
    STEPS: Step in STEP {
        resolve,
        authorize,
        check_permission,
        check_live,
        check_open,
        find_key,
        claim_key,
        record_key,
        release_key,
        check_version,
        check_unchanged,
        check_condition,
        check_approval,
        acquire_lease,
        release_lease,
        check_lease,
        check_fence,
        find_cached,
        read,
        fill_cache,
        fill_cache_if_newer,
        drop_cached,
        load,
        write_content,
        advance_version,
        save,
        apply,
        apply_next,
        call_upstream,
        call_upstream_with_key,
        mint,
        other,
        undo,
        answer,
    }
}
