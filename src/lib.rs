//! handlecheck.
pub mod action;
pub mod diagrams;
pub mod engine;
pub mod explain;
pub mod faults;
pub mod handler;
pub mod harness;
pub mod invariants;
pub mod model;
pub mod step;
pub mod table;
pub mod trace;
pub mod world;
