//! Contents of resources, and which accepted changes they show.

use std::fmt;

use crate::model::Value;

/// The content of a resource: its fields, in the order of the scenario.
pub type Content = Vec<Field>;

/// A field's value and the changes that made it what it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Field {
    /// Its value.
    pub value: Value,
    /// The intents whose change of this field it shows (ghost: no actor sees it).
    pub shows: Intents,
}

/// A set of intents, by their number in the scenario; and perhaps a change that nobody intended.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Intents(u64);

impl Intents {
    /// The empty set.
    pub const NONE: Self = Self(0);
    /// The change of every field that a re-creation is.
    pub const NOBODY: Self = Self(1 << 63);

    /// The set of this intent alone.
    #[must_use]
    pub const fn of(intent: usize) -> Self {
        Self(1 << intent)
    }

    /// Whether the intent is in the set.
    #[must_use]
    pub const fn contains(self, intent: usize) -> bool {
        self.0 & (1 << intent) != 0
    }

    /// Whether the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// What is in either.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What is in both.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// What is in this and not in the other.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The intents in the set, in the order of the scenario.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..63).filter(move |intent| self.contains(*intent))
    }
}

impl fmt::Debug for Intents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
