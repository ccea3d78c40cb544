//! States as few bits as they need: each slot takes as many as its components have been numbered with.

/// Where the id of each slot lies in the words of a packed state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    fields: Vec<Field>,
    words: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Field {
    word: u32,
    shift: u32,
    bits: u32,
}

impl Field {
    #[inline]
    const fn get(self, state: &[u64]) -> u32 {
        let mask = (1_u64 << self.bits) - 1;
        #[expect(clippy::cast_possible_truncation, reason = "a field has at most 32 bits")]
        let id = ((state[self.word as usize] >> self.shift) & mask) as u32;
        id
    }

    #[inline]
    const fn put(self, state: &mut [u64], id: u32) {
        let mask = (1_u64 << self.bits) - 1;
        let word = &mut state[self.word as usize];
        *word = (*word & !(mask << self.shift)) | ((id as u64) << self.shift);
    }
}

impl Layout {
    /// A layout for slots that hold so many different components each.
    pub fn new(counts: &[usize]) -> Self {
        // A slot that has changed may go on to do so: one spare bit saves most of the repacking.
        let bits = |count: usize| match count {
            0 | 1 => 0,
            _ => usize::BITS - (count - 1).leading_zeros() + u32::from(count < 1 << 12) + u32::from(count < 1 << 6),
        };
        let mut order: Vec<(u32, usize)> = counts.iter().map(|count| bits(*count)).zip(0..).collect();
        order.sort_by_key(|(bits, slot)| (std::cmp::Reverse(*bits), *slot));
        let mut used: Vec<u32> = Vec::new();
        let mut fields = vec![Field { word: 0, shift: 0, bits: 0 }; counts.len()];
        for (bits, slot) in order {
            let word = used.iter().position(|used| used + bits <= 64).unwrap_or_else(|| {
                used.push(0);
                used.len() - 1
            });
            fields[slot] = Field { word: u32::try_from(word).expect("few words"), shift: used[word] % 64, bits };
            used[word] += bits;
        }
        // A field of no bits may stand behind a full word; it must not be shifted by 64.
        Self { fields, words: used.len().max(1) }
    }

    /// Words of one packed state.
    pub const fn words(&self) -> usize {
        self.words
    }

    /// Slots of a state.
    pub const fn width(&self) -> usize {
        self.fields.len()
    }

    /// Whether an id of this slot has room.
    #[inline]
    pub fn holds(&self, slot: usize, id: u32) -> bool {
        u64::from(id) < 1 << self.fields[slot].bits
    }

    /// Adds to what turns a packed state into one with another component in a slot: the words differ by it, exclusively or-ed.
    pub fn exchange(&self, slot: usize, before: u32, after: u32, difference: &mut [u64]) {
        let Field { word, shift, .. } = self.fields[slot];
        difference[word as usize] ^= u64::from(before ^ after) << shift;
    }

    /// The id in a slot of a packed state.
    #[inline]
    pub fn get(&self, packed: &[u64], slot: usize) -> u32 {
        self.fields[slot].get(packed)
    }

    #[inline]
    pub fn put(&self, packed: &mut [u64], slot: usize, id: u32) {
        self.fields[slot].put(packed, id);
    }

    pub fn pack(&self, state: &[u32], packed: &mut [u64]) {
        packed.fill(0);
        for (field, &id) in self.fields.iter().zip(state) {
            field.put(packed, id);
        }
    }

    /// Whether two packed states are the same. They are too short for a call to be worth it.
    #[inline]
    pub fn same(one: &[u64], other: &[u64]) -> bool {
        one.iter().zip(other).all(|(one, other)| one == other)
    }

    #[inline]
    pub fn unpack(&self, packed: &[u64], state: &mut [u32]) {
        for (field, id) in self.fields.iter().zip(state) {
            *id = field.get(packed);
        }
    }

    /// Moves packed states, one behind the other, into another layout. As much room is left for more as there was.
    pub fn repack(&self, new: &Self, states: &mut Vec<u64>) {
        let mut state = vec![0; self.width()];
        let mut moved = Vec::with_capacity(states.capacity() / self.words * new.words);
        let mut packed = vec![0; new.words];
        for one in states.chunks_exact(self.words) {
            self.unpack(one, &mut state);
            new.pack(&state, &mut packed);
            moved.extend_from_slice(&packed);
        }
        *states = moved;
    }
}
