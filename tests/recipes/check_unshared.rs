//! Checks that the resource is shared with nobody.
//!
//! Passes when its owner alone may use the resource. Otherwise it ends the call with `forbidden`.

use super::{End, Handling, Requires, Step, Writes};

use crate::model::Outcome;

pub static STEP: Step =
    Step { requires: Requires::Resource, writes: Writes::Nothing, outcomes: &[Outcome::Forbidden], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    let shared_with = &handling.setting.resource(handling.resource_id()).shared_with;
    if shared_with.is_empty() { Ok(()) } else { Err(handling.refuse(Outcome::Forbidden)) }
}
