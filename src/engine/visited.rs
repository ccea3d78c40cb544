//! The set of visited states: which states were found, and in which order.
//!
//! An entry is 64 bits. Where states are compared as a whole, they are a part of the hash and the index of the state. Where
//! states are known by their hashes alone, they are the hash, and a place to note that the state was expanded: the table falls
//! into shards by the first six bits of the hash, so an entry need not hold these.
//!
//! Threads can insert side by side into different shards, and a growing table is never copied as a whole. Insertion is in two
//! steps: look up a whole batch of candidates, then number those that are new in the order of the batch. So the numbers do not
//! depend on the threads.

/// Shards, by the top bits of the hash.
pub(super) const SHARDS: usize = 64;

/// The bits of a hash by which its shard is found.
const SHARD_BITS: u32 = SHARDS.trailing_zeros();

/// Candidates that are looked up side by side, so that waiting for memory overlaps.
const BLOCK: usize = 32;

/// Entries of an empty shard.
const LEAST: usize = 16;

/// The part of an entry that holds the index of a state, where states are compared as a whole.
const INDEX: u64 = 0xffff_ffff;

/// Where states are known by their hashes alone: the place is taken.
const TAKEN: u64 = 1;

/// Where states are known by their hashes alone: the state was expanded.
const EXPANDED: u64 = 2;

/// One shard: open addressing with linear probing, at most three quarters full. 0 is an empty place. Entries lie in the order
/// of their hashes, or nearly, so a table that grows is gone through from one end to the other.
#[repr(align(128))]
pub(super) struct Shard {
    entries: Vec<u64>,
    count: usize,
    /// Where what this batch added stands, and as which candidate.
    fresh: Vec<(u32, u32)>,
    /// The part of an entry that is compared.
    print: u64,
    /// A bit of that part that is set in every entry.
    taken: u64,
}

/// The shard of a hash.
#[inline]
pub(super) const fn shard(hash: u64) -> usize {
    (hash >> (u64::BITS - SHARD_BITS)) as usize
}

impl Shard {
    /// An empty shard. `compact`: states are known by so many bits of their hashes alone, at least 6 and at most 64.
    pub fn new(compact: Option<u32>) -> Self {
        let (print, taken) = match compact {
            None => (!INDEX, INDEX + 1),
            Some(bits) => (u64::MAX.checked_shl(u64::BITS + SHARD_BITS - bits).unwrap_or(0) | TAKEN, TAKEN),
        };
        Self { entries: vec![0; LEAST], count: 0, fresh: Vec::new(), print, taken }
    }

    /// Bytes that the shard takes.
    pub const fn bytes(&self) -> usize {
        (self.entries.capacity() + self.fresh.capacity()) * 8
    }

    #[inline]
    const fn is_compact(&self) -> bool {
        self.taken == TAKEN
    }

    /// What is kept of a hash. Never 0.
    #[inline]
    const fn key(&self, hash: u64) -> u64 {
        ((hash << SHARD_BITS) & self.print) | self.taken
    }

    /// The place where a probe begins. What is kept of the hash alone decides, so a table grows without looking at states.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "it is less than the length")]
    const fn start(&self, key: u64) -> usize {
        ((key as u128 * self.entries.len() as u128) >> 64) as usize
    }

    #[inline]
    const fn after(&self, at: usize) -> usize {
        if at + 1 == self.entries.len() { 0 } else { at + 1 }
    }

    fn reserve(&mut self, more: usize) {
        let mut wanted = self.entries.len();
        while (self.count + more) * 4 > wanted * 3 {
            // By a third: whoever asks for little memory should not get a table that is half empty.
            wanted = wanted.div_ceil(3) * 4;
        }
        if wanted == self.entries.len() {
            return;
        }
        let old = std::mem::replace(&mut self.entries, vec![0; wanted]);
        for entry in old.into_iter().filter(|entry| *entry != 0) {
            let mut at = self.start(entry & self.print);
            while self.entries[at] != 0 {
                at = self.after(at);
            }
            self.entries[at] = entry;
        }
    }

    /// Where a state stands, if it is in the table.
    #[inline]
    fn place(&self, hash: u64, same: impl Fn(u32) -> bool) -> Option<usize> {
        let key = self.key(hash);
        let mut at = self.start(key);
        loop {
            let entry = self.entries[at];
            if entry == 0 {
                return None;
            }
            if entry & self.print == key && same(index(entry)) {
                return Some(at);
            }
            at = self.after(at);
        }
    }

    /// The index of a state, if it is in the table. `same(index)`: the state of that index is the one looked for.
    pub fn find(&self, hash: u64, same: impl Fn(u32) -> bool) -> Option<u32> {
        debug_assert!(!self.is_compact(), "where only hashes are kept, no state has an index");
        Some(index(self.entries[self.place(hash, same)?]))
    }

    /// Where states are known by their hashes alone: notes that a state was expanded, which is in the table.
    pub fn expand(&mut self, hash: u64) {
        let at = self.place(hash, |_| true).expect("what is expanded was found");
        self.entries[at] |= EXPANDED;
    }

    /// Where states are known by their hashes alone: whether a state is in the table.
    pub fn knows(&self, hash: u64) -> bool {
        self.place(hash, |_| true).is_some()
    }

    /// Where states are known by their hashes alone: whether a state is in the table and was expanded.
    pub fn is_expanded(&self, hash: u64) -> bool {
        self.place(hash, |_| true).is_some_and(|at| self.entries[at] & EXPANDED != 0)
    }

    /// Begins a batch of so many candidates.
    pub fn begin(&mut self, candidates: usize) {
        self.fresh.clear();
        self.reserve(candidates);
    }

    /// Adds those candidates of the batch that are new. They are the hashes and the provisional indices; `same(known, candidate)`
    /// compares the state of an index, provisional or not, with a candidate, where states are compared; `touch` loads a part of
    /// the state of an index.
    pub fn insert(&mut self, candidates: &[(u64, u32)], same: impl Fn(u32, u32) -> bool, touch: impl Fn(u32) -> u64) {
        let compact = self.is_compact();
        let mut first = [0_u64; BLOCK];
        for block in candidates.chunks(BLOCK) {
            // These loads do not wait for one another.
            for (entry, (hash, _)) in first.iter_mut().zip(block) {
                *entry = self.entries[self.start(self.key(*hash))];
            }
            if !compact {
                // Nor do these, of what most of the candidates will be compared with.
                for (entry, (hash, _)) in first.iter_mut().zip(block) {
                    *entry = if *entry & self.print == self.key(*hash) { touch(index(*entry)) } else { 0 };
                }
            }
            std::hint::black_box(&first);
            for &(hash, candidate) in block {
                let key = self.key(hash);
                let mut at = self.start(key);
                loop {
                    let entry = self.entries[at];
                    if entry == 0 {
                        self.entries[at] = if compact { key } else { key & !INDEX | u64::from(candidate) };
                        self.count += 1;
                        self.fresh.push((u32::try_from(at).expect("a shard is below 2^32"), candidate));
                        break;
                    }
                    if entry & self.print == key && (compact || same(index(entry), candidate)) {
                        break;
                    }
                    at = self.after(at);
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
        if self.is_compact() {
            self.fresh.clear();
            return;
        }
        for (at, candidate) in self.fresh.drain(..) {
            let entry = &mut self.entries[at as usize];
            *entry = (*entry & !INDEX) | u64::from(real(candidate));
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the lower half is the index")]
#[inline]
const fn index(entry: u64) -> u32 {
    entry as u32
}
