//! Tags that the engine counts: how calls ended, and what a run costs.

use crate::model::{Outcome, Told};
use crate::world::{Attempt, Fact};

/// A call was answered from a record.
pub const REPLAYED: u16 = 0x40;
/// A call was sent for the first time.
pub const SENT_FIRST: u16 = 0x50;
/// A call was sent again.
pub const SENT_AGAIN: u16 = 0x51;
/// A call was sent after a refusal: something was planned anew.
pub const SENT_ANEW: u16 = 0x52;
/// An answer was received.
pub const RECEIVED: u16 = 0x54;

const OUTCOMES: u16 = 0x00;
const TOLD: u16 = 0x60;
const STEPS: u16 = 0x80;

/// A call ended with this outcome.
#[must_use]
pub const fn outcome(outcome: Outcome) -> u16 {
    OUTCOMES + outcome as u16
}

/// The outcome that a tag is about.
#[must_use]
pub fn ended_with(tag: u16) -> Option<Outcome> {
    Outcome::ALL.iter().copied().find(|other| outcome(*other) == tag)
}

/// An agent was told this about an intent.
#[must_use]
pub const fn told(told: Told) -> u16 {
    TOLD + told as u16
}

/// A call was ended by the step of this name.
#[must_use]
pub fn ended_by(step: &str) -> Option<u16> {
    let index = crate::handler::STEPS.iter().position(|row| row.name == step)?;
    Some(STEPS + u16::try_from(index).expect("there are few steps"))
}

/// The step that a tag is about.
#[must_use]
pub fn step(tag: u16) -> Option<&'static str> {
    let index = tag.checked_sub(STEPS)?;
    crate::handler::STEPS.get(usize::from(index)).map(|row| row.name)
}

/// What a fact costs, or how something ended.
#[must_use]
pub const fn of(fact: &Fact) -> Option<u16> {
    match fact {
        Fact::Sent { attempt: Attempt::First, .. } => Some(SENT_FIRST),
        Fact::Sent { attempt: Attempt::Repeat, .. } => Some(SENT_AGAIN),
        Fact::Sent { attempt: Attempt::Replan, .. } => Some(SENT_ANEW),
        Fact::Received { .. } => Some(RECEIVED),
        Fact::Told { told, .. } => Some(self::told(*told)),
        _ => None,
    }
}
