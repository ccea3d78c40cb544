//! What the three inputs mean, once they have been read: scenario, design and protocol, composed into a [`Model`].
//!
//! These are plain values with every name resolved and every default filled in. This module knows nothing of files,
//! spans or TOML (that is `input`), and nothing of states or steps (that is `world` and `step`).

pub mod client;
mod copies;
pub mod design;
pub mod free;
pub mod protocol;
pub mod scenario;
pub mod value;
pub mod vocabulary;

pub use client::{Client, ClientPart, Condition, Event, Reaction};
pub use design::{Design, Handler, Keys, Server};
pub use free::Free;
pub use protocol::Protocol;
pub use scenario::{
    Agent, Also, Assertion, Clients, Deploy, Entry, Expectation, Operation, Principal, Resource, Scenario,
};
pub use value::Value;
pub use vocabulary::{Outcome, Told, Tool, Verdict};

/// Index of an agent in [`Scenario::agents`].
pub type AgentId = usize;
/// Index of a resource in [`Scenario::resources`].
pub type ResourceId = usize;
/// Index of an entry in an agent's work list.
pub type EntryId = usize;

/// The most that a scenario may hold. Each is a limit of the representation, not of the search.
pub mod limits {
    /// Agents of a scenario.
    pub const AGENTS: usize = 8;
    /// Nodes of a scenario.
    pub const NODES: usize = 8;
    /// Resources of a scenario.
    pub const RESOURCES: usize = 8;
    /// Fields of a resource.
    pub const FIELDS: usize = 16;
    /// Mutating work entries of all agents together.
    pub const INTENTS: usize = 48;
    /// Steps of a handler, those of `at-end` included.
    pub const STEPS: usize = 64;
    /// Assertions of a scenario, those of `[finally]`, of `[at-rest]` and of `[sometimes]` each.
    pub const ASSERTIONS: usize = 16;
    /// The budget of one fault.
    pub const BUDGET: u8 = 15;
    /// The bound of `attempts`.
    pub const ATTEMPTS: u8 = 15;
    /// The size of a number in a field: beyond it, not every JSON reader would read the same number from a trace.
    pub const NUMBER: i64 = (1 << 53) - 1;
    /// The version of a resource at the start. It leaves room to advance.
    pub const VERSION: u32 = 1_000_000_000;
    /// Bytes of an input file.
    pub const FILE_BYTES: u64 = 1 << 20;
}

/// How large a scenario may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Agents.
    pub agents: usize,
    /// Nodes.
    pub nodes: usize,
    /// Resources.
    pub resources: usize,
    /// Mutating work entries of all agents together.
    pub intents: usize,
}

impl Extent {
    /// Of a scenario that is explored.
    pub const EXPLORED: Self =
        Self { agents: limits::AGENTS, nodes: limits::NODES, resources: limits::RESOURCES, intents: limits::INTENTS };
    /// Of one that is only simulated.
    pub const SIMULATED: Self = Self { agents: 250, nodes: 64, resources: 32, intents: 250 };
}

/// Scenario x design x protocol: one run's subject, everything that the step function may look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// Who is there, what they want, what may go wrong, what must hold.
    pub scenario: Scenario,
    /// How the server handles each call and how the client's harness behaves.
    pub design: Design,
    /// What the transport and the protocol revision do to calls, streams and ids.
    pub protocol: Protocol,
    /// The client settings of every agent and tool, after all overrides: `clients[agent][tool as usize]`.
    pub clients: Vec<Vec<Client>>,
    /// What the nodes change over to in the run, one by one.
    pub deployed: Option<Box<Deployed>>,
}

/// What is deployed while a run goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deployed {
    /// A node changes over in a restart; else it goes on with what it has in its memory.
    pub restart: bool,
    /// The same model for the nodes that have changed over: it differs in its design, in its protocol, or in both.
    pub model: Model,
}

impl Model {
    /// Composes the three inputs. The parts must come from one reading: an agent's overrides name its own tools only.
    #[must_use]
    pub fn compose(scenario: Scenario, design: Design, protocol: Protocol) -> Self {
        let clients = clients(&scenario, &design);
        Self { scenario, design, protocol, clients, deployed: None }
    }

    /// The same model, whose nodes change over to this design and this protocol.
    #[must_use]
    pub fn deploying(self, design: Design, protocol: Protocol) -> Self {
        let Deploy { restart, clients: by } = self.scenario.deploy;
        let clients = match by {
            Clients::Old => self.clients,
            Clients::New => clients(&self.scenario, &design),
        };
        let scenario = self.scenario.clone();
        let model = Self { scenario, design, protocol, clients: clients.clone(), deployed: None };
        Self { clients, deployed: Some(Box::new(Deployed { restart, model })), ..self }
    }

    /// What the nodes run: the design and the protocol at the start and, where others are deployed, those.
    pub fn sides(&self) -> impl Iterator<Item = (&Design, &Protocol)> {
        let deployed = self.deployed.iter().map(|deployed| (&deployed.model.design, &deployed.model.protocol));
        std::iter::once((&self.design, &self.protocol)).chain(deployed)
    }

    /// Whether some agent may choose to go on for ever.
    #[must_use]
    pub fn may_choose_not_to_end(&self) -> bool {
        let goes_on = |client: &Client| client.is_free(Free::On) || client.is_free(Free::BeforeWrite);
        self.clients.iter().flatten().any(goes_on)
    }

    /// What the inputs expect of a property, if they expect anything.
    #[must_use]
    pub fn expectation(&self, property: &str) -> Option<Expectation> {
        let Self { scenario, design, .. } = self;
        let of_scenario = scenario.expect.get(&design.name).and_then(|expect| expect.get(property));
        let of_design = design.expect.get(&scenario.name).and_then(|expect| expect.get(property));
        of_scenario.or(of_design).copied()
    }

    /// The client settings of an agent for one tool.
    #[must_use]
    pub fn client(&self, agent: AgentId, tool: Tool) -> &Client {
        &self.clients[agent][tool as usize]
    }
}

fn clients(scenario: &Scenario, design: &Design) -> Vec<Vec<Client>> {
    let of_agent = |agent| Tool::ALL.iter().map(|&tool| client_of(design, agent, tool)).collect();
    scenario.agents.iter().map(of_agent).collect()
}

/// Of two that speak of one setting or one event, the later in this order counts: `[client]`, `[client.TOOL]`,
/// `[agents.X.client]`, `[agents.X.client.TOOL]`.
fn client_of(design: &Design, agent: &Agent, tool: Tool) -> Client {
    let mut client = Client::default();
    let parts =
        [Some(&design.client), design.client_tools.get(&tool), Some(&agent.client), agent.client_tools.get(&tool)];
    for part in parts.into_iter().flatten() {
        client.override_with(part);
    }
    client.settle();
    client
}
