//! Finds what the handle names.
//!
//! Passes when the handle names something here that was not deleted. Otherwise it ends the call with `not-found`. Where
//! reads come from a replica that lags (`stale-read`), it does not find in the handler of `read` what was only just made.

use super::{End, Handling, Requires, Step, Writes};

use crate::model::design::ReadsFrom;
use crate::model::{Outcome, Tool};
use crate::world::Lifecycle;

pub static STEP: Step =
    Step { requires: Requires::Resource, writes: Writes::Nothing, outcomes: &[Outcome::NotFound], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    if handling.lags_behind_mint() {
        return Err(handling.refuse(Outcome::NotFound));
    }
    if handling.existing()?.lifecycle == Lifecycle::Deleted { Err(handling.refuse(Outcome::NotFound)) } else { Ok(()) }
}

impl Handling<'_, '_> {
    /// Whether the copy that a read comes from lags behind, and what the handle names was made by the latest change of it:
    /// it is not in the copy yet.
    pub(super) fn lags_behind_mint(&mut self) -> bool {
        let from_copy = self.request.tool == Tool::Read
            && self.setting.model.design.server.reads_from == ReadsFrom::Replica
            && self.luck.lags;
        let Some(handle) = self.handle().filter(|_| from_copy) else { return false };
        // What is there at the start is in every copy.
        let minted = self.setting.resource(usize::from(handle.resource)).handle.is_none();
        let lags = minted && self.instance_of(handle).is_some_and(|instance| instance.previous.is_none());
        self.asked_copy |= lags;
        lags
    }
}
