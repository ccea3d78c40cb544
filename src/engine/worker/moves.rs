//! Where the actions of a state lead that was expanded before.

use super::{Before, Ground, Worker};
use crate::engine::extremes::Amounts;
use crate::engine::knowledge::Miss;
use crate::engine::{Observations, System, liveness};

impl Worker {
    /// The fair moves in a state that was expanded before: the sources that have some, one bit each; and where those that
    /// were taken lead, each with its source.
    pub fn fair_moves<S: System>(
        &mut self,
        ground: &Ground<'_, '_, S>,
        index: u32,
        state: &[u32],
    ) -> Result<(u64, Vec<(u16, u32)>), Miss> {
        self.leaves.clear();
        let knowledge = ground.knowledge;
        let (mut able, mut quiescent) = (0, true);
        self.menus.clear();
        for source in 0..knowledge.sources() {
            self.menus.push(knowledge.menu_id(source, state)?);
            let menu = &knowledge.menus[self.menus[source] as usize];
            quiescent &= !menu.progress;
            if knowledge.moves(menu).iter().any(|act| act.fair) {
                able |= liveness::bit(u16::try_from(source).expect("there are few sources"));
            }
        }
        let before = Before { packed: ground.store.packed(index), state, hash: knowledge.interner.hash(state) };
        if ground.reduce && !quiescent && self.closure.choose(knowledge, state, &self.menus, ground.interesting)? {
            let chosen = std::mem::take(&mut self.closure.chosen);
            let moves = self.moves(ground, &before, Some(&chosen));
            self.closure.chosen = chosen;
            if let Some(moves) = moves? {
                return Ok((able, moves));
            }
        }
        let moves = self.moves(ground, &before, None)?;
        Ok((able, moves.expect("all moves are enough")))
    }

    /// Where the fair ones of the chosen actions lead; `None` where the chosen ones were not enough.
    fn moves<S: System>(
        &mut self,
        ground: &Ground<'_, '_, S>,
        before: &Before<'_>,
        chosen: Option<&[bool]>,
    ) -> Result<Option<Vec<(u16, u32)>>, Miss> {
        let knowledge = ground.knowledge;
        let mut moves = Vec::new();
        for source in (0..knowledge.sources()).filter(|source| chosen.is_none_or(|chosen| chosen[*source])) {
            for act in knowledge.moves(knowledge.menu(source, before.state)?) {
                if act.fault || !act.fair && chosen.is_none() {
                    continue;
                }
                let hash = self.step.make(ground, act, before, &mut self.leaves)?;
                // A run that comes through what was left out, since it has less to spend, does not come back from there.
                let Some(found) = ground.index_of(hash, &self.step.packed) else { continue };
                if chosen.is_some() && found < ground.expanded {
                    return Ok(None);
                }
                if act.fair {
                    moves.push((u16::try_from(source).expect("there are few sources"), found));
                }
            }
        }
        Ok(Some(moves))
    }

    /// Whether a state is quiescent, and where each of its actions leads, with what it takes by what it shows.
    pub fn edges<S: System>(
        &mut self,
        ground: &Ground<'_, '_, S>,
        index: u32,
        state: &[u32],
        weigh: &dyn Fn(&Observations) -> Amounts,
    ) -> Result<(bool, Vec<(u32, Amounts)>), Miss> {
        let knowledge = ground.knowledge;
        let before = Before { packed: ground.store.packed(index), state, hash: knowledge.interner.hash(state) };
        let (mut quiescent, mut edges) = (true, Vec::new());
        for source in 0..knowledge.sources() {
            let menu = knowledge.menu(source, state)?;
            quiescent &= !menu.progress;
            for act in knowledge.moves(menu) {
                self.leaves.clear();
                let hash = self.step.make(ground, act, &before, &mut self.leaves)?;
                let target = ground.index_of(hash, &self.step.packed).expect("everything was explored");
                let mut amounts = Amounts::default();
                for leaf in &self.leaves {
                    let more = weigh(&knowledge.leaves[*leaf as usize].observations);
                    amounts.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
                }
                edges.push((target, amounts));
            }
        }
        Ok((quiescent, edges))
    }
}
