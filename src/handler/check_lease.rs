//! Checks that this agent holds the lease.
//!
//! Otherwise it ends the call with `lease-lost`.

use super::{End, Handling, Requires, Step, Writes};
use crate::model::Outcome;

pub static STEP: Step =
    Step { requires: Requires::Resource, writes: Writes::Nothing, outcomes: &[Outcome::LeaseLost], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    let holds = handling.lease().holder.is_some_and(|(holder, _)| holder == handling.identity().0);
    if holds { Ok(()) } else { Err(handling.refuse(Outcome::LeaseLost)) }
}
