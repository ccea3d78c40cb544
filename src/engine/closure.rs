//! Partial-order reduction: which sources must move now, so that all others can wait.
//!
//! A set of sources is closed in a state if no source outside of it, whatever it may still do, writes what decides about
//! the moves of those inside or what these read and write, nor reads what they write. Then the moves inside commute with
//! everything that can happen outside, and nothing outside can enable or disable them: it is enough to take those of a
//! closed set first. `docs/engine.md` has the whole argument, with what it keeps.

use super::System;
use super::knowledge::{Knowledge, Miss};
use super::slots::Footprint;

/// The search for a closed set, with what it needs again and again.
#[derive(Default)]
pub(super) struct Closure {
    /// Which sources are in the set that was chosen.
    pub chosen: Vec<bool>,
    futures: Vec<Footprint>,
    candidate: Vec<bool>,
    interesting: u8,
}

impl Closure {
    /// Chooses the closed set with the fewest actions. Answers `false` if that is all of them.
    ///
    /// `interesting`: the kinds of reads for witnesses that were not reached yet, one bit each.
    pub fn choose<S: System>(
        &mut self,
        knowledge: &Knowledge<'_, S>,
        state: &[u32],
        interesting: u8,
    ) -> Result<bool, Miss> {
        self.interesting = interesting;
        let sources = knowledge.sources();
        self.futures.clear();
        let mut all = 0;
        for source in 0..sources {
            self.futures.push(knowledge.future(source, state)?.with_ghosts(interesting));
            all += usize::from(knowledge.menu(source, state)?.len());
        }
        let mut best = all;
        for seed in 0..sources {
            // The seed stays able to move whatever happens outside, and must move some day: so no quiescent state is lost,
            // and no fair run.
            if best == 1 || !knowledge.menu(seed, state)?.certain {
                continue;
            }
            if let Some(actions) = self.close(knowledge, state, seed, best)? {
                best = actions;
                std::mem::swap(&mut self.chosen, &mut self.candidate);
            }
        }
        Ok(best < all)
    }

    /// The smallest closed set around a source: how many actions it has, if these are fewer than `most`.
    fn close<S: System>(
        &mut self,
        knowledge: &Knowledge<'_, S>,
        state: &[u32],
        seed: usize,
        most: usize,
    ) -> Result<Option<usize>, Miss> {
        let sources = knowledge.sources();
        let counters = knowledge.system.counters();
        let observed = knowledge.system.observed();
        self.candidate.clear();
        self.candidate.resize(sources, false);
        let (mut inside, mut actions) = self.own(knowledge, state, seed)?;
        self.candidate[seed] = true;
        // What is observed in every state is as good as an action that reads it.
        let mut watched = false;
        let mut again = true;
        while again {
            if actions >= most {
                return Ok(None);
            }
            again = false;
            if !watched && inside.writes.meets(&observed) {
                watched = true;
                again = true;
                inside.reads.extend(&observed);
            }
            for source in 0..sources {
                if self.candidate[source] || !self.futures[source].conflicts(&inside) {
                    continue;
                }
                let blocks = knowledge.menu(source, state)?.blocks;
                let (own, more) = if blocks.is_empty() {
                    self.own(knowledge, state, source)?
                } else if blocks.meets(&inside.reads) || blocks.meets(&inside.writes) {
                    // It can't move before something changes that is looked after already.
                    (Footprint::NONE, 0)
                } else {
                    (Footprint { reads: blocks.first(), ..Footprint::NONE }, 0)
                };
                // An action that takes its share of a counter commutes with others that do.
                inside.extend(&own.without(&counters));
                actions += more;
                self.candidate[source] = true;
                again = true;
            }
        }
        Ok((actions < most).then_some(actions))
    }

    /// What decides about the moves of a source in a state, and what they read and write; and how many they are.
    fn own<S: System>(
        &self,
        knowledge: &Knowledge<'_, S>,
        state: &[u32],
        source: usize,
    ) -> Result<(Footprint, usize), Miss> {
        let menu = knowledge.menu(source, state)?;
        let mut footprint = Footprint { reads: menu.reads, ..Footprint::NONE };
        for act in knowledge.moves(menu) {
            for part in 0..act.parts {
                let leaf = knowledge.part(act, part, state)?;
                footprint.extend(&knowledge.leaves[leaf as usize].footprint.with_ghosts(self.interesting));
            }
            let action = &knowledge.actions[act.action as usize].action;
            let future = &self.futures[source];
            assert!(footprint.is_within(future), "source {source} does {action:?}: {footprint:?}, declared {future:?}");
        }
        Ok((footprint, usize::from(menu.len())))
    }
}
