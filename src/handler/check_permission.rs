//! Checks that the permission still stands.
//!
//! Passes when the permission of the principal on the resource has not been revoked. Otherwise it ends the call with
//! `forbidden`.

use super::{End, Handling, Requires, Step, Writes};

use crate::model::Outcome;

pub static STEP: Step =
    Step { requires: Requires::Resource, writes: Writes::Nothing, outcomes: &[Outcome::Forbidden], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    let principal = handling.setting.principal(handling.caller());
    if !handling.existing()?.revoked.contains(&principal) {
        return Ok(());
    }
    Err(handling.refuse(Outcome::Forbidden))
}
