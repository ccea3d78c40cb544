//! The words of a log: what a call asks for, how it ended, whether a resource has ended.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::model::vocabulary::named;
use crate::model::{Outcome, Told};
use crate::suggest::{did_you_mean, one_of};

named! {
    /// What a call asks for. The three kinds of change are told apart, since they erase different things.
    Operation {
        /// Creates a resource and answers its handle.
        Mint = "mint",
        /// Answers a view of a resource.
        Read = "read",
        /// Sets fields to values, whatever they were.
        Set = "set",
        /// Appends to a list.
        Append = "append",
        /// Adds to a number.
        Increment = "increment",
        /// Ends a resource: closed.
        Close = "close",
        /// Stores what the approver saw as approved.
        Approve = "approve",
        /// Ends a resource: executed.
        Execute = "execute",
        /// Ends a resource: deleted.
        Delete = "delete",
    }
}

impl Operation {
    /// Whether it changes something when it is accepted.
    #[must_use]
    pub const fn changes(self) -> bool {
        !matches!(self, Self::Read)
    }

    /// What is wrong with doing this to another resource in a call that does `own` to its own.
    #[must_use]
    pub const fn misfit(self, own: Self) -> Option<&'static str> {
        match (own, self) {
            (Self::Read, Self::Read) => None,
            (Self::Read, _) => Some("what a read does besides is `read`"),
            (_, Self::Set | Self::Append | Self::Increment) => None,
            _ => Some("what is changed besides is set, appended to or incremented"),
        }
    }

    /// Whether it ends its resource.
    #[must_use]
    pub const fn ends(self) -> bool {
        matches!(self, Self::Close | Self::Execute | Self::Delete)
    }
}

named! {
    /// Whether a resource has ended, and how.
    Lifecycle {
        /// It can be changed.
        Open = "open",
        /// It was closed.
        Closed = "closed",
        /// It was executed.
        Executed = "executed",
        /// It was deleted.
        Deleted = "deleted",
        /// Its time was up.
        Expired = "expired",
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ended {
    /// By one of the outcomes that models know.
    As(Outcome),
    /// By a refusal that models have no word for; it says that nothing happened.
    Refused,
}

impl Ended {
    /// The word for a refusal that models have no word for.
    pub const REFUSED: &'static str = "refused";

    /// The name, as logs spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::As(outcome) => outcome.name(),
            Self::Refused => Self::REFUSED,
        }
    }

    /// The outcome of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        if name == Self::REFUSED { Some(Self::Refused) } else { Outcome::named(name).map(Self::As) }
    }

    /// Every name.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Outcome::ALL.iter().map(|outcome| outcome.name()).chain([Self::REFUSED])
    }

    /// It says that the call was carried out.
    #[must_use]
    pub const fn is_ok(self) -> bool {
        matches!(self, Self::As(Outcome::Ok))
    }

    /// It says nothing about whether the call was carried out.
    #[must_use]
    pub const fn is_unknown(self) -> bool {
        matches!(self, Self::As(Outcome::Unknown))
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// The value of a name, or what is wrong with the name.
fn known<'n, T, E: Error>(
    what: &str,
    name: &str,
    found: Option<T>,
    names: impl Iterator<Item = &'n str>,
) -> Result<T, E> {
    found.ok_or_else(|| {
        let names: Vec<&str> = names.collect();
        let help = did_you_mean(name, names.iter().copied()).unwrap_or_else(|| format!("expected {}", one_of(names)));
        E::custom(format!("there is no {what} `{name}`; {help}"))
    })
}

/// Reads and writes a word by its name.
macro_rules! by_name {
    ($($name:ident: $what:literal, $names:expr;)+) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = std::borrow::Cow::<str>::deserialize(deserializer)?;
                known($what, &name, Self::named(&name), $names)
            }
        }
    )+};
}

by_name! {
    Operation: "tool", Self::ALL.iter().map(|value| value.name());
    Lifecycle: "lifecycle", Self::ALL.iter().map(|value| value.name());
    Ended: "outcome", Self::names();
}

/// What an agent told, which models know without files.
pub(super) mod told {
    use super::{Deserialize, Deserializer, Serializer, Told, known};

    pub fn serialize<S: Serializer>(told: &Told, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(told.name())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Told, D::Error> {
        let name = std::borrow::Cow::<str>::deserialize(deserializer)?;
        known("word for what is told,", &name, Told::named(&name), Told::ALL.iter().map(|told| told.name()))
    }
}
