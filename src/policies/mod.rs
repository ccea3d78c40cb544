//! Policies compared: how often each design breaks, what each of its steps is for, what would repair it, what it costs.
//!
//! Everything here is made of runs ([`crate::run`]): of random ones, or of explored ones of many variants of a design. It
//! prints nothing, writes no file and reads no clock.

pub mod ablate;
pub mod costs;
pub mod crowd;
pub mod edit;
pub mod estimate;
mod remedies;
pub mod repair;
pub mod simulate;
mod sound;
pub mod stopping;
pub mod variant;
pub mod verdicts;
pub mod world;
