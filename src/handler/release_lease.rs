//! Frees the lease of this agent on the resource.
//!
//! The lease of another agent stays; but where leases name nobody (`lease-names = "nothing"`), whatever lease is there is
//! freed.

use super::{End, Handling, Requires, Step, Writes};

pub static STEP: Step = Step { requires: Requires::Resource, writes: Writes::Something, outcomes: &[], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    let mut lease = handling.lease();
    let (agent, anybody) = (handling.identity().0, !handling.leases_name_holders());
    if lease.holder.is_some_and(|(holder, _)| holder == agent || anybody) {
        lease.holder = None;
        handling.set_lease(lease);
    }
    Ok(())
}
