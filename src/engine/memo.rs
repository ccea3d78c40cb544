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
    edges: HashMap<(u32, u32), u32, FxBuildHasher>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Node {
    Unknown,
    Read(u16),
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
                Node::Read(slot) => at = *self.edges.get(&(at, state[usize::from(slot)]))?,
                Node::Unknown => return None,
            }
        }
    }

    /// Remembers that the function, run on this state, read these slots in this order and had this result.
    pub fn insert(&mut self, root: u32, state: &[u32], reads: &[u16], leaf: u32) {
        let mut at = root;
        for &slot in reads {
            self.settle(at, Node::Read(slot));
            let key = (at, state[usize::from(slot)]);
            at = if let Some(&next) = self.edges.get(&key) {
                next
            } else {
                let next = self.root();
                self.edges.insert(key, next);
                next
            };
        }
        self.settle(at, Node::Leaf(leaf));
    }

    fn settle(&mut self, at: u32, node: Node) {
        let known = &mut self.nodes[at as usize];
        if *known == Node::Unknown {
            *known = node;
        }
        assert_eq!(*known, node, "a step is a pure function: what it reads next depends on what it read before only");
    }
}
