//! Aspects: what a component has or has not, where the rest of it makes no difference to who asks.
//!
//! A function that asks for an aspect is remembered by the answer, not by the component. So what was found for one component need
//! not be found again for the next one that has the same aspects. In what was read, an aspect stands as a slot behind the real
//! ones.

use super::System;
use super::intern::Interner;

/// The aspects that were asked for, of each component.
#[derive(Default)]
pub(super) struct Aspects {
    /// Slots of a state.
    slots: usize,
    /// For each aspect its slot, and by the id of the component there whether that has it.
    known: Vec<(usize, Vec<bool>)>,
}

impl Aspects {
    /// Those of a system.
    pub fn new<S: System>(system: &S, slots: usize) -> Self {
        Self { slots, known: system.aspects().into_iter().map(|slot| (slot, Vec::new())).collect() }
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether an aspect is there in a state, 0 or 1. `slot`: as in what was read; `None`: it is no aspect.
    #[inline]
    pub fn find(&self, slot: u16, state: &[u32]) -> Option<u32> {
        let (about, known) = self.known.get(usize::from(slot).checked_sub(self.slots)?)?;
        Some(u32::from(known[state[*about] as usize]))
    }

    /// Looks at each component once, when it is new.
    pub fn note_new<S: System>(&mut self, system: &S, interner: &Interner<S::Component>) {
        for (aspect, (about, known)) in self.known.iter_mut().enumerate() {
            let new = (known.len()..interner.len(*about)).map(|id| {
                let id = u32::try_from(id).expect("component ids are 32 bits");
                system.has_aspect(aspect, interner.get(*about, id))
            });
            known.extend(new);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::plain::successors;
    use crate::engine::{Access, Class, Limits, Observations, System, explore};

    /// A number counts down from 40, and another one is taken from 0 to 1 as long as that has not ended.
    struct Countdown {
        by_aspect: bool,
    }

    impl System for Countdown {
        type Component = u8;
        type Action = u8;

        fn initial(&self) -> Vec<u8> {
            vec![40, 0]
        }

        fn sources(&self) -> usize {
            2
        }

        fn actions(&self, source: usize, access: &Access<'_, u8>) -> Vec<u8> {
            let runs = |left: &u8| *left > 0;
            match source {
                0 if runs(access.get(0)) => vec![0],
                1 if *access.get(1) == 0 => {
                    let is_running = if self.by_aspect { access.aspect(0, 0, runs) } else { runs(access.get(0)) };
                    if is_running { vec![1] } else { Vec::new() }
                }
                _ => Vec::new(),
            }
        }

        fn aspects(&self) -> Vec<usize> {
            vec![0]
        }

        fn has_aspect(&self, _: usize, left: &u8) -> bool {
            *left > 0
        }

        fn parts(&self, _: &u8) -> usize {
            1
        }

        fn step(&self, action: &u8, _: usize, access: &mut Access<'_, u8>) -> Observations {
            let slot = usize::from(*action);
            let next = if slot == 0 { access.get(0) - 1 } else { 1 };
            access.set(slot, next);
            Observations::default()
        }

        fn is_fair(&self, _: &u8) -> bool {
            true
        }

        fn class(&self, _: &u8) -> Class {
            Class::Progress
        }

        fn observe(&self, _: bool, _: &Access<'_, u8>) -> Observations {
            Observations::default()
        }
    }

    #[test]
    fn what_is_asked_by_an_aspect_is_computed_once_for_all_components_that_have_it() {
        let explored = |by_aspect| {
            let found = explore(&Countdown { by_aspect }, Limits::default(), &mut |_| false);
            (found.states(), found.transitions, found.computed)
        };
        let ((states, transitions, computed), (_, _, without)) = (explored(true), explored(false));
        // 41 numbers with the other one at 0 or 1; 2 times 40 steps down, and 40 states in which the other may be taken.
        assert_eq!((states, transitions), (82, 120));
        assert_eq!(explored(false).1, transitions);
        assert_eq!(without - computed, 39, "of 41 answers to whether the other may be taken, two are left");
    }

    #[test]
    fn plain_states_answer_alike() {
        let system = Countdown { by_aspect: true };
        assert_eq!(successors(&system, &[1, 0]).len(), 2);
        assert!(successors(&system, &[0, 0]).is_empty());
    }
}
