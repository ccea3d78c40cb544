//! Calls: one request with one response stream.

use super::agent::View;
use super::content::{Content, Field, Intents};
use super::resource::{Handle, Lifecycle};
use crate::model::{Operation, Outcome, Tool};

/// A request on its way, at a node, or answered.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Call {
    /// What was asked.
    pub request: Request,
    /// Where it is.
    pub position: Position,
    /// It reached a node that runs what is deployed, and is handled as that says; `false` before it has reached one.
    pub deployed: bool,
    /// The stream is broken and may be resumed (an orphan's stream is broken for good, and says nothing here).
    pub broken: bool,
}

/// What a client sends.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Request {
    /// The agent that sent it.
    pub agent: u8,
    /// The entry of its work list that it serves (ghost: the server does not see it); 0 for a read, which serves no intent.
    pub entry: u8,
    /// The tool that is called.
    pub tool: Tool,
    /// The resource that it is about.
    pub resource: u8,
    /// The handle that it names; `None` for a mint.
    pub handle: Option<Handle>,
    /// What it carries.
    pub payload: Payload,
    /// For each field that it sets, the changes that the author's view showed when this was planned (ghost). Empty where
    /// nothing is set, or where it showed none.
    pub seen: Vec<Intents>,
    /// What its author saw of the resources on which the plan rests (ghost).
    pub basis: Vec<(Handle, View)>,
    /// The versions that it expects, its own resource first.
    pub expected: Vec<Stamp>,
    /// Its key.
    pub key: Option<Key>,
    /// The fence number of the author's view.
    pub fence: Option<u16>,
    /// The state that the handle carries, where it carries state.
    pub token: Option<View>,
    /// Which of its principal's credentials it was made with.
    pub credential: u8,
    /// The version that was current when a read was sent, where copies may be stale (ghost).
    pub sent_at: Option<u16>,
    /// The state that the handle carries was superseded when a read was sent (ghost).
    pub superseded: bool,
    /// What it changes besides, in another resource.
    pub other: Option<Box<Other>>,
    /// Its number among the requests of its agent, from 1; 0 in explored states, where it makes no difference.
    pub id: u16,
    /// What its agent issued more than once under one request id has one number, only ever compared; `None` where request
    /// ids are never reused, or nothing depends on them.
    pub issue: Option<u16>,
}

/// What a request is to change besides its own resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Other {
    /// The handle of the other resource.
    pub handle: Handle,
    /// The change, which is sent alone.
    pub operation: Operation,
    /// As [`Request::seen`].
    pub seen: Vec<Intents>,
    /// The fence number of the author's view of it.
    pub fence: Option<u16>,
}

/// What a request carries.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Payload {
    /// Nothing: a read, or an operation without contents.
    Nothing,
    /// The contents of what it makes: those of this resource, the first of which a mint carries the same.
    Made(u8),
    /// The change alone.
    Change(Operation),
    /// The whole content, with the change in it.
    Snapshot(Content),
}

/// A version of one handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp {
    /// Of which handle.
    pub handle: Handle,
    /// The number.
    pub version: u16,
}

/// An idempotency key, also called operation id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// One plan of one entry: a repeat keeps it, a new plan makes another.
    Plan {
        /// The agent.
        agent: u8,
        /// The entry of its work list.
        entry: u8,
        /// The plan's number, only ever compared.
        plan: u16,
    },
    /// That of an intent which entries share, by its number in the scenario: one for all plans of all of them.
    Shared(u8),
    /// One constant for all work of all clients.
    Constant,
    /// A hash of the arguments: equal arguments, equal keys.
    Arguments(Box<Arguments>),
}

/// What a key is a hash of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Arguments {
    /// The tool.
    pub tool: Tool,
    /// The handle.
    pub handle: Option<Handle>,
    /// What is sent for it.
    pub payload: Payload,
    /// The versions that are expected.
    pub expected: Vec<Stamp>,
    /// What is sent for another resource besides.
    pub other: Option<(Handle, Operation)>,
}

/// Where a call is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Position {
    /// Between client and node.
    InTransit,
    /// At a node, with some of its transactions done.
    AtNode {
        /// The node.
        node: u8,
        /// How far it is.
        progress: Progress,
    },
    /// Its node restarted; it was kept, and any node may take it up again.
    Interrupted {
        /// How far it is.
        progress: Progress,
    },
    /// Answered; the answer stays with the node until it is received.
    Answered {
        /// The node.
        node: u8,
        /// The answer.
        answer: Answer,
    },
    /// It has run, and its answer went to another stream: it waits in vain.
    Unanswered {
        /// The node.
        node: u8,
    },
}

/// Whose stream an answer goes to. With `replies = "by-request-id"` a later call with an equal id takes over the entry of
/// an earlier one in the node's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reply {
    /// To its own.
    Own,
    /// To that of this agent's call.
    StreamOf(u8),
    /// To one that is closed, or has carried an answer already.
    Nowhere,
    /// The node that knew it has restarted.
    Lost,
}

/// A call, by whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallRef {
    /// The agent that sent it.
    pub agent: u8,
    /// Its place among the agent's orphans; `None`: the call for which the agent waits.
    pub orphan: Option<u8>,
}

/// A claim that a call made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Claim {
    /// The slot of the key table in which it was made.
    pub table: u16,
    /// Its number among the claims in that table.
    pub number: u16,
}

impl CallRef {
    /// The call for which an agent waits.
    #[must_use]
    pub const fn open(agent: u8) -> Self {
        Self { agent, orphan: None }
    }
}

/// What a handler has done so far.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Progress {
    /// The next transaction of the handler, or of its `at-end` list when it is ending.
    pub next: u8,
    /// The answer is known, and `at-end` transactions are left.
    pub ending: bool,
    /// The handler's working copy.
    pub working: Option<Content>,
    /// The version that it loaded, where a step compares with it.
    pub loaded: Option<u16>,
    /// How many of its changes it has made, where it makes them one by one.
    pub written: u8,
    /// The answer so far; its outcome is `ok` until a step says otherwise.
    pub answer: Answer,
    /// This call's own claim on its key.
    pub claim: Option<Claim>,
    /// The fence number that this call was given.
    pub grant: Option<u16>,
    /// What it wrote over, where it may have to take that back.
    pub wrote: Option<Box<Wrote>>,
    /// The same of the other resource of the call, while the handler is at its own.
    pub aside: Option<Box<Aside>>,
    /// Its place in the queue of its handle.
    pub ticket: Option<u16>,
    /// Whose stream its answer will go to, as the node's table has it.
    pub reply: Reply,
    /// It has answered, and goes on.
    pub answered: bool,
}

/// What a handler has done to the other resource of a call. See the fields of [`Progress`] that are called so.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Aside {
    /// See [`Progress::working`].
    pub working: Option<Content>,
    /// See [`Progress::loaded`].
    pub loaded: Option<u16>,
    /// See [`Progress::written`].
    pub written: u8,
    /// See [`Progress::grant`].
    pub grant: Option<u16>,
    /// See [`Progress::wrote`].
    pub wrote: Option<Box<Wrote>>,
}

/// What a call wrote over.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wrote {
    /// Nothing: it made what this handle names.
    Anew(Handle),
    /// What was there before.
    Over {
        /// The content.
        content: Content,
        /// Whether it could still be changed.
        lifecycle: Lifecycle,
        /// What was approved.
        approved: Option<Content>,
        /// The intent that had ended it (ghost).
        ended_by: Option<u8>,
    },
}

/// What goes back to the client.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Answer {
    /// How the call ended.
    pub outcome: Outcome,
    /// The handle that it is about: the call's own, that of a recorded answer, or the one minted.
    pub handle: Option<Handle>,
    /// A view of the resource, from `read`.
    pub view: Option<View>,
    /// The new version after a change.
    pub version: Option<u16>,
    /// With `stale-view`, what is current of all that the call expected.
    pub current: Vec<Stamp>,
    /// The new version of the other resource after a change.
    pub other: Option<Stamp>,
    /// It was the other resource because of which the call was refused (ghost).
    pub of_other: bool,
    /// It was answered from a record.
    pub replayed: bool,
    /// The principal without a right on the call's handle whose record, claim, lease or name answered or refused it (ghost).
    pub held_by: Option<u8>,
    /// The state that the handle carries now, where it carries state.
    pub token: Option<View>,
    /// The principal to whose call this is the answer, when it came out of the stream of another's (ghost).
    pub of: Option<u8>,
    /// It names what its call made: the answer of a mint.
    pub made: bool,
    /// The outcome that this call would have had, had its handle never existed (ghost; `None`: the same).
    pub unknown_handle: Option<Outcome>,
}

impl Answer {
    /// The handle of the call that it answers: that of the resource that it is about, unless the call made it.
    #[must_use]
    pub fn asked_about(&self) -> Option<Handle> {
        self.handle.filter(|_| !self.made)
    }

    /// An answer about this handle to which nothing has been added yet.
    #[must_use]
    pub const fn about(handle: Option<Handle>) -> Self {
        Self {
            outcome: Outcome::Ok,
            handle,
            view: None,
            version: None,
            current: Vec::new(),
            other: None,
            of_other: false,
            replayed: false,
            held_by: None,
            token: None,
            of: None,
            made: false,
            unknown_handle: None,
        }
    }
}

impl Call {
    /// The node at which the call is.
    #[must_use]
    pub const fn node(&self) -> Option<u8> {
        match self.position {
            Position::InTransit | Position::Interrupted { .. } => None,
            Position::AtNode { node, .. } | Position::Answered { node, .. } | Position::Unanswered { node } => {
                Some(node)
            }
        }
    }
}

impl Call {
    /// How far a handler is with it; `None` before it has reached a node, and when it is answered.
    #[must_use]
    pub const fn progress(&self) -> Option<&Progress> {
        match &self.position {
            Position::AtNode { progress, .. } | Position::Interrupted { progress } => Some(progress),
            Position::InTransit | Position::Answered { .. } | Position::Unanswered { .. } => None,
        }
    }
}

impl Call {
    /// Whether it is the rest of a handler that has answered: nobody waits for it, and it goes on all the same.
    #[must_use]
    pub fn has_answered(&self) -> bool {
        self.progress().is_some_and(|progress| progress.answered)
    }
}

impl Request {
    /// A read by an agent of what this handle names, taken for this resource.
    #[must_use]
    pub const fn read(agent: u8, resource: u8, handle: Option<Handle>) -> Self {
        Self {
            agent,
            entry: 0,
            tool: Tool::Read,
            resource,
            handle,
            payload: Payload::Nothing,
            seen: Vec::new(),
            basis: Vec::new(),
            expected: Vec::new(),
            key: None,
            fence: None,
            token: None,
            credential: 0,
            sent_at: None,
            superseded: false,
            other: None,
            id: 0,
            issue: None,
        }
    }

    /// What it changes besides, as the server sees it.
    #[must_use]
    pub fn besides(&self) -> Option<(Handle, Operation)> {
        self.other.as_ref().map(|other| (other.handle, other.operation.clone()))
    }

    /// The resource that its handle names, which may be another than its agent takes it for; without a handle, the one that
    /// it is to make.
    #[must_use]
    pub fn about(&self) -> u8 {
        self.handle.map_or(self.resource, |handle| handle.resource)
    }
}

impl Payload {
    /// The payload as the server sees it, without ghost facts.
    #[must_use]
    pub fn bare(&self) -> Self {
        match self {
            Self::Snapshot(content) => {
                let bare = |field: &Field| Field { value: field.value.clone(), shows: Intents::NONE };
                Self::Snapshot(content.iter().map(bare).collect())
            }
            Self::Nothing | Self::Made(_) | Self::Change(_) => self.clone(),
        }
    }
}

impl Progress {
    /// Nothing was done yet of a call on this handle.
    #[must_use]
    pub const fn start(handle: Option<Handle>) -> Self {
        Self {
            next: 0,
            ending: false,
            working: None,
            loaded: None,
            written: 0,
            answer: Answer::about(handle),
            claim: None,
            grant: None,
            wrote: None,
            aside: None,
            ticket: None,
            reply: Reply::Own,
            answered: false,
        }
    }

    /// The handler turns to the other resource of the call: what it did to the one is put aside.
    pub fn turn(&mut self) {
        let aside = self.aside.take().map_or_else(Aside::default, |aside| *aside);
        let Self { working, loaded, written, grant, wrote, .. } = self;
        let left = Aside {
            working: std::mem::replace(working, aside.working),
            loaded: std::mem::replace(loaded, aside.loaded),
            written: std::mem::replace(written, aside.written),
            grant: std::mem::replace(grant, aside.grant),
            wrote: std::mem::replace(wrote, aside.wrote),
        };
        self.aside = Some(Box::new(left)).filter(|left| **left != Aside::default());
    }

    /// Forgets the working copies: the outcome is decided.
    pub fn end_work(&mut self) {
        for _ in 0..2 {
            (self.working, self.loaded) = (None, None);
            self.turn();
        }
    }
}
