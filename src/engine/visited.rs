//! The set of visited states: which states were found, and in which order.
//!
//! An entry is 64 bits: a fingerprint and the index of the state. The table falls into shards by the hash, so that threads
//! can insert side by side and a growing table is never copied as a whole. Insertion is in two steps: look up a whole batch
//! of candidates, then number those that are new in the order of the batch. So the numbers do not depend on the threads.

/// Shards, by the top bits of the hash.
pub(super) const SHARDS: usize = 64;

/// Candidates that are looked up side by side, so that waiting for memory overlaps.
const BLOCK: usize = 32;

/// Entries of an empty shard.
const LEAST: usize = 16;

/// One shard: open addressing with linear probing, at most three quarters full. 0 is an empty place.
pub(super) struct Shard {
    entries: Vec<u64>,
    count: usize,
    /// Where what this batch added stands, and as which candidate.
    fresh: Vec<(u32, u32)>,
}

/// The shard of a hash.
#[inline]
pub(super) const fn shard(hash: u64) -> usize {
    (hash >> 58) as usize
}

/// The part of a hash that is kept. Never 0.
const fn fingerprint(hash: u64) -> u64 {
    (hash & 0xffff_ffff) | 1
}

impl Shard {
    pub fn new() -> Self {
        Self { entries: vec![0; LEAST], count: 0, fresh: Vec::new() }
    }

    /// Bytes that the shard takes.
    pub const fn bytes(&self) -> usize {
        (self.entries.capacity() + self.fresh.capacity()) * 8
    }

    const fn wanted(&self, more: usize) -> usize {
        let mut wanted = self.entries.len();
        while (self.count + more) * 4 > wanted * 3 {
            wanted *= 2;
        }
        wanted
    }

    /// The place where a probe begins. The fingerprint alone decides, so a table grows without looking at states.
    #[inline]
    fn start(&self, fingerprint: u64) -> usize {
        // The lengths are powers of two below 2^32.
        let shift = 32 - self.entries.len().trailing_zeros();
        usize::try_from(fingerprint >> shift).expect("a fingerprint has 32 bits")
    }

    fn reserve(&mut self, more: usize) {
        let wanted = self.wanted(more);
        if wanted == self.entries.len() {
            return;
        }
        let old = std::mem::replace(&mut self.entries, vec![0; wanted]);
        let mask = wanted - 1;
        for entry in old.into_iter().filter(|entry| *entry != 0) {
            let mut at = self.start(entry >> 32);
            while self.entries[at] != 0 {
                at = (at + 1) & mask;
            }
            self.entries[at] = entry;
        }
    }

    /// The index of a state, if it is in the table. `same(index)`: the state of that index is the one looked for.
    pub fn find(&self, hash: u64, same: impl Fn(u32) -> bool) -> Option<u32> {
        let print = fingerprint(hash);
        let mask = self.entries.len() - 1;
        let mut at = self.start(print);
        loop {
            let entry = self.entries[at];
            if entry == 0 {
                return None;
            }
            if entry >> 32 == print && same(index(entry)) {
                return Some(index(entry));
            }
            at = (at + 1) & mask;
        }
    }

    /// Adds those candidates that are new. `candidates` are the hashes and the provisional indices; `same(known, candidate)`
    /// compares the state of an index, provisional or not, with a candidate.
    pub fn insert(&mut self, candidates: &[(u64, u32)], same: impl Fn(u32, u32) -> bool) {
        self.fresh.clear();
        self.reserve(candidates.len());
        let mask = self.entries.len() - 1;
        let mut first = [0_u64; BLOCK];
        for block in candidates.chunks(BLOCK) {
            // These loads do not wait for one another.
            for (entry, (hash, _)) in first.iter_mut().zip(block) {
                *entry = self.entries[self.start(fingerprint(*hash))];
            }
            std::hint::black_box(&first);
            for &(hash, candidate) in block {
                let print = fingerprint(hash);
                let mut at = self.start(print);
                loop {
                    let entry = self.entries[at];
                    if entry == 0 {
                        self.entries[at] = (print << 32) | u64::from(candidate);
                        self.count += 1;
                        self.fresh.push((u32::try_from(at).expect("a shard is below 2^32"), candidate));
                        break;
                    }
                    if entry >> 32 == print && same(index(entry), candidate) {
                        break;
                    }
                    at = (at + 1) & mask;
                }
            }
        }
    }

    /// The candidates that the last batch added.
    pub fn fresh(&self) -> impl Iterator<Item = u32> + '_ {
        self.fresh.iter().map(|(_, candidate)| *candidate)
    }

    /// Gives those candidates their real indices.
    pub fn settle(&mut self, real: impl Fn(u32) -> u32) {
        for (at, candidate) in self.fresh.drain(..) {
            let entry = &mut self.entries[at as usize];
            *entry = (*entry & !0xffff_ffff) | u64::from(real(candidate));
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the lower half is the index")]
#[inline]
const fn index(entry: u64) -> u32 {
    entry as u32
}
