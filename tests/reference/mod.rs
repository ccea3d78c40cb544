//! The plain reference interpreter: an explicit-state checker written from the specification alone, as simple as it can
//! be. It shares nothing with the product but the types of the three inputs.

#![allow(dead_code, reason = "each test uses a part of it")]

pub mod actions;
pub mod client;
pub mod examples;
pub mod faults;
pub mod harness;
pub mod judge;
pub mod keys;
pub mod liveness;
pub mod receive;
pub mod rename;
pub mod search;
pub mod server;
pub mod state;
pub mod steps;
pub mod world;
