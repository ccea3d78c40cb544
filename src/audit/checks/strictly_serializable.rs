//! Some order that also respects real time explains what everyone saw: what was answered before something else was sent
//! comes before it.
//!
//! The same graph as for `serializable`, with edges of time. A cycle that needs them has `realtime` in its name: a read
//! that misses what was acknowledged before it was sent is *G-single-realtime*.
//!
//! Times are those of the log's clock. Calls that overlap are in no order of time.

use super::{Case, Check, Judged};
use crate::audit::cycles;
use crate::audit::graph::graph;

pub static CHECK: Check = Check {
    sentence: "some order that respects real time explains what everyone saw",
    anomaly: Some("G0-realtime to G2-item-realtime: Kingsbury and Alvaro, Elle, 2020"),
    about: "an accepted change, or a read",
    judge,
};

fn judge(case: &Case<'_>, judged: &mut Judged) {
    cycles::judge(case, &graph(case, true), judged);
}
