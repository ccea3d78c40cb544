//! A small exact filter in front of the table of visited states.

use super::packing::Layout;

/// The states that were found last. Most successors are found several times in a row, and these need no look-up.
#[derive(Default)]
pub(super) struct Filter {
    words: usize,
    entries: Vec<u64>,
}

impl Filter {
    const PLACES: usize = 1 << 12;

    #[inline]
    fn place(&self, hash: u64) -> usize {
        (usize::try_from(hash & 0xffff_ffff).expect("32 bits") % Self::PLACES) * (self.words + 1)
    }

    #[inline]
    pub fn knows(&self, hash: u64, packed: &[u64]) -> bool {
        if self.entries.is_empty() {
            return false;
        }
        let at = self.place(hash);
        self.entries[at] == hash && Layout::same(&self.entries[at + 1..=at + self.words], packed)
    }

    pub fn remember(&mut self, hash: u64, packed: &[u64]) {
        if self.entries.is_empty() {
            self.words = packed.len();
            self.entries = vec![0; Self::PLACES * (self.words + 1)];
        }
        let at = self.place(hash);
        self.entries[at] = hash;
        self.entries[at + 1..=at + self.words].copy_from_slice(packed);
    }
}
