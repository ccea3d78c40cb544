//! Partial-order reduction: which sources must move now, so that all others can wait.
//!
//! A set of sources is closed in a state if no source outside of it, whatever it may still do, writes what decides about
//! the moves of those inside or what these read and write, nor reads what they write. Then the moves inside commute with
//! everything that can happen outside, and nothing outside can enable or disable them: it is enough to take those of a
//! closed set first. `docs/engine.md` has the whole argument, with what it keeps.

use super::System;
use super::knowledge::{Knowledge, Miss};
use super::slots::{Footprint, Reach, SlotSet};

/// The search for a closed set, with what it needs again and again.
#[derive(Default)]
pub(super) struct Closure {
    /// Which sources are in the set that was chosen.
    pub chosen: Vec<bool>,
    candidate: Vec<bool>,
    /// What each source may still read and write.
    futures: Vec<Reach>,
    /// What decides about the moves of each source, and what they read and write, where that was asked for.
    own: Vec<Option<Reach>>,
    counting: Counting,
}

/// What counts of what is known of results and futures, by their indices, while some kinds of reads are of interest.
#[derive(Default)]
struct Counting {
    interesting: u8,
    results: Vec<Reach>,
    futures: Vec<Reach>,
}

impl Counting {
    /// Catches up with what is known.
    fn renew<S: System>(&mut self, knowledge: &Knowledge<'_, S>, interesting: u8) {
        if self.interesting != interesting {
            *self = Self { interesting, ..Self::default() };
        }
        let counts = |footprint: &Footprint| footprint.with_ghosts(interesting);
        let results = knowledge.leaves[self.results.len()..].iter();
        self.results.extend(results.map(|leaf| counts(&leaf.footprint)));
        self.futures.extend(knowledge.futures[self.futures.len()..].iter().map(counts));
    }
}

/// A state in which a closed set is looked for.
struct Here<'h, 's, S: System> {
    knowledge: &'h Knowledge<'s, S>,
    state: &'h [u32],
    /// The menus of its sources.
    menus: &'h [u32],
}

impl Closure {
    /// Chooses the closed set with the fewest actions. Answers `false` if that is all of them.
    ///
    /// `menus`: those of the sources in this state. `interesting`: the kinds of reads for witnesses that were not reached yet,
    /// one bit each.
    pub fn choose<S: System>(
        &mut self,
        knowledge: &Knowledge<'_, S>,
        state: &[u32],
        menus: &[u32],
        interesting: u8,
    ) -> Result<bool, Miss> {
        self.counting.renew(knowledge, interesting);
        self.futures.clear();
        self.own.clear();
        self.own.resize(menus.len(), None);
        let mut all = 0;
        for (source, menu) in menus.iter().enumerate() {
            self.futures.push(self.counting.futures[knowledge.future(source, state)? as usize]);
            all += usize::from(knowledge.menus[*menu as usize].len());
        }
        let here = Here { knowledge, state, menus };
        let mut best = all;
        for (seed, menu) in menus.iter().enumerate() {
            // The seed stays able to move whatever happens outside, and must move some day: so no quiescent state is lost,
            // and no fair run.
            if best == 1 || !knowledge.menus[*menu as usize].certain {
                continue;
            }
            if let Some(actions) = self.close(&here, seed, best)? {
                best = actions;
                std::mem::swap(&mut self.chosen, &mut self.candidate);
            }
        }
        Ok(best < all)
    }

    /// The smallest closed set around a source: how many actions it has, if these are fewer than `most`.
    fn close<S: System>(&mut self, here: &Here<'_, '_, S>, seed: usize, most: usize) -> Result<Option<usize>, Miss> {
        let Here { knowledge, menus, .. } = here;
        let menu = |source: usize| &knowledge.menus[menus[source] as usize];
        let counters = knowledge.system.counters();
        let observed = knowledge.system.observed();
        self.candidate.clear();
        self.candidate.resize(menus.len(), false);
        self.candidate[seed] = true;
        let mut actions = usize::from(menu(seed).len());
        if actions >= most {
            return Ok(None);
        }
        let mut inside = self.own(here, seed)?;
        // What is observed in every state is as good as an action that reads it.
        let mut watched = false;
        let mut again = true;
        while again {
            again = false;
            if !watched && inside.writes.meets(&observed) {
                watched = true;
                again = true;
                inside.reads.extend(&observed);
            }
            for source in 0..menus.len() {
                if self.candidate[source] || !self.futures[source].conflicts(&inside) {
                    continue;
                }
                let blocks = &menu(source).blocks;
                let own = if blocks.is_empty() {
                    actions += usize::from(menu(source).len());
                    if actions >= most {
                        return Ok(None);
                    }
                    self.own(here, source)?
                } else if blocks.meets(&inside.reads) || blocks.meets(&inside.writes) {
                    // It can't move before something changes that is looked after already.
                    Reach::default()
                } else {
                    Reach { reads: blocks.first(), writes: SlotSet::NONE }
                };
                // An action that takes its share of a counter commutes with others that do.
                inside.extend(&own.without(&counters));
                self.candidate[source] = true;
                again = true;
            }
        }
        Ok(Some(actions))
    }

    /// What decides about the moves of a source in a state, and what they read and write.
    fn own<S: System>(&mut self, here: &Here<'_, '_, S>, source: usize) -> Result<Reach, Miss> {
        if let Some(known) = self.own[source] {
            return Ok(known);
        }
        let Here { knowledge, state, menus } = here;
        let menu = &knowledge.menus[menus[source] as usize];
        let mut reach = Reach { reads: menu.reads, writes: SlotSet::NONE };
        for act in knowledge.moves(menu) {
            for part in 0..act.parts {
                let leaf = knowledge.part(act, part, state)?;
                reach.extend(&self.counting.results[leaf as usize]);
            }
            let action = &knowledge.actions[act.action as usize].action;
            let future = &self.futures[source];
            assert!(reach.is_within(future), "source {source} does {action:?}: {reach:?}, declared {future:?}");
        }
        self.own[source] = Some(reach);
        Ok(reach)
    }
}
