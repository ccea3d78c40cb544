//! Late routing: a call has no node until one matters.
//!
//! Where it does not matter at which node a call is, its arrival and its first transaction are one step, and a restart
//! decides which calls were at the node. `docs/engine.md` has the argument.

use super::Simulation;
use crate::faults::{ORPHANS, loses_only_calls};
use crate::model::Client;
use crate::model::design::Replies;
use crate::model::protocol::{ClosedStream, Resumable};
use crate::world::Setting;

/// Whether late routing finds the same as routing every call when it is delivered.
pub(super) fn keeps_everything(setting: &Setting) -> bool {
    // Where nodes change over, it matters at which a call is. An answer and the rest of its handler are at one node.
    setting.deployed_slot().is_none()
        && !setting.goes_on_unheard()
        && is_oblivious_of_nodes(setting)
        && tells_arrival_by_nothing(setting)
        && can_decide_restarts_late(setting)
}

/// Whether it makes no difference at which node a call is, but for its restart: the balancer remembers nothing, a node
/// neither, no reply is looked for at a node, and no call comes back from one that restarted.
fn is_oblivious_of_nodes(setting: &Setting) -> bool {
    let by_themselves = setting.model.design.server.replies == Replies::PerRequest;
    setting.routes() == 0 && loses_only_calls(setting) && !setting.keeps_calls() && by_themselves
}

/// Whether a call that has arrived and not begun to run is as one on its way: a broken stream is resumed in either case,
/// or in none.
fn tells_arrival_by_nothing(setting: &Setting) -> bool {
    setting.model.protocol.resumable != Resumable::AfterDelivery || setting.budget("drop-stream") == 0
}

/// Whether it can be decided when a node restarts which calls are at it, and which orphans are left can't be seen.
fn can_decide_restarts_late(setting: &Setting) -> bool {
    let restarts = setting.budget("restart-node");
    if restarts == 0 {
        return true;
    }
    let several = setting.model.scenario.nodes > 1;
    let orphans = setting.budget("drop-stream") + setting.budget("duplicate-call");
    // What survived one restart was at another node, and that would have to be remembered for the next.
    let once = !several || restarts == 1;
    // A key leaks from the orphans that are there.
    let mut clients = setting.model.clients.iter().flatten();
    let leaks = setting.budget("leak-handle") > 0 && clients.any(Client::may_present_leaked_keys);
    let continues = setting.model.protocol.closed_stream == ClosedStream::Continues;
    once && (orphans == 0 || !leaks) && (!several || !continues || usize::from(orphans) <= ORPHANS)
}

impl Simulation {
    /// Whether calls are routed late.
    #[must_use]
    pub const fn routes_late(&self) -> bool {
        self.setting.routes_late
    }

    /// What happens in some run of the model by the way, and is left out where calls are routed late: by name.
    #[must_use]
    pub fn left_out(&self) -> Option<&'static str> {
        // An idle node may restart from the first moment on.
        (self.routes_late() && self.setting.budget("restart-node") > 0).then_some("restart-node")
    }
}
