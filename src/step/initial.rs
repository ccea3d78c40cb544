//! The state at the start.

use super::{Simulation, small};
use crate::model::Value;
use crate::model::design::Balancer;
use crate::world::{
    Agent, Attempt, Cache, Component, Errand, Field, Handle, Instance, IntentLedger, Intents, KeyTable, Known, Leases,
    Ledger, Memory, Queue, Resource, Setting,
};

impl Simulation {
    /// The state at the start.
    pub(super) fn at_start(&self) -> Vec<Component> {
        let setting = &self.setting;
        let scenario = &setting.model.scenario;
        let mut components = Vec::new();
        for (agent, declared) in scenario.agents.iter().enumerate() {
            let known = (0..setting.resources()).map(|resource| initially_known(setting, agent, resource)).collect();
            let entries = declared.work.len();
            components.push(Component::Agent(Agent {
                id: small(agent),
                entry: 0,
                errand: Errand::Begin,
                attempt: Attempt::First,
                plans: vec![None; entries],
                first_plans: vec![None; entries],
                under_first_plan: false,
                undecided: None,
                pending: None,
                sends: 0,
                broke: false,
                redo: None,
                reissue: None,
                stopped: false,
                old: Vec::new(),
                known,
            }));
            components.push(Component::Call(None));
            components.push(Component::Orphans(Vec::new()));
            let ledger = Ledger { agent: small(agent), entries: vec![IntentLedger::default(); entries] };
            components.push(Component::Ledger(ledger));
        }
        for (resource, declared) in scenario.resources.iter().enumerate() {
            let instance = declared.handle.is_some().then(|| {
                let field = |(_, value): &(String, Value)| Field { value: value.clone(), shows: Intents::NONE };
                let content = declared.fields.iter().map(field).collect();
                Instance::new(content, setting.first_version(resource), 0)
            });
            components.push(Resource { id: small(resource), instances: instance.into_iter().collect() }.into());
        }
        for (slot, _) in setting.all_keys_slots() {
            let slot = u16::try_from(slot).expect("a state has few slots");
            components.push(KeyTable { slot, records: Vec::new() }.into());
        }
        let places = usize::from(setting.model.design.server.balancer == Balancer::Sticky);
        components.extend((0..setting.routes()).map(|_| Component::Route(vec![None; places])));
        components
            .extend(setting.all_lease_slots().map(|(_, resource, _)| Leases { resource, leases: Vec::new() }.into()));
        let queue = |resource| Queue { resource: small(resource), tickets: Vec::new() }.into();
        components.extend((0..setting.queues()).map(queue));
        components.extend((0..setting.memories()).map(|_| Component::from(Memory::default())));
        components.extend(setting.all_cache_slots().map(|_| Component::from(Cache::default())));
        components.push(Component::Budgets(setting.faults().to_vec()));
        if setting.credentials_slot().is_some() {
            components.push(Component::Credentials(vec![0; setting.principals.len()]));
        }
        if setting.upstream_slot().is_some() {
            components.push(Component::Upstream(Vec::new()));
        }
        if setting.deployed_slot().is_some() {
            components.push(Component::Deployed(vec![false; scenario.nodes]));
        }
        if setting.labelled {
            components.push(Component::Requests(vec![0; setting.agents()]));
        }
        components
    }
}

/// A root client of the owner, or of a principal with which it is shared, knows the resources that exist at the start.
fn initially_known(setting: &Setting, agent: usize, resource: usize) -> Known {
    let exists = setting.resource(resource).handle.is_some();
    let root = setting.model.scenario.agents[agent].parent.is_none();
    let knows = exists && root && setting.entitled(setting.principal(agent), resource);
    let handle = knows.then_some(Handle { resource: small(resource), instance: 0 });
    let field = |(_, value): &(String, Value)| Field { value: value.clone(), shows: Intents::NONE };
    let content = setting.resource(resource).fields.iter().map(field).collect();
    let token = setting.token_of(&Instance::new(content, setting.first_version(resource), 0));
    Known { handle, token: token.filter(|_| knows), ..Known::default() }
}
