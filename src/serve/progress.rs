//! How far a call is, how a driver wants the dice to fall, and what ends a transaction.

use serde::{Deserialize, Serialize};

use super::answer::Answer;
use super::request::Fields;

/// What a handler has done so far.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Progress {
    /// How many transactions it has run.
    pub executed: i64,
    /// The next transaction of the handler, or of its `at-end` list when it is ending.
    pub next: usize,
    /// The answer is known, and `at-end` transactions are left.
    pub ending: bool,
    /// The handler's working copy.
    pub working: Option<Fields>,
    /// The version that it loaded.
    pub loaded: Option<i64>,
    /// The answer so far; its outcome is `ok` until a step says otherwise.
    pub answer: Answer,
    /// What this call's own claim on its key names.
    pub claim: Option<String>,
    /// The fence number that this call was given.
    pub grant: Option<i64>,
    /// How many of its changes it has made, where it makes them one by one.
    pub written: usize,
    /// What it wrote over, where it may have to take that back.
    #[serde(default)]
    pub wrote: Option<Wrote>,
    /// What it has done to the other resource of the call, while it is at its own.
    #[serde(default)]
    pub aside: Aside,
    /// It has answered, or was cancelled, and goes on.
    pub answered: bool,
}

/// What a handler has done to the other resource of a call. See the fields of [`Progress`] that are called so.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Aside {
    /// See [`Progress::working`].
    pub working: Option<Fields>,
    /// See [`Progress::loaded`].
    pub loaded: Option<i64>,
    /// See [`Progress::written`].
    pub written: usize,
    /// See [`Progress::grant`].
    pub grant: Option<i64>,
    /// See [`Progress::wrote`].
    pub wrote: Option<Wrote>,
}

/// What a call wrote over.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wrote {
    /// Nothing: it made what this handle names.
    Anew(String),
    /// What was there before.
    Over {
        /// The content.
        content: Fields,
        /// Whether it could still be changed.
        lifecycle: String,
        /// What was approved.
        approved: Option<Fields>,
    },
}

impl Progress {
    /// Nothing was done yet of a call on this handle.
    #[must_use]
    pub const fn start(handle: Option<String>) -> Self {
        Self {
            executed: 0,
            next: 0,
            ending: false,
            working: None,
            loaded: None,
            answer: Answer::about(handle),
            claim: None,
            grant: None,
            written: 0,
            wrote: None,
            aside: Aside::new(),
            answered: false,
        }
    }

    /// The handler turns to the other resource of the call: what it did to the one is put aside.
    pub fn turn(&mut self) {
        let Self { working, loaded, written, grant, wrote, aside, .. } = self;
        std::mem::swap(working, &mut aside.working);
        std::mem::swap(loaded, &mut aside.loaded);
        std::mem::swap(written, &mut aside.written);
        std::mem::swap(grant, &mut aside.grant);
        std::mem::swap(wrote, &mut aside.wrote);
    }

    /// Forgets the working copies: the outcome is decided.
    pub fn end_work(&mut self) {
        (self.working, self.loaded) = (None, None);
        (self.aside.working, self.aside.loaded) = (None, None);
    }
}

impl Aside {
    const fn new() -> Self {
        Self { working: None, loaded: None, written: 0, grant: None, wrote: None }
    }
}

/// How a driver wants the dice to fall in one transaction. By default as they do by themselves.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Order {
    /// The coarse clock ticks, or stands; not said: it is the machine's.
    pub clock_ticks: Option<bool>,
    /// The transaction commits, and the node takes it for failed.
    pub error: bool,
    /// A read is served from before the latest change, or from the latest; not said: a copy lags behind for a while.
    pub lags: Option<bool>,
}

/// What ends a call, or its transaction.
#[derive(Debug)]
pub enum Stop {
    /// A step ends the call with this answer.
    Answer(Box<Answer>),
    /// The arguments don't fit what is stored.
    Invalid(String),
    /// The store failed.
    Store(rusqlite::Error),
    /// Somebody else goes on with the call.
    Elsewhere,
}

impl From<rusqlite::Error> for Stop {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error)
    }
}

/// What a step comes to.
pub type Passed = Result<(), Stop>;
