//! Hash compaction: states that were expanded are known by their hashes alone.
//!
//! The states of a path are made again, from the initial one, by how each was found; so what is shown is real. A state whose hash
//! is that of another one is left out, and whatever can be reached through it alone.

use std::collections::BTreeSet;
use std::ops::Range;

use super::System;
use super::exploration::Exploration;
use super::search::Search;
use super::visited::shard;

impl<S: System> Search<'_, S> {
    /// Whether states are known by their hashes alone.
    pub(super) const fn is_compact(&self) -> bool {
        self.limits.compact.is_some()
    }

    /// Notes of states that they are being expanded: where only hashes are kept, no state has an index by which that is known.
    pub(super) fn note_expanded(&mut self, states: Range<u32>) {
        let mut state = vec![0; self.store.layout.width()];
        for index in states {
            self.store.unpack(index, &mut state);
            let hash = self.knowledge.interner.hash(&state);
            self.shards[shard(hash)].expand(hash);
        }
    }

    /// Makes the states again that lie on the paths to what was found.
    pub(super) fn keep_paths(&mut self) {
        let mut wanted = BTreeSet::from([0]);
        for found in self.violations.iter().flatten().chain(self.causes.values()) {
            let mut at = found.state;
            while wanted.insert(at) {
                at = self.store.origin(at).parent;
            }
        }
        // A state has a greater index than the one before it.
        for index in wanted.into_iter().skip(1) {
            let origin = self.store.origin(index);
            self.again(origin.parent, origin.ordinal).expect("that transition led to it");
            self.store.keep(index, self.extra.made());
        }
    }
}

impl<S: System> Exploration<S> {
    /// At most so probable is it that the search left out a state, if hashes are as good as random ones; 0 where states were
    /// compared as a whole.
    ///
    /// As long as nothing was left out, each state that is really new has the hash of one of the *k* known ones with a
    /// probability of at most *k* in 2^bits; and there is one such state at most for each *k* up to the number of states that
    /// were found in the end, since it either becomes known, or is the first that is left out. The sum is n (n + 1) / 2 in 2^bits.
    /// Where it is also looked for with more left to spend, in at most m ways, that is m + 1 times as probable.
    #[must_use]
    pub fn omission(&self) -> f64 {
        let Some(bits) = self.compact else { return 0.0 };
        let states = self.states() as u128;
        #[expect(clippy::cast_precision_loss, reason = "a bound is shown with two digits, rounded up")]
        let pairs = (states * (states + 1) / 2 * (self.amounts as u128 + 1)) as f64;
        (pairs / 2.0_f64.powi(bits.cast_signed())).min(1.0)
    }
}
