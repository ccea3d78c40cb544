//! What a step or a state shows: moments that are counted, and situations that were asked for.

use super::{Performed, Simulation};
use crate::action::Action;
use crate::assertion::{self, Compiled, Names};
use crate::engine::Access;
use crate::handler;
use crate::invariants::{INVARIANTS, Judgement, first_open};
use crate::model::{Told, Tool};
use crate::situation::{End, How, Moment, Situation};
use crate::world::{Component, Fact};

/// A situation that is looked for.
pub(super) struct Shown {
    pub(super) situation: Situation,
    /// For an expression: what it is evaluated by.
    compiled: Option<Compiled>,
    /// For an assertion: its bit.
    assertion: Option<usize>,
}

impl Performed {
    /// What is counted of it.
    #[must_use]
    pub fn moments(&self) -> Vec<Moment> {
        let mut moments: Vec<Moment> = Vec::new();
        let ended = self.answered.as_ref().and_then(|(answer, step)| Some((answer, (*step)?)));
        if let Some((answer, step)) = ended.or(self.decided.as_ref().map(|(answer, step)| (answer, *step))) {
            let how = if answer.replayed { How::Replayed } else { How::Refused(answer.outcome) };
            let step = handler::STEPS.iter().position(|row| row.name == step);
            moments.extend(step.map(|step| Moment::EndedBy(step, how)));
        }
        if let Some((answer, _)) = &self.answered {
            moments.push(Moment::Ended(answer.outcome));
            moments.extend(answer.replayed.then_some(Moment::Replayed));
        }
        moments.extend(self.facts.iter().filter_map(|fact| match fact {
            Fact::Reacted { event, response } => Some(Moment::Reacted(*event, *response)),
            Fact::Told { told, .. } => Some(Moment::Told(*told)),
            _ => None,
        }));
        moments
    }
}

impl Simulation {
    /// The tool about whose work an agent is told `ok`, where that is what a fact says.
    pub(super) fn succeeded(&self, fact: &Fact) -> Option<Tool> {
        match fact {
            Fact::Told { agent, entry, told: Told::Ok, .. } => {
                self.setting.model.scenario.agents[usize::from(*agent)].work[usize::from(*entry)].tool()
            }
            _ => None,
        }
    }

    /// Looks for these situations too: each is a property of its own, behind all others.
    ///
    /// # Panics
    ///
    /// When there are more of them than [`Simulation::room`], or an expression is wrong, which reading it checked.
    #[must_use]
    pub fn showing(mut self, situations: &[Situation]) -> Self {
        assert!(situations.len() <= self.room(), "the caller asks how many fit");
        let names = Names::of(&self.setting.model.scenario);
        let compiled = |situation: &Situation| match situation {
            Situation::Expression(text) => Some(assertion::compile(text, &names).expect("reading checked it")),
            _ => None,
        };
        let properties = self.properties();
        let assertion = |situation: &Situation| match situation {
            Situation::Assertion(name) => properties.iter().position(|property| property.name == *name),
            _ => None,
        };
        let shown = situations.iter().map(|situation| Shown {
            situation: situation.clone(),
            compiled: compiled(situation),
            assertion: assertion(situation),
        });
        self.shown = shown.collect();
        // That an idle node restarts is left out where calls are routed late.
        if self.shown.iter().any(|shown| Some(shown.situation.name().as_str()) == self.left_out()) {
            self.setting.routes_late = false;
        }
        // An expression may tell agents apart that are alike to everything else.
        if self.shown.iter().any(|shown| shown.compiled.is_some()) {
            self.symmetries.clear();
        }
        self
    }

    /// How many situations can be looked for at once.
    #[must_use]
    pub fn room(&self) -> usize {
        64 - self.first_shown()
    }

    /// The situations that are looked for.
    #[must_use]
    pub fn shown(&self) -> Vec<Situation> {
        self.shown.iter().map(|shown| shown.situation.clone()).collect()
    }

    /// The bit of the first situation that is looked for.
    pub(super) fn first_shown(&self) -> usize {
        INVARIANTS.len() + self.finally.len() + self.at_rest.len() + self.sometimes.len()
    }

    /// The situations that this step is, each by its bit.
    pub fn shown_by_step<'s>(
        &'s self,
        action: &'s Action,
        performed: &'s Performed,
    ) -> impl Iterator<Item = usize> + 's {
        let is = |situation: &Situation| match situation {
            Situation::Happens(name) => Action::names_of_kind(action.kind()).contains(name),
            Situation::Witness(invariant) => self
                .judge(&performed.facts)
                .any(|(index, judgement)| index == *invariant && judgement != Judgement::Irrelevant),
            other => performed.moments().iter().any(|moment| other.covers(moment)),
        };
        (self.first_shown()..).zip(&self.shown).filter(move |(_, shown)| is(&shown.situation)).map(|(bit, _)| bit)
    }

    /// The situations that hold in a state, each by its bit.
    pub fn shown_by_state(&self, quiescent: bool, access: &Access<'_, Component>) -> Vec<usize> {
        let is = |shown: &Shown| match &shown.situation {
            Situation::End(End::Quiescent) => quiescent,
            Situation::End(End::Resolved) => quiescent && first_open(&self.setting, access).is_none(),
            Situation::End(End::AllOk) => quiescent && self.all_told_ok(access),
            Situation::Assertion(_) => shown.assertion.is_some_and(|bit| {
                self.sometimes(access).contains(&(bit, true))
                    || quiescent && self.at_rest(access).contains(&(bit, Ok(true)))
            }),
            Situation::Expression(_) => shown
                .compiled
                .as_ref()
                .is_some_and(|compiled| self.evaluate(std::slice::from_ref(compiled), access) == [Ok(true)]),
            _ => false,
        };
        (self.first_shown()..).zip(&self.shown).filter(|(_, shown)| is(shown)).map(|(bit, _)| bit).collect()
    }
}
