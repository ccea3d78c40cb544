//! A design: how the server handles each tool call, and how the client's harness behaves.

use std::collections::BTreeMap;

use super::client::ClientPart;
use super::scenario::Expectations;
use super::vocabulary::{Tool, named};

/// A design with every name resolved and every default filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Design {
    /// The name by which it was asked for: a shipped name, or the file's stem.
    pub name: String,
    /// One line.
    pub title: String,
    /// A few sentences, or empty.
    pub about: String,
    /// The server.
    pub server: Server,
    /// The key table.
    pub keys: Keys,
    /// The client settings, `[client]`.
    pub client: ClientPart,
    /// The client settings for one tool, `[client.TOOL]`.
    pub client_tools: BTreeMap<Tool, ClientPart>,
    /// Expected verdicts: scenario name, then invariant or assertion name.
    pub expect: Expectations,
}

/// The settings of `[server]` and its handlers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Where resources live.
    pub state: State,
    /// How requests find a node.
    pub balancer: Balancer,
    /// Whether calls on one handle queue.
    pub queue: Queue,
    /// What a restart of its node does to a call.
    pub calls: Calls,
    /// Whether handles can be guessed.
    pub handles: Handles,
    /// Which parts of the principal the owner check compares; `None`: all that the owner has.
    pub owner_is: Option<Vec<PrincipalPart>>,
    /// How a foreign handle is refused.
    pub foreign: Foreign,
    /// Where handlers take the caller's identity from.
    pub identity: Identity,
    /// How answers find their streams.
    pub replies: Replies,
    /// Where an answer goes whose stream the node does not know any more.
    pub lost_reply: LostReply,
    /// What `mint` does under a name that is taken.
    pub taken_name: TakenName,
    /// Which parts principals share among whom a name is taken.
    pub name_scope: Vec<PrincipalPart>,
    /// What a version number is.
    pub versions: Versions,
    /// A write without an expected version is refused.
    pub version_required: bool,
    /// Where reads come from.
    pub reads_from: ReadsFrom,
    /// Where the read cache lives.
    pub cache_place: Place,
    /// What a read cache is keyed by.
    pub cache_scope: Vec<ScopePart>,
    /// Where leases live.
    pub lease_place: Place,
    /// When a fence number counts as seen.
    pub fence_seen: FenceSeen,
    /// What a lease names, by which its holder is known.
    pub lease_names: LeaseNames,
    /// What a handler does when its call is cancelled.
    pub on_cancel: OnCancel,
    /// What becomes of fields that its handlers do not know.
    pub new_fields: NewFields,
    /// What a handler does when the store answers a commit with an error.
    pub on_store_error: OnStoreError,
    /// The handlers. Every mutating tool without an entry of its own uses that of `write`, if there is one.
    pub tools: BTreeMap<Tool, Handler>,
}

impl Server {
    /// The handler of a tool: its own, or for a mutating tool that of `write`. `None`: the design can't serve it.
    #[must_use]
    pub fn handler(&self, tool: Tool) -> Option<&Handler> {
        self.tools.get(&tool).or_else(|| match tool {
            Tool::Read => None,
            _ => self.tools.get(&Tool::Write),
        })
    }
}

/// A handler: a list of transactions, each a list of steps, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Handler {
    /// Everything in one inner list happens atomically; between two inner lists anything may happen.
    pub transactions: Vec<Vec<&'static str>>,
    /// Transactions that run after the last one executed, whatever the outcome, before the answer leaves.
    pub at_end: Vec<Vec<&'static str>>,
}

/// The steps that change the store for an intent.
pub const STORES: [&str; 5] = ["apply", "apply-next", "save", "write-content", "mint"];
/// The steps that have an effect upstream.
pub const CALLS_UPSTREAM: [&str; 2] = ["call-upstream", "call-upstream-with-key"];

impl Handler {
    /// Whether one of its transactions has one of these steps.
    #[must_use]
    pub fn has(&self, steps: &[&str]) -> bool {
        self.transactions.iter().flatten().any(|step| steps.contains(step))
    }
}

/// The settings of `[server.keys]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    /// Where the key table lives.
    pub place: Place,
    /// Which calls share one table. Empty: all.
    pub scope: Vec<ScopePart>,
    /// What "the same arguments" means.
    pub fingerprint: Vec<FingerprintPart>,
    /// What a known key with other arguments gets.
    pub other_payload: OtherPayload,
    /// Which outcomes are recorded.
    pub record: Record,
    /// What `record-key` does where a record or another call's claim stands.
    pub taken: Taken,
    /// What a claim names, by which its call knows it again.
    pub claim_names: ClaimNames,
    /// May the fault `expire-key` strike records?
    pub expire: bool,
    /// May the fault `expire-claim` strike claims?
    pub claims_expire: bool,
}

impl Default for Keys {
    fn default() -> Self {
        Self {
            place: Place::Store,
            scope: vec![ScopePart::Principal, ScopePart::Handle],
            fingerprint: vec![FingerprintPart::Operation],
            other_payload: OtherPayload::Refuse,
            record: Record::OkOnly,
            taken: Taken::Overwrite,
            claim_names: ClaimNames::Attempt,
            expire: false,
            claims_expire: false,
        }
    }
}

impl Default for Server {
    fn default() -> Self {
        Self {
            state: State::Store,
            balancer: Balancer::Any,
            queue: Queue::None,
            calls: Calls::Memory,
            handles: Handles::Unguessable,
            owner_is: None,
            foreign: Foreign::NotFound,
            identity: Identity::PerRequest,
            replies: Replies::PerRequest,
            lost_reply: LostReply::Nobody,
            taken_name: TakenName::Answer,
            name_scope: Vec::new(),
            versions: Versions::Counter,
            version_required: false,
            reads_from: ReadsFrom::Store,
            cache_place: Place::Store,
            cache_scope: vec![ScopePart::Principal, ScopePart::Handle],
            lease_place: Place::Store,
            fence_seen: FenceSeen::AtAcquire,
            lease_names: LeaseNames::Holder,
            on_cancel: OnCancel::Stop,
            new_fields: NewFields::Kept,
            on_store_error: OnStoreError { then: AfterStoreError::AnswerUnknown, claim: ClaimAfterError::Keep },
            tools: BTreeMap::new(),
        }
    }
}

/// `on-store-error`: what the handler does, and what becomes of this call's claim. The handler stops there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnStoreError {
    /// Answer or run the transaction again.
    pub then: AfterStoreError,
    /// Keep or release the claim.
    pub claim: ClaimAfterError,
}

named! {
    /// What the node does when a commit was answered with an error.
    AfterStoreError {
        /// It answers `unknown`.
        AnswerUnknown = "answer-unknown",
        /// It runs the transaction again.
        Retry = "retry",
    }
}

named! {
    /// What becomes of this call's claim after a store error.
    ClaimAfterError {
        /// It is released.
        Release = "release-claim",
        /// It stays.
        Keep = "keep-claim",
    }
}

named! {
    /// What a lease names, by which its holder is known.
    LeaseNames {
        /// Its holder: nobody else frees it, or passes for its holder.
        Holder = "holder",
        /// Nothing: it is there or not. Whoever frees a lease frees what is there, and nobody gets one twice.
        Nothing = "nothing",
    }
}

named! {
    /// What a handler does when its call is cancelled, because its stream is closed.
    OnCancel {
        /// It stops where it is.
        Stop = "stop",
        /// It runs its `at-end` transactions, and stops then.
        AtEnd = "at-end",
    }
}

named! {
    /// What becomes of the fields that came with a later schema.
    NewFields {
        /// They are known, or passed on unread.
        Kept = "kept",
        /// They are not known, and so left out: what is read lacks them, and what is written empties them.
        Dropped = "dropped",
    }
}

named! {
    /// Where resources live.
    State {
        /// In the shared store.
        Store = "store",
        /// In the memory of the node that minted them; initial resources are on the first node.
        Node = "node",
        /// As `node`, found by session, lost with it.
        Session = "session",
        /// In the handle itself, signed: the request carries the state.
        Handle = "handle",
    }
}

named! {
    /// How requests find a node.
    Balancer {
        /// Any live node.
        Any = "any",
        /// Always the same node for one client.
        Sticky = "sticky",
        /// Always the same node for one handle.
        ByHandle = "by-handle",
    }
}

named! {
    /// Whether calls on one handle queue.
    Queue {
        /// They do not.
        None = "none",
        /// One handler at a time over all nodes, first come first served.
        PerHandle = "per-handle",
    }
}

named! {
    /// What a restart of its node does to a call.
    Calls {
        /// It is lost with the node, and its stream breaks.
        Memory = "memory",
        /// It is kept until its answer is received, and is delivered again, to any node, from the start.
        Redelivered = "redelivered",
        /// It is kept, and any node goes on with it behind the last transaction that it executed.
        Resumed = "resumed",
    }
}

named! {
    /// Whether handles can be guessed.
    Handles {
        /// They can't.
        Unguessable = "unguessable",
        /// They can.
        Sequential = "sequential",
    }
}

named! {
    /// A part of a principal.
    PrincipalPart {
        /// The person or service.
        Subject = "subject",
        /// The client application.
        Client = "client",
        /// The tenant.
        Tenant = "tenant",
    }
}

named! {
    /// How a foreign handle is refused.
    Foreign {
        /// Like an unknown one.
        NotFound = "not-found",
        /// With an outcome of its own.
        Forbidden = "forbidden",
    }
}

named! {
    /// Where handlers take the caller's identity from.
    Identity {
        /// From the request.
        PerRequest = "per-request",
        /// From node memory, read late, at each step that needs it: whoever's request came last.
        NodeMemory = "node-memory",
    }
}

named! {
    /// How answers find their streams.
    Replies {
        /// Each request has its own.
        PerRequest = "per-request",
        /// By request id, in a table in node memory: those of two clients may be equal.
        ByRequestId = "by-request-id",
        /// By an id of the server's own, in a table in node memory.
        ByTaskId = "by-task-id",
    }
}

named! {
    /// Where an answer goes whose stream the node does not know any more.
    LostReply {
        /// Nowhere: whoever asked waits in vain.
        Nobody = "nobody",
        /// To a default address: the scenario's first agent.
        FirstAgent = "first-agent",
    }
}

named! {
    /// What `mint` does where clients name what they mint, and the name is taken.
    TakenName {
        /// It answers with what is there.
        Answer = "answer",
        /// It ends the call with `name-taken`.
        Refuse = "refuse",
    }
}

named! {
    /// What a version number is.
    Versions {
        /// One counter for a handle, over all incarnations.
        Counter = "counter",
        /// A counter that starts again with each incarnation.
        PerIncarnation = "per-incarnation",
        /// A clock that need not tick between two changes.
        CoarseClock = "coarse-clock",
    }
}

named! {
    /// Where reads come from.
    ReadsFrom {
        /// The store.
        Store = "store",
        /// A replica that may lag.
        Replica = "replica",
        /// A cache of the node, in which `read` looks first, and which it fills.
        NodeCache = "node-cache",
    }
}

named! {
    /// Where something lives.
    Place {
        /// In the shared store.
        Store = "store",
        /// In node memory.
        Node = "node",
    }
}

named! {
    /// When a fence number counts as seen.
    FenceSeen {
        /// When it is given out.
        AtAcquire = "at-acquire",
        /// When it is presented to a check.
        AtCheck = "at-check",
    }
}

named! {
    /// What calls must have in common to share a key table or a cache entry.
    ScopePart {
        /// All parts of the principal.
        Principal = "principal",
        /// The person or service.
        Subject = "subject",
        /// The client application.
        Client = "client",
        /// The tenant.
        Tenant = "tenant",
        /// The credential that the call was made with.
        Credential = "credential",
        /// The handle.
        Handle = "handle",
        /// The tool.
        Tool = "tool",
    }
}

named! {
    /// What two calls must have in common to have the same arguments.
    FingerprintPart {
        /// Tool, fields and values.
        Operation = "operation",
        /// The handle.
        Handle = "handle",
        /// The expected versions.
        ExpectedVersion = "expected-version",
    }
}

named! {
    /// What a known key with other arguments gets.
    OtherPayload {
        /// `key-mismatch`.
        Refuse = "refuse",
        /// The recorded outcome all the same.
        Replay = "replay",
    }
}

named! {
    /// Which outcomes are recorded under a key.
    Record {
        /// `ok`, by `record-key`.
        OkOnly = "ok-only",
        /// Also a refusal by a step after `find-key`, atomically with the rollback.
        EveryOutcome = "every-outcome",
    }
}

named! {
    /// What `record-key` does where a record or another call's claim stands.
    Taken {
        /// It writes over it.
        Overwrite = "overwrite",
        /// It ends the call with `in-progress`.
        Refuse = "refuse",
    }
}

named! {
    /// What a claim names, besides its key.
    ClaimNames {
        /// The attempt that made it: a call knows its own claim, even after a store error, and frees no other.
        Attempt = "attempt",
        /// Nothing: a call that claimed takes any claim for its own, and whoever releases one releases any.
        Nothing = "nothing",
    }
}
