//! The faults.

use crate::table::Row;

/// One fault.
#[derive(Debug)]
pub struct Fault {}

macro_rules! stub { ($($name:literal,)+) => {
    /// Every fault.
    pub static FAULTS: &[Row<Fault>] = &[$(Row { name: $name, source: "", item: &Fault {} },)+];
}}
stub! {
    "drop-stream", "restart-node", "expire-handle", "expire-key", "expire-claim", "expire-lease", "leak-handle",
    "revoke", "rotate-credential", "compact", "ambiguous-commit", "stale-read", "recreate", "duplicate-call",
    "stop-agent",
}
