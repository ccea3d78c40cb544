//! Which slot of a state holds what.

use super::{SLOTS_PER_AGENT, Scope, Setting, scope, small};
use crate::model::design::{Balancer, Place, Queue as Queueing};
use crate::model::{AgentId, ResourceId, Tool};
use crate::world::Request;

impl Setting {
    /// The slot of an agent.
    #[must_use]
    pub const fn agent_slot(&self, agent: AgentId) -> usize {
        agent * SLOTS_PER_AGENT
    }

    /// The slot of the call for which an agent waits.
    #[must_use]
    pub const fn call_slot(&self, agent: AgentId) -> usize {
        agent * SLOTS_PER_AGENT + 1
    }

    /// The slot of an agent's orphans.
    #[must_use]
    pub const fn orphans_slot(&self, agent: AgentId) -> usize {
        agent * SLOTS_PER_AGENT + 2
    }

    /// The slot of an agent's ledger.
    #[must_use]
    pub const fn ledger_slot(&self, agent: AgentId) -> usize {
        agent * SLOTS_PER_AGENT + 3
    }

    /// The slot of a resource in the store.
    #[must_use]
    pub const fn resource_slot(&self, resource: ResourceId) -> usize {
        self.agents() * SLOTS_PER_AGENT + resource
    }

    /// The slot of the key table that a call uses: of its scope, in the store or in the memory of the node.
    #[must_use]
    pub fn keys_slot(&self, agent: AgentId, resource: ResourceId, tool: Tool, node: u8) -> usize {
        let scope = scope(&self.model, agent, resource, tool);
        let index = self.layout.scopes.iter().position(|other| *other == scope);
        let index = index.expect("scopes are collected from all intents, and only their calls carry keys");
        let place = match self.model.design.keys.place {
            Place::Store => None,
            Place::Node => Some(node),
        };
        let place = self.layout.key_places.iter().position(|other| *other == place);
        let place = place.expect("there are tables wherever a design has them");
        self.first_keys_slot() + place * self.layout.scopes.len() + index
    }

    /// The slots of all key tables, with the node in whose memory each is (`None`: the store).
    pub fn all_keys_slots(&self) -> impl Iterator<Item = (usize, Option<u8>)> + '_ {
        (self.first_keys_slot()..self.first_route_slot()).map(move |slot| (slot, self.keys_place(slot)))
    }

    /// The node in whose memory a key table is; `None`: it is in the store.
    #[must_use]
    pub fn keys_place(&self, slot: usize) -> Option<u8> {
        self.layout.key_places[(slot - self.first_keys_slot()) / self.layout.scopes.len()]
    }

    /// What the calls have in common whose keys are in this table.
    #[must_use]
    pub fn keys_scope(&self, slot: usize) -> &Scope {
        &self.layout.scopes[(slot - self.first_keys_slot()) % self.layout.scopes.len()]
    }

    pub(super) const fn first_keys_slot(&self) -> usize {
        self.agents() * SLOTS_PER_AGENT + self.resources()
    }

    pub(super) fn first_route_slot(&self) -> usize {
        self.first_keys_slot() + self.layout.key_places.len() * self.layout.scopes.len()
    }

    /// How many slots hold routes: one for each client, or for each resource.
    #[must_use]
    pub fn routes(&self) -> usize {
        match self.layout.balancer {
            Balancer::Any => 0,
            Balancer::Sticky => self.agents(),
            Balancer::ByHandle if self.is_state_in_nodes() => 0,
            Balancer::ByHandle => self.resources(),
        }
    }

    /// Where the route of a request stands: its slot, and its place there. `None`: the balancer is free.
    #[must_use]
    pub fn route(&self, request: &Request) -> Option<(usize, usize)> {
        let first = self.first_route_slot();
        match self.layout.balancer {
            Balancer::Any => None,
            Balancer::Sticky => Some((first + usize::from(request.agent), 0)),
            // What lives at a node is found there.
            Balancer::ByHandle if self.is_state_in_nodes() => None,
            Balancer::ByHandle => {
                let handle = request.handle?;
                Some((first + usize::from(handle.resource), usize::from(handle.instance)))
            }
        }
    }

    pub(super) fn first_lease_slot(&self) -> usize {
        self.first_route_slot() + self.routes()
    }

    /// The slots of all leases, with the resource and the node in whose memory each is (`None`: the store). There are
    /// none where no handler works with leases.
    pub fn all_lease_slots(&self) -> impl Iterator<Item = (usize, u8, Option<u8>)> + '_ {
        let in_memory = self.model.design.server.lease_place == Place::Node;
        (0..self.layout.lease_places * self.resources()).map(move |index| {
            let (place, resource) = (index / self.resources(), index % self.resources());
            (self.first_lease_slot() + index, small(resource), in_memory.then_some(small(place)))
        })
    }

    /// The slot of the leases on a resource, as this node sees them; `None` where no handler works with leases.
    #[must_use]
    pub fn lease_slot(&self, resource: u8, node: u8) -> Option<usize> {
        let mut slots = self.all_lease_slots();
        let found = slots.find(|(_, other, place)| *other == resource && place.is_none_or(|place| place == node));
        found.map(|(slot, ..)| slot)
    }

    pub(super) fn first_queue_slot(&self) -> usize {
        self.first_lease_slot() + self.layout.lease_places * self.resources()
    }

    /// How many queues there are: one for each resource, or none.
    #[must_use]
    pub fn queues(&self) -> usize {
        if self.model.design.server.queue == Queueing::PerHandle { self.resources() } else { 0 }
    }

    /// The slot of the queue of a resource, where calls queue.
    #[must_use]
    pub fn queue_slot(&self, resource: usize) -> Option<usize> {
        (self.queues() > 0).then(|| self.first_queue_slot() + resource)
    }

    pub(super) fn first_memory_slot(&self) -> usize {
        self.first_queue_slot() + self.queues()
    }

    /// How many nodes have memory beyond key tables, leases and resources: all, or none.
    #[must_use]
    pub fn memories(&self) -> usize {
        if self.layout.remembers { self.model.scenario.nodes } else { 0 }
    }

    /// The slot of a node's memory, where nodes have any.
    #[must_use]
    pub fn memory_slot(&self, node: u8) -> Option<usize> {
        (self.memories() > 0).then(|| self.first_memory_slot() + usize::from(node))
    }

    /// In how many places there is a read cache.
    pub(super) const fn cache_places(&self) -> usize {
        match self.layout.cache_place {
            None => 0,
            Some(Place::Store) => 1,
            Some(Place::Node) => self.model.scenario.nodes,
        }
    }

    pub(super) fn first_cache_slot(&self) -> usize {
        self.first_memory_slot() + self.memories()
    }

    /// The slots of all read caches, with the node in whose memory each is (`None`: the store). There are none where no
    /// handler works with one.
    pub fn all_cache_slots(&self) -> impl Iterator<Item = (usize, Option<u8>)> + '_ {
        let in_memory = self.layout.cache_place == Some(Place::Node);
        (0..self.cache_places()).map(move |place| (self.first_cache_slot() + place, in_memory.then_some(small(place))))
    }

    /// The slot of the read cache in which this node looks; `None` where no handler works with one.
    #[must_use]
    pub fn cache_slot(&self, node: u8) -> Option<usize> {
        let found = self.all_cache_slots().find(|(_, place)| place.is_none_or(|place| place == node));
        found.map(|(slot, _)| slot)
    }

    /// The slots that belong to no agent and no resource: routes, the memory of nodes, read caches, what the upstream saw.
    pub fn slots_shared_by_all(&self) -> impl Iterator<Item = usize> + '_ {
        let routes = self.first_route_slot()..self.first_lease_slot();
        let memories = self.first_memory_slot()..self.budgets_slot();
        routes.chain(memories).chain(self.upstream_slot())
    }

    /// The slot of the fault budgets.
    #[must_use]
    pub fn budgets_slot(&self) -> usize {
        self.first_cache_slot() + self.cache_places()
    }

    /// The slot of the credentials, where they may be rotated.
    #[must_use]
    pub fn credentials_slot(&self) -> Option<usize> {
        (self.budget("rotate-credential") > 0).then_some(self.budgets_slot() + 1)
    }

    /// The slot of the keys that the upstream service has seen, where it is told any.
    #[must_use]
    pub fn upstream_slot(&self) -> Option<usize> {
        let credentials = usize::from(self.credentials_slot().is_some());
        self.has_step("call-upstream-with-key").then_some(self.budgets_slot() + 1 + credentials)
    }

    /// The slot that says which nodes run what is deployed, where something is.
    #[must_use]
    pub fn deployed_slot(&self) -> Option<usize> {
        let before = usize::from(self.credentials_slot().is_some()) + usize::from(self.upstream_slot().is_some());
        self.layout.deploys.then_some(self.budgets_slot() + 1 + before)
    }

    /// The slot of the numbers of requests, where states are labelled.
    #[must_use]
    pub fn requests_slot(&self) -> Option<usize> {
        let before = [self.credentials_slot(), self.upstream_slot(), self.deployed_slot()];
        self.labelled.then_some(self.budgets_slot() + 1 + before.into_iter().flatten().count())
    }

    /// Whether a slot holds what no transaction rolls back: the memory of a node, or what the upstream service knows.
    #[must_use]
    pub fn outlives_rollback(&self, slot: usize) -> bool {
        self.is_node_memory(slot) || self.upstream_slot() == Some(slot)
    }

    /// Whether a slot is memory of a node, which no transaction rolls back and a restart clears.
    fn is_node_memory(&self, slot: usize) -> bool {
        let keys = self.first_keys_slot()..self.first_route_slot();
        let resources = self.resource_slot(0)..self.first_keys_slot();
        keys.contains(&slot) && self.keys_place(slot).is_some()
            || self.is_state_in_nodes() && resources.contains(&slot)
            || self.all_lease_slots().any(|(lease, _, place)| lease == slot && place.is_some())
            || (self.first_memory_slot()..self.first_cache_slot()).contains(&slot)
            || self.all_cache_slots().any(|(cache, place)| cache == slot && place.is_some())
    }
}
