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
pub struct Intents([u64; WORDS]);

const WORDS: usize = 4;

impl Intents {
    /// The empty set.
    pub const NONE: Self = Self([0; WORDS]);
    /// The change of every field that a re-creation is.
    pub const NOBODY: Self = Self::of(Self::MOST);
    /// More intents than this a set can't tell apart: they are numbered from 0 to one less.
    pub const MOST: usize = 64 * WORDS - 1;

    /// The set of this intent alone.
    #[must_use]
    pub const fn of(intent: usize) -> Self {
        let mut words = [0; WORDS];
        words[intent / 64] = 1 << (intent % 64);
        Self(words)
    }

    /// Whether the intent is in the set.
    #[must_use]
    pub const fn contains(self, intent: usize) -> bool {
        self.0[intent / 64] & (1 << (intent % 64)) != 0
    }

    /// Whether the set is empty.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self == Self::NONE
    }

    /// What is in either.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        self.zip(other, |one, other| one | other)
    }

    /// What is in both.
    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        self.zip(other, |one, other| one & other)
    }

    /// What is in this and not in the other.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        self.zip(other, |one, other| one & !other)
    }

    fn zip(self, other: Self, combine: impl Fn(u64, u64) -> u64) -> Self {
        Self(std::array::from_fn(|word| combine(self.0[word], other.0[word])))
    }

    /// The intents in the set, in the order of the scenario.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..Self::MOST).filter(move |intent| self.contains(*intent))
    }
}

impl fmt::Debug for Intents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
