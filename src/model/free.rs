//! Clients of which nothing is known: what of its settings a harness chooses anew, each time that it matters.

use super::client::{AfterFailure, BeforeWrite, KeyPolicy, Payload, Precondition, Presents};
use super::scenario::Carried;
use super::vocabulary::{Outcome, Told, named};
use super::{Client, Event, Reaction};

/// How often a client that chooses anew sends a call for one intent, unless its settings bound it.
pub const ATTEMPTS: u8 = 2;

named! {
    /// What of its settings a client may choose anew, each time that it matters (`any`).
    Free {
        /// What a changing call carries.
        Payload = "payload",
        /// Which versions it expects.
        Precondition = "precondition",
        /// Which key it presents.
        Key = "key",
        /// Whether it reads before a write.
        BeforeWrite = "before-write",
        /// What it keeps in a compaction.
        Keeps = "keeps",
        /// Whether it writes without a view.
        Blind = "blind",
        /// Whether it presents its own key, or one that leaked.
        Presents = "presents",
        /// What it does with each event, and with the rest of its work once it was told anything but `ok`.
        On = "on",
    }
}

/// What a client that is free has to react to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Occasion {
    /// A refusal, or a broken stream.
    Event(Event),
    /// It has forgotten a handle that it needs, and reacts as to `not-found`: there is nothing that it could send.
    Forgot,
    /// It has looked whether its intent took effect, and it does not show: all that is left is to tell.
    Looked,
}

impl Occasion {
    /// The event to which `[client.on]` has a reaction.
    #[must_use]
    pub const fn event(self) -> Option<Event> {
        match self {
            Self::Event(event) => Some(event),
            Self::Forgot => Some(Event::Refused(Outcome::NotFound)),
            Self::Looked => None,
        }
    }
}

/// What a client that is free may choose from: each choice is a whole client, its own settings first, then those that differ
/// from them in least.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    /// For what it sends.
    pub sends: Vec<Client>,
    /// For what it keeps in a compaction.
    pub keeps: Vec<Client>,
}

impl Client {
    /// What goes without saying for a client that chooses: it sends a call only so often, and does not set out to read before
    /// every write where it chooses that each time.
    pub(super) fn settle(&mut self) {
        if !self.any.is_empty() {
            self.attempts = self.attempts.or(Some(ATTEMPTS));
        }
        if self.is_free(Free::BeforeWrite) {
            self.before_write = BeforeWrite::Nothing;
        }
    }

    /// Whether it chooses this anew each time.
    #[must_use]
    pub fn is_free(&self, what: Free) -> bool {
        self.any.contains(&what)
    }

    /// Whether it may present keys that leaked to it.
    #[must_use]
    pub fn may_present_leaked_keys(&self) -> bool {
        self.presents == Presents::LeakedKey || self.is_free(Free::Presents)
    }

    /// Whether it may send the whole content.
    #[must_use]
    pub fn may_send_snapshots(&self) -> bool {
        self.payload == Payload::Snapshot || self.is_free(Free::Payload)
    }

    /// Whether it may say which version it expects.
    #[must_use]
    pub fn may_expect_versions(&self) -> bool {
        self.precondition != Precondition::None || self.is_free(Free::Precondition)
    }

    /// Whether it may present a key at all.
    #[must_use]
    pub fn may_present_keys(&self) -> bool {
        self.key != KeyPolicy::None || self.is_free(Free::Key)
    }

    /// What it may choose from where it sends, and where its context is compacted. One, where it is not free.
    #[must_use]
    pub fn choices(&self) -> Choices {
        Choices { sends: self.ways_to_send(), keeps: self.ways_to_keep() }
    }

    fn ways_to_send(&self) -> Vec<Self> {
        let payloads = self.values(Free::Payload, self.payload, Payload::ALL);
        let preconditions = self.values(Free::Precondition, self.precondition, Precondition::ALL);
        let keys = self.values(Free::Key, self.key, KeyPolicy::ALL);
        let reads = self.values(Free::BeforeWrite, self.before_write, BeforeWrite::ALL);
        let blinds = self.values(Free::Blind, self.blind, &[false, true]);
        let mut ways = vec![(0, self.clone())];
        ways = vary(ways, &payloads, |client, value| client.payload = value);
        ways = vary(ways, &preconditions, |client, value| client.precondition = value);
        ways = vary(ways, &keys, |client, value| client.key = value);
        ways = vary(ways, &reads, |client, value| client.before_write = value);
        ways = vary(ways, &blinds, |client, value| client.blind = value);
        nearest_first(ways)
    }

    fn ways_to_keep(&self) -> Vec<Self> {
        if !self.is_free(Free::Keeps) {
            return vec![self.clone()];
        }
        let [none, all] = [0, 1 << Carried::ALL.len()];
        let subset = |bits: u32| {
            let chosen = Carried::ALL.iter().enumerate().filter(|(place, _)| bits & (1 << place) != 0);
            Self { keeps: chosen.map(|(_, part)| *part).collect(), ..self.clone() }
        };
        let differs = |client: &Self| {
            Carried::ALL.iter().filter(|part| client.keeps.contains(part) != self.keeps.contains(part)).count()
        };
        let ways = (none..all).map(subset).map(|client| (differs(&client), client));
        nearest_first(ways.collect())
    }

    /// How it may react, where that is free. `mints`: it may mint anew.
    #[must_use]
    pub fn ways_to_react(&self, occasion: Occasion, mints: bool) -> Vec<Self> {
        let event = occasion.event();
        let sends = occasion != Occasion::Forgot;
        let tells = match event {
            // What no client is told by looking, it does not tell: only one whose settings say so does.
            Some(_) => vec![Told::Failure, Told::Unknown, Told::Conflict],
            None => vec![Told::Unknown],
        };
        let mut reactions: Vec<Reaction> = event.map(|event| self.reaction(event)).into_iter().collect();
        if event.is_some() {
            for new_key in [false, true] {
                reactions.push(Reaction::Same { new_key });
                reactions.push(Reaction::SameWithNewVersion { new_key });
                reactions.push(Reaction::Replan { new_key, only_if: None });
                reactions.push(Reaction::Mint { new_key });
            }
            reactions.push(Reaction::Read);
        }
        reactions.extend(tells.into_iter().map(Reaction::Tell));
        reactions.retain(|reaction| match reaction {
            Reaction::Mint { .. } => mints,
            Reaction::Tell(_) => true,
            _ => sends,
        });
        let other = if self.after_failure == AfterFailure::Stop { AfterFailure::Next } else { AfterFailure::Stop };
        let mut ways: Vec<Self> = Vec::new();
        for after_failure in [self.after_failure, other] {
            for reaction in &reactions {
                let mut way = Self { after_failure, ..self.clone() };
                if self.is_free(Free::Key) {
                    // It keeps the key of a call that it sends again, unless it chooses another.
                    way.key = KeyPolicy::PerIntent;
                }
                if let Some(event) = event {
                    way.on.insert(event, reaction.clone());
                }
                if !ways.contains(&way) {
                    ways.push(way);
                }
            }
        }
        ways
    }

    /// The values of a setting: its own first, and all others where it is free.
    fn values<T: Copy + PartialEq>(&self, what: Free, own: T, all: &[T]) -> Vec<T> {
        let others = all.iter().copied().filter(|value| self.is_free(what) && *value != own);
        std::iter::once(own).chain(others).collect()
    }
}

/// Each of these with each of these values, of which the first changes nothing.
fn vary<T: Copy>(
    ways: Vec<(usize, Client)>,
    values: &[T],
    set: impl Fn(&mut Client, T) + Copy,
) -> Vec<(usize, Client)> {
    let varied = ways.into_iter().flat_map(|(differs, way)| {
        values.iter().enumerate().map(move |(place, value)| {
            let mut way = way.clone();
            set(&mut way, *value);
            (differs + usize::from(place > 0), way)
        })
    });
    varied.collect()
}

fn nearest_first(mut ways: Vec<(usize, Client)>) -> Vec<Client> {
    ways.sort_by_key(|(differs, _)| *differs);
    ways.into_iter().map(|(_, way)| way).collect()
}
