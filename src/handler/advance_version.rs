//! Advances the version of the resource.
//!
//! The new version goes into the answer. With `versions = "coarse-clock"` the clock need not tick: then the version stays
//! what it was.

use super::{End, Handling, Requires, Step, Writes};

use crate::model::Outcome;

pub static STEP: Step = Step { requires: Requires::Resource, writes: Writes::Something, outcomes: &[], run };

pub(super) fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    // What was just deleted has a last version too, so this does not ask whether the handle still resolves.
    let Some(handle) = handling.handle() else { return Err(handling.refuse(Outcome::NotFound)) };
    let slot = handling.setting.resource_slot(usize::from(handle.resource));
    if handling.access.get(slot).resource().instances.get(usize::from(handle.instance)).is_none() {
        return Err(handling.refuse(Outcome::NotFound));
    }
    let ticks = handling.luck.ticks;
    let version = handling.change_instance(handle, |instance| {
        instance.version = instance.version.saturating_add(u16::from(ticks));
        instance.version
    });
    handling.progress.answer.version = Some(version);
    handling.carry_state();
    Ok(())
}
