//! Facts: what a step did, as the invariants see it. No component of the modelled system ever sees one.

use super::agent::Attempt;
use super::call::{Answer, Request};
use super::lease::Lease;
use super::ledger::IntentLedger;
use super::resource::{Handle, Instance};
use super::response::Response;
use super::setting::Missing;
use crate::model::{Event, Told};

/// How what a plan rests on is not so any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrokenBasis {
    /// A resource has changed since the author of the plan saw it.
    Changed,
    /// The condition is not true of what is stored.
    ConditionNotMet,
}

/// An agent was told `failure` or `conflict` about an intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Denied {
    /// The agent.
    pub agent: u8,
    /// The entry of its work list.
    pub entry: u8,
    /// What it was told.
    pub told: Told,
}

/// Something that happened in one step.
#[derive(Clone, Debug)]
pub enum Fact {
    /// A call was sent.
    Sent {
        /// The call's request.
        request: Request,
        /// How it came about.
        attempt: Attempt,
        /// Another principal's call presented, or presents, the same key.
        shares_key: bool,
    },
    /// The first transaction of a call runs.
    Started {
        /// The call's request.
        request: Request,
        /// What its handle names, wherever it is: before the transaction.
        instance: Option<Instance>,
        /// What its other handle names, likewise.
        other: Option<Instance>,
        /// The node.
        node: u8,
        /// It is the only node, and it has restarted.
        restarted: bool,
        /// Its intent took effect before.
        happened: bool,
        /// What its plan rests on is not so any more.
        broken_basis: Option<BrokenBasis>,
    },
    /// A mutating call commits a change.
    Committed {
        /// The call's request.
        request: Request,
        /// The instance that it changed.
        handle: Handle,
        /// That instance before; `None` when it was minted.
        before: Option<Instance>,
        /// And after the transaction.
        after: Instance,
        /// What the plan rests on was not so any more.
        broken_basis: Option<BrokenBasis>,
        /// It could erase what others did: it sets, writes a snapshot, saves what a handler loaded, or what came with the handle.
        can_erase: bool,
        /// How often its intent took effect, this commit included, on what can still be reached.
        effects: u8,
        /// Who was told that it does not take effect, if anybody was.
        denied: Option<Denied>,
        /// It is what the call changes besides its own resource.
        besides: bool,
        /// It takes back what the call changed before.
        taken_back: bool,
        /// The fence number under which it was written, and the lease as it was; `None` where no lease is involved.
        leased: Option<(u16, Lease)>,
    },
    /// A call caused the external effect of its intent.
    CalledUpstream {
        /// The call's request.
        request: Request,
        /// How often its intent took effect upstream, this call included.
        effects: u8,
        /// Who was told that it does not take effect, if anybody was.
        denied: Option<Denied>,
    },
    /// A lease was taken that another agent had before.
    LeasePassed {
        /// A call under the earlier lease is open.
        open: bool,
    },
    /// A handle that carries state became known to a foreign agent.
    StateShown {
        /// The agent.
        agent: u8,
        /// The handle.
        handle: Handle,
    },
    /// An answer reached the agent that waited for it.
    Received {
        /// The call's request.
        request: Request,
        /// The answer.
        answer: Answer,
        /// What the handle names for which the call was refused, when the answer is received; looked up for refusals only.
        instance: Option<Instance>,
    },
    /// A resource was deleted and created anew under the same handle.
    Recreated {
        /// The handle.
        handle: Handle,
        /// The predecessor.
        before: Instance,
        /// The successor.
        after: Instance,
    },
    /// A principal lost its permission on a resource.
    Revoked {
        /// A call of it that changes that resource is open.
        open: bool,
    },
    /// The answer of a mint was lost: whoever asked may not know the handle.
    MintLost,
    /// What answers one principal holds something of another: a table of replies at a node, or a read cache.
    SharedWithOther,
    /// An agent that knew a handle was compacted.
    Compacted,
    /// An agent's harness reacted to an event.
    Reacted {
        /// To what.
        event: Event,
        /// What it did.
        response: Response,
    },
    /// An agent is told what became of an intent.
    Told {
        /// The agent.
        agent: u8,
        /// The entry of its work list.
        entry: u8,
        /// What it is told.
        told: Told,
        /// What had become of the intent, by whichever of its entries.
        ledger: IntentLedger,
        /// The view on which the agent stopped shows the intent's effect.
        shown: bool,
        /// The intent's call was repeated, refused or broken.
        troubled: bool,
        /// A handler that has answered is still at work on what is missing of it.
        promised: bool,
    },
    /// The handler that was still at work on what was told `ok` has ended, or was lost.
    Unkept {
        /// The agent that was told.
        agent: u8,
        /// The entry of its work list.
        entry: u8,
        /// What is missing of the intent.
        missing: Missing,
    },
}
