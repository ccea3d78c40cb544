//! Copies the content into the working copy of the handler.
//!
//! What a handler loads, its caller has not seen. `check-unchanged` compares with the version that was loaded.

use super::{End, Handling, Requires, Step, Writes};

pub static STEP: Step = Step { requires: Requires::Resource, writes: Writes::Nothing, outcomes: &[], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    let instance = handling.existing()?;
    handling.progress.loaded = Some(instance.version).filter(|_| handling.setting.has_step("check-unchanged"));
    handling.progress.working = Some(instance.content);
    Ok(())
}
