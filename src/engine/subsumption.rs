//! Subsumption: a state need not be found where the same one with more left to spend was found before.
//!
//! Whatever can happen in it can happen in the other one, after fewer faults and no more steps.

use std::hash::Hash;

use super::System;
use super::intern::Interner;
use super::system::Budgets;
use super::worker::Ground;

/// The slot of what only runs out, and for each component that may stand there, by its id, those that hold more.
pub(super) struct Richer {
    slot: usize,
    richer: Vec<Vec<u32>>,
}

impl Richer {
    /// Gets to know what may stand in the slot.
    pub fn new<C: Clone + Eq + Hash>(budgets: Budgets<C>, interner: &mut Interner<C>) -> Self {
        let Budgets { slot, amounts } = budgets;
        let mut richer = vec![Vec::new(); amounts.len()];
        let ids: Vec<u32> = amounts.iter().map(|(amount, _)| interner.intern(slot, amount.clone())).collect();
        for (id, (_, more)) in ids.iter().zip(amounts) {
            richer[*id as usize] = more.into_iter().map(|place| ids[place]).collect();
        }
        Self { slot, richer }
    }

    /// How many components hold more than another one, at most.
    pub fn most(&self) -> usize {
        self.richer.iter().map(Vec::len).max().unwrap_or(0)
    }
}

impl<S: System> Ground<'_, '_, S> {
    /// Whether the same state with more left to spend was found in an earlier batch.
    pub fn is_subsumed(&self, hash: u64, packed: &mut [u64]) -> bool {
        let Some(Richer { slot, richer }) = &self.knowledge.richer else { return false };
        let (layout, interner) = (&self.store.layout, &self.knowledge.interner);
        let own = layout.get(packed, *slot);
        let without = hash.wrapping_sub(interner.share(*slot, own));
        let found = richer[own as usize].iter().any(|more| {
            layout.put(packed, *slot, *more);
            self.is_found(without.wrapping_add(interner.share(*slot, *more)), packed)
        });
        layout.put(packed, *slot, own);
        found
    }
}
