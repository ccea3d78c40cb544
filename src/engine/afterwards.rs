//! What is asked of the states of a search that has come to its end.

use super::extremes::Amounts;
use super::search::{Search, small};
use super::worker::Ground;
use super::{Observations, System};

impl<S: System> Search<'_, S> {
    /// How many states there are.
    pub(super) fn count(&self) -> u32 {
        small(self.store.len())
    }

    /// Length of the path by which a state was found, and the faults on it.
    pub(super) fn cost(&self, index: u32) -> (u32, u32) {
        let level = self.levels.partition_point(|first| *first <= index) - 1;
        (small(level), u32::from(self.store.faults(index)))
    }

    /// Whether something is pending in a state.
    pub(super) fn is_pending(&mut self, index: u32) -> bool {
        let state = self.state_at(index);
        loop {
            match self.knowledge.pending(&state) {
                Ok(pending) => return pending,
                Err(miss) => self.knowledge.learn(&state, miss).expect("looking makes no numbers"),
            }
        }
    }

    pub(super) fn state_at(&self, index: u32) -> Vec<u32> {
        let mut state = vec![0; self.store.layout.width()];
        self.store.unpack(index, &mut state);
        state
    }

    /// The fair moves in a state that was expanded: the sources that have some, one bit each; and where those that were
    /// taken lead, each with its source.
    pub(super) fn fair_moves(&mut self, index: u32) -> (u64, Vec<(u16, u32)>) {
        let (expanded, interesting) = self.batches[self.batches.partition_point(|(end, _)| *end <= index)];
        let state = self.state_at(index);
        loop {
            let Self { knowledge, store, shards, limits, known, extra, .. } = self;
            let (reduce, compact, useful, causes) = (limits.reduce, false, u32::MAX, None);
            let ground =
                Ground { causes, knowledge, store, shards, expanded, reduce, compact, interesting, known, useful };
            match extra.fair_moves(&ground, index, &state) {
                Ok(moves) => return moves,
                // Whoever went on with a search did not come through here.
                Err(miss) => {
                    self.knowledge.learn(&state, miss).expect("the search before came through here");
                    self.make_room();
                }
            }
        }
    }

    /// Whether a state is quiescent, and where each of its actions leads, with what it takes by what it shows. Only of a
    /// search that left nothing out.
    pub(super) fn edges(
        &mut self,
        index: u32,
        weigh: &dyn Fn(&Observations) -> Amounts,
    ) -> (bool, Vec<(u32, Amounts)>) {
        let state = self.state_at(index);
        let Self { knowledge, store, shards, known, extra, .. } = self;
        let (expanded, interesting, useful) = (small(store.len()), 0, u32::MAX);
        let (reduce, compact, causes) = (false, false, None);
        let ground = Ground { causes, knowledge, store, shards, expanded, reduce, compact, interesting, known, useful };
        extra.edges(&ground, index, &state, weigh).expect("the search came through here before")
    }
}
