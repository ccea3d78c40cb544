//! Remembers the results of pure functions by what they read.
//!
//! A function asks for slots one after another, and which slot it asks for next may depend on what it has read. So the
//! memory of one function is a tree: each inner node names the slot that is read next, each edge the component found
//! there, each leaf a result. What a function depends on is thereby observed, not declared, and can't be wrong.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// The trees of any number of functions.
#[derive(Default)]
pub struct Memo {
    nodes: Vec<Node>,
    /// The children of inner nodes by the component found, a stretch for each node; 0: none there (no tree's root is a child,
    /// and the first root is node 0).
    dense: Vec<u32>,
    /// Those whose component lies beyond the stretch.
    sparse: HashMap<(u32, u32), u32, FxBuildHasher>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Node {
    Unknown,
    /// The slot that is read next, how many children there are, and their stretch.
    Read {
        slot: u16,
        children: u32,
        start: u32,
        length: u32,
    },
    Leaf(u32),
}

impl Memo {
    /// The root of a new function.
    pub fn root(&mut self) -> u32 {
        let root = u32::try_from(self.nodes.len()).expect("fewer than 2^32 memory nodes fit in memory");
        self.nodes.push(Node::Unknown);
        root
    }

    /// The leaf for this state, if the function was run before on the components that it reads.
    #[inline]
    pub fn find(&self, root: u32, state: &[u32]) -> Option<u32> {
        let mut at = root;
        loop {
            match self.nodes[at as usize] {
                Node::Leaf(leaf) => return Some(leaf),
                Node::Read { slot, start, length, .. } => {
                    let id = state[usize::from(slot)];
                    at = if id < length { self.dense[(start + id) as usize] } else { *self.sparse.get(&(at, id))? };
                    if at == 0 {
                        return None;
                    }
                }
                Node::Unknown => return None,
            }
        }
    }

    /// Remembers that the function, run on this state, read these slots in this order and had this result.
    pub fn insert(&mut self, root: u32, state: &[u32], reads: &[u16], leaf: u32) {
        let mut at = root;
        for &slot in reads {
            self.read(at, slot);
            at = self.child(at, state[usize::from(slot)]);
        }
        let known = &mut self.nodes[at as usize];
        if *known == Node::Unknown {
            *known = Node::Leaf(leaf);
        }
        assert_eq!(*known, Node::Leaf(leaf), "{PURE}");
    }

    /// A node at which a slot is read.
    fn read(&mut self, at: u32, slot: u16) {
        let known = &mut self.nodes[at as usize];
        if *known == Node::Unknown {
            *known = Node::Read { slot, children: 0, start: 0, length: 0 };
        }
        assert!(matches!(*known, Node::Read { slot: other, .. } if other == slot), "{PURE}");
    }

    /// The child of an inner node, a new one if there was none.
    fn child(&mut self, at: u32, id: u32) -> u32 {
        let Node::Read { slot, children, start, length } = self.nodes[at as usize] else {
            unreachable!("only inner nodes have children")
        };
        let known = if id < length {
            Some(self.dense[(start + id) as usize]).filter(|child| *child != 0)
        } else {
            self.sparse.get(&(at, id)).copied()
        };
        if let Some(child) = known {
            return child;
        }
        let child = self.root();
        let children = children + 1;
        self.nodes[at as usize] = Node::Read { slot, children, start, length };
        if id < length {
            self.dense[(start + id) as usize] = child;
        } else if id / EMPTY_PER_CHILD < children {
            self.stretch(at, id);
            let Node::Read { start, .. } = self.nodes[at as usize] else { unreachable!("it is an inner node") };
            self.dense[(start + id) as usize] = child;
        } else {
            self.sparse.insert((at, id), child);
        }
        child
    }

    /// Makes the stretch of a node long enough for a component.
    fn stretch(&mut self, at: u32, id: u32) {
        let Node::Read { slot, children, start, length } = self.nodes[at as usize] else {
            unreachable!("only inner nodes have children")
        };
        let longer = (id + 1).next_power_of_two();
        let moved = u32::try_from(self.dense.len()).expect("fewer than 2^32 children fit in memory");
        self.dense.extend_from_within(start as usize..(start + length) as usize);
        for id in length..longer {
            self.dense.push(self.sparse.remove(&(at, id)).unwrap_or(0));
        }
        self.nodes[at as usize] = Node::Read { slot, children, start: moved, length: longer };
    }
}

/// A stretch may have so many places for each child.
const EMPTY_PER_CHILD: u32 = 8;

const PURE: &str = "a step is a pure function: what it reads next depends on what it read before only";
