//! Checks that the handle has not expired.
//!
//! Passes when the time of the handle is not up. Otherwise it ends the call with `expired`.

use super::{End, Handling, Requires, Step, Writes};

use crate::model::Outcome;

pub static STEP: Step =
    Step { requires: Requires::Resource, writes: Writes::Nothing, outcomes: &[Outcome::Expired], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    if handling.existing()?.expired { Err(handling.refuse(Outcome::Expired)) } else { Ok(()) }
}
