//! Where slots go when nodes and agents are exchanged.

use super::{SLOTS_PER_AGENT, Setting};
use crate::model::AgentId;
use crate::model::design::Balancer;

impl Setting {
    /// The slot that each slot becomes when nodes and agents are exchanged.
    pub(in crate::world) fn slots_after(&self, nodes: &[u8], agents: &[AgentId]) -> Vec<usize> {
        let mut slots: Vec<usize> = Vec::new();
        for agent in agents {
            slots.extend((0..SLOTS_PER_AGENT).map(|part| self.agent_slot(*agent) + part));
        }
        slots.extend(self.resource_slot(0)..self.first_keys_slot());
        let placed = |first: usize, places: usize, each: usize| {
            (0..places * each).map(move |index| {
                let place = if places > 1 { usize::from(nodes[index / each]) } else { 0 };
                first + place * each + index % each
            })
        };
        let each = self.layout.scopes.len();
        for place in &self.layout.key_places {
            let moved = place.map(|node| nodes[usize::from(node)]);
            let place = self.layout.key_places.iter().position(|other| *other == moved);
            let first = self.first_keys_slot() + place.expect("a table is in the store, or in every node") * each;
            slots.extend(first..first + each);
        }
        let sticky = self.layout.balancer == Balancer::Sticky;
        slots.extend((0..self.routes()).map(|at| self.first_route_slot() + if sticky { agents[at] } else { at }));
        slots.extend(placed(self.first_lease_slot(), self.layout.lease_places, self.resources()));
        slots.extend(self.first_queue_slot()..self.first_memory_slot());
        slots.extend(placed(self.first_memory_slot(), self.memories(), 1));
        slots.extend(placed(self.first_cache_slot(), self.cache_places(), 1));
        let last = self.requests_slot().or(self.deployed_slot()).or(self.upstream_slot()).or(self.credentials_slot());
        slots.extend(self.budgets_slot()..=last.unwrap_or(self.budgets_slot()));
        slots
    }
}
