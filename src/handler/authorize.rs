//! Checks that the caller may use the resource.
//!
//! Passes when the principal of the request owns the resource, or the resource is shared with it. `owner-is` says which
//! parts of the principals are compared; by default all that the owner has. Otherwise it ends the call with `not-found`,
//! so that a foreign handle looks like an unknown one, or with `forbidden` where `foreign = "forbidden"`.

use super::{End, Handling, Requires, Step, Writes};

use crate::model::design::{Foreign, PrincipalPart};
use crate::model::{Outcome, Principal};

pub static STEP: Step = Step {
    requires: Requires::Resource,
    writes: Writes::Nothing,
    outcomes: &[Outcome::NotFound, Outcome::Forbidden],
    run,
};

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    let instance = handling.existing()?;
    let setting = handling.setting;
    let caller = &setting.model.scenario.agents[handling.caller()].principal;
    let resource = handling.handle().map_or(handling.resource_id(), |handle| usize::from(handle.resource));
    let owner = &setting.principals[usize::from(instance.filed_under.unwrap_or(setting.owner(resource)))];
    let server = &setting.model.design.server;
    let matches = |other: &Principal| same(server.owner_is.as_deref(), caller, other);
    if matches(owner) || setting.resource(resource).shared_with.iter().any(matches) {
        return Ok(());
    }
    Err(handling.refuse(match server.foreign {
        Foreign::NotFound => Outcome::NotFound,
        Foreign::Forbidden => Outcome::Forbidden,
    }))
}

/// Whether two principals agree in the parts that are compared.
fn same(parts: Option<&[PrincipalPart]>, caller: &Principal, owner: &Principal) -> bool {
    let agree = |part: &PrincipalPart| match part {
        PrincipalPart::Subject => caller.subject == owner.subject,
        PrincipalPart::Client => caller.client == owner.client,
        PrincipalPart::Tenant => caller.tenant == owner.tenant,
    };
    parts.unwrap_or(PrincipalPart::ALL).iter().all(agree)
}
