//! The state of one run: what every actor of section 3 holds, as plain values.
//!
//! Facts that no component of the modelled system sees (`shows`, the ledger, who recorded a key) are marked *ghost*.

use std::collections::{BTreeMap, BTreeSet};

use handlecheck::model::{AgentId, Entry, EntryId, Event, Model, Principal, ResourceId, Told, Tool, Value};

pub use super::cache::Cache;
pub use super::choosing::Undecided;
pub use super::entries::{KeyEntry, Keys, Print, Scope, Table};
pub use super::halves::{Bench, Found, Other};
pub use super::messages::{Answer, Key, Request, Sent};

/// Index of a node.
pub type NodeId = usize;

/// One mutating entry of a work list: a piece of work (section 3, ghost), unless others share it (see `sharing`).
pub type Intent = (AgentId, EntryId);

/// A handle: a resource of the scenario and which of its instances. Initial resources and first mints are instance 0.
pub type Handle = (ResourceId, u8);

/// A change is one field of one intent, named by the first entry that shares it (section 3, ghost). A recreation changes every field, by nobody (section 7).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Change {
    /// A field of an intent.
    Of(Intent, usize),
    /// A recreation.
    Nobody,
}

impl Change {
    /// The agent whose change it is, if it is anybody's.
    pub fn author(&self) -> Option<AgentId> {
        match self {
            Self::Of(intent, _) => Some(intent.0),
            Self::Nobody => None,
        }
    }
}

/// A stored or sent field: its value, and (ghost) the changes that made it what it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Field {
    pub value: Value,
    pub shows: BTreeSet<Change>,
}

/// All fields of a resource, in the order of the scenario.
pub type Content = Vec<Field>;

/// The values of some content, without what they show.
pub fn values(content: &Content) -> Vec<Value> {
    content.iter().map(|field| field.value.clone()).collect()
}

/// Where a resource is in its life (section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Life {
    Open,
    Closed,
    Executed,
    Deleted,
}

/// A resource as the server keeps it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stored {
    /// Who asked for it, or had it from the start.
    pub owner: Principal,
    /// Under whose name a handler filed it that looked the caller up late, where that is another.
    pub filed_under: Option<Principal>,
    /// The node in whose memory it is; `None`: in the store.
    pub node: Option<NodeId>,
    /// The client in whose session it is, where state is found by session.
    pub session: Option<AgentId>,
    pub version: u32,
    pub content: Content,
    pub life: Life,
    /// Ghost: the intent that closed, executed or deleted it.
    pub ended_by: Option<Intent>,
    pub expired: bool,
    /// What the latest approver's view showed.
    pub approved: Option<Vec<Value>>,
    /// Ghost: it was lost with its node.
    pub lost: bool,
    /// What a copy that lags still shows: content and version before the latest change. Only where a copy can lag.
    pub previous: Option<(Content, u32)>,
    /// Ghost: the contents that earlier versions named, where a version can come back.
    pub named: BTreeSet<(u32, Vec<Value>)>,
}

/// What an agent has seen of a resource (section 3). Content without a version is a stale summary.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct View {
    pub handle: Handle,
    pub version: Option<u32>,
    pub content: Option<Content>,
    /// The fence number that came with it.
    pub fence: Option<u32>,
}

/// The state inside a handle, where the handle carries the state.
pub type Token = (Content, u32);

/// A handle as an agent knows it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Known {
    pub handle: Handle,
    pub token: Option<Token>,
    /// The keys that leaked with it.
    pub leaked: BTreeSet<Key>,
}

impl Known {
    /// A handle that came without keys.
    pub fn new(handle: Handle, token: Option<Token>) -> Self {
        Self { handle, token, leaked: BTreeSet::new() }
    }
}

/// A call while a handler works on it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handling {
    pub node: NodeId,
    /// The next transaction, counted through `transactions` and on through `at-end`.
    pub next: usize,
    /// It ended with this answer, and only `at-end` is left.
    pub ended: Option<Answer>,
    /// The answer so far.
    pub answer: Answer,
    /// What it is at, and what it is not at of two resources. `turned`: it is at the other, within a transaction only.
    pub bench: Bench,
    pub other_bench: Bench,
    pub turned: bool,
    /// This call's claim: in which table, and its number there.
    pub claim: Option<(Table, u32)>,
    /// Its place among the calls that wait for one handle.
    pub queued: Option<u32>,
    /// Where its answer will go, as the reply table of the node has it.
    pub reply: Reply,
    /// The step `answer` has run: the answer so far leaves with the transaction.
    pub answers: bool,
}

/// Where an answer goes. With `replies = "by-request-id"` a later call with an equal id takes over the entry of an
/// earlier one in the node's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reply {
    OwnStream,
    StreamOf(AgentId),
    /// It is closed, or has carried an answer.
    Nowhere,
    /// The node that knew it has restarted.
    Lost,
}

/// Where a call is (section 3).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(clippy::large_enum_variant, reason = "plain values, not small ones")]
pub enum Place {
    Transit,
    AtNode(Handling),
    /// Its node restarted, and it outlived it: any node may take it up again.
    Kept(Handling),
    Answered(NodeId, Answer),
    /// It has run, and its answer went to another stream or nowhere.
    Unanswered(NodeId),
}

/// One request with one response stream.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Call {
    pub request: Request,
    pub place: Place,
    /// The node that it came to ran what is deployed; so it is handled to its end. False while it has come to none.
    pub new: bool,
}

impl Call {
    /// The node that it is at.
    pub fn node(&self) -> Option<NodeId> {
        match &self.place {
            Place::Transit | Place::Kept(_) => None,
            Place::AtNode(handling) => Some(handling.node),
            Place::Answered(node, _) | Place::Unanswered(node) => Some(*node),
        }
    }
}

/// Whether an agent's open call, or its next one, is a first send, a repeat or a replan (section 11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tag {
    First,
    Repeat,
    Replan,
}

/// What an agent does after its reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Then {
    /// It plans and writes.
    Write,
    /// It replans if a condition holds on what the reads showed, else it reacts otherwise: as the reaction of this
    /// event for this tool says, `nested` levels of `else` deep. It keeps the call that was `refused` (or broke) where the
    /// harness may send it again.
    Replan { event: Event, tool: Tool, nested: usize, refused: Option<Box<Request>> },
    /// It tells `ok` if the content shows its change, else `unknown`.
    Verify,
}

/// What an agent means to do next for its current entry.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Next {
    /// Read these resources again, and any other view that it needs and lacks; then act. `old` are the views that it
    /// had of them, which it keeps until it sends its change.
    Plan { reread: Vec<ResourceId>, then: Then, old: BTreeMap<ResourceId, View> },
    /// Send these arguments again.
    Again(Box<Request>),
}

impl Next {
    /// The beginning of an entry.
    pub fn begin() -> Self {
        Self::Plan { reread: Vec::new(), then: Then::Write, old: BTreeMap::new() }
    }
}

/// Going back to the entry that minted: the entries on `resource` before `until` are done again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Redo {
    pub resource: ResourceId,
    pub until: EntryId,
    pub same_key: bool,
}

/// A client or a subagent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Agent {
    pub entry: EntryId,
    pub knows: BTreeMap<ResourceId, Known>,
    /// Resources whose handle it lost by compaction.
    pub forgot: BTreeSet<ResourceId>,
    pub views: BTreeMap<ResourceId, View>,
    pub next: Next,
    /// What it has yet to react to, where its harness chooses how.
    pub undecided: Option<Undecided>,
    pub tag: Tag,
    /// The number of its current plan, once it has one.
    pub number: Option<u32>,
    /// The newest number of each entry to which it may have to come back.
    pub numbers: BTreeMap<EntryId, u32>,
    pub call: Option<Call>,
    /// Its stream is broken and can be resumed.
    pub disconnected: bool,
    pub told: BTreeMap<EntryId, Told>,
    /// Ghost: the entries that it left out, since it saw that their condition was not met.
    pub skipped: BTreeSet<EntryId>,
    /// Sends of the current intent; counted only where `attempts` is bounded.
    pub attempts: u8,
    /// A stream of the current intent broke; kept only where `attempts` is bounded.
    pub broke: bool,
    pub redo: Option<Redo>,
    /// The call that it will issue again under its request id, if it is the next that it sends.
    pub issues_again: Option<(Tool, ResourceId, u32)>,
    /// It never moves again: `stop-agent`.
    pub stopped: bool,
}

/// A lease on a resource, its fence numbers, and (ghost) the newest number under which each agent wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lease {
    pub holder: Option<(AgentId, u32)>,
    /// The newest number given out.
    pub given: Option<u32>,
    /// The newest number presented to a check.
    pub presented: Option<u32>,
    pub wrote: BTreeMap<AgentId, u32>,
}

/// The memory of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node {
    pub keys: Keys,
    pub leases: BTreeMap<Handle, Lease>,
    pub cache: Cache,
    /// The caller of the latest request and its credential, under `identity = "node-memory"`.
    pub identity: Option<(AgentId, u8)>,
}

/// Where an intent took effect (ghost).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// On a resource: which of its fields, for an intent that names some.
    Resource(Handle, Option<usize>),
    Upstream,
}

/// The whole state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub agents: Vec<Agent>,
    /// A multiset without request ids, sorted.
    pub orphans: Vec<Call>,
    /// What is left of handlers that have answered, sorted. They are no orphans.
    pub rests: Vec<Call>,
    pub nodes: Vec<Node>,
    /// Resources in the store and, marked so, in node memory; those that are gone too, for the ghosts.
    pub resources: BTreeMap<Handle, Stored>,
    /// The key table in the store.
    pub keys: Keys,
    /// The leases in the store.
    pub leases: BTreeMap<Handle, Lease>,
    /// The read cache of all nodes.
    pub cache: Cache,
    /// The keys that the upstream service has seen, and of whom.
    pub upstream: BTreeSet<(Principal, Key)>,
    /// Permissions that were revoked.
    pub revoked: BTreeSet<(Principal, Handle)>,
    /// How often each principal rotated its credential.
    pub credentials: BTreeMap<Principal, u8>,
    /// The nodes that have changed over to what is deployed.
    pub deployed: BTreeSet<NodeId>,
    /// The node that the balancer chose for each client, under `sticky`.
    pub sticky: BTreeMap<AgentId, NodeId>,
    /// The node that it chose for each handle, under `by-handle`, where what the handle names lives at none.
    pub by_handle: BTreeMap<Handle, NodeId>,
    /// Ghost: how often each entry took effect where, counted up to two; 0 where it took effect on what was created anew
    /// since.
    pub ledger: BTreeMap<(Intent, Target), u8>,
    /// Ghost: the intents that were told as `ok` while what is left of a handler was still at work on them.
    pub promised: BTreeSet<Intent>,
    /// What is left of each budget.
    pub budget: BTreeMap<&'static str, u8>,
}

impl State {
    /// The beginning: resources on the first node or in the store, handles known to the owners' root clients.
    pub fn initial(model: &Model) -> Self {
        let scenario = &model.scenario;
        let mut resources = BTreeMap::new();
        for (id, resource) in scenario.resources.iter().enumerate() {
            if let Some(owner) = &resource.owner {
                let content = resource
                    .fields
                    .iter()
                    .map(|(_, value)| Field { value: value.clone(), shows: BTreeSet::new() })
                    .collect();
                resources.insert((id, 0), Stored::new(model, owner.clone(), Some(0), resource.version, content));
            }
        }
        let mut state = Self {
            agents: Vec::new(),
            orphans: Vec::new(),
            rests: Vec::new(),
            promised: BTreeSet::new(),
            nodes: vec![Node::default(); scenario.nodes],
            resources,
            keys: Keys::new(),
            leases: BTreeMap::new(),
            cache: Cache::new(),
            upstream: BTreeSet::new(),
            revoked: BTreeSet::new(),
            credentials: BTreeMap::new(),
            deployed: BTreeSet::new(),
            sticky: BTreeMap::new(),
            by_handle: BTreeMap::new(),
            ledger: BTreeMap::new(),
            budget: scenario.faults.iter().filter(|fault| *fault.1 > 0).map(|(name, left)| (*name, *left)).collect(),
        };
        for agent in &scenario.agents {
            let mut knows = BTreeMap::new();
            for (handle, stored) in &state.resources {
                if agent.parent.is_none() && super::judge::entitled(model, &agent.principal, *handle, &stored.owner) {
                    knows.insert(handle.0, Known::new(*handle, super::server::token_of(model, stored)));
                }
            }
            state.agents.push(Agent::new(knows));
        }
        state
    }

    /// What is left of a budget.
    pub fn left(&self, fault: &str) -> u8 {
        self.budget.get(fault).copied().unwrap_or(0)
    }

    /// Spends one of a budget.
    pub fn spend(&mut self, fault: &'static str) {
        let left = self.left(fault) - 1;
        self.budget.insert(fault, left);
    }

    /// Each agent's open call.
    pub fn open_calls(&self) -> impl Iterator<Item = &Call> {
        self.agents.iter().filter_map(|agent| agent.call.as_ref())
    }

    /// All calls: the open ones, the orphans, and what is left of those that were answered.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.open_calls().chain(&self.orphans).chain(&self.rests)
    }

    /// The latest instance of a resource, for assertions.
    pub fn latest(&self, resource: ResourceId) -> Option<&Stored> {
        self.resources.range((resource, 0)..=(resource, u8::MAX)).next_back().map(|(_, stored)| stored)
    }

    /// What an agent was told, in the order of its work, for assertions.
    pub fn told(&self, agent: AgentId) -> Vec<Told> {
        self.agents[agent].told.values().copied().collect()
    }

    /// Did a piece of work take effect, by whichever entry, anywhere and whatever became of it?
    pub fn happened(&self, model: &Model, intent: Intent) -> bool {
        let work = super::sharing::same_work(model, intent);
        self.ledger.keys().any(|(of, _)| work.contains(of))
    }

    /// The key table that a handler on this node sees.
    pub fn key_table(&mut self, model: &Model, node: NodeId) -> &mut Keys {
        match model.design.keys.place {
            handlecheck::model::design::Place::Store => &mut self.keys,
            handlecheck::model::design::Place::Node => &mut self.nodes[node].keys,
        }
    }

    /// The leases that a handler on this node sees.
    pub fn lease_table(&mut self, model: &Model, node: NodeId) -> &mut BTreeMap<Handle, Lease> {
        match model.design.server.lease_place {
            handlecheck::model::design::Place::Store => &mut self.leases,
            handlecheck::model::design::Place::Node => &mut self.nodes[node].leases,
        }
    }
}

impl Agent {
    fn new(knows: BTreeMap<ResourceId, Known>) -> Self {
        Self {
            entry: 0,
            knows,
            forgot: BTreeSet::new(),
            views: BTreeMap::new(),
            next: Next::begin(),
            undecided: None,
            tag: Tag::First,
            number: None,
            numbers: BTreeMap::new(),
            call: None,
            disconnected: false,
            told: BTreeMap::new(),
            skipped: BTreeSet::new(),
            attempts: 0,
            broke: false,
            redo: None,
            issues_again: None,
            stopped: false,
        }
    }
}

impl Stored {
    /// A fresh resource that was made on this node.
    pub fn new(model: &Model, owner: Principal, made_on: Option<NodeId>, version: u32, content: Content) -> Self {
        use handlecheck::model::design::State;
        let node = match model.design.server.state {
            State::Node | State::Session => made_on,
            State::Store | State::Handle => None,
        };
        Self {
            owner,
            filed_under: None,
            node,
            session: None,
            version,
            content,
            life: Life::Open,
            ended_by: None,
            expired: false,
            approved: None,
            lost: false,
            previous: None,
            named: BTreeSet::new(),
        }
    }
}

/// The model by which a call is handled: at a node that has changed over, that of what is deployed.
pub fn side(model: &Model, new: bool) -> &Model {
    match &model.deployed {
        Some(deployed) if new => &deployed.model,
        _ => model,
    }
}

/// Is it so on any side: before nodes change over, or when they have?
pub fn on_any_side(model: &Model, is_so: &dyn Fn(&Model) -> bool) -> bool {
    is_so(model) || is_so(side(model, true))
}

/// The resource of a work entry.
pub fn entry_resource(entry: &Entry) -> ResourceId {
    match entry {
        Entry::Read { resource } | Entry::Mutate { resource, .. } | Entry::HandOff { resource, .. } => *resource,
    }
}
