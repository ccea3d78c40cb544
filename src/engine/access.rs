//! The only way in which a step sees and changes a state: it records what was read and what was written.

use std::cell::{Cell, RefCell};

use super::intern::Interner;
use super::slots::{GHOSTS, SlotSet};

/// A view of one state for one step. Reads are recorded in order; writes are kept apart until the step is over.
pub struct Access<'a, C> {
    state: State<'a, C>,
    reads: RefCell<Vec<u16>>,
    /// What was read for its own sake, and what only for a witness.
    real: Cell<SlotSet>,
    peeks: Cell<[SlotSet; GHOSTS]>,
    /// Slots each of which alone decides that nothing is enabled.
    blocks: Cell<SlotSet>,
    writes: Vec<(u16, C)>,
    /// So many aspects are noted as such in what was read; of others, the whole component is.
    aspects: usize,
}

enum State<'a, C> {
    Plain(&'a [C]),
    Interned(&'a Interner<C>, &'a [u32]),
    Trial(&'a Access<'a, C>),
}

impl<'a, C: Clone + Eq> Access<'a, C> {
    /// A view of a state that is given by its components.
    #[must_use]
    pub const fn new(state: &'a [C]) -> Self {
        Self::of(State::Plain(state))
    }

    pub(super) const fn interned(interner: &'a Interner<C>, ids: &'a [u32]) -> Self {
        Self::of(State::Interned(interner, ids))
    }

    const fn of(state: State<'a, C>) -> Self {
        Self {
            state,
            reads: RefCell::new(Vec::new()),
            real: Cell::new(SlotSet::NONE),
            peeks: Cell::new([SlotSet::NONE; GHOSTS]),
            blocks: Cell::new(SlotSet::NONE),
            writes: Vec::new(),
            aspects: 0,
        }
    }

    /// The same view, which notes where no more than one of so many aspects was looked at.
    pub(super) const fn with_aspects(mut self, aspects: usize) -> Self {
        self.aspects = aspects;
        self
    }

    /// A view of the same state to try a step on: what it reads counts as read here, and what it writes is dropped.
    #[must_use]
    pub const fn trial(&'a self) -> Self {
        Self::of(State::Trial(self))
    }

    /// How many slots the state has.
    #[must_use]
    pub const fn slots(&self) -> usize {
        match self.state {
            State::Plain(components) => components.len(),
            State::Interned(_, ids) => ids.len(),
            State::Trial(tried_on) => tried_on.slots(),
        }
    }

    /// The component in a slot, with this step's own write if there is one.
    #[must_use]
    pub fn get(&self, slot: usize) -> &C {
        let mut real = self.real.get();
        real.insert(slot);
        self.real.set(real);
        self.look(slot, None)
    }

    /// The same, of something that decides about nothing but a witness: `ghost` says of which kind
    /// ([`super::System::ghost`]).
    #[must_use]
    pub fn peek(&self, slot: usize, ghost: usize) -> &C {
        let mut peeks = self.peeks.get();
        peeks[ghost].insert(slot);
        self.peeks.set(peeks);
        self.look(slot, Some(ghost))
    }

    /// Whether the component in a slot has an aspect ([`super::System::aspects`]): whoever asks for that, and not for the
    /// component, depends on nothing else there. Nothing was written before. `of`: says so of a component.
    #[must_use]
    pub fn aspect(&self, aspect: usize, slot: usize, of: impl FnOnce(&C) -> bool) -> bool {
        assert!(self.writes.is_empty(), "only what changes nothing asks for aspects");
        if aspect >= self.aspects {
            return of(self.get(slot));
        }
        let mut real = self.real.get();
        real.insert(slot);
        self.real.set(real);
        self.note(slot_key(self.slots() + aspect));
        of(self.component(slot, None))
    }

    /// Says of a slot that what stands there is reason enough for a source to have no action, whatever stands elsewhere. Where
    /// there are several such slots, each is. Partial-order reduction then need not take the others into account.
    pub fn blocked_by(&self, slot: usize) {
        let mut blocks = self.blocks.get();
        if SlotSet::tells_apart(slot) {
            blocks.insert(slot);
        }
        self.blocks.set(blocks);
    }

    fn look(&self, slot: usize, ghost: Option<usize>) -> &C {
        let key = slot_key(slot);
        if let Some((_, component)) = self.writes.iter().rev().find(|(written, _)| *written == key) {
            return component;
        }
        self.note(key);
        self.component(slot, ghost)
    }

    /// Notes what was read.
    fn note(&self, key: u16) {
        let mut reads = self.reads.borrow_mut();
        if !reads.contains(&key) {
            reads.push(key);
        }
    }

    fn component(&self, slot: usize, ghost: Option<usize>) -> &C {
        match self.state {
            State::Plain(components) => &components[slot],
            State::Interned(interner, ids) => interner.get(slot, ids[slot]),
            State::Trial(tried_on) => match ghost {
                None => tried_on.get(slot),
                Some(ghost) => tried_on.peek(slot, ghost),
            },
        }
    }

    /// Replaces the component in a slot.
    pub fn set(&mut self, slot: usize, component: C) {
        let key = slot_key(slot);
        self.writes.retain(|(written, _)| *written != key);
        self.writes.push((key, component));
    }

    /// What has been written so far.
    pub fn written(&mut self) -> impl Iterator<Item = &mut C> {
        self.writes.iter_mut().map(|(_, component)| component)
    }

    /// What has been written so far, to come back to with [`Self::roll_back`].
    #[must_use]
    pub fn save_point(&self) -> Vec<(u16, C)> {
        self.writes.clone()
    }

    /// Undoes what was written since the save point, except in the slots for which `keep` holds.
    pub fn roll_back(&mut self, save_point: Vec<(u16, C)>, keep: impl Fn(usize) -> bool) {
        let later = std::mem::replace(&mut self.writes, save_point);
        for (slot, component) in later {
            if keep(usize::from(slot)) {
                self.set(usize::from(slot), component);
            }
        }
    }

    /// What was read for its own sake, and what only for witnesses, by their kinds.
    pub(super) const fn looked_at(&self) -> (SlotSet, [SlotSet; GHOSTS]) {
        (self.real.get(), self.peeks.get())
    }

    /// The slots that are each a reason for having no action.
    pub(super) const fn blocks(&self) -> SlotSet {
        self.blocks.get()
    }

    /// The slots that were read, in order, and the writes.
    #[must_use]
    pub fn finish(self) -> (Vec<u16>, Vec<(u16, C)>) {
        (self.reads.into_inner(), self.writes)
    }
}

fn slot_key(slot: usize) -> u16 {
    u16::try_from(slot).expect("a state has fewer than 65,536 slots")
}
