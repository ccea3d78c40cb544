//! Situations: what a run can be asked for by name, so that it can be seen how it comes about.
//!
//! A situation is a word of the tables (an action, a fault, an outcome, a step that ends a call, a harness's reaction, an
//! invariant's witness), a way in which a run ends, an assertion of the scenario, or an expression like those.

mod moment;
mod naming;

use crate::action::ACTIONS;
use crate::faults::FAULTS;
use crate::handler::STEPS;
use crate::invariants::INVARIANTS;
use crate::model::{Event, Outcome, Told};
use crate::world::Response;

pub use moment::{How, Moment};
pub use naming::{listed, parse, slug};

/// Something that a run may come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Situation {
    /// This action is taken, or this fault strikes.
    Happens(&'static str),
    /// A call ends with this outcome.
    Ended(Outcome),
    /// A call is answered from a record.
    Replayed,
    /// A step of a handler, its place in the table, ends a call; so, if it says how.
    EndedBy(usize, Option<How>),
    /// A harness reacts to this event; so, if it says how.
    Reacted(Event, Option<Response>),
    /// An agent is told this about an intent.
    Told(Told),
    /// The situation is reached that this invariant, its place in the table, is about.
    Witness(usize),
    /// A run comes to its end.
    End(End),
    /// An assertion of the scenario is true: in any state if it stands under `[sometimes]`; where it is judged if it stands
    /// under `[finally]`.
    Assertion(String),
    /// An expression is true.
    Expression(String),
}

/// Ways in which a run comes to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Nothing but orphans and faults can move.
    Quiescent,
    /// Nothing but orphans and faults can move, and every intent has ended.
    Resolved,
    /// Nothing but orphans and faults can move, and every intent was told as `ok`.
    AllOk,
}

impl End {
    /// Every end, with its name and what it is.
    pub const ALL: [(Self, &'static str, &'static str); 3] = [
        (Self::Quiescent, "quiescent", "nothing but orphans and faults can move"),
        (Self::Resolved, "resolved", "nothing but orphans and faults can move, and every intent has ended"),
        (Self::AllOk, "all-ok", "nothing but orphans and faults can move, and every intent was told as ok"),
    ];
}

impl Situation {
    /// Its one name, as it is asked for.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Happens(name) => (*name).to_owned(),
            Self::Ended(outcome) => outcome.name().to_owned(),
            Self::Replayed => moment::REPLAYED.to_owned(),
            Self::EndedBy(step, None) => STEPS[*step].name.to_owned(),
            Self::EndedBy(step, Some(how)) => format!("{}:{}", STEPS[*step].name, how.name()),
            Self::Reacted(event, None) => format!("on:{}", event.name()),
            Self::Reacted(event, Some(response)) => format!("on:{}:{response}", event.name()),
            Self::Told(told) => format!("told:{told}"),
            Self::Witness(invariant) => format!("witness:{}", INVARIANTS[*invariant].name),
            Self::End(end) => self.end(*end).0.to_owned(),
            Self::Assertion(name) => format!("assertion:{name}"),
            Self::Expression(text) => text.clone(),
        }
    }

    /// What it is, as a clause.
    #[must_use]
    pub fn about(&self) -> String {
        match self {
            Self::Happens(name) => match ACTIONS.iter().find(|(action, _)| action == name) {
                Some((_, about)) => (*about).to_owned(),
                None => {
                    let fault = FAULTS.iter().find(|fault| fault.name == *name);
                    fault.map(|fault| naming::clause(&fault.summary())).unwrap_or_default()
                }
            },
            Self::Ended(outcome) => {
                format!("a call ends with {outcome}: {}", naming::clause(outcome.about().trim_end_matches('.')))
            }
            Self::Replayed => "a call is answered from a record".to_owned(),
            Self::EndedBy(step, None) => format!("the step {} ends a call", STEPS[*step].name),
            Self::EndedBy(step, Some(How::Replayed)) => {
                format!("the step {} answers a call from a record", STEPS[*step].name)
            }
            Self::EndedBy(step, Some(How::Refused(outcome))) => {
                format!("the step {} ends a call with {outcome}", STEPS[*step].name)
            }
            Self::Reacted(event, None) => format!("an agent reacts to {}", event.name()),
            Self::Reacted(event, Some(response)) => {
                let did = naming::clause(response.about().trim_end_matches('.'));
                format!("an agent reacts to {}: {did}", event.name())
            }
            Self::Told(told) => format!("an agent is told {told} about an intent"),
            Self::Witness(invariant) => {
                format!("what {} is about: {}", INVARIANTS[*invariant].name, INVARIANTS[*invariant].witness)
            }
            Self::End(end) => self.end(*end).1.to_owned(),
            Self::Assertion(name) => format!("the assertion {name} is true"),
            Self::Expression(text) => format!("`{text}` is true"),
        }
    }

    fn end(&self, end: End) -> (&'static str, &'static str) {
        let found = End::ALL.into_iter().find(|(other, ..)| *other == end);
        found.map(|(_, name, about)| (name, about)).expect("every end is listed")
    }

    /// Whether a moment is this situation.
    #[must_use]
    pub fn covers(&self, moment: &Moment) -> bool {
        match (self, moment) {
            (Self::Ended(outcome), Moment::Ended(other)) => outcome == other,
            (Self::Replayed, Moment::Replayed) => true,
            (Self::EndedBy(step, how), Moment::EndedBy(other, did)) => {
                step == other && how.is_none_or(|how| how == *did)
            }
            (Self::Reacted(event, response), Moment::Reacted(other, did)) => {
                event == other && response.is_none_or(|response| response == *did)
            }
            (Self::Told(told), Moment::Told(other)) => told == other,
            _ => false,
        }
    }
}

impl From<Moment> for Situation {
    fn from(moment: Moment) -> Self {
        match moment {
            Moment::Ended(outcome) => Self::Ended(outcome),
            Moment::Replayed => Self::Replayed,
            Moment::EndedBy(step, how) => Self::EndedBy(step, Some(how)),
            Moment::Reacted(event, response) => Self::Reacted(event, Some(response)),
            Moment::Told(told) => Self::Told(told),
        }
    }
}
