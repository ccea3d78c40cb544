//! Each distinct component of a slot is stored once, and is afterwards a small number.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// The store of all distinct components, slot by slot.
pub struct Interner<C> {
    slots: Vec<Slot<C>>,
}

struct Slot<C> {
    values: Vec<C>,
    hashes: Vec<u64>,
    table: HashTable<u32>,
    /// What each component adds to the hash of a state.
    shares: Vec<u64>,
}

impl<C: Clone + Eq + Hash> Interner<C> {
    /// An empty store for states of so many slots.
    pub fn new(width: usize) -> Self {
        let slot = || Slot { values: Vec::new(), hashes: Vec::new(), table: HashTable::new(), shares: Vec::new() };
        Self { slots: (0..width).map(|_| slot()).collect() }
    }

    /// The id of this component in this slot, a new one if it was not seen there before.
    pub fn intern(&mut self, slot: usize, value: C) -> u32 {
        let hash = FxBuildHasher.hash_one(&value);
        let share = share(slot, hash);
        let Slot { values, hashes, table, shares } = &mut self.slots[slot];
        if let Some(&id) = table.find(hash, |&id| values[id as usize] == value) {
            return id;
        }
        let id = u32::try_from(values.len()).expect("fewer than 2^32 components fit in memory");
        values.push(value);
        hashes.push(hash);
        shares.push(share);
        table.insert_unique(hash, id, |&id| hashes[id as usize]);
        id
    }
}

impl<C> Interner<C> {
    /// How many slots a state has.
    pub const fn width(&self) -> usize {
        self.slots.len()
    }

    /// How many distinct components there are in a slot.
    pub fn len(&self, slot: usize) -> usize {
        self.slots[slot].values.len()
    }

    /// The component of that id in that slot.
    pub fn get(&self, slot: usize, id: u32) -> &C {
        &self.slots[slot].values[id as usize]
    }

    /// A hash of the component's content, the same whatever its id and slot.
    pub fn content_hash(&self, slot: usize, id: u32) -> u64 {
        self.slots[slot].hashes[id as usize]
    }

    /// What a component adds to the hash of a state: the same whatever its id.
    #[inline]
    pub fn share(&self, slot: usize, id: u32) -> u64 {
        self.slots[slot].shares[id as usize]
    }

    /// The hash of a state: the sum of what its components add, so it does not depend on the order in which they were met.
    #[inline]
    pub fn hash(&self, state: &[u32]) -> u64 {
        self.slots.iter().zip(state).fold(0, |sum, (slot, &id)| sum.wrapping_add(slot.shares[id as usize]))
    }
}

/// A mix of slot and content.
const fn share(slot: usize, hash: u64) -> u64 {
    let salted = hash ^ (slot as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (salted ^ (salted >> 32)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 32)
}
