//! Moments: what one step shows that is counted, and that a run can be asked for by name.

use crate::handler::STEPS;
use crate::model::{Event, Outcome, Told};
use crate::world::Response;

/// What one step shows, besides which action it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// A call ended with this outcome.
    Ended(Outcome),
    /// A call was answered from a record.
    Replayed,
    /// A step of a handler, its place in the table, ended a call so.
    EndedBy(usize, How),
    /// A harness reacted so.
    Reacted(Event, Response),
    /// An agent was told this about an intent.
    Told(Told),
}

/// How a step ended a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// With this refusal.
    Refused(Outcome),
    /// With a recorded outcome.
    Replayed,
}

impl How {
    /// Its name: that of the outcome, or `replayed`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Refused(outcome) => outcome.name(),
            Self::Replayed => REPLAYED,
        }
    }

    /// How a step of the table can end calls, in the order of the documentation.
    pub fn of_step(step: usize) -> impl Iterator<Item = Self> {
        // The two that look under a key for what was done already.
        let replays = matches!(STEPS[step].name, "find-key" | "claim-key");
        let refusals = STEPS[step].outcomes.iter().map(|outcome| Self::Refused(*outcome));
        replays.then_some(Self::Replayed).into_iter().chain(refusals)
    }
}

/// The name of being answered from a record.
pub(super) const REPLAYED: &str = "replayed";

/// Where the tags of each kind begin. A kind has room for as many as its tables can hold.
const ENDED: u16 = 0;
const ALL_REPLAYED: u16 = 0x40;
const TOLD: u16 = 0x60;
const REACTED: u16 = 0x100;
const ENDED_BY: u16 = 0x1000;
/// Room for the second word of a pair.
const SECOND: u16 = 0x20;

impl Moment {
    /// The tag under which the engine counts it.
    #[must_use]
    pub fn tag(self) -> u16 {
        match self {
            Self::Ended(outcome) => ENDED + outcome as u16,
            Self::Replayed => ALL_REPLAYED,
            Self::Told(told) => TOLD + told as u16,
            Self::Reacted(event, response) => REACTED + place(event) * SECOND + response as u16,
            Self::EndedBy(step, how) => {
                let how = match how {
                    How::Refused(outcome) => outcome as u16,
                    How::Replayed => SECOND - 1,
                };
                ENDED_BY + u16::try_from(step).expect("there are few steps") * SECOND + how
            }
        }
    }

    /// The moment that a tag stands for.
    #[must_use]
    pub fn of_tag(tag: u16) -> Option<Self> {
        let outcome = |index: u16| Outcome::ALL.get(usize::from(index)).copied();
        let how = |index: u16| {
            if index == SECOND - 1 { Some(How::Replayed) } else { outcome(index).map(How::Refused) }
        };
        if let Some(pair) = tag.checked_sub(ENDED_BY) {
            return Some(Self::EndedBy(usize::from(pair / SECOND), how(pair % SECOND)?));
        }
        if let Some(pair) = tag.checked_sub(REACTED) {
            let event = Event::all().find(|event| place(*event) == pair / SECOND)?;
            return Some(Self::Reacted(event, *Response::ALL.get(usize::from(pair % SECOND))?));
        }
        if let Some(told) = tag.checked_sub(TOLD) {
            return Told::ALL.get(usize::from(told)).copied().map(Self::Told);
        }
        if tag == ALL_REPLAYED { Some(Self::Replayed) } else { outcome(tag).map(Self::Ended) }
    }
}

/// The place of an event among all: a refusal has that of its outcome, of which `ok` is none.
const fn place(event: Event) -> u16 {
    match event {
        Event::BrokenStream => Outcome::Ok as u16,
        Event::Refused(outcome) => outcome as u16,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_stands_for_one_moment() {
        let events = || Event::all();
        let steps = (0..STEPS.len()).flat_map(|step| How::of_step(step).map(move |how| Moment::EndedBy(step, how)));
        let reactions =
            events().flat_map(|event| Response::ALL.iter().map(move |response| Moment::Reacted(event, *response)));
        let ended = Outcome::ALL.iter().map(|outcome| Moment::Ended(*outcome));
        let told = Told::ALL.iter().map(|told| Moment::Told(*told));
        let all: Vec<Moment> = steps.chain(reactions).chain(ended).chain(told).chain([Moment::Replayed]).collect();
        for moment in &all {
            assert_eq!(Moment::of_tag(moment.tag()), Some(*moment));
        }
        let tags: std::collections::BTreeSet<u16> = all.iter().map(|moment| moment.tag()).collect();
        assert_eq!(tags.len(), all.len());
    }
}
