//! Puts what was read into the read cache.
//!
//! It puts the view of the answer, which a `read` before it has put there, in the place of the copy that the cache holds.
//! In the handler of `read` it keeps what the next read will find. In a handler that writes it is write-through,
//! `[["resolve", "apply", "read"], ["fill-cache"]]`: and where two writes are accepted in one order and fill in the other,
//! the copy stays old.

use super::{End, Handling, Requires, Step, Writes};

pub static STEP: Step = Step { requires: Requires::EarlierRead, writes: Writes::Something, outcomes: &[], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    if let Some(view) = handling.progress.answer.view.clone() {
        handling.fill_cache(view);
    }
    Ok(())
}
