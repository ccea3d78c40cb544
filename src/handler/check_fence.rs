//! Checks that no newer fence number is known.
//!
//! Passes when no newer fence number than the one of this call or of its author's view was given out (`fence-seen =
//! "at-acquire"`), or presented to a check (`"at-check"`; passing presents it). Any number is newer than none: a call
//! without one passes only as long as nobody had one. Otherwise it ends the call with `lease-lost`.

use super::{End, Handling, Requires, Step, Writes};
use crate::model::Outcome;
use crate::model::design::FenceSeen;

pub static STEP: Step =
    Step { requires: Requires::Resource, writes: Writes::Something, outcomes: &[Outcome::LeaseLost], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    let mut lease = handling.lease();
    let at_check = handling.setting.model.design.server.fence_seen == FenceSeen::AtCheck;
    let newest = if at_check { lease.presented } else { lease.given };
    let fence = handling.fence();
    if newest > fence {
        return Err(handling.refuse(Outcome::LeaseLost));
    }
    if at_check {
        lease.presented = fence;
        handling.set_lease(lease);
    }
    Ok(())
}
