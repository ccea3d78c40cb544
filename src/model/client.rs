//! The client's harness: what it sends, and what it does with every refusal.

use std::collections::BTreeMap;

use super::design::NewFields;
use super::free::Free;
use super::scenario::Carried;
use super::vocabulary::{Outcome, Told, named};

/// The client settings of one agent for one tool, every default filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// What a mutating call carries.
    pub payload: Payload,
    /// Which versions it expects.
    pub precondition: Precondition,
    /// Which key it presents.
    pub key: KeyPolicy,
    /// What it does before each write.
    pub before_write: BeforeWrite,
    /// What survives a compaction of its context.
    pub keeps: Vec<Carried>,
    /// What it does with the rest of its work once it was told anything but `ok`.
    pub after_failure: AfterFailure,
    /// Bound on sends per intent; `None` is unbounded.
    pub attempts: Option<u8>,
    /// It writes without a view too, and then sends its change alone, with no version.
    pub blind: bool,
    /// Whose key it presents.
    pub presents: Presents,
    /// What becomes of fields that it does not know, in a content that it sends.
    pub new_fields: NewFields,
    /// What of this it chooses anew, each time that it matters.
    pub any: Vec<Free>,
    /// Its reaction to each event; events that are missing have [`default_reaction`].
    pub on: BTreeMap<Event, Reaction>,
}

/// Some client settings: what one table of a file says. What is `None` or missing is left as it was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientPart {
    /// See [`Client::payload`].
    pub payload: Option<Payload>,
    /// See [`Client::precondition`].
    pub precondition: Option<Precondition>,
    /// See [`Client::key`].
    pub key: Option<KeyPolicy>,
    /// See [`Client::before_write`].
    pub before_write: Option<BeforeWrite>,
    /// See [`Client::keeps`].
    pub keeps: Option<Vec<Carried>>,
    /// See [`Client::after_failure`].
    pub after_failure: Option<AfterFailure>,
    /// See [`Client::attempts`]; `Some(None)` is `"unbounded"`.
    pub attempts: Option<Option<u8>>,
    /// See [`Client::blind`].
    pub blind: Option<bool>,
    /// See [`Client::presents`].
    pub presents: Option<Presents>,
    /// See [`Client::new_fields`].
    pub new_fields: Option<NewFields>,
    /// See [`Client::any`].
    pub any: Option<Vec<Free>>,
    /// See [`Client::on`].
    pub on: BTreeMap<Event, Reaction>,
}

impl Default for Client {
    fn default() -> Self {
        Self {
            payload: Payload::Snapshot,
            precondition: Precondition::None,
            key: KeyPolicy::None,
            before_write: BeforeWrite::Nothing,
            keeps: vec![Carried::Handle],
            after_failure: AfterFailure::Stop,
            attempts: None,
            blind: false,
            presents: Presents::OwnKey,
            new_fields: NewFields::Kept,
            any: Vec::new(),
            on: BTreeMap::new(),
        }
    }
}

impl Client {
    /// Takes over everything that `part` says.
    pub fn override_with(&mut self, part: &ClientPart) {
        let ClientPart {
            payload,
            precondition,
            key,
            before_write,
            keeps,
            after_failure,
            attempts,
            blind,
            presents,
            new_fields,
            any,
            on,
        } = part.clone();
        self.payload = payload.unwrap_or(self.payload);
        self.precondition = precondition.unwrap_or(self.precondition);
        self.key = key.unwrap_or(self.key);
        self.before_write = before_write.unwrap_or(self.before_write);
        if let Some(keeps) = keeps {
            self.keeps = keeps;
        }
        self.after_failure = after_failure.unwrap_or(self.after_failure);
        self.attempts = attempts.unwrap_or(self.attempts);
        self.blind = blind.unwrap_or(self.blind);
        self.presents = presents.unwrap_or(self.presents);
        self.new_fields = new_fields.unwrap_or(self.new_fields);
        if let Some(any) = any {
            self.any = any;
        }
        self.on.extend(on);
    }

    /// What the harness does with this event.
    #[must_use]
    pub fn reaction(&self, event: Event) -> Reaction {
        self.on.get(&event).cloned().unwrap_or_else(|| default_reaction(event))
    }
}

/// The reaction to an event that no file speaks of.
#[must_use]
pub const fn default_reaction(event: Event) -> Reaction {
    match event {
        Event::BrokenStream | Event::Refused(Outcome::InProgress | Outcome::Locked) => {
            Reaction::Same { new_key: false }
        }
        Event::Refused(Outcome::LeaseLost) => Reaction::Replan { new_key: true, only_if: None },
        Event::Refused(_) => Reaction::Tell(Told::Failure),
    }
}

/// Something that a harness reacts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Event {
    /// The response stream broke.
    BrokenStream,
    /// The call was refused. Never `Refused(Outcome::Ok)`.
    Refused(Outcome),
}

impl Event {
    /// Its name under `[client.on]`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BrokenStream => "broken-stream",
            Self::Refused(outcome) => outcome.name(),
        }
    }

    /// Every event, in the order of the documentation.
    pub fn all() -> impl Iterator<Item = Self> {
        let refusals = Outcome::ALL.iter().filter(|outcome| **outcome != Outcome::Ok);
        std::iter::once(Self::BrokenStream).chain(refusals.map(|outcome| Self::Refused(*outcome)))
    }
}

/// What a harness does with an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// `send = "same"`: the same arguments in a new request.
    Same {
        /// `key = "new"`; by default the key stays the same.
        new_key: bool,
    },
    /// `send = "same-with-new-version"`: the old payload under the current version number.
    SameWithNewVersion {
        /// `key = "new"`, the default.
        new_key: bool,
    },
    /// `send = "replan"`: read again, apply the intent to what is there.
    Replan {
        /// `key = "new"`, the default.
        new_key: bool,
        /// Only under this condition, else another reaction.
        only_if: Option<(Condition, Box<Reaction>)>,
    },
    /// `send = "read"`: verify by reading; `ok` if the content shows it, else `unknown`.
    Read,
    /// `send = "mint"`: back to the entry that minted; all entries on that resource again.
    Mint {
        /// `key = "new"`, the default; with `"same"` each intent uses the key of its first plan.
        new_key: bool,
    },
    /// `tell = ..`: final.
    Tell(Told),
}

named! {
    /// When a replan goes ahead. Both are judged on the content that the renewed read shows.
    Condition {
        /// The old view and the new one agree on the fields that the intent sets or rests on.
        Disjoint = "disjoint",
        /// The content does not show what the intent wants.
        Unsatisfied = "unsatisfied",
    }
}

named! {
    /// What a mutating call carries.
    Payload {
        /// The whole content as viewed, with the change in it.
        Snapshot = "snapshot",
        /// The change alone.
        Change = "change",
    }
}

named! {
    /// Which versions a mutating call expects.
    Precondition {
        /// None.
        None = "none",
        /// Of the resource that it changes.
        ViewedVersion = "viewed-version",
        /// Also of what it changes besides, and of those that it is `given`.
        EveryViewedVersion = "every-viewed-version",
    }
}

named! {
    /// Which key a mutating call presents.
    KeyPolicy {
        /// None.
        None = "none",
        /// One for each plan of an intent.
        PerIntent = "per-intent",
        /// A new one for every send.
        PerAttempt = "per-attempt",
        /// A hash of tool, handle, operation and expected versions.
        HashOfArguments = "hash-of-arguments",
        /// One constant for all work of all clients.
        Reused = "reused",
    }
}

named! {
    /// What a client does before each write.
    BeforeWrite {
        /// Nothing.
        Nothing = "nothing",
        /// It reads again.
        ReadAgain = "read-again",
    }
}

named! {
    /// What an agent does once it was told anything but `ok`.
    AfterFailure {
        /// It leaves the rest of its work.
        Stop = "stop",
        /// It goes on with its next entry.
        Next = "next",
    }
}

named! {
    /// Whose key an agent presents.
    Presents {
        /// Its own.
        OwnKey = "own-key",
        /// The keys that leaked with the handle, where there are any.
        LeakedKey = "leaked-key",
    }
}
