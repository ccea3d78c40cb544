//! Explores any [`System`]: every reachable state, shortest violations first.
//!
//! This module knows nothing of agents, stores or handles. It imports nothing of the product, prints nothing and reads
//! no clock: whoever calls it decides when to stop. `docs/engine.md` explains the algorithm.

mod access;
mod afterwards;
mod aspects;
mod checkpoint;
mod closure;
mod compaction;
mod components;
mod exploration;
pub mod extremes;
mod filter;
mod intern;
mod knowledge;
mod limits;
mod liveness;
mod memo;
mod numbering;
mod packing;
pub mod plain;
mod search;
pub mod second;
pub mod simulate;
mod slots;
mod store;
mod subsumption;
pub mod symmetry;
mod system;
mod visited;
mod visiting;
mod walk;
mod worker;

pub use access::Access;
pub use checkpoint::{Changed, Checkpoint, resume};
pub use exploration::{Exploration, Found};
pub use limits::{Limits, Progress, Stop};
pub use search::explore;
pub use slots::{Footprint, GHOSTS, Reach, SlotSet};
pub use system::{Budgets, Class, Observations, System};
