//! Turns to the other resource of the call.
//!
//! A call may change two resources (`also` in a work entry). Behind this step, up to the end of the transaction, steps
//! that work on a resource work on what the call changes besides: they resolve, check, lease, load and write that.
//! Another `other` turns back. A call that changes one resource only passes all steps in between. Keys, the answer and
//! what goes upstream are of the call as a whole, whatever the handler is at.
//!
//! So both changes are made at once, `[["resolve", "apply", "other", "resolve", "apply"]]`, or one after the other, and
//! a call can be in by half: `[["resolve", "apply"], ["other", "resolve", "apply"]]`. What a handler did by half it can
//! take back (`undo`). `check-version` compares all versions that the call expects; behind this step that of the other
//! resource alone.

use super::{End, Handling, Requires, Step, Writes};

pub static STEP: Step = Step { requires: Requires::Nothing, writes: Writes::Nothing, outcomes: &[], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    handling.turn();
    Ok(())
}

impl Handling<'_, '_> {
    /// Turns to the other resource of the call, or back.
    pub(super) fn turn(&mut self) {
        self.at_other = !self.at_other;
        self.progress.turn();
    }

    /// Whether this step has nothing to work on: the handler is at another resource, and the call has none.
    pub(super) fn passes(&self, step: &Step) -> bool {
        let works = matches!(step.requires, Requires::Resource | Requires::EarlierLoad | Requires::Ending);
        self.at_other && self.request.other.is_none() && works
    }
}
