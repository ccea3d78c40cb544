//! What the invariants say of a step.

use super::Simulation;
use crate::action::Action;
use crate::engine::{Access, Class, System, plain};
use crate::invariants::{INVARIANTS, Judgement, Violation};
use crate::world::{Component, Fact};

impl Simulation {
    /// Judges facts by every invariant: its place in the table, and the judgement.
    pub fn judge<'j>(&'j self, facts: &'j [Fact]) -> impl Iterator<Item = (usize, Judgement)> + 'j {
        facts.iter().flat_map(move |fact| {
            INVARIANTS.iter().enumerate().map(move |(index, invariant)| (index, (invariant.judge)(&self.setting, fact)))
        })
    }

    /// How a step with these facts, or the state after it, violates an invariant.
    #[must_use]
    pub fn violation(&self, facts: &[Fact], after: &[Component], invariant: usize) -> Option<Violation> {
        let by_step = self.judge(facts).find_map(|(index, judgement)| match judgement {
            Judgement::Violation(violation) if index == invariant => Some(violation),
            _ => None,
        });
        let at_rest = || {
            let judge = INVARIANTS[invariant].at_rest?;
            let progress = |action: &Action| self.class(action) == Class::Progress;
            let quiescent = !plain::enabled(self, after).iter().any(progress);
            quiescent.then(|| judge(&self.setting, &Access::new(after))).flatten()
        };
        by_step.or_else(at_rest)
    }
}
