//! Copies the content into the working copy of the handler.
//!
//! What a handler loads, its caller has not seen.

use super::{End, Handling, Requires, Step, Writes};

pub static STEP: Step = Step { requires: Requires::Resource, writes: Writes::Nothing, outcomes: &[], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    handling.progress.working = Some(handling.existing()?.content);
    Ok(())
}
