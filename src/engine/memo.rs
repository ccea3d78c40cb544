//! Remembers the results of pure functions by what they read.
//!
//! A function asks for slots one after another, and which slot it asks for next may depend on what it has read. So the
//! memory of one function is a tree: each inner node names the slot that is read next, each edge the component found
//! there, each leaf a result. What a function depends on is thereby observed, not declared, and can't be wrong.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::aspects::Aspects;

/// The trees of any number of functions.
#[derive(Default)]
pub(super) struct Memo {
    /// What stands in the slots behind the real ones.
    pub aspects: Aspects,
    nodes: Vec<Node>,
    /// The children of inner nodes by the component found, a stretch for each node; 0: none there (no tree's root is a child,
    /// and the first root is node 0). A child is a node or, with the bit [`LEAF`], a result.
    dense: Vec<u32>,
    /// Those whose component lies beyond the stretch.
    sparse: HashMap<(u32, u32), u32, FxBuildHasher>,
}

/// An inner node, or the root of a function that reads nothing.
#[derive(Clone, Copy)]
struct Node {
    /// The slot that is read next; [`UNKNOWN`] and [`NOTHING`] are none.
    slot: u16,
    /// How many children there are.
    children: u32,
    /// Their stretch; of a function that reads nothing, the result.
    start: u32,
    length: u32,
}

/// What is read here is not known yet.
const UNKNOWN: u16 = u16::MAX;

/// The function reads nothing.
const NOTHING: u16 = u16::MAX - 1;

/// Marks a child that is a result.
const LEAF: u32 = 1 << 31;

impl Memo {
    /// The root of a new function. Those of functions that are made in a row follow one another.
    pub fn root(&mut self) -> u32 {
        let root = u32::try_from(self.nodes.len()).ok().filter(|root| *root < LEAF);
        let root = root.expect("fewer than 2^31 memory nodes fit in memory");
        self.nodes.push(Node { slot: UNKNOWN, children: 0, start: 0, length: 0 });
        root
    }

    /// The leaf for this state, if the function was run before on the components that it reads.
    #[inline]
    pub fn find(&self, root: u32, state: &[u32]) -> Option<u32> {
        let mut at = root;
        loop {
            let Node { slot, start, length, .. } = self.nodes[at as usize];
            let id = match state.get(usize::from(slot)) {
                Some(id) => *id,
                None if slot == NOTHING => return Some(start),
                None => self.aspects.find(slot, state)?,
            };
            at = if id < length { self.dense[(start + id) as usize] } else { *self.sparse.get(&(at, id))? };
            if at & LEAF != 0 {
                return Some(at & !LEAF);
            }
            if at == 0 {
                return None;
            }
        }
    }

    /// Remembers that the function, run on this state, read these slots in this order and had this result.
    pub fn insert(&mut self, root: u32, state: &[u32], reads: &[u16], leaf: u32) {
        assert!(leaf < LEAF, "fewer than 2^31 results fit in memory");
        let mut at = root;
        let Some((last, before)) = reads.split_last() else {
            let known = &mut self.nodes[root as usize];
            assert!(known.slot == UNKNOWN || (known.slot, known.start) == (NOTHING, leaf), "{PURE}");
            (known.slot, known.start) = (NOTHING, leaf);
            return;
        };
        for &slot in before {
            self.read(at, slot);
            at = self.child(at, self.read_at(slot, state), None);
            assert!(at & LEAF == 0, "{PURE}");
        }
        self.read(at, *last);
        let known = self.child(at, self.read_at(*last, state), Some(leaf | LEAF));
        assert_eq!(known, leaf | LEAF, "{PURE}");
    }

    /// What is read in a slot, or behind the slots.
    fn read_at(&self, slot: u16, state: &[u32]) -> u32 {
        let id = state.get(usize::from(slot)).copied().or_else(|| self.aspects.find(slot, state));
        id.expect("what was read is known")
    }

    /// A node at which a slot is read.
    fn read(&mut self, at: u32, slot: u16) {
        let known = &mut self.nodes[at as usize];
        if known.slot == UNKNOWN {
            known.slot = slot;
        }
        assert_eq!(known.slot, slot, "{PURE}");
    }

    /// The child of an inner node; if there was none, this one, or else a new node.
    fn child(&mut self, at: u32, id: u32, new: Option<u32>) -> u32 {
        let Node { children, start, length, .. } = self.nodes[at as usize];
        let known = if id < length {
            Some(self.dense[(start + id) as usize]).filter(|child| *child != 0)
        } else {
            self.sparse.get(&(at, id)).copied()
        };
        if let Some(child) = known {
            return child;
        }
        let child = new.unwrap_or_else(|| self.root());
        let children = children + 1;
        self.nodes[at as usize].children = children;
        if id < length {
            self.dense[(start + id) as usize] = child;
        } else if id / EMPTY_PER_CHILD < children {
            self.stretch(at, id);
            let start = self.nodes[at as usize].start;
            self.dense[(start + id) as usize] = child;
        } else {
            self.sparse.insert((at, id), child);
        }
        child
    }

    /// Makes the stretch of a node long enough for a component.
    fn stretch(&mut self, at: u32, id: u32) {
        let Node { start, length, .. } = self.nodes[at as usize];
        let longer = (id + 1).next_power_of_two();
        let moved = u32::try_from(self.dense.len()).expect("fewer than 2^32 children fit in memory");
        self.dense.extend_from_within(start as usize..(start + length) as usize);
        for id in length..longer {
            self.dense.push(self.sparse.remove(&(at, id)).unwrap_or(0));
        }
        let node = &mut self.nodes[at as usize];
        (node.start, node.length) = (moved, longer);
    }
}

/// A stretch may have so many places for each child.
const EMPTY_PER_CHILD: u32 = 8;

const PURE: &str = "a step is a pure function: what it reads next depends on what it read before only";
