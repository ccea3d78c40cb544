//! handlecheck: a deterministic simulator and model checker for stateful tool servers.
//!
//! A run is a scenario, a design and a protocol. [`input`] reads them from TOML to [`model`], as meant. [`step`] is what
//! can happen and what it does, on the components of [`world`]; [`engine`] explores every interleaving of it; [`trace`]
//! writes down a violation, step by step, so that it replays; [`diagrams`] and [`explain`] show it. [`run`] is the whole
//! way from texts to a report. [`testing`] is that way in three lines, for tests of designs. `docs/architecture.md` is the
//! map, with what each part must not know.

pub mod action;
pub mod assertion;
pub mod audit;
pub mod cli;
pub mod diagrams;
pub mod documents;
#[cfg(feature = "live")]
pub mod drive;
pub mod engine;
pub mod explain;
pub mod faults;
pub mod graph;
pub mod handler;
pub mod harness;
pub mod input;
pub mod invariants;
pub mod lock;
pub mod log;
pub mod model;
pub mod outcomes;
pub mod policies;
pub mod reports;
pub mod run;
pub mod schema;
#[cfg(feature = "live")]
pub mod serve;
pub mod situation;
pub mod step;
pub mod suggest;
pub mod table;
pub mod testing;
pub mod trace;
pub mod world;
