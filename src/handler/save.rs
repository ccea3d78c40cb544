//! Writes the working copy back and advances the version.
//!
//! Short for `write-content` and `advance-version`.

use super::{End, Handling, Requires, Step, Writes};

pub static STEP: Step = Step { requires: Requires::EarlierLoad, writes: Writes::Something, outcomes: &[], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    super::write_content::run(handling)?;
    super::advance_version::run(handling)
}
