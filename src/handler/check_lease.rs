//! Checks that this agent holds the lease.
//!
//! Otherwise it ends the call with `lease-lost`. Where leases name nobody (`lease-names = "nothing"`), it passes while
//! anybody holds it.

use super::{End, Handling, Requires, Step, Writes};
use crate::model::Outcome;

pub static STEP: Step =
    Step { requires: Requires::Resource, writes: Writes::Nothing, outcomes: &[Outcome::LeaseLost], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    let (agent, anybody) = (handling.identity().0, !handling.leases_name_holders());
    let holds = handling.lease().holder.is_some_and(|(holder, _)| holder == agent || anybody);
    if holds { Ok(()) } else { Err(handling.refuse(Outcome::LeaseLost)) }
}
