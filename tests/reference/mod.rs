//! The plain reference interpreter: an explicit-state checker written from the specification alone, as simple as it can
//! be. It shares nothing with the product but the types of the three inputs.

pub mod actions;
pub mod client;
pub mod faults;
pub mod harness;
pub mod judge;
pub mod liveness;
pub mod receive;
pub mod rename;
pub mod search;
pub mod server;
pub mod state;
pub mod steps;
pub mod world;
