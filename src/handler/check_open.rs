//! Checks that the resource can still be changed.
//!
//! Passes when the resource is not in a terminal state: closed or executed. Otherwise it ends the call with `closed`.

use super::{End, Handling, Requires, Step, Writes};

use crate::model::Outcome;
use crate::world::Lifecycle;

pub static STEP: Step =
    Step { requires: Requires::Resource, writes: Writes::Nothing, outcomes: &[Outcome::Closed], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    match handling.existing()?.lifecycle {
        Lifecycle::Closed | Lifecycle::Executed => Err(handling.refuse(Outcome::Closed)),
        Lifecycle::Open | Lifecycle::Deleted => Ok(()),
    }
}
