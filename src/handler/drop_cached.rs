//! Drops from the read cache what a read of this would find.
//!
//! It drops the entry under which a read by the same caller of the same handle would look (`cache-scope`): where callers
//! have entries of their own, those of the others stay. With `cache-place = "node"` it is this node's cache alone.

use super::{End, Handling, Requires, Step, Writes};

pub static STEP: Step = Step { requires: Requires::Resource, writes: Writes::Something, outcomes: &[], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    if let Some((slot, scope, _)) = handling.cached() {
        handling.change_cache(slot, |cache| cache.drop(&scope));
    }
    Ok(())
}
