//! A scenario: who is there, what they want, what may go wrong, what must hold.

use std::collections::BTreeMap;
use std::fmt;

use super::client::ClientPart;
use super::vocabulary::{Tool, Verdict, named};
use super::{AgentId, ResourceId, Value};

/// A scenario with every name resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// The name by which it was asked for: a shipped name, or the file's stem.
    pub name: String,
    /// One line.
    pub title: String,
    /// A few sentences, or empty.
    pub about: String,
    /// Nodes behind the balancer, 1 to [`super::limits::NODES`].
    pub nodes: usize,
    /// The protocol that it names, if any.
    pub protocol: Option<String>,
    /// The resources: first those with a table, in the order of the file, then those that some agent mints.
    pub resources: Vec<Resource>,
    /// The agents, in the order of the file.
    pub agents: Vec<Agent>,
    /// At most so many of each fault in one run, by the fault's name. A fault that is not here has budget 0.
    pub faults: BTreeMap<&'static str, u8>,
    /// How nodes change over, in a run in which something is deployed.
    pub deploy: Deploy,
    /// Judged in every quiescent state in which every intent was told as `ok`.
    pub finally: Vec<Assertion>,
    /// Judged in every quiescent state, whatever was told.
    pub at_rest: Vec<Assertion>,
    /// Each must hold in some reachable state.
    pub sometimes: Vec<Assertion>,
    /// Expected verdicts: design name, then invariant or assertion name.
    pub expect: Expectations,
}

/// How nodes change over to what is deployed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deploy {
    /// In a restart: a node loses its memory and the calls in it.
    pub restart: bool,
    /// Which design's `[client]` the agents have.
    pub clients: Clients,
}

impl Default for Deploy {
    fn default() -> Self {
        Self { restart: true, clients: Clients::Old }
    }
}

named! {
    /// Which design's `[client]` the agents have while another one is deployed.
    Clients {
        /// That of the design with which the nodes start: clients learn of the new one later.
        Old = "old",
        /// That of the design that is deployed: clients were there before the servers.
        New = "new",
    }
}

impl Scenario {
    /// Every assertion, of whatever kind.
    pub fn assertions(&self) -> impl Iterator<Item = &Assertion> {
        self.finally.iter().chain(&self.at_rest).chain(&self.sometimes)
    }
}

/// Expected verdicts: the name of the other input (a design, in a scenario), then of the invariant or assertion.
pub type Expectations = BTreeMap<String, BTreeMap<String, Expectation>>;

/// A named expression over fields, versions and what was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assertion {
    /// Its name in reports and expectations.
    pub name: String,
    /// The expression, in the Common Expression Language (CEL).
    pub expression: String,
}

/// What a run is expected to say of one invariant or assertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// This verdict.
    Verdict(Verdict),
    /// Violated, with a break of exactly so many steps and faults on the front of cheapest ones.
    Break {
        /// Steps of the break, 1 or more.
        steps: u32,
        /// Faults among them.
        faults: u32,
    },
}

impl Expectation {
    /// Whether a violation is expected, at whatever cost.
    #[must_use]
    pub const fn is_violated(&self) -> bool {
        matches!(self, Self::Break { .. } | Self::Verdict(Verdict::Violated))
    }
}

/// Something that the server keeps and that a handle names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Its name in the scenario.
    pub name: String,
    /// Its handle at the start; `None` for one that is minted during the run.
    pub handle: Option<String>,
    /// Its owner; `None` for one that is minted (the minting principal owns it).
    pub owner: Option<Principal>,
    /// Its version at the start (1 where it is minted).
    pub version: u32,
    /// Field names and values at the start; for a minted one those of its `mint` entry.
    pub fields: Vec<(String, Value)>,
    /// The fields that came with a later schema, by index: a program of an earlier one does not know them.
    pub new_fields: Vec<usize>,
    /// Principals other than the owner who may use it.
    pub shared_with: Vec<Principal>,
    /// Declared to expire by itself one day.
    pub expires: bool,
    /// The name that its `mint` entry chooses for it, where clients name what they mint; `None`: one that nobody else chooses.
    pub chosen: Option<String>,
}

/// A client or a subagent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// Its name in the scenario.
    pub name: String,
    /// For whom it acts; a subagent has its parent's.
    pub principal: Principal,
    /// The agent that started it; `None` for a root client.
    pub parent: Option<AgentId>,
    /// Its work, in order.
    pub work: Vec<Entry>,
    /// Its own client settings, `[agents.X.client]`.
    pub client: ClientPart,
    /// Its own client settings for one tool, `[agents.X.client.TOOL]`.
    pub client_tools: BTreeMap<Tool, ClientPart>,
}

/// One entry of a work list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Call `read`: the answer is the agent's view.
    Read {
        /// What is read.
        resource: ResourceId,
    },
    /// A mutating call: an intent, or one of several entries that share it.
    Mutate {
        /// What is changed.
        resource: ResourceId,
        /// How.
        operation: Operation,
        /// The resources on which the plan rests (`given`): others, and its own where it may not have changed either.
        given: Vec<ResourceId>,
        /// Under which condition it is done at all (`if`): an expression over fields of what it rests on.
        condition: Option<String>,
        /// What the same call changes besides (`also`).
        also: Option<Also>,
        /// The name of the intent that it shares with other entries (`intent`); `None`: an intent of its own.
        intent: Option<String>,
    },
    /// Hand the handle (and more) to other agents.
    HandOff {
        /// What is handed on.
        resource: ResourceId,
        /// The receivers.
        to: Vec<AgentId>,
        /// What the record holds; at least the handle.
        carries: Vec<Carried>,
    },
}

/// What a call changes besides its own resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Also {
    /// The other resource.
    pub resource: ResourceId,
    /// How: it changes fields.
    pub operation: Operation,
}

impl Entry {
    /// The resource that it is about.
    #[must_use]
    pub const fn resource(&self) -> ResourceId {
        match self {
            Self::Read { resource } | Self::Mutate { resource, .. } | Self::HandOff { resource, .. } => *resource,
        }
    }

    /// The resources that a call of it needs to know: its own, unless it makes it, what it changes besides, then those that it
    /// is given.
    #[must_use]
    pub fn rests_on(&self) -> Vec<ResourceId> {
        match self {
            Self::Read { resource } | Self::HandOff { resource, .. } => vec![*resource],
            Self::Mutate { resource, operation, given, also, .. } => {
                let own = Some(*resource).filter(|_| *operation != Operation::Mint);
                let also = also.as_ref().map(|also| also.resource);
                let others = given.iter().copied().filter(|given| Some(*given) != own);
                own.into_iter().chain(also).chain(others).collect()
            }
        }
    }

    /// The resources that its condition may name: those that it rests on, but for what it changes besides.
    #[must_use]
    pub fn judged_on(&self) -> Vec<ResourceId> {
        let besides = match self {
            Self::Mutate { also: Some(also), .. } => Some(also.resource),
            _ => None,
        };
        self.rests_on().into_iter().filter(|resource| Some(*resource) != besides).collect()
    }

    /// The tool that it calls; a hand-off calls none.
    #[must_use]
    pub const fn tool(&self) -> Option<Tool> {
        match self {
            Self::Read { .. } => Some(Tool::Read),
            Self::Mutate { operation, .. } => Some(operation.tool()),
            Self::HandOff { .. } => None,
        }
    }
}

/// What a mutating entry does to its resource. Fields are indices into [`Resource::fields`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// Sets fields to values.
    Set(Vec<(usize, Value)>),
    /// Appends an element to each list.
    Append(Vec<(usize, Value)>),
    /// Adds a number to each field.
    Increment(Vec<(usize, i64)>),
    /// Creates the resource, with the contents of [`Resource::fields`].
    Mint,
    /// Closes it.
    Close,
    /// Approves it.
    Approve,
    /// Executes it.
    Execute,
    /// Deletes it.
    Delete,
}

impl Operation {
    /// The tool that is called for it.
    #[must_use]
    pub const fn tool(&self) -> Tool {
        match self {
            Self::Set(_) | Self::Append(_) | Self::Increment(_) => Tool::Write,
            Self::Mint => Tool::Mint,
            Self::Close => Tool::Close,
            Self::Approve => Tool::Approve,
            Self::Execute => Tool::Execute,
            Self::Delete => Tool::Delete,
        }
    }

    /// The word of the work entry.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Set(_) => "set",
            Self::Append(_) => "append",
            Self::Increment(_) => "increment",
            Self::Mint => "mint",
            Self::Close => "close",
            Self::Approve => "approve",
            Self::Execute => "execute",
            Self::Delete => "delete",
        }
    }

    /// Whether it changes fields, rather than the whole resource.
    #[must_use]
    pub const fn changes_fields(&self) -> bool {
        matches!(self, Self::Set(_) | Self::Append(_) | Self::Increment(_))
    }

    /// One of its changes alone, by its place among [`fields`](Self::fields).
    #[must_use]
    pub fn part(&self, place: usize) -> Self {
        match self {
            Self::Set(changes) => Self::Set(changes[place..=place].to_vec()),
            Self::Append(changes) => Self::Append(changes[place..=place].to_vec()),
            Self::Increment(changes) => Self::Increment(changes[place..=place].to_vec()),
            Self::Mint | Self::Close | Self::Approve | Self::Execute | Self::Delete => self.clone(),
        }
    }

    /// The fields that it names; for a mint none (it makes all of them).
    #[must_use]
    pub fn fields(&self) -> Vec<usize> {
        match self {
            Self::Set(changes) | Self::Append(changes) => changes.iter().map(|change| change.0).collect(),
            Self::Increment(changes) => changes.iter().map(|change| change.0).collect(),
            Self::Mint | Self::Close | Self::Approve | Self::Execute | Self::Delete => Vec::new(),
        }
    }
}

named! {
    /// What a hand-off carries, and what an agent keeps when its context is compacted.
    Carried {
        /// The handle.
        Handle = "handle",
        /// The version of the view.
        Version = "version",
        /// The content of the view.
        Content = "content",
    }
}

/// Who is responsible for a call: a subject, and where it matters the client application and the tenant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Principal {
    /// The person or service.
    pub subject: String,
    /// The client application.
    pub client: Option<String>,
    /// The tenant.
    pub tenant: Option<String>,
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.subject)?;
        if let Some(client) = &self.client {
            write!(f, " through {client}")?;
        }
        if let Some(tenant) = &self.tenant {
            write!(f, " of tenant {tenant}")?;
        }
        Ok(())
    }
}
