//! Checks that the resource is as this call loaded it.
//!
//! Passes when the current version is the one that the call's own `load` found: a compare-and-swap inside of the handler,
//! which says nothing of what the caller saw. Otherwise it ends the call with `stale-view`, which tells the current
//! version.

use super::{End, Handling, Requires, Step, Writes};

use crate::model::Outcome;
use crate::world::Stamp;

pub static STEP: Step =
    Step { requires: Requires::EarlierLoad, writes: Writes::Nothing, outcomes: &[Outcome::StaleView], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    let current = handling.existing()?.version;
    if handling.progress.loaded == Some(current) {
        return Ok(());
    }
    let mut end = handling.refuse(Outcome::StaleView);
    let handle = handling.other().map_or(handling.request.handle, |other| Some(other.handle));
    end.answer.current.extend(handle.map(|handle| Stamp { handle, version: current }));
    Err(end)
}
