//! Checks that the caller's view is current.
//!
//! Passes when every version that the request expects is the current one. Otherwise it ends the call with `stale-view`,
//! which tells the current version. A request that expects no version passes, or is ended with `precondition-required`
//! where `version-required = true`.
//!
//! Compare `If-Match` in RFC 9110 section 13.1.1, and 428 Precondition Required in RFC 6585 section 3.

use super::{End, Handling, Requires, Step, Writes};

use crate::model::Outcome;

pub static STEP: Step = Step {
    requires: Requires::Resource,
    writes: Writes::Nothing,
    outcomes: &[Outcome::StaleView, Outcome::PreconditionRequired],
    run,
};

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    let current = handling.existing()?.version;
    let request = handling.request;
    if request.expected.is_empty() {
        let required = handling.setting.model.design.server.version_required;
        return if required { Err(handling.refuse(Outcome::PreconditionRequired)) } else { Ok(()) };
    }
    for expected in &request.expected {
        let Some(instance) = handling.instance_of(expected.handle) else {
            return Err(handling.refuse(Outcome::NotFound));
        };
        if instance.version != expected.version {
            let mut end = handling.refuse(Outcome::StaleView);
            end.answer.version = Some(current);
            return Err(end);
        }
    }
    Ok(())
}
