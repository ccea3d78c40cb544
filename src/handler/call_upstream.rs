//! Causes the external effect of the intent.
//!
//! It is never part of a transaction: nothing rolls it back. The upstream service is told no key, and can't tell a repeat
//! from new work.

use super::{End, Handling, Requires, Step, Writes};

pub static STEP: Step = Step { requires: Requires::Nothing, writes: Writes::Something, outcomes: &[], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    handling.upstream += 1;
    Ok(())
}
