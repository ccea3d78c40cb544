//! Sets of slots, and what something reads and writes.

/// A set of slots, each below 128.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SlotSet(u128);

impl SlotSet {
    /// No slot.
    pub const NONE: Self = Self(0);
    /// Every slot.
    pub const ALL: Self = Self(u128::MAX);

    /// Whether the set knows this slot from all others.
    #[must_use]
    pub const fn tells_apart(slot: usize) -> bool {
        slot < 127
    }

    /// One slot of the set, by itself; nothing of an empty one.
    #[must_use]
    pub const fn first(&self) -> Self {
        Self(self.0 & self.0.wrapping_neg())
    }

    /// Adds a slot. Those from 127 on share one place, which can only make sets meet that need not.
    pub const fn insert(&mut self, slot: usize) {
        self.0 |= 1 << if Self::tells_apart(slot) { slot } else { 127 };
    }

    /// Whether the set is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0 == 0
    }

    /// Whether two sets have a slot in common.
    #[must_use]
    pub const fn meets(&self, other: &Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether every slot of this set is in the other one.
    #[must_use]
    pub const fn is_within(&self, other: &Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// Adds all slots of another set.
    pub const fn extend(&mut self, other: &Self) {
        self.0 |= other.0;
    }

    /// The slots of this set that are not in the other one.
    #[must_use]
    pub const fn without(&self, other: &Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl FromIterator<usize> for SlotSet {
    fn from_iter<I: IntoIterator<Item = usize>>(slots: I) -> Self {
        let mut set = Self::NONE;
        slots.into_iter().for_each(|slot| set.insert(slot));
        set
    }
}

/// How many kinds of reads there may be that decide about nothing but a witness.
pub const GHOSTS: usize = 4;

/// What something reads and writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Footprint {
    /// The slots that it reads.
    pub reads: SlotSet,
    /// The slots that it writes.
    pub writes: SlotSet,
    /// The slots that it reads for nothing but a witness, by kind.
    pub peeks: [SlotSet; GHOSTS],
}

impl Footprint {
    /// Nothing at all.
    pub const NONE: Self = Self { reads: SlotSet::NONE, writes: SlotSet::NONE, peeks: [SlotSet::NONE; GHOSTS] };
    /// Everything.
    pub const ALL: Self = Self { reads: SlotSet::ALL, writes: SlotSet::ALL, peeks: [SlotSet::ALL; GHOSTS] };

    /// What of it counts while these kinds of reads for witnesses are of interest: these as reads, and the others not at all.
    #[must_use]
    pub fn with_ghosts(&self, interesting: u8) -> Reach {
        let mut reads = self.reads;
        for (ghost, peeks) in self.peeks.iter().enumerate().filter(|(ghost, _)| interesting & (1 << ghost) != 0) {
            debug_assert!(ghost < GHOSTS, "kinds are below the number of kinds");
            reads.extend(peeks);
        }
        Reach { reads, writes: self.writes }
    }
}

/// What something reads and writes, as far as it counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// The slots that it reads.
    pub reads: SlotSet,
    /// The slots that it writes.
    pub writes: SlotSet,
}

impl Reach {
    /// Whether one of the two writes what the other reads or writes.
    #[must_use]
    #[inline]
    pub const fn conflicts(&self, other: &Self) -> bool {
        self.writes.meets(&other.writes) || self.writes.meets(&other.reads) || self.reads.meets(&other.writes)
    }

    /// Whether this reads and writes no more than the other.
    #[must_use]
    pub const fn is_within(&self, other: &Self) -> bool {
        self.reads.is_within(&other.reads) && self.writes.is_within(&other.writes)
    }

    /// Adds what another reads and writes.
    pub const fn extend(&mut self, other: &Self) {
        self.reads.extend(&other.reads);
        self.writes.extend(&other.writes);
    }

    /// The same without some slots.
    #[must_use]
    pub const fn without(&self, slots: &SlotSet) -> Self {
        Self { reads: self.reads.without(slots), writes: self.writes.without(slots) }
    }
}
