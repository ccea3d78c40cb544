//! Creates the resource.
//!
//! The new resource belongs to the principal of the request, and the answer names its handle. Every execution makes one
//! more: a call that is repeated without a key mints twice. Where the protocol lets the client name what it mints
//! (`task-ids = "client"`), a name may be taken, among the principals of one `name-scope`: by the same entry, or by another
//! that chooses the same name. Then it answers what is there, or with `taken-name = "refuse"` ends the call with
//! `name-taken`.

use super::{End, Handling, Requires, Step, Writes};

use crate::model::Outcome;
use crate::model::design::{PrincipalPart, State, TakenName};
use crate::model::protocol::TaskIds;
use crate::world::{Field, Handle, Instance, Intents, Resource, Setting, Wrote};

pub static STEP: Step =
    Step { requires: Requires::NoEarlierResolve, writes: Writes::Something, outcomes: &[Outcome::NameTaken], run };

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
    if handling.setting.model.protocol.task_ids == TaskIds::Client
        && let Some((handle, holder)) = taken(handling)
    {
        let holder = handling.held_up_by(holder);
        if handling.setting.model.design.server.taken_name == TakenName::Refuse {
            let mut end = handling.refuse(Outcome::NameTaken);
            end.answer.held_by = holder;
            return Err(end);
        }
        handling.progress.answer.version = handling.instance_of(handle).map(|there| there.version);
        (handling.progress.answer.handle, handling.progress.answer.made) = (Some(handle), true);
        handling.progress.answer.held_by = holder;
        handling.carry_state();
        return Ok(());
    }
    let mut stored: Resource = handling.access.get(slot).resource().clone();
    let instance = u8::try_from(stored.instances.len()).expect("a search ends long before 256 mints of one resource");
    stored.instances.push(minted.clone());
    handling.access.set(slot, stored.into());
    let handle = Handle { resource: handling.request.resource, instance };
    (handling.progress.answer.handle, handling.progress.answer.made) = (Some(handle), true);
    handling.progress.answer.version = Some(minted.version);
    handling.carry_state();
    if handling.setting.has_step("undo") {
        handling.progress.wrote = Some(Box::new(Wrote::Anew(handle)));
    }
    handling.committed(handle, None, minted, &[0], false);
    Ok(())
}

/// What has the name that is chosen for what is to be minted, as far as the caller's names reach, and whose it is.
fn taken(handling: &Handling<'_, '_>) -> Option<(Handle, u8)> {
    let setting = handling.setting;
    let caller = setting.principal(handling.caller());
    for resource in setting.of_one_name(handling.resource_id()) {
        let id = u8::try_from(resource).expect("there are few resources");
        let instances = &handling.access.get(setting.resource_slot(resource)).resource().instances;
        for (instance, there) in (0..).zip(instances) {
            let handle = Handle { resource: id, instance };
            let holder = there.filed_under.unwrap_or_else(|| setting.owner(resource));
            if handling.instance_of(handle).is_some() && there.is_reachable() && share_names(setting, caller, holder) {
                return Some((handle, setting.owner(resource)));
            }
        }
    }
    None
}

fn share_names(setting: &Setting, one: u8, other: u8) -> bool {
    let [one, other] = [one, other].map(|principal| &setting.principals[usize::from(principal)]);
    setting.model.design.server.name_scope.iter().all(|part| match part {
        PrincipalPart::Subject => one.subject == other.subject,
        PrincipalPart::Client => one.client == other.client,
        PrincipalPart::Tenant => one.tenant == other.tenant,
    })
}
