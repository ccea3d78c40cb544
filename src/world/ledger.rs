//! The ledger: ghost facts that only invariants read.

use super::resource::Handle;
use crate::model::Told;

/// What became of the intents of one agent, in the order of its work list. Entries that are no intents stay at their
/// default.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ledger {
    /// Index of the agent in the scenario.
    pub agent: u8,
    /// One for each entry of its work list.
    pub entries: Vec<IntentLedger>,
}

/// What became of one intent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct IntentLedger {
    /// How often it took effect on what each handle names: 1, or 2 for twice or more; 0 where it took effect on a
    /// predecessor that was deleted since.
    pub effects: Vec<(Handle, u8)>,
    /// How often it took effect upstream: 0, 1, or 2 for twice or more.
    pub upstream: u8,
    /// What the agent was told about it.
    pub told: Option<Told>,
}

impl IntentLedger {
    /// Whether it took effect at all.
    #[must_use]
    pub const fn happened(&self) -> bool {
        !self.effects.is_empty() || self.upstream > 0
    }

    /// Notes one more effect.
    pub fn note_effect(&mut self, handle: Handle) {
        match self.effects.iter_mut().find(|(other, _)| *other == handle) {
            Some((_, count)) => *count = (*count + 1).min(2),
            None => {
                self.effects.push((handle, 1));
                self.effects.sort_unstable();
            }
        }
    }
}
