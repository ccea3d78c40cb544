//! Checks that the caller's view is current.
//!
//! Passes when every version that the request expects is the current one. Otherwise it ends the call with `stale-view`,
//! which tells the current version. A request that expects no version passes, or is ended with `precondition-required`
//! where `version-required = true`. In the handler of `mint` it stands behind the step `mint`, and compares the
//! versions of what the mint is `given`: in the same transaction, a refusal takes the mint back. Behind `other` it
//! compares the version of the other resource alone.
//!
//! Compare `If-Match` in RFC 9110 section 13.1.1, and 428 Precondition Required in RFC 6585 section 3.

use super::{End, Handling, Requires, Step, Writes};

use crate::model::Outcome;
use crate::world::Stamp;

pub static STEP: Step = Step {
    requires: Requires::Resource,
    writes: Writes::Nothing,
    outcomes: &[Outcome::StaleView, Outcome::PreconditionRequired],
    run,
};

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    let own = handling.existing()?.version;
    let request = handling.request;
    let other = handling.other().map(|other| other.handle);
    let compared = |expected: &&Stamp| other.is_none_or(|other| expected.handle == other);
    let expected: Vec<Stamp> = request.expected.iter().filter(compared).copied().collect();
    if expected.is_empty() {
        let required = handling.setting.model.design.server.version_required;
        return if required { Err(handling.refuse(Outcome::PreconditionRequired)) } else { Ok(()) };
    }
    let current = |expected: &Stamp| match handling.instance_of(expected.handle) {
        _ if Some(expected.handle) == request.handle => Some(Stamp { version: own, ..*expected }),
        there => there.map(|instance| Stamp { version: instance.version, ..*expected }),
    };
    let Some(current) = expected.iter().map(current).collect::<Option<Vec<Stamp>>>() else {
        return Err(handling.refuse(Outcome::NotFound));
    };
    if current == expected {
        return Ok(());
    }
    let mut end = handling.refuse(Outcome::StaleView);
    end.answer.current = current;
    Err(end)
}
