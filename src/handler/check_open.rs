//! Checks that the resource can still be changed.
//!
//! Passes when the resource is not in a terminal state: closed or executed. Otherwise it ends the call with `closed`.

use super::{End, Handling, Requires, Step, Writes};

use crate::model::Outcome;
use crate::world::Lifecycle;

pub static STEP: Step =
    Step { requires: Requires::Resource, writes: Writes::Nothing, outcomes: &[Outcome::Closed], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    if handling.existing()?.lifecycle == Lifecycle::Open { Ok(()) } else { Err(handling.refuse(Outcome::Closed)) }
}
