//! Exact breadth-first search, level by level: the first path that reaches a violation is a shortest one.

use hashbrown::{HashMap, HashTable};
use rustc_hash::FxBuildHasher;

use super::intern::Interner;
use super::memo::Memo;
use super::numbering::{Numbering, TooManyNumbers};
use super::symmetry::{self, Lift, Orbits};
use super::{Access, Class, Observations, System};

/// When a search gives up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// At most so many states; `None` is unbounded.
    pub states: Option<usize>,
    /// Stop as soon as all of these properties, one bit each, are violated. 0: explore everything.
    pub enough: u64,
    /// Decide liveness too, once everything is explored.
    pub liveness: bool,
    /// Explore states up to the symmetries of the system.
    pub symmetry: bool,
}

/// Why a search ended before everything was explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// [`Limits::states`] was reached.
    States,
    /// A state held more than 64 different numbers of one space.
    Numbers,
    /// [`Limits::enough`] was reached: everything asked for is decided.
    Enough,
    /// The caller asked for it.
    Caller,
}

/// How far a search has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Distinct states found.
    pub states: usize,
    /// States that were found and not yet expanded.
    pub queue: usize,
    /// Transitions taken.
    pub transitions: u64,
    /// Length of the shortest path to the state being expanded.
    pub depth: u32,
}

/// The first occurrence of something, with so many faults on its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Actions on the path.
    pub steps: u32,
    /// Faults among them.
    pub faults: u32,
    state: u32,
    /// The transition from `state` that shows it; `None`: the state itself does.
    transition: Option<u16>,
}

impl Found {
    /// A state that shows something by itself.
    pub(super) const fn in_state(state: u32, steps: u32, faults: u32) -> Self {
        Self { steps, faults, state, transition: None }
    }

    pub(super) const fn state(&self) -> u32 {
        self.state
    }
}

/// What a search found out.
pub struct Exploration<S: System> {
    interner: Interner<S::Component>,
    actions: Vec<S::Action>,
    states: Vec<u32>,
    parents: Vec<(u32, u16)>,
    width: usize,
    /// Why it is not complete; `None`: every reachable state was expanded.
    pub stop: Option<Stop>,
    /// Transitions taken.
    pub transitions: u64,
    /// Length of the longest shortest path.
    pub depth: u32,
    /// For each property, the first violation for each number of faults, fewest faults first.
    pub violations: Vec<Vec<Found>>,
    /// The loops of the violations of liveness that are loops: the source of each move, and the state after it.
    pub(super) loops: Vec<(Found, Vec<(u16, u32)>)>,
    /// The symmetries up to which it was explored.
    members: Vec<usize>,
    /// For each property, whether its witness was reached: one bit each.
    pub witnessed: u64,
    /// How often each action was taken, in no order.
    pub taken: Vec<(S::Action, u64)>,
    /// How often each tag was observed on transitions, sorted by tag.
    pub tags: Vec<(u16, u64)>,
    /// How many step results were computed rather than remembered.
    pub computed: u64,
}

/// Explores a system breadth-first. `watch` is told how far it has come every few thousand states, and stops the search
/// by answering `true`.
pub fn explore<S: System>(system: &S, limits: Limits, watch: &mut dyn FnMut(Progress) -> bool) -> Exploration<S> {
    let members = if limits.symmetry { symmetry::members(system, limits.liveness) } else { Vec::new() };
    let mut search = Search::new(system, members);
    search.run(limits, watch);
    if let Some(property) = system.liveness().filter(|_| limits.liveness && search.stop.is_none()) {
        super::liveness::decide(&mut search, property);
    }
    search.finish()
}

/// States between two calls of `watch`.
const WATCH_EVERY: usize = 4096;

pub(super) struct Leaf {
    writes: Box<[(u16, u32)]>,
    observations: Observations,
    seen: u64,
}

pub(super) struct ActionEntry<A> {
    action: A,
    class: Class,
    /// The memory of each part.
    roots: Box<[u32]>,
    taken: u64,
}

pub(super) struct Search<'s, S: System> {
    pub(super) system: &'s S,
    interner: Interner<S::Component>,
    numbering: Numbering,
    members: Vec<usize>,
    orbits: Orbits,
    memo: Memo,
    source_roots: Vec<u32>,
    observe_roots: [u32; 2],
    pending_root: u32,
    menus: Vec<Box<[u32]>>,
    leaves: Vec<Leaf>,
    actions: Vec<ActionEntry<S::Action>>,
    action_ids: HashMap<S::Action, u32, FxBuildHasher>,
    width: usize,
    states: Vec<u32>,
    table: HashTable<u32>,
    parents: Vec<(u32, u16)>,
    faults: Vec<u8>,
    /// The first state of each level.
    levels: Vec<u32>,
    transitions: u64,
    violations: Vec<Vec<Found>>,
    pub(super) loops: Vec<(Found, Vec<(u16, u32)>)>,
    violated: u64,
    witnessed: u64,
    computed: u64,
    stop: Option<Stop>,
    depth: u32,
}

impl<'s, S: System> Search<'s, S> {
    fn new(system: &'s S, members: Vec<usize>) -> Self {
        let mut memo = Memo::default();
        Self {
            system,
            interner: Interner::new(),
            numbering: Numbering::default(),
            orbits: Orbits::new(system, members.clone(), system.initial().len()),
            members,
            source_roots: (0..system.sources()).map(|_| memo.root()).collect(),
            observe_roots: [memo.root(), memo.root()],
            pending_root: memo.root(),
            memo,
            menus: Vec::new(),
            leaves: Vec::new(),
            actions: Vec::new(),
            action_ids: HashMap::default(),
            width: 0,
            states: Vec::new(),
            table: HashTable::new(),
            parents: Vec::new(),
            faults: Vec::new(),
            levels: vec![0],
            transitions: 0,
            violations: vec![Vec::new(); 64],
            loops: Vec::new(),
            violated: 0,
            witnessed: 0,
            computed: 0,
            stop: None,
            depth: 0,
        }
    }

    fn run(&mut self, limits: Limits, watch: &mut dyn FnMut(Progress) -> bool) {
        let components = self.system.initial();
        self.width = components.len();
        let mut initial: Vec<u32> = components.into_iter().map(|component| self.interner.intern(component)).collect();
        if self.numbering.normalise_all(self.system, &mut self.interner, &mut initial).is_err() {
            self.stop = Some(Stop::Numbers);
        }
        self.orbits.bring(self.system, &mut self.interner, &mut initial);
        self.visit(&initial, (0, 0), 0);
        let mut state = Vec::with_capacity(self.width);
        let mut level_end = 1;
        let mut next = 0;
        while next < self.parents.len() && self.stop.is_none() {
            if next == level_end {
                self.depth += 1;
                level_end = self.parents.len();
                self.levels.push(u32::try_from(next).expect("fewer than 2^32 states fit in memory"));
            }
            state.clear();
            state.extend_from_slice(&self.states[next * self.width..(next + 1) * self.width]);
            if self.expand(next, &state).is_err() {
                self.stop = Some(Stop::Numbers);
            }
            next += 1;
            if limits.states.is_some_and(|most| self.parents.len() > most) {
                self.stop = Some(Stop::States);
            } else if limits.enough != 0 && self.violated & limits.enough == limits.enough {
                self.stop = Some(Stop::Enough);
            } else if next % WATCH_EVERY == 0 {
                let progress = Progress {
                    states: self.parents.len(),
                    queue: self.parents.len() - next,
                    transitions: self.transitions,
                    depth: self.depth,
                };
                if watch(progress) {
                    self.stop = Some(Stop::Caller);
                }
            }
        }
    }

    /// Takes every enabled action of a state.
    fn expand(&mut self, index: usize, state: &[u32]) -> Result<(), TooManyNumbers> {
        let mut quiescent = true;
        let mut ordinal: u16 = 0;
        let parent = u32::try_from(index).expect("fewer than 2^32 states fit in memory");
        for source in 0..self.source_roots.len() {
            let menu = self.menu(source, state);
            for position in 0..self.menus[menu].len() {
                let action = self.menus[menu][position];
                quiescent &= self.actions[action as usize].class != Class::Progress;
                self.take(action, state, (parent, ordinal))?;
                ordinal += 1;
            }
        }
        let leaf = self.observation(quiescent, state);
        let observations = &self.leaves[leaf].observations;
        let (violated, witnessed) = (observations.violated, observations.witnessed);
        self.witnessed |= witnessed;
        if violated != 0 {
            let found =
                Found { steps: self.depth, faults: u32::from(self.faults[index]), state: parent, transition: None };
            self.note(violated, found);
        }
        Ok(())
    }

    fn take(&mut self, action: u32, state: &[u32], parent: (u32, u16)) -> Result<(), TooManyNumbers> {
        let (mut violated, mut witnessed) = (0, 0);
        let successor = self.successor(action, state, &mut |leaf| {
            leaf.seen += 1;
            violated |= leaf.observations.violated;
            witnessed |= leaf.observations.witnessed;
        })?;
        let entry = &mut self.actions[action as usize];
        entry.taken += 1;
        let fault = u8::from(entry.class == Class::Fault);
        let faults = self.faults[parent.0 as usize].saturating_add(fault);
        self.transitions += 1;
        self.witnessed |= witnessed;
        if violated != 0 {
            let found =
                Found { steps: self.depth + 1, faults: u32::from(faults), state: parent.0, transition: Some(parent.1) };
            self.note(violated, found);
        }
        self.visit(&successor, parent, faults);
        Ok(())
    }

    /// The state after an action. `see` is shown the result of each of its parts.
    fn successor(
        &mut self,
        action: u32,
        state: &[u32],
        see: &mut dyn FnMut(&mut Leaf),
    ) -> Result<Vec<u32>, TooManyNumbers> {
        let mut successor = state.to_vec();
        let mut writes: Vec<(u16, u32)> = Vec::new();
        for part in 0..self.actions[action as usize].roots.len() {
            let leaf = self.part(action, part, state);
            let leaf = &mut self.leaves[leaf];
            see(leaf);
            for &(slot, id) in &leaf.writes {
                successor[usize::from(slot)] = id;
                writes.push((slot, id));
            }
        }
        self.numbering.normalise_after(self.system, &mut self.interner, state, &mut successor, &writes)?;
        self.orbits.bring(self.system, &mut self.interner, &mut successor);
        Ok(successor)
    }

    /// How many states there are.
    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.parents.len()).expect("fewer than 2^32 states fit in memory")
    }

    /// Length of a shortest path to a state, and the faults on it.
    pub(super) fn cost(&self, index: u32) -> (u32, u32) {
        let level = self.levels.partition_point(|first| *first <= index) - 1;
        (u32::try_from(level).expect("there are fewer levels than states"), u32::from(self.faults[index as usize]))
    }

    fn state_at(&self, index: u32) -> Vec<u32> {
        let start = index as usize * self.width;
        self.states[start..start + self.width].to_vec()
    }

    /// Whether something is pending in a state.
    pub(super) fn is_pending(&mut self, index: u32) -> bool {
        let state = self.state_at(index);
        if let Some(leaf) = self.memo.find(self.pending_root, &state) {
            return leaf == 1;
        }
        let access = Access::interned(&self.interner, &state);
        let pending = self.system.is_pending(&access);
        let (reads, _) = access.finish();
        self.memo.insert(self.pending_root, &state, &reads, u32::from(pending));
        pending
    }

    /// The fair moves in a state that was expanded: their sources, and the states to which they lead.
    pub(super) fn fair_moves(&mut self, index: u32) -> Vec<(u16, u32)> {
        let state = self.state_at(index);
        let mut moves = Vec::new();
        for source in 0..self.source_roots.len() {
            let menu = self.menu(source, &state);
            for position in 0..self.menus[menu].len() {
                let action = self.menus[menu][position];
                if !self.system.is_fair(&self.actions[action as usize].action) {
                    continue;
                }
                let successor =
                    self.successor(action, &state, &mut |_| {}).expect("the search came through here before");
                let source = u16::try_from(source).expect("there are few sources");
                moves.push((source, self.index_of(&successor).expect("everything was explored")));
            }
        }
        moves
    }

    fn index_of(&self, state: &[u32]) -> Option<u32> {
        let at = |index: u32| &self.states[index as usize * self.width..(index as usize + 1) * self.width];
        self.table.find(hash(&self.interner, state), |&index| at(index) == state).copied()
    }

    /// Keeps the first violation of each property for each number of faults.
    pub(super) fn note(&mut self, violated: u64, found: Found) {
        self.violated |= violated;
        let mut rest = violated;
        while rest != 0 {
            let property = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let known = &mut self.violations[property];
            match known.binary_search_by_key(&found.faults, |other| other.faults) {
                Ok(at) => {
                    if found.steps < known[at].steps {
                        known[at] = found;
                    }
                }
                Err(at) => known.insert(at, found),
            }
        }
    }

    fn visit(&mut self, state: &[u32], parent: (u32, u16), faults: u8) {
        let hash = hash(&self.interner, state);
        let width = self.width;
        let states = &self.states;
        let at = |index: u32| &states[index as usize * width..(index as usize + 1) * width];
        if self.table.find(hash, |&index| at(index) == state).is_some() {
            return;
        }
        let index = u32::try_from(self.parents.len()).expect("fewer than 2^32 states fit in memory");
        let interner = &self.interner;
        self.table.insert_unique(hash, index, |&index| self::hash(interner, at(index)));
        self.states.extend_from_slice(state);
        self.parents.push(parent);
        self.faults.push(faults);
    }

    /// The enabled actions of a source, as an index into `menus`.
    fn menu(&mut self, source: usize, state: &[u32]) -> usize {
        let root = self.source_roots[source];
        if let Some(leaf) = self.memo.find(root, state) {
            return leaf as usize;
        }
        let access = Access::interned(&self.interner, state);
        let actions = self.system.actions(source, &access);
        let (reads, writes) = access.finish();
        assert!(writes.is_empty(), "listing actions changes nothing");
        let menu = actions.into_iter().map(|action| self.action_id(action)).collect();
        self.menus.push(menu);
        let leaf = u32::try_from(self.menus.len() - 1).expect("fewer than 2^32 menus fit in memory");
        self.memo.insert(root, state, &reads, leaf);
        leaf as usize
    }

    fn action_id(&mut self, action: S::Action) -> u32 {
        if let Some(&id) = self.action_ids.get(&action) {
            return id;
        }
        let id = u32::try_from(self.actions.len()).expect("fewer than 2^32 actions fit in memory");
        let roots = (0..self.system.parts(&action)).map(|_| self.memo.root()).collect();
        let class = self.system.class(&action);
        self.actions.push(ActionEntry { action: action.clone(), class, roots, taken: 0 });
        self.action_ids.insert(action, id);
        id
    }

    /// The result of one part of an action, as an index into `leaves`.
    fn part(&mut self, action: u32, part: usize, state: &[u32]) -> usize {
        let entry = &self.actions[action as usize];
        let root = entry.roots[part];
        if let Some(leaf) = self.memo.find(root, state) {
            return leaf as usize;
        }
        let mut access = Access::interned(&self.interner, state);
        let observations = self.system.step(&entry.action, part, &mut access);
        self.remember(root, state, access.finish(), observations)
    }

    fn observation(&mut self, quiescent: bool, state: &[u32]) -> usize {
        let root = self.observe_roots[usize::from(quiescent)];
        if let Some(leaf) = self.memo.find(root, state) {
            return leaf as usize;
        }
        let access = Access::interned(&self.interner, state);
        let observations = self.system.observe(quiescent, &access);
        self.remember(root, state, access.finish(), observations)
    }

    fn remember(
        &mut self,
        root: u32,
        state: &[u32],
        (reads, writes): (Vec<u16>, Vec<(u16, S::Component)>),
        observations: Observations,
    ) -> usize {
        self.computed += 1;
        let writes = writes.into_iter().map(|(slot, component)| (slot, self.interner.intern(component))).collect();
        self.leaves.push(Leaf { writes, observations, seen: 0 });
        let leaf = u32::try_from(self.leaves.len() - 1).expect("fewer than 2^32 results fit in memory");
        self.memo.insert(root, state, &reads, leaf);
        leaf as usize
    }

    fn finish(self) -> Exploration<S> {
        let mut tags: Vec<(u16, u64)> = Vec::new();
        for leaf in &self.leaves {
            for &tag in &leaf.observations.tags {
                match tags.binary_search_by_key(&tag, |(other, _)| *other) {
                    Ok(at) => tags[at].1 += leaf.seen,
                    Err(at) => tags.insert(at, (tag, leaf.seen)),
                }
            }
        }
        Exploration {
            interner: self.interner,
            taken: self.actions.iter().map(|entry| (entry.action.clone(), entry.taken)).collect(),
            actions: self.actions.into_iter().map(|entry| entry.action).collect(),
            states: self.states,
            parents: self.parents,
            width: self.width,
            stop: self.stop,
            transitions: self.transitions,
            depth: self.depth,
            violations: self.violations,
            loops: self.loops,
            members: self.members,
            witnessed: self.witnessed,
            tags,
            computed: self.computed,
        }
    }
}

/// The sum over the slots of a mix of slot and content: independent of the order in which components were interned.
fn hash<C: Clone + Eq + std::hash::Hash>(interner: &Interner<C>, state: &[u32]) -> u64 {
    let mut sum = 0_u64;
    for (slot, &id) in (1_u64..).zip(state) {
        let mixed = (interner.hash(id) ^ slot.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        sum = sum.wrapping_add(mixed ^ (mixed >> 29));
    }
    sum
}

impl<S: System> Exploration<S> {
    /// How many distinct states were found.
    #[must_use]
    pub fn states(&self) -> usize {
        self.parents.len()
    }

    /// The breaks of a property that are cheapest in steps or in faults: the Pareto front, shortest first.
    #[must_use]
    pub fn front(&self, property: usize) -> Vec<Found> {
        let mut front: Vec<Found> = Vec::new();
        for &found in &self.violations[property] {
            if front.last().is_none_or(|best| found.steps < best.steps) {
                front.push(found);
            }
        }
        front.reverse();
        front
    }

    /// The states on a shortest path to what was found, the initial one first. Each is one action from the one before.
    #[must_use]
    pub fn path(&self, system: &S, found: Found) -> Vec<Vec<S::Component>> {
        let mut indices = vec![found.state];
        let mut at = found.state;
        while at != 0 {
            at = self.parents[at as usize].0;
            indices.push(at);
        }
        indices.reverse();
        let mut path: Vec<Vec<S::Component>> = indices.into_iter().map(|index| self.state(index)).collect();
        let last = found.transition.map(|ordinal| {
            let last = path.last().expect("a path has an initial state");
            let successors = super::plain::successors(system, last);
            successors.into_iter().nth(usize::from(ordinal)).expect("the transition was taken")
        });
        if self.members.is_empty() {
            path.extend(last.map(|last| last.state));
            return path;
        }
        let lift = Lift { system, members: &self.members };
        let mut real = lift.path(&path);
        let last = last.map(|last| lift.last(real.last().expect("a path has an initial state"), &last));
        real.extend(last);
        real
    }

    /// The states of the loop that a violation of liveness runs round for ever, from the one after the found one to the
    /// found one itself; `None`: nothing moves any more.
    #[must_use]
    pub fn round(&self, system: &S, found: Found) -> Option<Vec<Vec<S::Component>>> {
        let (_, moves) = self.loops.iter().find(|(other, _)| *other == found)?;
        let lap: Vec<_> = moves.iter().map(|(source, index)| (*source, self.state(*index))).collect();
        if self.members.is_empty() {
            return Some(lap.into_iter().map(|(_, state)| state).collect());
        }
        let path = self.path(system, found);
        let lift = Lift { system, members: &self.members };
        Some(lift.round(path.last().expect("a path has an initial state"), &lap))
    }

    fn state(&self, index: u32) -> Vec<S::Component> {
        let start = index as usize * self.width;
        self.states[start..start + self.width].iter().map(|&id| self.interner.get(id).clone()).collect()
    }

    /// How many distinct actions were taken at least once.
    #[must_use]
    pub fn distinct_actions(&self) -> usize {
        self.actions.len()
    }
}
