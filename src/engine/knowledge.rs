//! What is known of a system so far: its components, and the results of its functions by what they read.
//!
//! Asking is one thing and learning another: many threads may ask at the same time, and what they don't find is learnt by
//! one of them afterwards, in an order that does not depend on their number.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::aspects::Aspects;
use super::intern::Interner;
use super::memo::Memo;
use super::numbering::{Numbering, Renaming, TooManyNumbers};
use super::packing::Layout;
use super::slots::{Footprint, SlotSet};
use super::subsumption::Richer;
use super::symmetry::{Orbits, Turn};
use super::{Access, Class, Observations, System};

/// Something that is not known yet.
#[derive(Clone, Copy, Debug)]
pub(super) enum Miss {
    Menu(usize),
    Part(u32, u16),
    Observation(bool),
    Pending,
    Future(usize),
    Renaming(Renaming),
    Turn(Turn),
}

/// The actions of one source that are enabled.
pub(super) struct Menu {
    /// Where they stand in `moves`.
    start: u32,
    length: u16,
    /// Some of them are moves of the system proper.
    pub progress: bool,
    /// Some of them are, and are fair.
    pub certain: bool,
    /// What decides about the menu.
    pub reads: SlotSet,
    /// Where it is empty: slots each of which alone decides that it is.
    pub blocks: SlotSet,
}

impl Menu {
    /// How many there are.
    #[inline]
    pub const fn len(&self) -> u16 {
        self.length
    }
}

/// An action that is enabled, as far as a search looks at it in every state.
#[derive(Clone, Copy)]
pub(super) struct Move {
    pub action: u32,
    /// The memory of its first part; those of the others follow.
    root: u32,
    pub parts: u16,
    pub fault: bool,
    pub fair: bool,
}

/// What the result of one part of an action, or of an observation, does to a state and shows, as far as a search looks at it
/// in every state.
#[derive(Clone, Copy)]
pub(super) struct Effect {
    /// What it adds to the hash of the state.
    pub hash: u64,
    /// The properties that it violates, one bit each.
    pub violated: u64,
    writes: u32,
    spaces: u32,
    writes_len: u16,
    spaces_len: u16,
}

/// The rest of such a result.
pub(super) struct Leaf {
    pub observations: Observations,
    pub footprint: Footprint,
}

pub(super) struct ActionEntry<A> {
    pub action: A,
    pub class: Class,
    pub kind: u16,
    as_move: Move,
}

pub(super) struct Knowledge<'s, S: System> {
    pub system: &'s S,
    pub interner: Interner<S::Component>,
    pub numbering: Numbering,
    pub orbits: Orbits,
    /// What is subsumed by what; `None`: nothing is.
    pub richer: Option<Richer>,
    /// Each distinct one once.
    pub menus: Vec<Menu>,
    menu_ids: HashMap<(Vec<u32>, SlotSet, SlotSet), u32, FxBuildHasher>,
    moves: Vec<Move>,
    pub leaves: Vec<Leaf>,
    /// One for each leaf.
    pub effects: Vec<Effect>,
    /// Slots, what stood there, and what stands there then.
    writes: Vec<(u16, u32, u32)>,
    /// By what the words of a packed state differ after each leaf, and how many words these are.
    differences: Vec<u64>,
    words: usize,
    spaces: Vec<u16>,
    pub actions: Vec<ActionEntry<S::Action>>,
    /// Each distinct one once.
    pub futures: Vec<Footprint>,
    future_ids: HashMap<Footprint, u32, FxBuildHasher>,
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
        memo.aspects = Aspects::new(system, width);
        let sources = 0..system.sources();
        Self {
            system,
            interner: Interner::new(width),
            numbering: Numbering::default(),
            orbits: Orbits::new(system, members, width),
            richer: None,
            menus: Vec::new(),
            menu_ids: HashMap::default(),
            moves: Vec::new(),
            leaves: Vec::new(),
            effects: Vec::new(),
            writes: Vec::new(),
            differences: Vec::new(),
            words: 0,
            spaces: Vec::new(),
            actions: Vec::new(),
            futures: Vec::new(),
            source_roots: sources.clone().map(|_| memo.root()).collect(),
            future_roots: sources.map(|_| memo.root()).collect(),
            observe_roots: [memo.root(), memo.root()],
            pending_root: memo.root(),
            memo,
            future_ids: HashMap::default(),
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

    /// The actions of a menu.
    #[inline]
    pub fn moves(&self, menu: &Menu) -> &[Move] {
        &self.moves[menu.start as usize..][..usize::from(menu.length)]
    }

    /// The result of one part of an action, as an index into `leaves`.
    #[inline]
    pub fn part(&self, act: &Move, part: u16, state: &[u32]) -> Result<u32, Miss> {
        self.memo.find(act.root + u32::from(part), state).ok_or(Miss::Part(act.action, part))
    }

    /// What a result writes, where that differs from what stood there: slots, what stood there, and what stands there then.
    #[inline]
    pub fn writes(&self, effect: &Effect) -> &[(u16, u32, u32)] {
        &self.writes[effect.writes as usize..][..usize::from(effect.writes_len)]
    }

    /// By what the words of a packed state differ after a result, exclusively or-ed.
    #[inline]
    pub fn difference(&self, leaf: u32) -> &[u64] {
        &self.differences[leaf as usize * self.words..][..self.words]
    }

    /// Gets to know [`Self::difference`] of the results that are new; of all, if the layout is. Every component has room in it.
    pub fn pack(&mut self, layout: &Layout, is_new: bool) {
        if is_new || self.words == 0 {
            self.words = layout.words();
            self.differences.clear();
        }
        let known = self.differences.len() / self.words;
        self.differences.resize(self.effects.len() * self.words, 0);
        for (effect, difference) in self.effects.iter().zip(self.differences.chunks_exact_mut(self.words)).skip(known) {
            let writes = &self.writes[effect.writes as usize..][..usize::from(effect.writes_len)];
            for &(slot, before, after) in writes {
                layout.exchange(usize::from(slot), before, after, difference);
            }
        }
    }

    /// The spaces of numbers in which there may be a gap after it.
    #[inline]
    pub fn spaces(&self, effect: &Effect) -> &[u16] {
        &self.spaces[effect.spaces as usize..][..usize::from(effect.spaces_len)]
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

    /// What a source may still read and write, as an index into `futures`.
    #[inline]
    pub fn future(&self, source: usize, state: &[u32]) -> Result<u32, Miss> {
        self.memo.find(self.future_roots[source], state).ok_or(Miss::Future(source))
    }

    /// Learns what was missed in a state.
    pub fn learn(&mut self, state: &[u32], miss: Miss) -> Result<(), TooManyNumbers> {
        self.computed += 1;
        let access = Access::interned(&self.interner, state).with_aspects(self.memo.aspects.len());
        match miss {
            Miss::Menu(source) => {
                let actions = self.system.actions(source, &access);
                // What a trial looks at for a witness decides nothing about what is enabled.
                let (real, _) = access.looked_at();
                let blocks = if actions.is_empty() { access.blocks() } else { SlotSet::NONE };
                let reads = reads_only(access);
                let actions: Vec<u32> = actions.into_iter().map(|action| self.action_id(action)).collect();
                let entries = || actions.iter().map(|action| &self.actions[*action as usize]);
                let progress = entries().any(|entry| entry.class == Class::Progress);
                let certain = entries().any(|entry| entry.class == Class::Progress && entry.as_move.fair);
                let length = u16::try_from(actions.len()).expect("a state has few actions");
                let moves: Vec<Move> = entries().map(|entry| entry.as_move).collect();
                let leaf = *self.menu_ids.entry((actions, real, blocks)).or_insert_with(|| {
                    let menu = Menu { progress, certain, reads: real, blocks, start: place(self.moves.len()), length };
                    self.moves.extend(moves);
                    push(&mut self.menus, menu)
                });
                self.memo.insert(self.source_roots[source], state, &reads, leaf);
            }
            Miss::Part(action, part) => {
                let mut access = access;
                let entry = &self.actions[action as usize];
                let root = entry.as_move.root + u32::from(part);
                let observations = self.system.step(&entry.action, usize::from(part), &mut access);
                let (real, peeks) = access.looked_at();
                let (mut reads, writes) = access.finish();
                let (mut written, mut changed) = (SlotSet::NONE, Vec::with_capacity(writes.len()));
                for (slot, component) in writes {
                    let id = self.interner.intern(usize::from(slot), component);
                    let same = state[usize::from(slot)] == id;
                    let read = reads.contains(&slot);
                    // What is read and written as it was is not written.
                    if !same || !read {
                        written.insert(usize::from(slot));
                    }
                    if !same {
                        changed.push((slot, id));
                    }
                    // What it does to a state depends on what stood there.
                    if !read {
                        reads.push(slot);
                    }
                }
                let footprint = Footprint { reads: real, writes: written, peeks };
                self.numbering.note_new(self.system, &self.interner)?;
                let leaf = self.leaf(state, &changed, Leaf { observations, footprint });
                self.memo.insert(root, state, &reads, leaf);
            }
            Miss::Observation(quiescent) => {
                let observations = self.system.observe(quiescent, &access);
                let (reads, _) = access.looked_at();
                let footprint = Footprint { reads, ..Footprint::NONE };
                let reads = reads_only(access);
                let leaf = self.leaf(state, &[], Leaf { observations, footprint });
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
                let leaf = *self.future_ids.entry(future).or_insert_with(|| push(&mut self.futures, future));
                self.memo.insert(self.future_roots[source], state, &reads, leaf);
            }
            Miss::Renaming(renaming) => self.numbering.learn(self.system, &mut self.interner, renaming)?,
            Miss::Turn(turn) => {
                self.orbits.learn(self.system, &mut self.interner, turn);
            }
        }
        self.note_new()
    }

    /// Looks at each component once, when it is new.
    pub fn note_new(&mut self) -> Result<(), TooManyNumbers> {
        self.memo.aspects.note_new(self.system, &self.interner);
        self.numbering.note_new(self.system, &self.interner)
    }

    /// Learns what every source offers in a state, and, to `reduce`, what it may still read and write.
    pub fn learn_sources(&mut self, state: &[u32], reduce: bool) -> Result<(), TooManyNumbers> {
        let mut progress = false;
        for source in 0..self.sources() {
            if let Err(miss) = self.menu_id(source, state) {
                self.learn(state, miss)?;
            }
            progress |= self.menu(source, state).is_ok_and(|menu| menu.progress);
        }
        for source in 0..if reduce && progress { self.sources() } else { 0 } {
            if let Err(miss) = self.future(source, state) {
                self.learn(state, miss)?;
            }
        }
        Ok(())
    }

    /// Keeps the result of a step that changes a state so.
    fn leaf(&mut self, state: &[u32], changed: &[(u16, u32)], leaf: Leaf) -> u32 {
        let share = |slot: u16, id| self.interner.share(usize::from(slot), id);
        let hash = changed.iter().fold(0_u64, |hash, &(slot, id)| {
            hash.wrapping_add(share(slot, id)).wrapping_sub(share(slot, state[usize::from(slot)]))
        });
        let spaces = self.numbering.disturbed(state, changed);
        let few = |length: usize| u16::try_from(length).expect("a state has fewer than 65,536 slots and spaces");
        self.effects.push(Effect {
            hash,
            violated: leaf.observations.violated,
            writes: place(self.writes.len()),
            spaces: place(self.spaces.len()),
            writes_len: few(changed.len()),
            spaces_len: few(spaces.len()),
        });
        self.writes.extend(changed.iter().map(|&(slot, id)| (slot, state[usize::from(slot)], id)));
        self.spaces.extend(spaces);
        push(&mut self.leaves, leaf)
    }

    fn action_id(&mut self, action: S::Action) -> u32 {
        if let Some(&id) = self.action_ids.get(&action) {
            return id;
        }
        let parts = self.system.parts(&action);
        let roots: Vec<u32> = (0..parts).map(|_| self.memo.root()).collect();
        let (class, fair) = (self.system.class(&action), self.system.is_fair(&action));
        let as_move = Move {
            action: place(self.actions.len()),
            root: roots.first().copied().unwrap_or(0),
            parts: u16::try_from(parts).expect("an action has few parts"),
            fault: class == Class::Fault,
            fair,
        };
        let kind = self.system.kind(&action);
        let id = push(&mut self.actions, ActionEntry { action: action.clone(), class, kind, as_move });
        self.action_ids.insert(action, id);
        id
    }
}

fn push<T>(list: &mut Vec<T>, item: T) -> u32 {
    list.push(item);
    place(list.len() - 1)
}

fn place(index: usize) -> u32 {
    u32::try_from(index).expect("fewer than 2^32 results fit in memory")
}

fn reads_only<C: Clone + Eq>(access: Access<'_, C>) -> Vec<u16> {
    let (reads, writes) = access.finish();
    assert!(writes.is_empty(), "what only looks changes nothing");
    reads
}
