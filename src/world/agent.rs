//! Clients and subagents: what they know, and what they are about to do.

use super::call::{Key, Request, Stamp};
use super::content::Content;
use super::resource::Handle;
use crate::model::free::Occasion;
use crate::model::{Event, Tool};

/// A client or subagent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Agent {
    /// Index of the agent in the scenario.
    pub id: u8,
    /// Its place in its work list; the length of the list when it is done, or has left the rest.
    pub entry: u8,
    /// What its next or open call is for.
    pub errand: Errand,
    /// How its next or open call came about.
    pub attempt: Attempt,
    /// For each entry of its work list, the number of its last plan. Forgotten when the entry is done, unless the
    /// harness may have to come back to it.
    pub plans: Vec<Option<u16>>,
    /// For each entry, the number of its first plan, where the harness may have to come back to it under the same key.
    pub first_plans: Vec<Option<u16>>,
    /// It came back to its entry, and uses the key of its first plan.
    pub under_first_plan: bool,
    /// Something that it has yet to react to, in a way that it chooses; only where its harness is free to.
    pub undecided: Option<Box<Undecided>>,
    /// A request that it will send again.
    pub pending: Option<Request>,
    /// How often it sent the current intent's mutating call; stays 0 where attempts are unbounded.
    pub sends: u8,
    /// A stream broke while it worked on the current intent; stays false where attempts are unbounded.
    pub broke: bool,
    /// It had to mint anew, and repeats the entries on that resource.
    pub redo: Option<Redo>,
    /// The call whose stream broke and that it will issue again under its request id, where such ids are reused and something
    /// depends on them.
    pub reissue: Option<Reissue>,
    /// It never moves again.
    pub stopped: bool,
    /// The views that it had of the resources that its plan rests on, when it decided to plan anew: kept until the new plan
    /// is sent.
    pub old: Vec<(Handle, View)>,
    /// What it knows of each resource.
    pub known: Vec<Known>,
}

/// What an agent has yet to react to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Undecided {
    /// What happened.
    pub occasion: Occasion,
    /// To which call.
    pub request: Request,
    /// The versions that the answer named as current.
    pub current: Vec<Stamp>,
}

/// An agent does the entries on a resource again that it minted anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Redo {
    /// The entry that it was at when it had to mint anew.
    pub until: u8,
    /// Under new keys.
    pub new_key: bool,
}

/// A call that is issued again under its request id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reissue {
    /// The tool that it calls.
    pub tool: Tool,
    /// The resource that it is about.
    pub resource: u8,
    /// The number of its issue.
    pub issue: u16,
}

/// What an agent knows of one resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Known {
    /// Its handle.
    pub handle: Option<Handle>,
    /// Its view: what it believes.
    pub view: Option<View>,
    /// Keys that leaked with the handle.
    pub leaked: Vec<Key>,
    /// The state that the handle carries, where it carries state.
    pub token: Option<View>,
    /// It knew the handle, and lost it in a compaction.
    pub forgotten: bool,
}

/// What an agent believes of a resource: as read, as handed on, or as it must be after its own accepted change.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct View {
    /// The version, where it is known.
    pub version: Option<u16>,
    /// The content, where it is known.
    pub content: Option<Content>,
    /// The fence number that came with it.
    pub fence: Option<u16>,
}

/// What a call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Errand {
    /// Nothing was sent yet for this entry.
    Begin,
    /// Reading before planning: the resource at this place of the list of those that the entry needs.
    Reading {
        /// Why.
        purpose: Purpose,
        /// How many of them are read already.
        done: u8,
    },
    /// Reading to see whether the intent took effect.
    Verify,
    /// The entry itself: a read, or the mutating call of an intent.
    Act,
}

/// Why an agent reads before it plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// It needs a view and has none, or its harness always reads before it writes.
    Look,
    /// It plans anew: because of this event, where it asks what was read whether it should.
    Replan(Option<Event>),
}

/// How a call came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Attempt {
    /// It is the first send.
    First,
    /// It repeats an earlier one.
    Repeat,
    /// It follows a refusal.
    Replan,
}
