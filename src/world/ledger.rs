//! The ledger: ghost facts that only invariants read.

use super::resource::Handle;
use crate::model::Told;

/// What became of the work of one agent, entry by entry. Entries that change nothing stay at their default.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ledger {
    /// Index of the agent in the scenario.
    pub agent: u8,
    /// One for each entry of its work list.
    pub entries: Vec<IntentLedger>,
}

/// What became of an intent, by one of the entries that serve it or by all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct IntentLedger {
    /// Where it took effect, in order.
    pub effects: Vec<Effect>,
    /// How often it took effect upstream: 0, 1, or 2 for twice or more.
    pub upstream: u8,
    /// What the agent was told about it.
    pub told: Option<Told>,
    /// The agent left it out: as it saw it, its condition was not met.
    pub skipped: bool,
    /// It was told `ok` before it took effect, on the word of a handler that had answered and is still at work on it.
    pub promised: bool,
}

/// How often a change took effect on what a handle names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Effect {
    /// On what.
    pub handle: Handle,
    /// The field that was changed, where an intent may take effect field by field; otherwise 0, for the intent as a whole.
    /// What it changes besides, in another resource, is counted from [`OTHER`](Self::OTHER) on.
    pub change: u8,
    /// 1, or 2 for twice or more; 0 where it took effect on a predecessor that was deleted since.
    pub count: u8,
}

impl Effect {
    /// The first number of a change of the other resource of an intent.
    pub const OTHER: u8 = 128;
}

impl IntentLedger {
    /// Whether it took effect at all.
    #[must_use]
    pub const fn happened(&self) -> bool {
        !self.effects.is_empty() || self.upstream > 0
    }

    /// Counts what another entry did for the same intent.
    pub fn add(&mut self, other: &Self) {
        for effect in &other.effects {
            let same = |own: &&mut Effect| own.handle == effect.handle && own.change == effect.change;
            match self.effects.iter_mut().find(same) {
                Some(own) => own.count = (own.count + effect.count).min(2),
                None => self.effects.push(effect.clone()),
            }
        }
        self.effects.sort_unstable();
        self.upstream = (self.upstream + other.upstream).min(2);
    }

    /// Takes back one effect of a change.
    pub fn take_back(&mut self, handle: Handle, change: u8) {
        let found = self.effects.iter_mut().find(|effect| effect.handle == handle && effect.change == change);
        if let Some(effect) = found.filter(|effect| effect.count > 0) {
            effect.count -= 1;
            if effect.count == 0 {
                self.effects.retain(|effect| effect.count > 0 || effect.handle != handle || effect.change != change);
            }
        }
    }

    /// Notes one more effect of a change.
    pub fn note_effect(&mut self, handle: Handle, change: u8) {
        match self.effects.iter_mut().find(|effect| effect.handle == handle && effect.change == change) {
            Some(effect) => effect.count = (effect.count + 1).min(2),
            None => {
                self.effects.push(Effect { handle, change, count: 1 });
                self.effects.sort_unstable();
            }
        }
    }
}
