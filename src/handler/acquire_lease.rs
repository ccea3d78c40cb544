//! Takes the lease on the resource.
//!
//! Passes when no other agent holds the lease of this handle; for its holder too, unless leases name nobody
//! (`lease-names = "nothing"`), always with a new fence number, which
//! goes into the view that a `read` answers. Otherwise it ends the call with `locked`. Leases are in the store or in the
//! memory of the node (`lease-place`).
//!
//! Fence numbers are those of Kleppmann, "How to do distributed locking" (2016): a lease alone does not keep a slow holder
//! from writing.

use super::{End, Handling, Requires, Step, Writes};
use crate::model::Outcome;
use crate::world::{Fact, Other, ghost};

pub static STEP: Step =
    Step { requires: Requires::Resource, writes: Writes::Something, outcomes: &[Outcome::Locked], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    let mut lease = handling.lease();
    let (agent, _) = handling.identity();
    if let Some((holder, _)) = lease.holder.filter(|(holder, _)| *holder != agent || !handling.leases_name_holders()) {
        let mut end = handling.refuse(Outcome::Locked);
        end.answer.held_by = handling.held_up_by(handling.setting.principal(usize::from(holder)));
        return Err(end);
    }
    if lease.given.is_some() {
        let about = handling.other().map_or(handling.request.handle, |other| Some(other.handle));
        let open = (0..handling.setting.agents()).filter(|other| *other != usize::from(agent)).any(|other| {
            let open = handling.access.peek(handling.setting.call_slot(other), ghost::LEASES).call();
            let orphans = handling.access.peek(handling.setting.orphans_slot(other), ghost::LEASES).orphans();
            let works = |call: &crate::world::Call| {
                let given = call.progress().and_then(|progress| progress.grant);
                let aside = call.progress().and_then(|progress| progress.aside.as_ref()?.grant);
                let own = call.request.handle == about && given.or(call.request.fence).is_some();
                let besides = |other: &Other| Some(other.handle) == about && aside.or(other.fence).is_some();
                own || call.request.other.as_deref().is_some_and(besides)
            };
            open.iter().chain(orphans).any(works)
        });
        handling.facts.push(Fact::LeasePassed { open });
    }
    let fence = lease.given.map_or(0, |given| given.saturating_add(1));
    lease.holder = Some((agent, fence));
    lease.given = Some(fence);
    handling.set_lease(lease);
    handling.progress.grant = Some(fence);
    if let Some(view) = handling.progress.answer.view.as_mut().filter(|_| !handling.at_other) {
        view.fence = Some(fence);
    }
    Ok(())
}
