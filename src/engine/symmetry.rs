//! Symmetry: states that differ by a renaming under which the system is the same system are one state.
//!
//! The renamings are the system's own ([`System::symmetries`]); they are a group, and each maps the initial state to itself
//! and transitions to transitions with the same observations. So whatever can be observed on a path from a state can be
//! observed, after as many steps and faults, on the renamed path from the renamed state, and it is enough to explore one
//! state of each orbit: the *least*, by the contents of its slots. The order is one of hashes of contents and of ids only
//! where these are equal, so it does not hang on the order in which components were met.
//!
//! A path in that quotient is a path up to renaming. `Lift` makes a real one of it, from the real initial state on.

use super::intern::Interner;
use super::plain::{Successor, successors};
use super::{Access, System};

/// Not looked up yet.
const UNKNOWN: u32 = u32::MAX;

/// Brings states into the least form of their orbits.
#[derive(Default)]
pub(super) struct Orbits {
    /// The symmetries that are used, as the system numbers them.
    pub(super) members: Vec<usize>,
    /// For each of them, for each slot, the slot whose component comes to stand there.
    origins: Vec<Box<[u16]>>,
    /// For each slot and component, its id after each of the symmetries, in the slot to which it comes.
    renamed: Vec<Vec<Box<[u32]>>>,
}

/// One component after one symmetry, which is not known yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    member: usize,
    slot: usize,
    id: u32,
}

/// The symmetries of a system that keep what is asked: all of them; or, where liveness is decided, those that leave each
/// fair source where it is, since a run is fair to each source by itself. Both are groups, with the identity.
pub(super) fn members<S: System>(system: &S, liveness: bool) -> Vec<usize> {
    (0..system.symmetries()).filter(|symmetry| !(liveness && system.moves_sources(*symmetry))).collect()
}

impl Orbits {
    /// For states of so many slots.
    pub(super) fn new<S: System>(system: &S, members: Vec<usize>, slots: usize) -> Self {
        let origins = members.iter().map(|&symmetry| {
            let mut origins = vec![0_u16; slots];
            for slot in 0..slots {
                origins[system.moved_slot(symmetry, slot)] = u16::try_from(slot).expect("a state has few slots");
            }
            origins.into_boxed_slice()
        });
        Self { origins: origins.collect(), members, renamed: vec![Vec::new(); slots] }
    }

    /// Replaces a state by the least of its orbit. Answers whether that is another one.
    ///
    /// # Errors
    ///
    /// When the image of a component is not known yet.
    pub(super) fn bring<C: Clone + Eq + std::hash::Hash>(
        &self,
        interner: &Interner<C>,
        state: &mut [u32],
        least: &mut Vec<u32>,
    ) -> Result<bool, Turn> {
        least.clear();
        least.extend_from_slice(state);
        let mut is_other = false;
        for member in 0..self.members.len() {
            for slot in 0..state.len() {
                let image = self.image(member, slot, state)?;
                if image == least[slot] {
                    continue;
                }
                let rank = |id: u32| (interner.content_hash(slot, id), id);
                if rank(image) < rank(least[slot]) {
                    is_other = true;
                    least[slot] = image;
                    for (later, place) in least.iter_mut().enumerate().skip(slot + 1) {
                        *place = self.image(member, later, state)?;
                    }
                }
                break;
            }
        }
        if is_other {
            state.copy_from_slice(least);
        }
        Ok(is_other)
    }

    /// What stands in a slot of the state after a symmetry.
    #[inline]
    fn image(&self, member: usize, slot: usize, state: &[u32]) -> Result<u32, Turn> {
        let slot = usize::from(self.origins[member][slot]);
        let id = state[slot];
        let known = self.renamed[slot].get(id as usize).and_then(|row| row.get(member)).copied();
        known.filter(|known| *known != UNKNOWN).ok_or(Turn { member, slot, id })
    }

    /// Gets to know the image of a component.
    pub(super) fn learn<S: System>(&mut self, system: &S, interner: &mut Interner<S::Component>, turn: Turn) {
        let Turn { member, slot, id } = turn;
        let symmetry = self.members[member];
        let renamed = system.renamed(symmetry, interner.get(slot, id));
        let renamed = interner.intern(system.moved_slot(symmetry, slot), renamed);
        let rows = &mut self.renamed[slot];
        if rows.len() <= id as usize {
            rows.resize(id as usize + 1, Box::default());
        }
        let row = &mut rows[id as usize];
        if row.is_empty() {
            *row = vec![UNKNOWN; self.members.len()].into_boxed_slice();
        }
        row[member] = renamed;
    }
}

/// The state after a symmetry.
pub fn image<S: System>(system: &S, symmetry: usize, state: &[S::Component]) -> Vec<S::Component> {
    let mut image = state.to_vec();
    for (slot, component) in state.iter().enumerate() {
        image[system.moved_slot(symmetry, slot)] = system.renamed(symmetry, component);
    }
    image
}

/// Makes real paths of paths in the quotient by some symmetries.
pub(super) struct Lift<'l, S: System> {
    pub(super) system: &'l S,
    pub(super) members: &'l [usize],
}

impl<S: System> Lift<'_, S> {
    /// A real path from the initial state whose states are, one by one, these up to a symmetry.
    pub(super) fn path(&self, path: &[Vec<S::Component>]) -> Vec<Vec<S::Component>> {
        // The initial state is its own image under every symmetry.
        let mut real: Vec<Vec<S::Component>> = path.iter().take(1).cloned().collect();
        for target in path.iter().skip(1) {
            let state = real.last().expect("a path has an initial state");
            let next = successors(self.system, state).into_iter().find(|next| self.is_alike(&next.state, target));
            real.push(next.expect("a symmetry maps transitions to transitions").state);
        }
        real
    }

    /// The state to which a real state is led by what leads its like in the quotient to this successor.
    pub(super) fn last(&self, state: &[S::Component], like: &Successor<S>) -> Vec<S::Component> {
        let wanted = &like.observations;
        let next = successors(self.system, state).into_iter().find(|next| {
            let seen = &next.observations;
            let same = (seen.violated, seen.witnessed) == (wanted.violated, wanted.witnessed);
            same && self.is_alike(&next.state, &like.state)
        });
        next.expect("a symmetry keeps what is observed on a transition").state
    }

    /// A real loop from a state, of one in the quotient: fair moves of these sources to states like these. One lap may end
    /// in another state of the orbit; then the laps that follow are the first one, renamed.
    pub(super) fn round(&self, start: &[S::Component], lap: &[(u16, Vec<S::Component>)]) -> Vec<Vec<S::Component>> {
        let mut first: Vec<Vec<S::Component>> = Vec::new();
        for (source, target) in lap {
            let state = first.last().map_or(start, Vec::as_slice);
            let fair = fair_actions(self.system, usize::from(*source), state);
            let all = successors(self.system, state).into_iter();
            let mut moves = all.filter(|next| fair.contains(&next.action));
            let next = moves.find(|next| self.is_alike(&next.state, target));
            first.push(next.expect("a symmetry maps fair moves to fair moves").state);
        }
        let end = first.last().expect("a loop has a move");
        let mut round = first.clone();
        if end.as_slice() != start {
            let mut turns = self.members.iter().filter(|symmetry| image(self.system, **symmetry, start) == *end);
            let turn = *turns.next().expect("one of the orbit is the image of another");
            let mut lap = first.clone();
            while round.last().is_some_and(|last| last.as_slice() != start) {
                lap = lap.iter().map(|state| image(self.system, turn, state)).collect();
                round.extend(lap.iter().cloned());
            }
        }
        round
    }

    /// Whether two states are in one orbit.
    fn is_alike(&self, one: &[S::Component], other: &[S::Component]) -> bool {
        one == other || self.members.iter().any(|symmetry| image(self.system, *symmetry, one) == other)
    }
}

fn fair_actions<S: System>(system: &S, source: usize, state: &[S::Component]) -> Vec<S::Action> {
    let actions = system.actions(source, &Access::new(state));
    actions.into_iter().filter(|action| system.is_fair(action)).collect()
}
