//! What is known of a system so far: its components, and the results of its functions by what they read.
//!
//! Asking is one thing and learning another: many threads may ask at the same time, and what they don't find is learnt by
//! one of them afterwards, in an order that does not depend on their number.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::intern::Interner;
use super::memo::Memo;
use super::numbering::{Numbering, Renaming, TooManyNumbers};
use super::slots::{Footprint, SlotSet};
use super::symmetry::{Orbits, Turn};
use super::{Access, Class, Observations, System};

/// Something that is not known yet.
#[derive(Clone, Copy, Debug)]
pub(super) enum Miss {
    Menu(usize),
    Part(u32, usize),
    Observation(bool),
    Pending,
    Future(usize),
    Renaming(Renaming),
    Turn(Turn),
}

/// The actions of one source that are enabled.
pub(super) struct Menu {
    pub actions: Box<[u32]>,
    /// Some of them are moves of the system proper.
    pub progress: bool,
    /// Some of them are, and are fair.
    pub certain: bool,
    /// What decides about the menu.
    pub reads: SlotSet,
}

/// The result of one part of an action, or of an observation.
pub(super) struct Leaf {
    pub writes: Box<[(u16, u32)]>,
    pub observations: Observations,
    pub footprint: Footprint,
}

pub(super) struct ActionEntry<A> {
    pub action: A,
    pub class: Class,
    pub fair: bool,
    pub kind: u16,
    /// The memory of each part.
    roots: Box<[u32]>,
}

impl<A> ActionEntry<A> {
    #[inline]
    pub const fn parts(&self) -> usize {
        self.roots.len()
    }
}

pub(super) struct Knowledge<'s, S: System> {
    pub system: &'s S,
    pub interner: Interner<S::Component>,
    pub numbering: Numbering,
    pub orbits: Orbits,
    pub menus: Vec<Menu>,
    pub leaves: Vec<Leaf>,
    pub actions: Vec<ActionEntry<S::Action>>,
    futures: Vec<Footprint>,
    memo: Memo,
    source_roots: Vec<u32>,
    future_roots: Vec<u32>,
    observe_roots: [u32; 2],
    pending_root: u32,
    action_ids: HashMap<S::Action, u32, FxBuildHasher>,
    /// How many results were computed.
    pub computed: u64,
}

impl<'s, S: System> Knowledge<'s, S> {
    /// `members`: the symmetries up to which states are one.
    pub fn new(system: &'s S, width: usize, members: Vec<usize>) -> Self {
        let mut memo = Memo::default();
        let sources = 0..system.sources();
        Self {
            system,
            interner: Interner::new(width),
            numbering: Numbering::default(),
            orbits: Orbits::new(system, members, width),
            menus: Vec::new(),
            leaves: Vec::new(),
            actions: Vec::new(),
            futures: Vec::new(),
            source_roots: sources.clone().map(|_| memo.root()).collect(),
            future_roots: sources.map(|_| memo.root()).collect(),
            observe_roots: [memo.root(), memo.root()],
            pending_root: memo.root(),
            memo,
            action_ids: HashMap::default(),
            computed: 0,
        }
    }

    pub const fn sources(&self) -> usize {
        self.source_roots.len()
    }

    /// The enabled actions of a source.
    #[inline]
    pub fn menu(&self, source: usize, state: &[u32]) -> Result<&Menu, Miss> {
        Ok(&self.menus[self.menu_id(source, state)? as usize])
    }

    /// The enabled actions of a source, as an index into `menus`.
    #[inline]
    pub fn menu_id(&self, source: usize, state: &[u32]) -> Result<u32, Miss> {
        self.memo.find(self.source_roots[source], state).ok_or(Miss::Menu(source))
    }

    /// The result of one part of an action, as an index into `leaves`.
    #[inline]
    pub fn part(&self, action: u32, part: usize, state: &[u32]) -> Result<u32, Miss> {
        self.memo.find(self.actions[action as usize].roots[part], state).ok_or(Miss::Part(action, part))
    }

    /// What is observed in a state, as an index into `leaves`.
    #[inline]
    pub fn observation(&self, quiescent: bool, state: &[u32]) -> Result<u32, Miss> {
        self.memo.find(self.observe_roots[usize::from(quiescent)], state).ok_or(Miss::Observation(quiescent))
    }

    /// Whether something is pending in a state.
    pub fn pending(&self, state: &[u32]) -> Result<bool, Miss> {
        Ok(self.memo.find(self.pending_root, state).ok_or(Miss::Pending)? == 1)
    }

    /// What a source may still read and write.
    #[inline]
    pub fn future(&self, source: usize, state: &[u32]) -> Result<&Footprint, Miss> {
        let leaf = self.memo.find(self.future_roots[source], state).ok_or(Miss::Future(source))?;
        Ok(&self.futures[leaf as usize])
    }

    /// Learns what was missed in a state.
    pub fn learn(&mut self, state: &[u32], miss: Miss) -> Result<(), TooManyNumbers> {
        self.computed += 1;
        let access = Access::interned(&self.interner, state);
        match miss {
            Miss::Menu(source) => {
                let actions = self.system.actions(source, &access);
                // What a trial looks at for a witness decides nothing about what is enabled.
                let (real, _) = access.looked_at();
                let reads = reads_only(access);
                let actions: Box<[u32]> = actions.into_iter().map(|action| self.action_id(action)).collect();
                let entries = || actions.iter().map(|action| &self.actions[*action as usize]);
                let progress = entries().any(|entry| entry.class == Class::Progress);
                let certain = entries().any(|entry| entry.class == Class::Progress && entry.fair);
                let menu = Menu { progress, certain, reads: real, actions };
                let leaf = push(&mut self.menus, menu);
                self.memo.insert(self.source_roots[source], state, &reads, leaf);
            }
            Miss::Part(action, part) => {
                let mut access = access;
                let entry = &self.actions[action as usize];
                let root = entry.roots[part];
                let observations = self.system.step(&entry.action, part, &mut access);
                let (real, peeks) = access.looked_at();
                let (reads, writes) = access.finish();
                let mut interned = Vec::with_capacity(writes.len());
                for (slot, component) in writes {
                    let id = self.interner.intern(usize::from(slot), component);
                    // What is written as it was is not written.
                    if state[usize::from(slot)] != id || !reads.contains(&slot) {
                        interned.push((slot, id));
                    }
                }
                let writes = interned.iter().map(|(slot, _)| usize::from(*slot)).collect();
                let footprint = Footprint { reads: real, writes, peeks };
                let leaf = Leaf { writes: interned.into_boxed_slice(), observations, footprint };
                let leaf = push(&mut self.leaves, leaf);
                self.memo.insert(root, state, &reads, leaf);
                self.numbering.note_new(self.system, &self.interner)?;
            }
            Miss::Observation(quiescent) => {
                let observations = self.system.observe(quiescent, &access);
                let reads = reads_only(access);
                let footprint = Footprint { reads: set(&reads), ..Footprint::NONE };
                let leaf = push(&mut self.leaves, Leaf { writes: Box::default(), observations, footprint });
                self.memo.insert(self.observe_roots[usize::from(quiescent)], state, &reads, leaf);
            }
            Miss::Pending => {
                let pending = self.system.is_pending(&access);
                let reads = reads_only(access);
                self.memo.insert(self.pending_root, state, &reads, u32::from(pending));
            }
            Miss::Future(source) => {
                let future = self.system.future(source, &access);
                let reads = reads_only(access);
                let leaf = push(&mut self.futures, future);
                self.memo.insert(self.future_roots[source], state, &reads, leaf);
            }
            Miss::Renaming(renaming) => self.numbering.learn(self.system, &mut self.interner, renaming)?,
            Miss::Turn(turn) => {
                self.orbits.learn(self.system, &mut self.interner, turn);
                self.numbering.note_new(self.system, &self.interner)?;
            }
        }
        Ok(())
    }

    fn action_id(&mut self, action: S::Action) -> u32 {
        if let Some(&id) = self.action_ids.get(&action) {
            return id;
        }
        let roots = (0..self.system.parts(&action)).map(|_| self.memo.root()).collect();
        let (class, fair) = (self.system.class(&action), self.system.is_fair(&action));
        let kind = self.system.kind(&action);
        let id = push(&mut self.actions, ActionEntry { action: action.clone(), class, fair, kind, roots });
        self.action_ids.insert(action, id);
        id
    }
}

fn push<T>(list: &mut Vec<T>, item: T) -> u32 {
    list.push(item);
    u32::try_from(list.len() - 1).expect("fewer than 2^32 results fit in memory")
}

fn set(slots: &[u16]) -> SlotSet {
    slots.iter().map(|slot| usize::from(*slot)).collect()
}

fn reads_only<C: Clone + Eq>(access: Access<'_, C>) -> Vec<u16> {
    let (reads, writes) = access.finish();
    assert!(writes.is_empty(), "what only looks changes nothing");
    reads
}
