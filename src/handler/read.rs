//! Answers a view of the resource.
//!
//! Puts the version and the content of the resource into the answer, with the fence number of a lease that the call was
//! given. With `reads-from = "replica"` the fault `stale-read` may serve it from before the latest change, or end the
//! call with `not-found` where that change made the resource. With
//! `reads-from = "node-cache"` a node answers from its cache what it has answered before in the same `cache-scope`:
//! this step fills an entry where there is none, in the same transaction in which it read the store. Nothing but a
//! restart of the node empties it; a write, also on that node, does not. A handler that says more of its cache has
//! `find-cached` before this step, and `fill-cache` behind it.

use super::{End, Handling, Requires, Step, Writes};
use crate::model::Outcome;
use crate::model::design::ReadsFrom;
use crate::world::View;

pub static STEP: Step =
    Step { requires: Requires::Resource, writes: Writes::Nothing, outcomes: &[Outcome::NotFound], run };

fn run(handling: &mut Handling<'_, '_>) -> Result<(), End> {
    let instance = handling.existing()?;
    if handling.lags_behind_mint() {
        return Err(handling.refuse(Outcome::NotFound));
    }
    let mut view =
        View { version: Some(instance.version), content: Some(instance.content), fence: handling.progress.grant };
    match handling.setting.model.design.server.reads_from {
        ReadsFrom::Store => {}
        ReadsFrom::Replica => {
            if let Some((version, content)) = instance.previous.filter(|_| handling.luck.lags) {
                handling.asked_copy = true;
                view = View { version: Some(version), content: Some(content), ..view };
            }
        }
        ReadsFrom::NodeCache => {
            if let Some((about, copy)) = handling.copy() {
                handling.progress.answer.handle = Some(about);
                view = copy;
            } else {
                handling.fill_cache(view.clone());
            }
        }
    }
    handling.progress.answer.view = Some(handling.known_view(view));
    Ok(())
}

impl Handling<'_, '_> {
    /// What the handler does not know is not in its answer.
    pub(super) fn known_view(&self, view: View) -> View {
        View { content: view.content.map(|content| self.known_fields(content)), ..view }
    }
}
