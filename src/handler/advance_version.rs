//! Advances the version of the resource.
//!
//! The new version goes into the answer. With `versions = "coarse-clock"` the clock need not tick: then the version stays
//! what it was.

use super::{End, Handling, Requires, Step, Writes};
use crate::model::design::Versions;
use crate::world::Stamp;

pub static STEP: Step = Step { requires: Requires::Resource, writes: Writes::Something, outcomes: &[], run };

pub(super) fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    handling.existing()?;
    let handle = handling.handle().expect("a resource that exists was named");
    let stored = handling.anywhere(handle).expect("a resource that exists is somewhere");
    let version = handling.version_to_write(stored).saturating_add(u16::from(handling.luck.ticks));
    handling.asked_clock = handling.setting.model.design.server.versions == Versions::CoarseClock;
    handling.change_instance(handle, |instance| instance.version = version);
    if handling.at_other {
        handling.progress.answer.other = Some(Stamp { handle, version });
        return Ok(());
    }
    handling.progress.answer.version = Some(version);
    handling.carry_state();
    Ok(())
}
