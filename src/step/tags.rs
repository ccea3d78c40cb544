//! Tags that the engine counts besides moments: what a run costs; and those of the moments that are counted by name.

use crate::model::{Outcome, Told, Tool};
use crate::situation::Moment;
use crate::world::{Attempt, Fact};

/// A call was sent for the first time.
pub const SENT_FIRST: u16 = 0x50;
/// A call was sent again.
pub const SENT_AGAIN: u16 = 0x51;
/// A call was sent after a refusal: something was planned anew.
pub const SENT_ANEW: u16 = 0x52;
/// An answer was received.
pub const RECEIVED: u16 = 0x54;

/// A call was answered from a record.
#[must_use]
pub fn replayed() -> u16 {
    Moment::Replayed.tag()
}

/// A call ended with this outcome.
#[must_use]
pub fn outcome(outcome: Outcome) -> u16 {
    Moment::Ended(outcome).tag()
}

/// An agent was told this about an intent.
#[must_use]
pub fn told(told: Told) -> u16 {
    Moment::Told(told).tag()
}

/// From here on, in the order of the tools: an agent was told `ok` about an intent that such a tool is for.
const DONE: u16 = 0x80;

/// An agent was told `ok` about an intent that this tool is for.
#[must_use]
pub fn done(tool: Tool) -> u16 {
    (DONE..).zip(Tool::ALL).find(|(_, other)| **other == tool).map(|(tag, _)| tag).expect("every tool is listed")
}

/// What a fact costs.
#[must_use]
pub const fn of(fact: &Fact) -> Option<u16> {
    match fact {
        Fact::Sent { attempt: Attempt::First, .. } => Some(SENT_FIRST),
        Fact::Sent { attempt: Attempt::Repeat, .. } => Some(SENT_AGAIN),
        Fact::Sent { attempt: Attempt::Replan, .. } => Some(SENT_ANEW),
        Fact::Received { .. } => Some(RECEIVED),
        _ => None,
    }
}
