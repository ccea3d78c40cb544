//! Why an invariant is violated: which transaction races with what. Violations by the same pair have one cause.

use std::hash::BuildHasher as _;

use super::{Performed, Simulation};
use crate::action::{Action, Target};
use crate::engine::{Access, System as _, plain};
use crate::invariants::{INVARIANTS, Judgement};
use crate::world::{Component, Fact, Request};

/// The pair that races, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The step that violates: a transaction of a call, or whatever else it is.
    pub by: String,
    /// What it meets, or else what happens.
    pub against: Against,
}

/// What a violating step meets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Against {
    /// Another transaction's effect, in words.
    Effect(String),
    /// Nothing that the invariant names: what happens, in a sentence.
    Sentence(String),
}

impl Cause {
    /// A number for the engine, the same for equal causes.
    pub(super) fn number(&self) -> u64 {
        rustc_hash::FxBuildHasher.hash_one((&self.by, &self.against))
    }
}

impl Simulation {
    /// The causes for which a step violates invariants, each with the invariant.
    pub(super) fn causes<'c>(
        &'c self,
        action: &'c Action,
        performed: &'c Performed,
    ) -> impl Iterator<Item = (usize, Cause)> + 'c {
        performed.facts.iter().flat_map(move |fact| {
            INVARIANTS.iter().enumerate().filter_map(move |(invariant, row)| {
                let Judgement::Violation(violation) = (row.judge)(&self.setting, fact) else { return None };
                let against = violation.against.map_or(Against::Sentence(violation.sentence), Against::Effect);
                Some((invariant, Cause { by: self.by(action, fact), against }))
            })
        })
    }

    /// Who violates: the intent that a transaction serves, and whether somebody waits for its call; or the action.
    fn by(&self, action: &Action, fact: &Fact) -> String {
        let orphan = match action {
            Action::Execute { call, .. } | Action::Fault { target: Target::Transaction { call, .. }, .. } => {
                call.orphan
            }
            Action::Receive { agent } => {
                return format!("{} receives an answer", self.setting.agent_name(usize::from(*agent)));
            }
            other => return other.name().to_owned(),
        };
        let Some(request) = request(fact) else { return action.name().to_owned() };
        let agent = usize::from(request.agent);
        let name = self.setting.agent_name(agent);
        let what = match self.setting.intent_of(request) {
            Some(_) => self.setting.entry_words(agent, usize::from(request.entry)),
            None => {
                format!("a {} of {}", request.tool.name(), self.setting.resource(usize::from(request.resource)).name)
            }
        };
        let left = if orphan.is_some() { ", in a call for which it no longer waits" } else { "" };
        format!("{name}'s {what}{left}")
    }

    /// The cause for which the last step of a run violates an invariant, from the states before and after it; `None`: no
    /// step violates it, but the state.
    #[must_use]
    pub fn cause_of(&self, before: &[Component], after: &[Component], invariant: usize) -> Option<Cause> {
        let steps = plain::successors(self, before).into_iter().filter(|next| next.state == after);
        steps.into_iter().find_map(|next| {
            (0..self.parts(&next.action)).find_map(|part| {
                let performed = self.perform(&next.action, part, &mut Access::new(before));
                let mut causes = self.causes(&next.action, &performed).filter(|(other, _)| *other == invariant);
                causes.next().map(|(_, cause)| cause)
            })
        })
    }
}

/// The request of the call that a fact is about.
const fn request(fact: &Fact) -> Option<&Request> {
    match fact {
        Fact::Sent { request, .. }
        | Fact::Started { request, .. }
        | Fact::Committed { request, .. }
        | Fact::CalledUpstream { request, .. }
        | Fact::Received { request, .. } => Some(request),
        _ => None,
    }
}
