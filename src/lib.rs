//! handlecheck.
pub mod action;
pub mod assertion;
pub mod engine;
pub mod faults;
pub mod handler;
pub mod harness;
pub mod input;
pub mod invariants;
pub mod model;
pub mod run;
pub mod step;
pub mod suggest;
pub mod table;
pub mod trace;
pub mod world;
