//! Frees the lease of this agent on the resource.
//!
//! The lease of another agent stays.

use super::{End, Handling, Requires, Step, Writes};

pub static STEP: Step = Step { requires: Requires::Resource, writes: Writes::Something, outcomes: &[], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    let mut lease = handling.lease();
    if lease.holder.is_some_and(|(holder, _)| holder == handling.identity().0) {
        lease.holder = None;
        handling.set_lease(lease);
    }
    Ok(())
}
