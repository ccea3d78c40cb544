//! The model as steps need it: which slot holds what, and numbers for intents, principals and key scopes.

use std::collections::BTreeMap;

use crate::model::design::{Calls, OnCancel, Replies, ScopePart, State, Versions};
use crate::model::free::{Choices, Free};
use crate::model::protocol::Reissue;
use crate::model::{
    AgentId, Client, Entry, Model, Principal, Reaction, ResourceId, Tool, scenario::Resource as Declared,
};

use self::intents::Serves;
use self::layout::Layout;
use super::{Agent, Instance, View};

mod changes;
mod conditions;
mod intents;
mod layout;
mod moved;
mod slots;
mod words;

pub use changes::Missing;
pub use conditions::Condition;
pub use intents::Intent;

/// The static part of a run: the model, and everything that is derived from it once.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Scenario, design and protocol.
    pub model: Model,
    /// Every intent, in the order of agents and entries.
    pub intents: Vec<Intent>,
    /// Every principal that occurs, each once.
    pub principals: Vec<Principal>,
    /// States carry real version numbers and request ids, for people to read. Such states are never explored: without
    /// this, numbers start at 0 and are renamed, and request ids are left out.
    pub labelled: bool,
    /// A call has no node until one matters: its first transaction is that of its arrival, and a restart
    /// strikes any calls that may have been at one node together. Such states are explored only, never shown.
    pub routes_late: bool,
    /// The same for the nodes that run what is deployed.
    pub deployed: Option<Box<Self>>,
    work: Vec<Vec<Serves>>,
    layout: Layout,
    choices: Vec<Vec<Choices>>,
    faults: Vec<u8>,
    fault_names: Vec<&'static str>,
}

/// What a call's handle has to do with a key table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// Handles are not told apart.
    Any,
    /// The call names none: it mints.
    None,
    /// It names one of this resource.
    Of(ResourceId),
}

/// What calls must have in common to share a key table; of what is `None` they may differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The subject.
    pub subject: Option<String>,
    /// The client; one that the principal has none of is none here, too.
    pub client: Option<String>,
    /// The tenant, likewise.
    pub tenant: Option<String>,
    /// The resource whose handle they name, where that counts and they name one.
    pub handle: Named,
    /// The tool.
    pub tool: Option<Tool>,
}

const SLOTS_PER_AGENT: usize = 4;

impl Setting {
    /// Derives everything from the model. `faults` names the faults in the order of their table.
    #[must_use]
    pub fn new(model: Model, faults: &[&'static str], labelled: bool) -> Self {
        let scenario = &model.scenario;
        let (intents, work) = intents::of(scenario);
        let mut principals: Vec<Principal> = Vec::new();
        for resource in &scenario.resources {
            principals.extend(resource.owner.iter().chain(&resource.shared_with).cloned());
        }
        principals.extend(scenario.agents.iter().map(|agent| agent.principal.clone()));
        let mut distinct: Vec<Principal> = Vec::new();
        for principal in principals {
            if !distinct.contains(&principal) {
                distinct.push(principal);
            }
        }
        let fault_names = faults.to_vec();
        let faults: Vec<u8> = faults.iter().map(|fault| scenario.faults.get(fault).copied().unwrap_or(0)).collect();
        let layout = Layout::of(&model, &intents);
        let principals = distinct;
        let of_agent = |clients: &Vec<Client>| clients.iter().map(Client::choices).collect();
        let choices: Vec<Vec<Choices>> = model.clients.iter().map(of_agent).collect();
        let of = |model: Model, deployed| Self {
            intents: intents.clone(),
            work: work.clone(),
            principals: principals.clone(),
            labelled,
            routes_late: false,
            deployed,
            layout: layout.clone(),
            choices: choices.clone(),
            faults: faults.clone(),
            fault_names: fault_names.clone(),
            model,
        };
        let deployed = model.deployed.as_ref().map(|deployed| Box::new(of(deployed.model.clone(), None)));
        of(model, deployed)
    }

    /// Whether some handler has this step.
    #[must_use]
    pub fn has_step(&self, name: &str) -> bool {
        self.layout.steps.contains(name)
    }

    /// Whether a handler may go on when it has answered, or clean up when it was cancelled.
    #[must_use]
    pub fn goes_on_unheard(&self) -> bool {
        let cleans_up = |side: &Self| side.model.design.server.on_cancel == OnCancel::AtEnd;
        self.has_step("answer") || self.sides().any(cleans_up)
    }

    /// The same for the nodes that run what is deployed, or for those that don't.
    #[must_use]
    pub fn of(&self, deployed: bool) -> &Self {
        self.deployed.as_deref().filter(|_| deployed).unwrap_or(self)
    }

    /// What nodes run: at the start and, where something is deployed, then.
    pub fn sides(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(self.deployed.as_deref())
    }

    /// How many agents there are.
    #[must_use]
    pub const fn agents(&self) -> usize {
        self.model.scenario.agents.len()
    }

    /// How many resources there are.
    #[must_use]
    pub const fn resources(&self) -> usize {
        self.model.scenario.resources.len()
    }

    /// The budget of each fault at the start, in the order of the fault table.
    #[must_use]
    pub fn faults(&self) -> &[u8] {
        &self.faults
    }

    /// Whether resources live in the memory of nodes.
    #[must_use]
    pub fn is_state_in_nodes(&self) -> bool {
        matches!(self.model.design.server.state, State::Node | State::Session)
    }

    /// Whether answers find their streams by request id.
    #[must_use]
    pub fn replies_by_request_id(&self) -> bool {
        self.model.design.server.replies == Replies::ByRequestId
    }

    /// Whether a call that is issued again keeps its request id, and something depends on it.
    #[must_use]
    pub fn reuses_request_ids(&self) -> bool {
        self.replies_by_request_id() && self.model.protocol.reissue == Reissue::SameRequestId
    }

    /// Whether calls outlive the node that they are at.
    #[must_use]
    pub fn keeps_calls(&self) -> bool {
        self.model.design.server.calls != Calls::Memory
    }

    /// The budget that a fault had at the start.
    #[must_use]
    pub fn budget(&self, fault: &str) -> u8 {
        self.model.scenario.faults.get(fault).copied().unwrap_or(0)
    }

    /// The place of a fault in the fault table.
    #[must_use]
    pub fn fault_index(&self, fault: &str) -> Option<usize> {
        self.fault_names.iter().position(|name| *name == fault)
    }

    /// Whether a key table tells instances of a resource apart.
    #[must_use]
    pub fn keys_by_handle(&self) -> bool {
        self.model.design.keys.scope.contains(&ScopePart::Handle)
    }

    /// The resource whose calls use the key table in a slot, where each resource has its own.
    #[must_use]
    pub fn keys_resource(&self, slot: usize) -> Option<u8> {
        let index = slot.checked_sub(self.first_keys_slot())? % self.layout.scopes.len();
        match self.layout.scopes[index].handle {
            Named::Of(resource) => Some(small(resource)),
            Named::Any | Named::None => None,
        }
    }

    /// The declaration of a resource.
    #[must_use]
    pub fn resource(&self, resource: ResourceId) -> &Declared {
        &self.model.scenario.resources[resource]
    }

    /// The number of an agent's principal.
    #[must_use]
    pub fn principal(&self, agent: AgentId) -> u8 {
        self.principal_number(&self.model.scenario.agents[agent].principal)
    }

    /// The number of a principal that occurs in the scenario.
    #[must_use]
    pub fn principal_number(&self, principal: &Principal) -> u8 {
        let index = self.principals.iter().position(|other| other == principal);
        small(index.expect("principals are collected from all resources and agents"))
    }

    /// The owner of a resource. A minted one belongs to the principal of the agent that mints it; a resource that is
    /// neither declared nor minted does not exist.
    #[must_use]
    pub fn owner(&self, resource: ResourceId) -> u8 {
        let minter = || {
            let mints = |entry: &Entry| entry.resource() == resource && entry.tool() == Some(Tool::Mint);
            let minter = self.model.scenario.agents.iter().position(|agent| agent.work.iter().any(mints));
            minter.map(|agent| self.principal(agent))
        };
        let declared = self.resource(resource).owner.as_ref().map(|owner| self.principal_number(owner));
        declared.or_else(minter).expect("a resource has an owner or is minted")
    }

    /// The resources that have the same name where clients choose the names of what they mint: this one, and all whose
    /// `mint` entries choose the name that its entry chooses.
    pub fn of_one_name(&self, resource: ResourceId) -> impl Iterator<Item = ResourceId> + '_ {
        let chosen = &self.resource(resource).chosen;
        let same =
            move |other: &ResourceId| *other == resource || chosen.is_some() && self.resource(*other).chosen == *chosen;
        (0..self.resources()).filter(same)
    }

    /// The first resource of which a mint carries the same contents as of this one.
    #[must_use]
    pub fn first_made_alike(&self, resource: ResourceId) -> u8 {
        let fields = |of: ResourceId| self.resource(of).fields.iter().map(|(name, value)| (name, value));
        let contents = |of: ResourceId| fields(of).collect::<BTreeMap<_, _>>();
        let minted = |other: &ResourceId| self.resource(*other).owner.is_none();
        let mut others = (0..resource).filter(minted);
        let first = others.find(|other| contents(*other) == contents(resource));
        u8::try_from(first.unwrap_or(resource)).expect("there are few resources")
    }

    /// Whether a principal may use a resource: it owns it, or it is shared with it.
    #[must_use]
    pub fn entitled(&self, principal: u8, resource: ResourceId) -> bool {
        let shared = &self.resource(resource).shared_with;
        principal == self.owner(resource) || shared.contains(&self.principals[usize::from(principal)])
    }

    /// Whether an agent may have to mint anew, and so to come back to intents that it was done with.
    #[must_use]
    pub fn mints_again(&self, agent: AgentId) -> bool {
        self.may_choose_to_mint(agent)
            || self.reactions(agent).any(|reaction| matches!(reaction, Reaction::Mint { .. }))
    }

    /// Whether it may have to do so under the keys of its first plans.
    #[must_use]
    pub fn mints_again_under_same_key(&self, agent: AgentId) -> bool {
        self.may_choose_to_mint(agent)
            || self.reactions(agent).any(|reaction| matches!(reaction, Reaction::Mint { new_key: false }))
    }

    /// Whether its harness is free to mint anew what it minted.
    fn may_choose_to_mint(&self, agent: AgentId) -> bool {
        let mut work = self.model.scenario.agents[agent].work.iter();
        let free = self.model.clients[agent].iter().any(|client| client.is_free(Free::On));
        free && work.any(|entry| entry.tool() == Some(Tool::Mint))
    }

    /// The tool of the entry that an agent is at: `read` where it is at none that calls another.
    #[must_use]
    pub fn tool_at(&self, agent: &Agent) -> Tool {
        let work = &self.model.scenario.agents[usize::from(agent.id)].work;
        work.get(usize::from(agent.entry)).and_then(Entry::tool).unwrap_or(Tool::Read)
    }

    /// What the harness of an agent may choose from for calls of this tool.
    #[must_use]
    pub fn choices(&self, agent: AgentId, tool: Tool) -> &Choices {
        &self.choices[agent][tool as usize]
    }

    /// Every reaction in an agent's settings, those behind an `else` included.
    fn reactions(&self, agent: AgentId) -> impl Iterator<Item = &Reaction> {
        let outer = self.model.clients[agent].iter().flat_map(|client| client.on.values());
        outer.flat_map(|reaction| {
            std::iter::successors(Some(reaction), |reaction| match reaction {
                Reaction::Replan { only_if: Some((_, otherwise)), .. } => Some(otherwise),
                _ => None,
            })
        })
    }

    /// Whether versions are real numbers that are never renamed: states are for people to read, or an assertion speaks
    /// of a version.
    #[must_use]
    pub fn has_real_versions(&self) -> bool {
        let scenario = &self.model.scenario;
        let mut assertions = scenario.assertions();
        // A version that starts again with an incarnation, or that is counted on in each handle that carries the state,
        // meets old numbers again: then they are more than compared.
        self.labelled
            || self.versions_come_back()
            || self.is_state_in_handle()
            || assertions.any(|assertion| assertion.expression.contains("version"))
    }

    /// Whether one version of a handle may be current twice.
    #[must_use]
    pub fn versions_come_back(&self) -> bool {
        self.model.design.server.versions == Versions::PerIncarnation && self.budget("recreate") > 0
    }

    /// Whether the state is in the handle.
    #[must_use]
    pub fn is_state_in_handle(&self) -> bool {
        self.model.design.server.state == State::Handle
    }

    /// The state that a handle of this instance carries now, where handles carry state.
    #[must_use]
    pub fn token_of(&self, instance: &Instance) -> Option<View> {
        let (version, content) = (Some(instance.version), Some(instance.content.clone()));
        self.is_state_in_handle().then_some(View { version, content, fence: None })
    }

    /// Whether a read may show what was superseded before it was sent.
    #[must_use]
    pub fn reads_may_be_stale(&self) -> bool {
        self.layout.stale
    }

    /// Whether a copy of a resource may lag behind it.
    #[must_use]
    pub fn has_lagging_copies(&self) -> bool {
        self.layout.lags
    }

    /// The version that a resource has when it is made.
    #[must_use]
    pub fn first_version(&self, resource: ResourceId) -> u16 {
        if !self.has_real_versions() {
            return 0;
        }
        u16::try_from(self.resource(resource).version).unwrap_or(u16::MAX / 2)
    }
}

fn scope(model: &Model, agent: AgentId, resource: ResourceId, tool: Tool) -> Scope {
    let parts = &model.design.keys.scope;
    // A credential belongs to one principal.
    let whole = parts.contains(&ScopePart::Principal) || parts.contains(&ScopePart::Credential);
    let has = |part: ScopePart| parts.contains(&part);
    let principal = &model.scenario.agents[agent].principal;
    Scope {
        subject: (whole || has(ScopePart::Subject)).then(|| principal.subject.clone()),
        client: principal.client.clone().filter(|_| whole || has(ScopePart::Client)),
        tenant: principal.tenant.clone().filter(|_| whole || has(ScopePart::Tenant)),
        handle: match (has(ScopePart::Handle), tool) {
            (false, _) => Named::Any,
            (true, Tool::Mint) => Named::None,
            (true, _) => Named::Of(resource),
        },
        tool: has(ScopePart::Tool).then_some(tool),
    }
}

/// An index that the limits of a scenario keep below 256.
pub(super) fn small(index: usize) -> u8 {
    u8::try_from(index).expect("the limits of a scenario keep indices below 256")
}
