//! Puts what was read into the read cache, unless what is there is as new.
//!
//! As `fill-cache`, but it leaves a copy of the same handle that has the same version or a later one. So whoever read
//! before a change and fills after it leaves what the writer has filled; where the writer only drops the copy, there is
//! nothing to compare with.
//!
//! Compare the versions by which caches keep the newer of two values: Bronson et al., "TAO: Facebook's Distributed Data
//! Store for the Social Graph" (USENIX ATC 2013), section 4.

use super::{End, Handling, Requires, Step, Writes};

pub static STEP: Step = Step { requires: Requires::EarlierRead, writes: Writes::Something, outcomes: &[], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    let Some((slot, scope, handle)) = handling.cached() else { return Ok(()) };
    let Some(view) = handling.progress.answer.view.clone() else { return Ok(()) };
    let held = handling.access.get(slot).cache().find(&scope);
    if held.is_some_and(|(_, about, copy)| *about == handle && copy.version >= view.version) {
        return Ok(());
    }
    handling.change_cache(slot, |cache| cache.fill(scope, handle, view));
    Ok(())
}
