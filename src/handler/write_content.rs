//! Writes the working copy back, with the operation in it.
//!
//! The intent takes effect here. A snapshot replaces the whole content; a change is made in the working copy that `load`
//! made. `close`, `execute` and `delete` leave the content and end the resource; `approve` stores what the view of the
//! approver showed.

use super::{End, Handling, Requires, Step, Writes};

pub static STEP: Step = Step { requires: Requires::EarlierLoad, writes: Writes::Something, outcomes: &[], run };

pub(super) fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    let working = handling.progress.working.clone();
    handling.write(working.expect("reading checked that a load comes first"), None, true)
}
