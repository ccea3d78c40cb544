//! What is left of the faults: which amounts allow more than others.

use super::Simulation;
use crate::engine::Budgets;
use crate::world::Component;

/// More amounts than these are not compared with each other.
const MOST: usize = 256;

impl Simulation {
    /// Every amount of faults that may be left, with those that allow more.
    pub(super) fn amounts_left(&self) -> Option<Budgets<Component>> {
        let all = self.setting.faults();
        let mut amounts: Vec<Vec<u8>> = vec![Vec::new()];
        for most in all {
            if amounts.len() * (usize::from(*most) + 1) > MOST {
                return None;
            }
            let longer = |amount: &Vec<u8>| {
                let amount = amount.clone();
                (0..=*most).map(move |left| amount.iter().copied().chain([left]).collect())
            };
            amounts = amounts.iter().flat_map(longer).collect();
        }
        let more = |one: &Vec<u8>| {
            let places = amounts.iter().enumerate().filter(|(_, other)| *other != one && self.is_more(one, other));
            places.map(|(place, _)| place).collect()
        };
        let amounts: Vec<_> = amounts.iter().map(|one| (Component::Budgets(one.clone()), more(one))).collect();
        (amounts.len() > 1).then(|| Budgets { slot: self.setting.budgets_slot(), amounts })
    }

    /// Whether one amount allows whatever another one does, and nobody can see which it is.
    fn is_more(&self, one: &[u8], other: &[u8]) -> bool {
        let setting = &self.setting;
        let at_least = one.iter().zip(other).all(|(one, other)| other >= one);
        // Whether the only node has restarted is seen by a witness, whether something was created anew by `[finally]`.
        let restarts = (setting.model.scenario.nodes == 1).then_some("restart-node");
        let seen = restarts.into_iter().chain(["recreate"]).filter_map(|name| setting.fault_index(name));
        let begun = |amount: &[u8], fault: usize| amount[fault] < setting.faults()[fault];
        at_least && seen.into_iter().all(|fault| begun(one, fault) == begun(other, fault))
    }
}
