//! Makes the next change of the request in the stored content.
//!
//! As `apply`, but of a change of several fields it makes one: the first that this call has not made yet, in the order
//! of the file. So a batch is told that commits in parts: `[["resolve", "apply-next"], ["apply-next"]]`. Each part takes
//! effect by itself, and the version advances with each. When none is left it passes and does nothing. What has no
//! fields (`close`, say) is made at once. A snapshot is written as a whole, so it can't be sent to this step.

use super::{End, Handling, Requires, Step, Writes};

pub static STEP: Step = Step { requires: Requires::Resource, writes: Writes::Something, outcomes: &[], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    let stored = handling.existing()?.content;
    let Some(operation) = handling.operation() else { return Ok(()) };
    let parts = operation.fields().len().max(1);
    let part = usize::from(handling.progress.written);
    if part == parts {
        return Ok(());
    }
    handling.progress.written += 1;
    handling.write(stored, Some(part), false)?;
    super::advance_version::run(handling)
}
