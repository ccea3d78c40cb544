//! Causes the external effect of the intent, and forwards the key.
//!
//! The upstream service remembers the keys of each principal, and a call under a key that it has seen causes nothing more.
//! A request without a key causes the effect each time, as with `call-upstream`. It is never part of a transaction: nothing
//! rolls it back, and nothing makes the upstream service forget a key.

use super::{End, Handling, Requires, Step, Writes};

use crate::world::Component;

pub static STEP: Step = Step { requires: Requires::Nothing, writes: Writes::Something, outcomes: &[], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    if let (Some(slot), Some(key)) = (handling.setting.upstream_slot(), handling.request.key.clone()) {
        let entry = (handling.setting.principal(handling.caller()), key);
        let mut seen = handling.access.get(slot).upstream().clone();
        let Err(place) = seen.binary_search(&entry) else { return Ok(()) };
        seen.insert(place, entry);
        handling.access.set(slot, Component::Upstream(seen));
    }
    handling.upstream += 1;
    Ok(())
}
