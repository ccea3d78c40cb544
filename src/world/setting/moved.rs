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
        slots.extend(placed(self.first_keys_slot(), self.places, self.scopes.len()));
        let sticky = self.model.design.server.balancer == Balancer::Sticky;
        slots.extend((0..self.routes()).map(|at| self.first_route_slot() + if sticky { agents[at] } else { at }));
        slots.extend(placed(self.first_lease_slot(), self.lease_places, self.resources()));
        slots.extend(self.first_queue_slot()..self.first_memory_slot());
        slots.extend(placed(self.first_memory_slot(), self.memories(), 1));
        let last = self.requests_slot().or(self.upstream_slot()).or(self.credentials_slot());
        slots.extend(self.budgets_slot()..=last.unwrap_or(self.budgets_slot()));
        slots
    }
}
