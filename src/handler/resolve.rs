//! Finds what the handle names.
//!
//! Passes when the handle names something here that was not deleted. Otherwise it ends the call with `not-found`.

use super::{End, Handling, Requires, Step, Writes};

use crate::model::Outcome;
use crate::world::Lifecycle;

pub static STEP: Step =
    Step { requires: Requires::Resource, writes: Writes::Nothing, outcomes: &[Outcome::NotFound], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    if handling.existing()?.lifecycle == Lifecycle::Deleted { Err(handling.refuse(Outcome::NotFound)) } else { Ok(()) }
}
