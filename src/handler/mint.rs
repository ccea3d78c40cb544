//! Creates the resource.
//!
//! The new resource belongs to the principal of the request, and the answer names its handle. Every execution makes one
//! more: a call that is repeated without a key mints twice. Where the protocol lets the client name what it mints
//! (`task-ids = "client"`), a mint under a name that is taken answers what is there.

use super::{End, Handling, Requires, Step, Writes};

use crate::model::design::State;
use crate::model::protocol::TaskIds;
use crate::world::{Field, Handle, Instance, Intents, Resource};

pub static STEP: Step = Step { requires: Requires::NoEarlierResolve, writes: Writes::Something, outcomes: &[], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    let resource = handling.resource_id();
    let Some(intent) = handling.intent() else { return Ok(()) };
    let fields = &handling.setting.resource(resource).fields;
    let field = |(_, value): &(String, _)| Field { value: Clone::clone(value), shows: Intents::of(intent) };
    let content = fields.iter().map(field).collect();
    // Which node made it matters only where it lives in that node's memory.
    let node = if handling.setting.is_state_in_nodes() { handling.node } else { 0 };
    let mut minted = Instance::new(content, handling.setting.first_version(resource), node);
    if handling.setting.model.design.server.state == State::Session {
        minted.session = Some(handling.request.agent);
    }
    let caller = handling.setting.principal(handling.caller());
    minted.filed_under = Some(caller).filter(|caller| *caller != handling.setting.principal(handling.agent()));
    let slot = handling.setting.resource_slot(resource);
    if handling.setting.model.protocol.task_ids == TaskIds::Client {
        // The client names what it mints: under a name that is taken it gets what is there.
        let stored = handling.access.get(slot).resource();
        let taken = (0..).zip(&stored.instances).find(|(_, instance)| instance.is_reachable());
        if let Some((instance, there)) = taken {
            let version = there.version;
            handling.progress.answer.handle = Some(Handle { resource: handling.request.resource, instance });
            handling.progress.answer.version = Some(version);
            handling.carry_state();
            return Ok(());
        }
    }
    let mut stored: Resource = handling.access.get(slot).resource().clone();
    let instance = u8::try_from(stored.instances.len()).expect("a search ends long before 256 mints of one resource");
    stored.instances.push(minted.clone());
    handling.access.set(slot, stored.into());
    let handle = Handle { resource: handling.request.resource, instance };
    handling.progress.answer.handle = Some(handle);
    handling.progress.answer.version = Some(minted.version);
    handling.carry_state();
    handling.committed(handle, None, minted, &[0], false);
    Ok(())
}
