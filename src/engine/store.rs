//! Every state that was found, packed, in the order in which it was found, and how.
//!
//! How is kept of all. The states themselves may be forgotten, chunk by chunk, once they were expanded.

use std::collections::BTreeMap;

use super::packing::Layout;

/// States of one chunk. Chunks are never moved, so growing takes no second copy of anything.
const CHUNK: usize = 1 << 14;

/// How a state was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    /// The state before it.
    pub parent: u32,
    /// Which of the transitions of that state it was.
    pub ordinal: u16,
    /// Faults on the way from the initial state.
    pub faults: u8,
}

pub(super) struct Store {
    pub layout: Layout,
    chunks: Vec<Vec<u64>>,
    /// Single states that stay though their chunks are forgotten.
    kept: BTreeMap<u32, Box<[u64]>>,
    parents: Chunked<u32>,
    ordinals: Chunked<u16>,
    faults: Chunked<u8>,
}

impl Store {
    pub fn new(layout: Layout) -> Self {
        let (parents, ordinals, faults) = (Chunked::new(), Chunked::new(), Chunked::new());
        Self { layout, chunks: Vec::new(), kept: BTreeMap::new(), parents, ordinals, faults }
    }

    pub const fn len(&self) -> usize {
        self.parents.len
    }

    /// The packed state of an index.
    #[inline]
    pub fn packed(&self, index: u32) -> &[u64] {
        let (chunk, at) = (index as usize / CHUNK, index as usize % CHUNK);
        let words = self.layout.words();
        self.chunks[chunk].get(at * words..(at + 1) * words).unwrap_or_else(|| self.kept(index))
    }

    #[cold]
    fn kept(&self, index: u32) -> &[u64] {
        self.kept.get(&index).expect("whoever looks at a state that was forgotten has made it again")
    }

    /// Forgets all states before this one, by whole chunks.
    pub fn forget(&mut self, before: usize) {
        // What comes next is added to the last chunk.
        let last = self.chunks.len().saturating_sub(1);
        let past = self.chunks[..last.min(before / CHUNK)].iter_mut().rev();
        past.take_while(|chunk| chunk.capacity() > 0).for_each(|chunk| *chunk = Vec::new());
    }

    /// Keeps a state whatever is forgotten.
    pub fn keep(&mut self, index: u32, packed: &[u64]) {
        self.kept.insert(index, packed.into());
    }

    pub fn unpack(&self, index: u32, state: &mut [u32]) {
        self.layout.unpack(self.packed(index), state);
    }

    pub fn origin(&self, index: u32) -> Origin {
        let at = index as usize;
        Origin { parent: self.parents.get(at), ordinal: self.ordinals.get(at), faults: self.faults.get(at) }
    }

    #[inline]
    pub fn faults(&self, index: u32) -> u8 {
        self.faults.get(index as usize)
    }

    /// Adds a state that is new.
    pub fn push(&mut self, packed: &[u64], origin: Origin) {
        self.push_packed(packed);
        self.parents.push(origin.parent);
        self.ordinals.push(origin.ordinal);
        self.faults.push(origin.faults);
    }

    /// Moves every state into another layout, by so many threads.
    pub fn repack(&mut self, layout: Layout, threads: usize) {
        let part = self.chunks.len().div_ceil(threads).max(1);
        let old = std::mem::replace(&mut self.layout, layout);
        let new = &self.layout;
        std::thread::scope(|scope| {
            let mut parts = self.chunks.chunks_mut(part);
            let own = parts.next();
            for chunks in parts {
                scope.spawn(|| chunks.iter_mut().for_each(|chunk| old.repack(new, chunk)));
            }
            own.into_iter().flatten().for_each(|chunk| old.repack(new, chunk));
        });
        for packed in self.kept.values_mut() {
            let mut words = packed.to_vec();
            old.repack(new, &mut words);
            *packed = words.into_boxed_slice();
        }
    }

    fn push_packed(&mut self, packed: &[u64]) {
        let full = CHUNK * self.layout.words();
        if self.chunks.last().is_none_or(|chunk| chunk.len() == full) {
            // Small explorations are many: the first chunk grows as it needs.
            let room = if self.chunks.is_empty() { 0 } else { full };
            self.chunks.push(Vec::with_capacity(room));
        }
        self.chunks.last_mut().expect("there is room").extend_from_slice(packed);
    }

    /// Bytes that all of it takes.
    pub fn bytes(&self) -> usize {
        let words: usize = self.chunks.iter().map(|chunk| chunk.capacity() * 8).sum();
        words + self.parents.bytes() + self.ordinals.bytes() + self.faults.bytes()
    }
}

/// A list that grows without being moved.
struct Chunked<T> {
    chunks: Vec<Vec<T>>,
    len: usize,
}

impl<T: Copy> Chunked<T> {
    const fn new() -> Self {
        Self { chunks: Vec::new(), len: 0 }
    }

    #[inline]
    fn get(&self, index: usize) -> T {
        self.chunks[index / CHUNK][index % CHUNK]
    }

    fn push(&mut self, item: T) {
        if self.len.is_multiple_of(CHUNK) {
            let room = if self.chunks.is_empty() { 0 } else { CHUNK };
            self.chunks.push(Vec::with_capacity(room));
        }
        self.chunks.last_mut().expect("there is room").push(item);
        self.len += 1;
    }

    fn bytes(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.capacity() * size_of::<T>()).sum()
    }
}
