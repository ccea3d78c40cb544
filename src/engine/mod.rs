//! Explores any [`System`]: every reachable state, shortest violations first.
//!
//! This module knows nothing of agents, stores or handles. It imports nothing of the product, prints nothing and reads
//! no clock: whoever calls it decides when to stop. `docs/engine.md` explains the algorithm.

mod access;
mod intern;
mod liveness;
mod memo;
mod numbering;
pub mod plain;
mod search;
pub mod second;
pub mod simulate;
pub mod symmetry;
mod system;
mod walk;

pub use access::Access;
pub use search::{Exploration, Found, Limits, Progress, Stop, explore};
pub use system::{Class, Observations, System};
