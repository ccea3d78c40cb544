//! What the engine asks of the thing that it explores.

use std::fmt::Debug;
use std::hash::Hash;

use super::Access;
use super::slots::{Footprint, SlotSet};

/// A transition system whose states are short vectors of components.
///
/// Every method that is given an [`Access`] must be a pure function of the components that it reads through it. The
/// engine remembers results by the components that were read, in the order of reading, and panics where a second run
/// reads something else: that is a bug of the system, never of a user's input.
pub trait System: Sync {
    /// One slot of a state: an ordinary small value.
    type Component: Clone + Eq + Hash + Debug + Send + Sync;
    /// What can happen, by name and operands.
    type Action: Clone + Eq + Hash + Debug + Send + Sync;

    /// The initial state.
    fn initial(&self) -> Vec<Self::Component>;

    /// How many sources of actions there are. A source is whatever may move by itself: an agent, a node, the faults.
    fn sources(&self) -> usize;

    /// The actions of one source that are enabled, in the order in which they are explored.
    fn actions(&self, source: usize, access: &Access<'_, Self::Component>) -> Vec<Self::Action>;

    /// Into how many parts this action falls. Parts read the state before the action and write different slots, so
    /// that an action which touches everything is remembered slot by slot.
    fn parts(&self, action: &Self::Action) -> usize;

    /// Executes one part of an enabled action.
    fn step(&self, action: &Self::Action, part: usize, access: &mut Access<'_, Self::Component>) -> Observations;

    /// Whether the action is fair: if it stays possible, it is taken some day.
    fn is_fair(&self, action: &Self::Action) -> bool;

    /// The property that is violated by a fair run in which something pending stays so for ever; `None`: there is none.
    fn liveness(&self) -> Option<usize> {
        None
    }

    /// Whether something is pending in a state that must end some day. What has ended must not become pending again.
    fn is_pending(&self, access: &Access<'_, Self::Component>) -> bool {
        let _ = access;
        false
    }

    /// Whose move the action is: decides what is quiescent and what counts as a fault.
    fn class(&self, action: &Self::Action) -> Class;

    /// What kind of action this is, 0 to 255, for coverage.
    fn kind(&self, action: &Self::Action) -> u16 {
        let _ = action;
        0
    }

    /// What a source may still read and write, from a state with these components on, whatever all others do in the
    /// meantime: when its actions are listed, and when they are taken. Nothing: it will never act again.
    ///
    /// The engine's reduction rests on this, and asserts of every action that it stays within it.
    fn future(&self, source: usize, access: &Access<'_, Self::Component>) -> Footprint {
        let _ = (source, access);
        Footprint::ALL
    }

    /// The aspects of components for which an [`Access`] can be asked ([`Access::aspect`]): for each, the slot of the component.
    fn aspects(&self) -> Vec<usize> {
        Vec::new()
    }

    /// Whether the component in the slot of an aspect has it: a pure function of the component.
    fn has_aspect(&self, aspect: usize, component: &Self::Component) -> bool {
        unreachable!("there is no aspect {aspect}, so {component:?} has it not")
    }

    /// The properties, one bit each, for whose witness alone slots are read with [`Access::peek`] of this kind. 0: what is
    /// read makes no difference but to the choice between equals, such as a number that must only be new.
    fn ghost(&self, kind: usize) -> u64 {
        let _ = kind;
        0
    }

    /// The slots that only count down: an action that reads one does so to see that something is left, and takes its
    /// share. Two such actions commute where both are possible one after the other.
    fn counters(&self) -> SlotSet {
        SlotSet::NONE
    }

    /// What only runs out, and how the amounts of it compare. `None`: nothing does.
    fn budgets(&self) -> Option<Budgets<Self::Component>> {
        None
    }

    /// The slots that [`Self::observe`] may read in states that are not quiescent.
    fn observed(&self) -> SlotSet {
        SlotSet::ALL
    }

    /// What there is to observe in a state as such. `quiescent`: no action of class [`Class::Progress`] is enabled.
    fn observe(&self, quiescent: bool, access: &Access<'_, Self::Component>) -> Observations;

    /// Calls `visit(space, number)` for each number in the component that is only ever compared with others of its
    /// space. States that differ by an order-preserving renaming of such numbers are one state.
    fn numbers(&self, component: &Self::Component, visit: &mut dyn FnMut(u16, u16)) {
        let _ = (component, visit);
    }

    /// Replaces each number of that space in the component.
    fn renumber(&self, component: &mut Self::Component, space: u16, rename: &dyn Fn(u16) -> u16) {
        let _ = (component, space, rename);
    }

    /// How many renamings there are, besides the identity, under which this is the same system; with the identity they are
    /// a group. Each maps the initial state to itself, transitions to transitions of the same class with the same
    /// observations, and what is observed, pending and quiescent in a state is so in its image. It maps a space of numbers to
    /// a space, and leaves the numbers in it as they are.
    fn symmetries(&self) -> usize {
        0
    }

    /// Whether a symmetry maps the fair actions of a source to those of another.
    fn moves_sources(&self, symmetry: usize) -> bool {
        let _ = symmetry;
        false
    }

    /// The slot to which a symmetry moves the component in a slot.
    fn moved_slot(&self, symmetry: usize, slot: usize) -> usize {
        let _ = symmetry;
        slot
    }

    /// The component as it is after a symmetry, in whichever slot.
    fn renamed(&self, symmetry: usize, component: &Self::Component) -> Self::Component {
        let _ = symmetry;
        component.clone()
    }
}

/// What only runs out, such as the faults that may still strike.
///
/// Whatever can happen in a state can happen in the same one with a greater amount too: with the same results, but for what is
/// left then, and the same observations. No fair action depends on the amount, nor what is quiescent, pending or observed in a
/// state.
#[derive(Clone, Debug)]
pub struct Budgets<C> {
    /// The slot in which it stands.
    pub slot: usize,
    /// Every amount that may be left, each once, with the places in this list of those that are greater.
    pub amounts: Vec<(C, Vec<usize>)>,
}

/// Whose move an action is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A move of the system proper. A state without one is quiescent.
    Progress,
    /// A move that may never come, and that no budget bounds.
    Idle,
    /// A fault: it spends budget, and counts towards the faults of a path.
    Fault,
}

/// What a step or a state shows. Properties and tags are numbers to the engine, 0 to 63 and 0 to 65535.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observations {
    /// One bit per property that is violated here.
    pub violated: u64,
    /// One bit per property whose witness is reached here.
    pub witnessed: u64,
    /// Counted for coverage.
    pub tags: Vec<u16>,
    /// For what is violated by a step, the number of the cause: property and cause.
    pub causes: Vec<(u8, u64)>,
}
