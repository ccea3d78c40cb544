//! One action in the making: the model, the state as it becomes, and what the action shows of the invariants.

use std::collections::BTreeSet;

use handlecheck::model::Model;

use super::state::State;

/// What one action broke, and which situations that invariants are about it reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    pub broken: BTreeSet<&'static str>,
    pub witnessed: BTreeSet<&'static str>,
}

/// Where the specification leaves the outcome open (a coarse clock ticks or not), an action asks the dice; the search
/// performs the action once for every way in which they can fall.
#[derive(Clone, Debug, Default)]
pub struct Dice {
    script: Vec<usize>,
    sides: Vec<usize>,
}

impl Dice {
    /// One of `0..sides`.
    pub fn roll(&mut self, sides: usize) -> usize {
        let index = self.sides.len();
        self.sides.push(sides);
        if index == self.script.len() {
            self.script.push(0);
        }
        self.script[index]
    }

    /// The next way to fall, after this one was played to its end.
    pub fn next(mut self) -> Option<Self> {
        while let (Some(face), Some(sides)) = (self.script.pop(), self.sides.pop()) {
            if face + 1 < sides {
                self.script.push(face + 1);
                self.sides.clear();
                return Some(self);
            }
        }
        None
    }
}

/// An action in the making.
#[derive(Clone, Debug)]
pub struct World<'m> {
    /// The model by which is acted: while a call is handled, that of its node.
    pub model: &'m Model,
    /// The model of the whole run.
    pub whole: &'m Model,
    pub state: State,
    pub facts: Facts,
    /// Those of `facts` that rolling a transaction back does not undo.
    pub lasting: Facts,
    pub dice: Dice,
    /// Whether the clock that versions are taken from ticks in this action, once it was asked.
    pub ticks: Option<bool>,
    /// The next read of this action is served from before the latest change: `stale-read`.
    pub stale_read: bool,
    /// It turned out that there is no such action here: a fault found nothing to strike.
    pub impossible: bool,
}

impl<'m> World<'m> {
    /// An action that has not done anything yet.
    pub fn new(model: &'m Model, state: State, dice: Dice) -> Self {
        let (facts, lasting) = (Facts::default(), Facts::default());
        Self { model, whole: model, state, facts, lasting, dice, ticks: None, stale_read: false, impossible: false }
    }

    /// Whether the clock that versions are taken from ticks: all of a transaction happens at one time.
    pub fn clock_ticks(&mut self) -> bool {
        *self.ticks.get_or_insert_with(|| self.dice.roll(2) == 0)
    }

    /// The action broke this invariant.
    pub fn broken(&mut self, invariant: &'static str) {
        self.facts.broken.insert(invariant);
    }

    /// What was found so far stays, even if the transaction is rolled back.
    pub fn keep_facts(&mut self) {
        self.lasting = self.facts.clone();
    }

    /// The action reached the situation that this invariant is about.
    pub fn witnessed(&mut self, invariant: &'static str) {
        self.facts.witnessed.insert(invariant);
    }
}
