//! What a state has slots for: whatever any of the designs that run needs.

use std::collections::BTreeSet;

use super::{Intent, Scope, scope, small};
use crate::model::design::{Balancer, Identity, NewFields, Place, ReadsFrom, State};
use crate::model::{Design, Model};

/// What a state has slots for. All designs of a run share it.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each says whether something is there")]
pub(super) struct Layout {
    /// Every step of every handler.
    pub(super) steps: BTreeSet<&'static str>,
    /// The scopes of keys.
    pub(super) scopes: Vec<Scope>,
    /// Where key tables are: in the store (`None`), in the memory of nodes, or in both.
    pub(super) key_places: Vec<Option<u8>>,
    /// In how many places there are leases.
    pub(super) lease_places: usize,
    /// Where the read cache is, if there is one.
    pub(super) cache_place: Option<Place>,
    /// Nodes have memory beyond key tables, leases, read caches and resources.
    pub(super) remembers: bool,
    /// How requests find a node: the balancer is none, and stays as it is at the start.
    pub(super) balancer: Balancer,
    /// A copy of a resource may lag behind it.
    pub(super) lags: bool,
    /// A read may show what was superseded before it was sent.
    pub(super) stale: bool,
    /// Some handler leaves out fields that it does not know.
    pub(super) drops_new_fields: bool,
    /// Nodes change over in the run.
    pub(super) deploys: bool,
}

impl Layout {
    pub(super) fn of(model: &Model, intents: &[Intent]) -> Self {
        let models = || std::iter::once(model).chain(model.deployed.iter().map(|deployed| &deployed.model));
        let designs = || models().map(|model| &model.design);
        let handlers = designs().flat_map(|design| design.server.tools.values());
        let steps = handlers.flat_map(|handler| handler.transactions.iter().chain(&handler.at_end)).flatten();
        let steps: BTreeSet<&'static str> = steps.copied().collect();
        let mut scopes = Vec::new();
        // A handle may name another resource than its agent takes it for. Those of the intents come first.
        for (other, model) in [false, true].into_iter().flat_map(|other| models().map(move |model| (other, model))) {
            let served = intents.iter().flat_map(|intent| intent.entries.iter().map(move |entry| (intent, entry)));
            for (intent, &(agent, entry)) in served {
                // A node that looks up the caller late may take any agent for it.
                let late = model.design.server.identity == Identity::NodeMemory;
                let callers = if late { 0..model.scenario.agents.len() } else { agent..agent + 1 };
                let own = model.scenario.agents[agent].work[entry].resource();
                let all = 0..model.scenario.resources.len();
                let resources = all.filter(|resource| other || *resource == own);
                for (caller, resource) in callers.flat_map(|caller| resources.clone().map(move |each| (caller, each))) {
                    let scope = scope(model, caller, resource, intent.operation.tool());
                    if !scopes.contains(&scope) {
                        scopes.push(scope);
                    }
                }
            }
        }
        let nodes = model.scenario.nodes;
        let has = |place: Place| designs().any(|design| design.keys.place == place);
        let in_nodes = (0..nodes).map(small).map(Some).filter(|_| has(Place::Node));
        let key_places = Some(None).filter(|_| has(Place::Store)).into_iter().chain(in_nodes).collect();
        let leases = steps.iter().any(|step| step.ends_with("-lease") || step.ends_with("-fence"));
        let lease_places = match (leases, model.design.server.lease_place) {
            (false, _) => 0,
            (true, Place::Store) => 1,
            (true, Place::Node) => nodes,
        };
        let cache_place = designs().find(|design| design.has_cache()).map(|design| design.server.cache_place);
        let remembers = designs().any(|design| design.server.identity == Identity::NodeMemory);
        let replica = designs().any(|design| design.server.reads_from == ReadsFrom::Replica);
        let budget = model.scenario.faults.get("stale-read").copied().unwrap_or(0);
        let elsewhere = designs().any(Design::has_copies);
        let drops = designs().any(|design| design.server.new_fields == NewFields::Dropped);
        Self {
            steps,
            scopes,
            key_places,
            lease_places,
            cache_place,
            remembers,
            balancer: model.design.server.balancer,
            lags: replica && budget > 0,
            stale: elsewhere || model.design.server.state == State::Handle,
            drops_new_fields: drops && model.scenario.resources.iter().any(|resource| !resource.new_fields.is_empty()),
            deploys: model.deployed.is_some(),
        }
    }
}
