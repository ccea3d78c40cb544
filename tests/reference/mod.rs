//! The plain reference interpreter: an explicit-state checker written from the specification alone, as simple as it can
//! be. It shares nothing with the product but the types of the three inputs.
//!
//! [`search::check`] explores a model. What an actor remembers, and for how long, decides how many states there are; the
//! counts of section 11 come out with these choices and, of the alternatives tried, with no others:
//!
//! - A broken read leaves no trace but the spent budget: the agent is as it was before it sent it. A broken or refused
//!   change makes the next send a repeat, or a replan; a replan stays one when its read has to be sent again.
//! - A replanning agent keeps the view that it had before until it sends its change; then it is forgotten.
//! - An answer from a record is marked as replayed, and a refusal as stale holds the current version, until received.
//! - A call, orphans too, holds what its author's view showed of the fields that it sets, the author's own changes too.
//! - A record holds the values that were sent and the answer so far; a later record under the key replaces it.
//! - `cancel` stops an orphan only behind its first transaction and before its last.

#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(clippy::cast_possible_truncation, reason = "the limits of a scenario keep indices small")]
#![allow(clippy::disallowed_types, reason = "the order of what was visited is never looked at")]
#![allow(clippy::struct_excessive_bools, reason = "the state says what is so in plain facts")]

pub mod actions;
pub mod assertions;
pub mod cache;
pub mod choosing;
pub mod client;
pub mod conditions;
pub mod entries;
pub mod examples;
pub mod faults;
pub mod halves;
pub mod harness;
pub mod judge;
pub mod keys;
pub mod liveness;
pub mod making;
mod messages;
pub mod receive;
pub mod refusals;
pub mod rename;
pub mod replies;
pub mod search;
pub mod server;
pub mod sharing;
pub mod state;
pub mod steps;
pub mod world;
pub mod write;
