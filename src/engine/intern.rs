//! Each distinct component is stored once and is afterwards a `u32`.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// The store of all distinct components.
pub struct Interner<C> {
    values: Vec<C>,
    hashes: Vec<u64>,
    table: HashTable<u32>,
}

impl<C: Clone + Eq + Hash> Interner<C> {
    pub fn new() -> Self {
        Self { values: Vec::new(), hashes: Vec::new(), table: HashTable::new() }
    }

    /// The id of this component, a new one if it was not seen before.
    pub fn intern(&mut self, value: C) -> u32 {
        let hash = FxBuildHasher.hash_one(&value);
        if let Some(&id) = self.table.find(hash, |&id| self.values[id as usize] == value) {
            return id;
        }
        let id = u32::try_from(self.values.len()).expect("fewer than 2^32 components fit in memory");
        self.values.push(value);
        self.hashes.push(hash);
        self.table.insert_unique(hash, id, |&id| self.hashes[id as usize]);
        id
    }

    /// How many distinct components there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// A hash of the component's content, the same whatever its id.
    pub fn hash(&self, id: u32) -> u64 {
        self.hashes[id as usize]
    }
}

impl<C> Interner<C> {
    /// The component of that id.
    pub fn get(&self, id: u32) -> &C {
        &self.values[id as usize]
    }
}
