//! The components of the state: one small file per actor.
//!
//! A state is a short vector of components; [`Setting`] knows which slot holds which. Components are ordinary values.
//! They know nothing of steps, files or pictures.

pub mod agent;
pub mod cache;
pub mod call;
pub mod content;
pub mod fact;
pub mod keys;
pub mod lease;
pub mod ledger;
pub mod node;
pub mod numbers;
pub mod queue;
pub mod renaming;
pub mod resource;
mod response;
mod setting;
pub mod symmetry;

pub use agent::{Agent, Attempt, Errand, Known, Purpose, Redo, Reissue, Undecided, View};
pub use cache::{Cache, CacheScope};
pub use call::{
    Answer, Arguments, Aside, Call, CallRef, Claim, Key, Other, Payload, Position, Progress, Reply, Request, Stamp,
    Wrote,
};
pub use content::{Content, Field, Intents};
pub use fact::{BrokenBasis, Denied, Fact};
pub use keys::{Fingerprint, KeyTable, Record, RecordKey};
pub use lease::{Lease, Leases};
pub use ledger::{Effect, IntentLedger, Ledger};
pub use node::Memory;
pub use queue::Queue;
pub use resource::{Handle, Instance, Lifecycle, Resource};
pub use response::Response;
pub use setting::{Condition, Intent, Missing, Named, Scope, Setting};
pub use symmetry::Symmetry;

/// What is read for the sake of a witness alone, by kind (the engine's `Access::peek`).
pub mod ghost {
    /// Other agents' calls, for the witness of `single-lease-holder`.
    pub const LEASES: usize = 0;
    /// Other agents' calls, to choose a claim that nobody holds.
    pub const CLAIMS: usize = 1;
    /// Other agents and their calls, for the witness of `no-cross-principal`.
    pub const KEYS: usize = 2;
    /// The budgets, for the witness of `handle-resolvable`.
    pub const RESTARTS: usize = 3;
}

/// One slot of the state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Component {
    /// What a client or subagent knows and is about to do.
    Agent(Agent),
    /// The call for which an agent waits.
    Call(Option<Call>),
    /// The calls of one agent whose streams broke, in their order as values: a multiset.
    Orphans(Vec<Call>),
    /// Ghost facts of one agent, which only invariants read.
    Ledger(Ledger),
    /// A resource in the store.
    Resource(Resource),
    /// The key table of one scope, in the store or in a node's memory.
    Keys(KeyTable),
    /// The leases on a resource, in the store or in a node's memory.
    Leases(Leases),
    /// The calls that wait for a resource or are handled on it.
    Queue(Queue),
    /// The rest of a node's memory.
    Memory(Memory),
    /// A read cache, of one node or of all.
    Cache(Cache),
    /// How often each principal's credential was rotated.
    Credentials(Vec<u8>),
    /// To which nodes the balancer has routed: one for a client, or one for each instance of a resource.
    Route(Vec<Option<u8>>),
    /// The keys under which the upstream service was called, with the principal for whom, sorted.
    Upstream(Vec<(u8, Key)>),
    /// Which nodes run what is deployed.
    Deployed(Vec<bool>),
    /// What is left of each fault's budget, in the order of the fault table.
    Budgets(Vec<u8>),
    /// How many requests each agent has sent; only in states that are shown, never in explored ones.
    Requests(Vec<u16>),
}

macro_rules! accessors {
    ($($variant:ident: $kind:ty = $get:ident, $doc:literal;)+) => {
        impl Component {
            $(
                #[doc = $doc]
                #[must_use]
                pub fn $get(&self) -> &$kind {
                    match self {
                        Self::$variant(value) => value,
                        other => unreachable!("slot holds {other:?}"),
                    }
                }
            )+
        }
    };
}

/// Components whose type says which slot they are for.
macro_rules! conversions {
    ($($variant:ident: $kind:ty;)+) => {
        $(impl From<$kind> for Component { fn from(value: $kind) -> Self { Self::$variant(value) } })+
    };
}

conversions! {
    Agent: Agent;
    Call: Option<Call>;
    Ledger: Ledger;
    Resource: Resource;
    Keys: KeyTable;
    Leases: Leases;
    Memory: Memory;
    Cache: Cache;
    Queue: Queue;
}

accessors! {
    Agent: Agent = agent, "The agent in this slot.";
    Call: Option<Call> = call, "The open call in this slot.";
    Orphans: Vec<Call> = orphans, "The orphans in this slot.";
    Ledger: Ledger = ledger, "The ledger in this slot.";
    Resource: Resource = resource, "The resource in this slot.";
    Keys: KeyTable = keys, "The key table in this slot.";
    Leases: Leases = leases, "The leases in this slot.";
    Queue: Queue = queue, "The queue in this slot.";
    Memory: Memory = memory, "The node's memory in this slot.";
    Cache: Cache = cache, "The read cache in this slot.";
    Credentials: Vec<u8> = credentials, "The credentials in this slot.";
    Upstream: Vec<(u8, Key)> = upstream, "The keys that the upstream service has seen.";
    Route: Vec<Option<u8>> = route, "The routes in this slot.";
    Deployed: Vec<bool> = deployed, "Which nodes run what is deployed.";
    Budgets: Vec<u8> = budgets, "The budgets in this slot.";
    Requests: Vec<u16> = requests, "How many requests each agent has sent.";
}
