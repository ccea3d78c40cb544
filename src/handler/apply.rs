//! Makes the change in the stored content.
//!
//! Short for `load` and `save` in one step: the change is made in what is stored now. The intent takes effect here, and
//! the version advances.

use super::{End, Handling, Requires, Step, Writes};

pub static STEP: Step = Step { requires: Requires::Resource, writes: Writes::Something, outcomes: &[], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    let stored = handling.existing()?.content;
    handling.write(stored, None, false)?;
    super::advance_version::run(handling)
}
